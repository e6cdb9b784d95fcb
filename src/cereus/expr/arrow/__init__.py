"""Conditions evaluated over Arrow batches."""
