"""The languages of queries: one room each."""
