"""What stands around one event of a formula: what is asked of it, and whether it is shown.

Names, projections, filters and UNLESS around a part of a formula concern the events inside it; here
they are collected on the way down, and settled where an event is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cereus.clauses.tree import is_kept
from cereus.expr.tree import Expression
from cereus.languages.ceql import tree as cel
from cereus.languages.sremo import tree as sremo
from cereus.plan.tests import conjuncts

Names = frozenset[str]


class Named(NamedTuple):
    """`φ AS variable`"""

    variable: str


class Kept(NamedTuple):
    """`PROJECT[names](φ)`"""

    names: Names


class Asked(NamedTuple):
    """A condition on the events of one variable."""

    variable: str
    condition: Expression


class Stored(NamedTuple):
    """Variables that a later condition reads."""

    variables: Names


class Forbidden(NamedTuple):
    """Events that must not occur (UNLESS)."""

    events: tuple[sremo.Terminal, ...]


Around = tuple[Named | Kept | Asked | Stored | Forbidden, ...]
"""Outermost first."""


@dataclass
class Leaf:
    """One event: its variables as they are seen from outside, and what is asked of it."""

    type: str | None
    names: Names
    conditions: tuple[Expression, ...] = ()
    stored: Names = frozenset()

    @property
    def condition(self) -> Expression:
        return sremo.conjunction(self.conditions)


def leaf(node: cel.Type, around: Around) -> Leaf:
    """An event inside what stands around it, taken from the innermost to the outermost."""
    found = Leaf(None if node.name == "*" else node.name, frozenset({node.name}))
    for each in reversed(around):
        match each:
            case Named(variable) if found.names:
                found.names |= {variable}
            case Kept(names):
                found.names = frozenset(n for n in found.names if is_kept(n, names))
            case Asked(variable, condition) if variable in found.names:
                found.conditions += conjuncts(condition)
            case Stored(variables):
                found.stored |= found.names & variables
    return found


def forbidden(around: Around) -> tuple[sremo.Terminal, ...]:
    """The events that must not occur here."""
    return tuple(e for each in around if isinstance(each, Forbidden) for e in each.events)


def without_filters(around: Around) -> Around:
    """What stands around, but for what filters ask."""
    return tuple(each for each in around if not isinstance(each, Asked | Stored))


# ---------------------------------------------------------------- where variables are bound


@dataclass(frozen=True)
class Place:
    """Where a variable is bound, counting events from left to right; `once` if every match binds
    it to exactly one event. `others` are variables of the same events."""

    events: frozenset[int]
    once: bool
    others: Names

    @property
    def first(self) -> int:
        return min(self.events)

    @property
    def last(self) -> int:
        return max(self.events)


ALWAYS = (
    cel.Sequence,
    cel.ContiguousSequence,
    cel.As,
    cel.Filter,
    cel.Project,
    cel.Start,
    cel.Unless,
    cel.And,
    cel.Select,
)
"""What every match goes through, part by part."""


def places(formula: cel.Formula) -> dict[str, Place]:
    """The variables of a formula, as a filter around it sees them."""
    found: dict[str, Place] = {}
    for number, (node, around, certain) in enumerate(_events(formula, (), True)):
        names = leaf(node, around).names
        for name in names:
            before = found.get(name, Place(frozenset(), True, frozenset()))
            once = certain and not before.events
            others = before.others | (names - {name})
            found[name] = Place(before.events | {number}, once, others)
    return found


def _events(
    node: cel.Formula, around: Around, certain: bool
) -> Iterator[tuple[cel.Type, Around, bool]]:
    """The events that valuations come from; both sides of an AND have the same."""
    match node:
        case cel.Type():
            yield node, around, certain
        case cel.Not():
            return
        case cel.As(body, variable):
            yield from _events(body, (*around, Named(variable)), certain)
        case cel.Project(names, body):
            yield from _events(body, (*around, Kept(names)), certain)
        case cel.Unless(left, _) | cel.And(left, _):
            yield from _events(left, around, certain)
        case _:
            for child in node.children():
                yield from _events(child, around, certain and isinstance(node, ALWAYS))


def labels(formula: cel.Formula) -> frozenset[tuple[str | None, Names]]:
    """The types of a formula's events, each with the variables that hold them."""
    found = (leaf(node, around) for node, around, _ in _events(formula, (), True))
    return frozenset((each.type, each.names) for each in found)
