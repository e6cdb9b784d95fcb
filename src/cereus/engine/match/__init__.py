"""Events → matches: what runs the kernel, its table of states, and what a run remembers."""
