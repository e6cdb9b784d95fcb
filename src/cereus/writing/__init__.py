"""Writes results to files: one, a folder of them, or standard output; locally and on Spark alike.
Also turns results into Python values, and JSON."""
