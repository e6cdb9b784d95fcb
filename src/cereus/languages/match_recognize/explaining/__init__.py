"""Explains a row pattern: taken apart, in words, as a picture."""
