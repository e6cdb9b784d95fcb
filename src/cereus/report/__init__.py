"""A run as one page: the query, its matches, and why there are no more."""

from cereus.report.page import report

__all__ = ["report"]
