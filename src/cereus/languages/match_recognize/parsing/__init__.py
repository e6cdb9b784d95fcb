"""Text → tree: the meaning of names and calls, and the rules that a clause must keep."""
