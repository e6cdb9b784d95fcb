"""Turns conditions into Spark columns."""
