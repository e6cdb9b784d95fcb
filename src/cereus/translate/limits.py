"""Refuses formulas without a translation, because CEL and SREMO look at different things."""

from __future__ import annotations

from cereus.errors import RefusedError
from cereus.languages.ceql import tree as cel
from cereus.syntax.tree import Node
from cereus.translate.leaves import Around, Kept, labels, leaf


def refused(node: Node, reason: str, hint: str | None = None) -> RefusedError:
    return RefusedError(reason, span=node.span, hint=hint)


def check_edge(node: cel.Formula, part: cel.Formula, *, first: bool) -> None:
    """Check an edge: `:` and START look at the first and last events that belong to a match."""
    if _hides(part, first):
        raise refused(
            node, "what PROJECT leaves out does not count where : looks for gaps; in SREMO it does"
        )


def _hides(part: cel.Formula, first: bool) -> bool:
    match part:
        case cel.Type() | cel.Not():
            return False
        case cel.Project() | cel.All():
            return True
        case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
            return _hides(left if first else right, first)
        case cel.Unless(left, _):
            return _hides(left, first)
    return any(_hides(child, first) for child in part.children())


def check_same_variables(
    node: cel.Formula, left: cel.Formula, right: cel.Formula, around: Around
) -> None:
    """Check an AND, which compares valuations, while `&` compares marks: they are the same if one
    event has the same variables on both sides, and all of them are marked."""
    same = all(
        one == two
        for kind, one in labels(left)
        for other, two in labels(right)
        if kind == other or None in (kind, other)
    )
    hidden = any(isinstance(each, Kept) for each in around)
    places_taken = any(isinstance(n, cel.Not | cel.Project) for n in node.walk())
    if not same or hidden or places_taken:
        raise refused(
            node,
            "AND compares variables, and & of SREMO marks alone",
            "use the same types and variables on both sides, without NOT and PROJECT",
        )


def adds_conditions(events: list[tuple[cel.Type, Around]], around: Around) -> bool:
    """Whether a filter outside would be checked before the strategy chooses."""
    return any(
        leaf(event, around + inner).conditions != leaf(event, inner).conditions
        or leaf(event, around + inner).stored
        for event, inner in events
    )
