"""SASE+ → plans."""
