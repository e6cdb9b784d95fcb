"""Conditions of the row alone: two passes over each partition."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
