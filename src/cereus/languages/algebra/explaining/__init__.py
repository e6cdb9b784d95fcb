"""Explains an expression: taken apart, in words, as a picture."""
