"""How many events the matches of a formula have, where all of them have as many."""

from __future__ import annotations

from cereus.clauses.tree import Strategy
from cereus.languages.ceql import tree as cel
from cereus.plan.traits import CHOOSING


def size(formula: cel.Formula) -> int | None:
    """The number of events that every match marks; None where they may differ, or it is not
    known. Both sides of ALL may mark the same event, and PROJECT unmarks some."""
    match formula:
        case cel.Type():
            return 1
        case cel.Not():
            return 0
        case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
            sizes = size(left), size(right)
            return None if None in sizes else sum(filter(None, sizes))
        case cel.Repeated(body, least, most):
            once = size(body)
            return least * once if once is not None and least == most else None
        case cel.Or(left, right):
            return size(left) if size(left) == size(right) else None
        case cel.And(left, right):
            return size(right) if size(left) is None else size(left)
        case cel.Unless(left, _):
            return size(left)
        case cel.As(body) | cel.Filter(body) | cel.Start(body) | cel.Select(_, body):
            return size(body)
    return None


def compares_matches(strategy: Strategy, body: cel.Formula) -> bool:
    """Whether a strategy has to compare matches with each other. MAX has not if all of them have
    the same number of events: none contains another."""
    return strategy in CHOOSING and not (strategy is Strategy.MAX and size(body) is not None)
