"""Operators that Cereus adds to CEL: how often, how far apart, what must not occur."""
