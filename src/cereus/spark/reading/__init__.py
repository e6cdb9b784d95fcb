"""Reads described files as DataFrames, with the rows, columns and types of `cereus.sources`."""
