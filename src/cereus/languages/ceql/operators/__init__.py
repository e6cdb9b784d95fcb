"""Operators that are ours: how often, how far apart, what must not occur."""
