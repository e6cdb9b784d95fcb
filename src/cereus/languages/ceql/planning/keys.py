"""Finds equalities that make a column a key: `small.card = large.card`, where every event of a
match is in one of the variables.

All events of a match then have one value, so that each value can be matched on its own. That is
sound where no operator notices events of other values: sequences, iterations, alternatives, and
conditions on marked events. NULL and NaN equal nothing; a test of each event keeps them out, and
replaces the equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from cereus.clauses.tree import Consume, EventWindow, Strategy
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.planning.facts import ends_marked, surely_bound
from cereus.languages.ceql.planning.timeouts import begun_formulas
from cereus.languages.ceql.predicates import operands_of
from cereus.languages.ceql.scope import bound as names

Path = tuple[str, ...]
APART = (cel.Type, cel.As, cel.Filter, cel.Sequence, cel.Iteration, cel.Or, cel.And, cel.Optional)
"""Operators whose matches depend only on their events and the order of these."""


class KeyedFormula(NamedTuple):
    """A formula whose equalities have become keys, and these keys."""

    formula: cel.Formula
    keys: tuple[Path, ...]


def with_keys(query: cel.CeqlTree) -> KeyedFormula:
    """The query's formula without the equalities that are keys."""
    formula = query.formula
    if not _is_apart(query):
        return KeyedFormula(formula, ())
    equalities = list(_equalities(formula))
    if not equalities:
        return KeyedFormula(formula, ())
    bound = surely_bound(formula)
    keys: dict[Path, frozenset[str]] = {}
    for path in dict.fromkeys(left.path for left, _ in equalities):
        pairs = [(a.variable, b.variable) for a, b in equalities if a.path == path]
        for group in _connected(pairs):
            if group <= bound and _covers(formula, group):
                keys[path] = group
    begun = begun_formulas(query) if query.timeouts else ()
    if not keys or not all(_connects(keys, each) for each in begun):
        return KeyedFormula(formula, ())
    return KeyedFormula(_without(formula, keys), tuple(keys))


def _connects(keys: dict[Path, frozenset[str]], formula: cel.Formula) -> bool:
    """Whether equalities connect all of a part of the pattern that keys keep together."""
    for path, variables in keys.items():
        pairs = [(a.variable, b.variable) for a, b in _equalities(formula) if a.path == path]
        there = variables & names(formula)
        if len(there) > 1 and not any(there <= group for group in _connected(pairs)):
            return False
    return True


def _is_apart(query: cel.CeqlTree) -> bool:
    """Whether events of other keys make no difference to the matches of a key."""
    return (
        query.consume is Consume.NONE
        and query.skip is None
        and query.unfollowed is None
        and not isinstance(query.window, EventWindow)
        and query.strategy is not Strategy.STRICT
        and all(
            isinstance(node, APART) or (isinstance(node, cel.Repeated) and not node.contiguous)
            for node in query.formula.walk()
        )
        and ends_marked(query.formula)
    )


def _equalities(formula: cel.Formula) -> Iterator[tuple[ex.Attribute, ex.Attribute]]:
    """The equalities of one attribute between two variables that hold for the whole match."""
    while isinstance(formula, cel.Filter):
        for part in operands_of(formula.predicate):
            if sides := _sides(part):
                yield sides
        formula = formula.body


def _sides(predicate: cel.Predicate) -> tuple[ex.Attribute, ex.Attribute] | None:
    match predicate:
        case cel.Holds(ex.Comparison("=", ex.Attribute(path) as left, ex.Attribute(same) as right)):
            apart = path == same and left.variable != right.variable
            return (left, right) if apart and None not in (left.variable, right.variable) else None
    return None


def _connected(pairs: Iterable[tuple[str | None, str | None]]) -> list[frozenset[str]]:
    """The variables that equalities connect."""
    groups: list[set[str]] = []
    for pair in pairs:
        names = {name for name in pair if name is not None}
        touched = [group for group in groups if group & names]
        groups = [group for group in groups if group not in touched]
        groups.append(names.union(*touched))
    return [frozenset(group) for group in groups]


def _covers(formula: cel.Formula, variables: frozenset[str]) -> bool:
    """Whether every event of every match is in one of the variables."""
    match formula:
        case cel.Type(name, stream):
            return name in variables or f"{stream}>{name}" in variables
        case cel.As(body, variable):
            return variable in variables or _covers(body, variables)
    return all(_covers(child, variables) for child in formula.children())


def _without(formula: cel.Formula, keys: dict[Path, frozenset[str]]) -> cel.Formula:
    """The formula with a test of every event in place of the equalities that are keys: what is
    neither NULL nor NaN equals itself."""
    if not isinstance(formula, cel.Filter):
        return formula

    def changed(predicate: cel.Predicate) -> cel.Predicate:
        if isinstance(predicate, cel.AllOf):
            return replace(predicate, operands=tuple(map(changed, predicate.operands)))
        sides = _sides(predicate)
        if sides is None or not {*_variables(sides)} <= keys.get(sides[0].path, frozenset()):
            return predicate
        return cel.AllOf(tuple(cel.Holds(ex.Comparison("=", side, side)) for side in sides))

    body = _without(formula.body, keys)
    return replace(formula, body=body, predicate=changed(formula.predicate))


def _variables(sides: tuple[ex.Attribute, ex.Attribute]) -> Iterator[str]:
    return (side.variable for side in sides if side.variable is not None)
