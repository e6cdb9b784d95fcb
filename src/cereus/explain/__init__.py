"""Explains in words how a plan will run."""
