"""The table function for SQL."""
