"""Explains a program: taken apart, in words, as a picture."""
