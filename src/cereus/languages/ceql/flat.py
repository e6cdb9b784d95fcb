"""Flat columns: `a_price` in place of a list of events, for variables that hold one event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from cereus.clauses.tree import Output, Returned
from cereus.expr.tree import Attribute
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.order import leaf_order
from cereus.languages.ceql.scope import bound


def flattened(query: cel.CeqlTree, schema: pa.Schema) -> cel.CeqlTree:
    """The query with the attributes of its variables returned one by one. Variables that may hold
    several events stay lists; without a selection all named events of the pattern are taken."""
    if query.count:
        return query
    repeated = leaf_order(query.formula).repeated()
    outputs = query.select
    if outputs is None:
        outputs = tuple(map(Output, dict.fromkeys(_names(query.formula))))
    single = [each for each in outputs if each.variable not in repeated]
    columns = tuple((name,) for name in schema.names)
    values = (
        Returned(Attribute(path, each.variable), "_".join((each.variable, *path)))
        for each in single
        for path in each.attributes or columns
    )
    kept = None
    if query.select is not None:
        kept = tuple(each for each in query.select if each not in single)
    return replace(query, select=kept, returned=(*query.returned, *values))


def _names(formula: cel.Formula) -> Iterator[str]:
    """The names of single events: given by AS, or else their type."""
    known = bound(formula)
    for node in formula.walk():
        if isinstance(node, cel.As) and node.variable in known:
            yield node.variable
    yield from (name for name in _types(formula) if name in known)


def _types(formula: cel.Formula) -> Iterator[str]:
    """The types of events that have no name of their own."""
    if isinstance(formula, cel.Type):
        yield formula.name
        return
    named = isinstance(formula, cel.As) and _is_event(formula.body)
    for child in () if named or isinstance(formula, cel.Not) else formula.children():
        yield from _types(child)


def _is_event(formula: cel.Formula) -> bool:
    while isinstance(formula, cel.Filter):
        formula = formula.body
    return isinstance(formula, cel.Type)
