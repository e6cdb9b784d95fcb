"""Finds rows that change nothing for a waiting run: blocks of rows, and conditions over them."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
