"""Filters with OR: `φ FILTER (p OR q)` is `(φ FILTER p) OR (φ FILTER q)` (CEL paper, §4).

So AND of several ORs has as many alternatives as there are ways to take one condition of each, and
each alternative is a pattern of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from cereus.errors import RefusedError, Span
from cereus.languages.ceql import tree as cel
from cereus.syntax.tree import Node

MOST_PARTS = 15_000
"""The most operators and events of a pattern with all alternatives. So many take some seconds."""


def check_alternatives(query: cel.CeqlTree) -> None:
    """Refuse filters that stand for too many alternatives."""
    for node in _outside_not(query.formula):
        if isinstance(node, cel.Filter) and _parts(node) > MOST_PARTS:
            raise _too_many(node.predicate.span)
        if isinstance(node, cel.Without):
            _check_absent(node.events)
    if query.unfollowed is not None:
        _check_absent(query.unfollowed.events)


def _outside_not(formula: cel.Formula) -> Iterator[cel.Formula]:
    """The parts of a formula, but not what stands in a NOT: that is one test."""
    yield formula
    if not isinstance(formula, cel.Not):
        for part in formula.children():
            yield from _outside_not(part)


def _check_absent(events: Iterable[Node]) -> None:
    for event in events:
        predicate = event.predicate if isinstance(event, cel.Excluded) else None
        if predicate is not None and _ways(predicate) > MOST_PARTS:
            raise _too_many(predicate.span)


def _parts(formula: cel.Formula) -> int:
    """How many operators and events there are, with each alternative written out."""
    if isinstance(formula, cel.Not):
        return 1
    below = 1 + sum(map(_parts, formula.children()))
    return below * _ways(formula.predicate) if isinstance(formula, cel.Filter) else below


def _ways(predicate: cel.Predicate) -> int:
    """How many alternatives a predicate has."""
    match predicate:
        case cel.AnyOf(operands):
            return sum(map(_ways, operands))
        case cel.AllOf(operands):
            return prod(map(_ways, operands))
    return 1


def _too_many(span: Span | None) -> RefusedError:
    return RefusedError(
        f"with every OR as an alternative of its own, this pattern has more than {MOST_PARTS:,} "
        "parts",
        span=span,
        hint="use fewer; what is about one variable goes into its brackets: a[x > 1 OR y > 2]",
    )
