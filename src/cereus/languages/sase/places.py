"""Decides where a clause of WHERE belongs: to which component, and to which of its edges (§3.2,
A.1).

The last identifier of a clause, in SEQ order, decides. In a Kleene component that order is `a[1]`,
then `a[i]` with what was selected before it, then `a[a.LEN]` with all that is known only about the
whole array. A clause that mentions a negated component belongs to it, whatever else it mentions: it
is decided when the events around the negated component are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase


class ClausePlace(IntEnum):
    """The events that a clause is checked on, in the order of the states they are selected in."""

    FIRST = 0
    """The one event of a single component; `a[1]` of a Kleene."""
    EACH = 1
    """Every `a[i]`, i ≥ 1: an individual iterator predicate."""
    LATER = 2
    """Every `a[i]`, i ≥ 2: a correlated iterator predicate compares it with earlier ones."""
    LAST = 3
    """The array as a whole, on the proceed edge: `a[a.LEN]`, `a.LEN`, `sum(a[].x)`."""


Identifier = ex.Attribute | sase.Aggregate


@dataclass(frozen=True)
class Placed:
    """A clause with the component and the place that it labels."""

    clause: sase.Clause
    variable: str
    place: ClausePlace


def identifiers(expression: ex.Expression) -> Iterator[Identifier]:
    """All parts of an expression that read a variable."""
    for node in expression.walk():
        if isinstance(node, ex.Attribute | sase.Aggregate):
            yield node


def atoms(condition: ex.Expression) -> Iterator[ex.Expression]:
    """The predicates of a clause: the operands of AND, OR and NOT."""
    if isinstance(condition, ex.And | ex.Or | ex.Not):
        for child in condition.children():
            yield from atoms(child)
    else:
        yield condition


def rank(node: Identifier) -> ClausePlace:
    """The place of one identifier among those of its own variable."""
    match node:
        case sase.Item(at=sase.Index.FIRST):
            return ClausePlace.FIRST
        case sase.Item(at=sase.Index.EACH):
            return ClausePlace.EACH
        case sase.Item(at=sase.Index.PREVIOUS) | sase.Aggregate(running=True):
            return ClausePlace.LATER
        case sase.Item() | sase.Aggregate():
            return ClausePlace.LAST
    return ClausePlace.FIRST


def last_variable(query: sase.Query, condition: ex.Expression) -> str | None:
    """The variable that a condition belongs to: a negated one, else the last in SEQ order."""
    mentioned = {node.variable for node in identifiers(condition)}
    order = [part.variable for part in query.parts if part.variable in mentioned]
    negated = [name for name in order if query.is_negated(name)]
    candidates = negated or order
    return candidates[-1] if candidates else None


def place(condition: ex.Expression, variable: str) -> ClausePlace:
    """The place of a condition that belongs to `variable`. `a[i]` beside `a[1]` is correlated."""
    ranks = {rank(node) for node in identifiers(condition) if node.variable == variable}
    if max(ranks) is ClausePlace.EACH and ClausePlace.FIRST in ranks:
        return ClausePlace.LATER
    return max(ranks)


def placed(query: sase.Query) -> tuple[Placed, ...]:
    """Every clause of a checked query, except the equivalence tests, which belong to all
    components."""
    clauses = []
    for clause in query.clauses:
        if not isinstance(clause.condition, sase.Equivalence):
            variable = last_variable(query, clause.condition)
            assert variable is not None, "a clause of a checked query mentions a variable"
            clauses.append(Placed(clause, variable, place(clause.condition, variable)))
    return tuple(clauses)
