"""Conditions as Spark columns."""
