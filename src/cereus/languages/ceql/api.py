"""CEQL from Python."""

from cereus.languages.ceql.text import parse

__all__ = ["parse"]
