"""Conditions that know the match so far: runs with slots, in order of preference."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
