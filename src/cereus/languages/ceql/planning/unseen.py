"""Rewrites repetitions of which nothing is selected: one round is enough.

`SELECT b WHERE A+ AS a ; B AS b FILTER a.x < b.x` has a row for every b that some events a come
before. The condition is on each event of a, so each alone would do, and the last one alone begins
latest, which is what a row shows. Listing all sets of events would take time that doubles with each
of them.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.clauses.tree import AnyQuery, Strategy
from cereus.expr.tree import has_aggregates
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.previous import reads_previous
from cereus.languages.ceql.predicates import conditions_of
from cereus.languages.ceql.scope import bound
from cereus.plan.traits import selected


def with_single_rounds(query: AnyQuery, formula: cel.Formula) -> cel.Formula:
    """The formula with one round in place of `+`, where that does not change the rows."""
    names = selected(query)
    others = query.unfollowed or query.timeouts or query.skip
    if names is None or query.strategy is not Strategy.ALL or others:
        return formula
    if any(">" in name for name in names):  # events of a stream, whatever their variables
        return formula
    return _single(formula, frozenset(names), seen=False)


def _single(node: cel.Formula, names: frozenset[str], *, seen: bool) -> cel.Formula:
    """Rewrite a node; `seen`: a variable around it is selected."""
    match node:
        case cel.Sequence(left, right):
            return replace(
                node,
                left=_single(left, names, seen=seen),
                right=_single(right, names, seen=seen),
            )
        case cel.Or(operands):
            return replace(
                node, operands=tuple(_single(part, names, seen=seen) for part in operands)
            )
        case cel.As(body, variable):
            return replace(node, body=_single(body, names, seen=seen or variable in names))
        case cel.Filter(body, predicate) if _asks_of_each(predicate):
            return replace(node, body=_single(body, names, seen=seen))
        case cel.Iteration(body) if not seen and names.isdisjoint(bound(body)) and _waits(body):
            return _single(body, names, seen=seen)
    return node


def _waits(body: cel.Formula) -> bool:
    """Whether the last round needs none before it."""
    plain = cel.Type | cel.As | cel.Filter | cel.Sequence | cel.Or | cel.Iteration
    return all(isinstance(node, plain) for node in body.walk())


def _asks_of_each(predicate: cel.Predicate) -> bool:
    """Whether a predicate that is true for some events is true for fewer of them."""
    return not any(has_aggregates(c) or reads_previous(c) for c in conditions_of(predicate))
