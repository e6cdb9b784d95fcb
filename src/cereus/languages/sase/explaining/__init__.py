"""Explains a query: taken apart, in words, as a picture."""
