"""Matching a DataFrame of history."""
