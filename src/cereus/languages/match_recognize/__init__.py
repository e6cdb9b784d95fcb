"""SQL's row pattern recognition, MATCH_RECOGNIZE (SQL:2016, feature R010)."""
