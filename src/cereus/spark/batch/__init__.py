"""Matches a DataFrame of history."""
