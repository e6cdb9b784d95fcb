"""Explains a SREMO expression: taken apart, in words, as a picture."""
