"""The single events that the parts of a pattern take: their tests, and the conditions on them."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cereus.expr import tree as ex
from cereus.expr.check import coerce
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.predicates import conjuncts_of, mentioned
from cereus.languages.ceql.scope import bound
from cereus.plan.tests import EventTest
from cereus.stream import Stream


def _local(formula: cel.Formula) -> Iterator[tuple[cel.Formula, str, ex.Expression]]:
    """The conditions on single events: the part that each filters, the variable, the condition."""
    for node in formula.walk():
        if not isinstance(node, cel.Filter):
            continue
        for part in conjuncts_of(node.predicate):
            names = sorted({name for name, _ in mentioned(part)})
            if (
                isinstance(part, cel.Holds)
                and len(names) == 1
                and not ex.has_aggregates(part.condition)
            ):
                yield node.body, names[0], part.condition


def conditions_on_single_events(
    formula: cel.Formula,
) -> Iterator[tuple[cel.Type, ex.Expression]]:
    """Conditions on a variable that only one part of the pattern can hold, with that part."""
    of = list(leaves(formula, frozenset()))
    for body, variable, condition in _local(formula):
        inside = [id(node) for node in body.walk()]
        holding = [leaf for leaf, names in of if variable in names and id(leaf) in inside]
        if len(holding) == 1:
            yield holding[0], condition


def tests_of(
    unit: cel.Formula, query: cel.CeqlTree, stream: Stream, schema: pa.Schema | None
) -> Iterator[EventTest]:
    """The tests of the events that a part of the pattern takes."""
    formula, streams = query.formula, query.streams
    conditions = list(_local(formula))
    inside = [id(node) for node in unit.walk()]
    for leaf, names in leaves(formula, frozenset()):
        if id(leaf) not in inside:
            continue
        tested = (
            _of_event(condition, schema)
            for body, variable, condition in conditions
            if variable in names and any(node is leaf for node in body.walk())
        )
        type_name = None if leaf.name == "*" else leaf.name
        distinct = tuple(dict.fromkeys(tested))
        for name in (leaf.stream,) if leaf.stream else streams or (None,):
            yield EventTest(type_name, name if stream.stream else None, distinct)


def leaves(
    formula: cel.Formula, names: frozenset[str]
) -> Iterator[tuple[cel.Type, frozenset[str]]]:
    """The events that a part takes, each with the variables that hold it."""
    match formula:
        case cel.Type():
            yield formula, names | bound(formula)
        case cel.As(body, variable):
            yield from leaves(body, names | {variable})
        case cel.Unless(left, _):
            yield from leaves(left, names)
        case cel.Not():
            return
        case _:
            for child in formula.children():
                yield from leaves(child, names)


def _of_event(condition: ex.Expression, schema: pa.Schema | None) -> ex.Expression:
    bare = ex.without_variable(condition)
    return bare if schema is None else coerce(bare, schema)
