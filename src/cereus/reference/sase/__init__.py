"""SASE+ by its definition (§2, A.1, A.2)."""
