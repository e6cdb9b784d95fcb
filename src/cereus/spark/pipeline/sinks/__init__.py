"""Sinks, where matches go: their keys in a file, their checks, and how they are written."""
