"""Finds the number of events in the matches of a formula, if all have the same number."""

from __future__ import annotations

from cereus.clauses.tree import Strategy
from cereus.languages.ceql import tree as cel
from cereus.plan.traits import CHOOSING


def size(formula: cel.Formula) -> int | None:
    """The number of events that every match marks; None if they may differ, or it is not known.
    Both sides of ALL may mark the same event, and PROJECT unmarks some."""
    match formula:
        case cel.Type():
            return 1
        case cel.Not():
            return 0
        case cel.Sequence() | cel.ContiguousSequence():
            return _sum([size(part) for part in cel.chain(formula)])
        case cel.Or():
            sizes = {size(part) for part in cel.chain(formula)}
            return sizes.pop() if len(sizes) == 1 else None
        case cel.And(left, right):
            of_left = size(left)
            return size(right) if of_left is None else of_left
        case cel.Repeated(body, least, most):
            return _sum([size(body)] * least) if least == most else None
        case cel.Unless(left, _):
            return size(left)
        case cel.As(body) | cel.Filter(body) | cel.Start(body) | cel.Select(_, body):
            return size(body)
    return None


def _sum(sizes: list[int | None]) -> int | None:
    known = [each for each in sizes if each is not None]
    return sum(known) if len(known) == len(sizes) else None


def compares_matches(strategy: Strategy, body: cel.Formula) -> bool:
    """Whether a strategy has to compare matches with each other. MAX need not if all of them have
    the same number of events: none contains another."""
    return strategy in CHOOSING and not (strategy is Strategy.MAX and size(body) is not None)
