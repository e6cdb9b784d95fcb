"""Finds the variables that hold events in every match of a formula."""

from __future__ import annotations

from cereus.languages.ceql import tree as cel

NONE: frozenset[str] = frozenset()


def surely_bound(formula: cel.Formula) -> frozenset[str]:
    """Variables that are never empty (an under-approximation; `scope.bound` is the other side)."""
    match formula:
        case cel.Type(name, stream):
            return frozenset({name} if stream is None else {name, f"{stream}>{name}"})
        case cel.Not() | cel.Optional():
            return NONE
        case cel.Repeated(_, 0):
            return NONE
        case cel.As(body, variable):
            inner = surely_bound(body)
            return inner | {variable} if _marks(body) else inner
        case cel.Project(names, body):
            return surely_bound(body) & names
        case cel.Unless(left, _):
            return surely_bound(left)
        case cel.Or(operands):
            return frozenset.intersection(*map(surely_bound, operands))
    return NONE.union(*(surely_bound(part) for part in formula.children()))


def _marks(formula: cel.Formula) -> bool:
    """Whether every match has an event that some variable holds (an under-approximation)."""
    match formula:
        case cel.Type():
            return True
        case cel.Not() | cel.Optional() | cel.Repeated(_, 0):
            return False
        case cel.Project():
            return bool(surely_bound(formula))
        case cel.Unless(left, _):
            return _marks(left)
        case cel.Or(operands):
            return all(map(_marks, operands))
    return any(map(_marks, formula.children()))
