"""Cereus beside another checkout of itself, and beside other engines."""
