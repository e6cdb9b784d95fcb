"""How work and memory grow with a size."""
