"""Matches → Arrow rows."""
