"""Runs a clause over rows that come in batches: the executor and its state."""
