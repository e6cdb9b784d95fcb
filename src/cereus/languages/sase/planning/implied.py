"""Finds attributes on which conditions make all events of a match agree: they split the stream as
an equivalence test does.

This needs strategies that only look at events that can be selected (`skip_till_…`), and a condition
at every component where its events are *selected*: under skip_till_next_match an event of another
key would otherwise be taken, and end the run. The conditions stay, so NULL and NaN keep their
meaning.
"""

from __future__ import annotations

from cereus.clauses.tree import EventWindow
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase

SKIPPING = (sase.Strategy.NEXT, sase.Strategy.ANY)
Sides = tuple[ex.Attribute, ex.Attribute]


def implied_keys(query: sase.Query) -> tuple[sase.Path, ...]:
    """The attributes that equalities over all components, including negated ones, make keys."""
    skipping = all(query.strategy(part.variable) in SKIPPING for part in query.parts)
    if not skipping or isinstance(query.window, EventWindow):
        return ()
    equalities = [sides for clause in query.clauses if (sides := _sides(clause.condition))]
    paths = dict.fromkeys(left.path for left, _ in equalities)
    return tuple(path for path in paths if _links_all(query, path, equalities))


def _sides(condition: ex.Expression) -> Sides | None:
    """The two sides of `b.k = a.k`."""
    match condition:
        case ex.Comparison("=", ex.Attribute() as left, ex.Attribute() as right):
            return (left, right) if left.path == right.path else None
    return None


def _links_all(query: sase.Query, path: sase.Path, equalities: list[Sides]) -> bool:
    every = [sides for sides in equalities if sides[0].path == path]
    every += [(right, left) for left, right in every]
    linked: set[str] = set()
    for component in query.components:
        if not _is_linked(component, every, linked, begins=not linked):
            return False
        linked.add(component.variable)
    negated = [part.component for part in query.parts if isinstance(part, sase.Negated)]
    return all(_is_linked(component, every, linked, begins=False) for component in negated)


def _is_linked(
    component: sase.Component, equalities: list[Sides], others: set[str], *, begins: bool
) -> bool:
    """Whether the events of a component agree with each other and, unless it begins the pattern,
    with those of another one, wherever one is selected."""
    name = component.variable
    links = [
        _at(here) for here, there in equalities if here.variable == name and _in(there, others)
    ]
    first = begins or bool(links and {None, sase.Index.FIRST, sase.Index.EACH} & set(links))
    if not isinstance(component, sase.Kleene):
        return first
    within = {
        _at(there)
        for here, there in equalities
        if here.variable == there.variable == name and _at(here) is sase.Index.EACH
    }
    agree = bool(within & {sase.Index.FIRST, sase.Index.PREVIOUS})
    return sase.Index.EACH in links or (first and agree)


def _in(node: ex.Attribute, variables: set[str]) -> bool:
    return node.variable in variables


def _at(node: ex.Attribute) -> sase.Index | None:
    return node.at if isinstance(node, sase.Item) else None
