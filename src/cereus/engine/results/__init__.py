"""Matches → Arrow rows."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
