"""The event algebra: detection in bounded memory, laws as rewrite rules, static bounds."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
