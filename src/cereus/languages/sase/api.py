"""SASE+ from Python."""

from cereus.languages.sase.text import parse

__all__ = ["parse"]
