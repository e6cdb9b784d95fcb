"""The surroundings of one event of a formula: conditions on it, and whether it is shown.

Names, projections, filters and UNLESS around a part of a formula concern the events inside it. They
are collected on the way down, and applied where an event is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cereus.clauses.tree import is_kept
from cereus.expr.tree import Expression, conjuncts
from cereus.languages.ceql import tree as cel
from cereus.languages.sremo import tree as sremo

Names = frozenset[str]


class NamedAs(NamedTuple):
    """`φ AS variable`"""

    variable: str


class Kept(NamedTuple):
    """`PROJECT[names](φ)`"""

    names: Names


class VariableCondition(NamedTuple):
    """A condition on the events of one variable."""

    variable: str
    condition: Expression


class StoredVariables(NamedTuple):
    """Variables that a later condition reads."""

    variables: Names


class Forbidden(NamedTuple):
    """Events that must not occur (UNLESS)."""

    events: tuple[sremo.Terminal, ...]


Around = tuple[NamedAs | Kept | VariableCondition | StoredVariables | Forbidden, ...]
"""The surroundings, outermost first."""


@dataclass
class Leaf:
    """One event: its variables as they are seen from outside, and the conditions on it."""

    type: str | None
    names: Names
    conditions: tuple[Expression, ...] = ()
    stored: Names = frozenset()

    @property
    def condition(self) -> Expression:
        return sremo.conjunction(self.conditions)


def leaf(node: cel.Type, around: Around) -> Leaf:
    """An event with its surroundings applied, from the innermost to the outermost."""
    event = Leaf(None if node.name == "*" else node.name, frozenset({node.name}))
    for each in reversed(around):
        match each:
            case NamedAs(variable) if event.names:
                event.names |= {variable}
            case Kept(names):
                event.names = frozenset(n for n in event.names if is_kept(n, names))
            case VariableCondition(variable, condition) if variable in event.names:
                event.conditions += conjuncts(condition)
            case StoredVariables(variables):
                event.stored |= event.names & variables
    return event


def forbidden(around: Around) -> tuple[sremo.Terminal, ...]:
    """The events that must not occur here."""
    return tuple(e for each in around if isinstance(each, Forbidden) for e in each.events)


def without_filters(around: Around) -> Around:
    """The surroundings without the conditions of filters."""
    return tuple(
        each for each in around if not isinstance(each, VariableCondition | StoredVariables)
    )


# ---------------------------------------------------------------- where variables are bound


@dataclass(frozen=True)
class BindingPlace:
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
"""Operators whose parts every match goes through."""


def places(formula: cel.Formula) -> dict[str, BindingPlace]:
    """The variables of a formula, as a filter around it sees them."""
    bindings: dict[str, BindingPlace] = {}
    for number, (node, around, certain) in enumerate(_events(formula, (), True)):
        names = leaf(node, around).names
        for name in names:
            before = bindings.get(name, BindingPlace(frozenset(), True, frozenset()))
            once = certain and not before.events
            others = before.others | (names - {name})
            bindings[name] = BindingPlace(before.events | {number}, once, others)
    return bindings


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
            yield from _events(body, (*around, NamedAs(variable)), certain)
        case cel.Project(names, body):
            yield from _events(body, (*around, Kept(names)), certain)
        case cel.Unless(left, _) | cel.And(left, _):
            yield from _events(left, around, certain)
        case _:
            for child in node.children():
                yield from _events(child, around, certain and isinstance(node, ALWAYS))


def labels(formula: cel.Formula) -> frozenset[tuple[str | None, Names]]:
    """The types of a formula's events, each with the variables that hold them."""
    events = (leaf(node, around) for node, around, _ in _events(formula, (), True))
    return frozenset((each.type, each.names) for each in events)
