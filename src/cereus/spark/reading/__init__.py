"""Described files as DataFrames: the rows, columns and types that `cereus.sources` has."""
