"""Evaluates conditions on plain Python values, one event at a time, for automata at run time."""
