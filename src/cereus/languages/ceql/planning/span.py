"""Finds how long a match can last, where gaps and windows of parts bound it.

A query whose matches are all that short is run as if it had such a WITHIN: partial matches that
waited too long are then forgotten.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.clauses.tree import TimeWindow
from cereus.languages.ceql import tree as cel


def with_implied_window(query: cel.CeqlTree) -> cel.CeqlTree:
    """The query with the shortest window that loses no match, if it is one of time."""
    if query.window is not None and not isinstance(query.window, TimeWindow):
        return query
    if not any(map(_measures_time, query.formula.walk())):
        return query
    longest = _longest(query.formula)
    if longest is None or (query.window is not None and query.window.microseconds <= longest):
        return query
    return replace(query, window=TimeWindow(longest))


def _measures_time(node: cel.Formula) -> bool:
    match node:
        case cel.Gapped() | cel.Repeated(gap=cel.GapLength()) | cel.Within(_, TimeWindow()):
            return True
    return False


def _longest(formula: cel.Formula) -> int | None:
    """Microseconds from the first to the last event of a match; None: there is no bound."""
    match formula:
        case cel.Type():
            return 0
        case cel.As(body) | cel.Filter(body) | cel.Optional(body) | cel.Without(body):
            return _longest(body)
        case cel.Start(body) | cel.Select(_, body):
            return _longest(body)
        case cel.Unless(left, _):
            return _longest(left)
        case cel.Within(body, TimeWindow(length)):
            inside = _longest(body)
            return length if inside is None else min(length, inside)
        case cel.Within(body):
            return _longest(body)
        case cel.Gapped(left, right, gap):
            return _sum(_longest(left), gap.most, _longest(right))
        case cel.Repeated(body, _, 1):
            return _longest(body)
        case cel.Repeated(body, _, int(most), gap=cel.GapLength(_, longest)):
            return _sum(*[_longest(body)] * most, *[longest] * (most - 1))
        case cel.Or(operands):
            lengths = [_longest(part) for part in operands]
            return None if None in lengths else max(filter(None, lengths), default=0)
    return None


def _sum(*lengths: int | None) -> int | None:
    return None if None in lengths else sum(length for length in lengths if length is not None)
