"""SQL's row pattern recognition, MATCH_RECOGNIZE (SQL:2016, feature R010)."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
