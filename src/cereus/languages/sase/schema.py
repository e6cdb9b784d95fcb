"""Checks a SASE+ query against the columns of its events, and finds the columns of its output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from cereus.clauses.tree import AttributeWindow
from cereus.errors import ConditionTypeError, QueryError
from cereus.expr import check
from cereus.expr import tree as ex
from cereus.expr.arrow.value_type import leaf_type, type_of_kind
from cereus.expr.types import column_type
from cereus.languages.sase import tree as sase
from cereus.languages.sase.output import output_names
from cereus.languages.sase.streams import in_order
from cereus.syntax.parsing import located


def checked(
    program: sase.Program,
    schema: pa.Schema,
    *,
    type: str | None = "type",
    time: str | None = "time",
) -> tuple[sase.Program, tuple[pa.Schema, ...]]:
    """The program with timestamps among its literals read as such, and the schema of each query's
    output events. Raises, with the place, where a column is unknown or operands do not fit.
    """
    streams: dict[str, pa.Schema] = {}
    by_union: dict[int, tuple[sase.Union, pa.Schema]] = {}
    try:
        for union in in_order(program):
            inputs = [streams.get(b.source or "", schema) for b in union.blocks]
            blocks = tuple(_block(b, s) for b, s in zip(union.blocks, inputs, strict=True))
            coerced = replace(union, blocks=blocks)
            output = _schema(coerced, inputs, type or "type", time)
            by_union[id(union)] = coerced, output
            if union.stream is not None:
                streams[union.stream] = output
    except QueryError as error:
        raise (error if program.text is None else located(error, program.text)) from None
    made = [by_union[id(union)] for union in program.queries]
    return replace(program, queries=tuple(u for u, _ in made)), tuple(s for _, s in made)


def _block(query: sase.Query, schema: pa.Schema) -> sase.Query:
    for clause in query.clauses:
        _check_condition(clause.condition, schema)
    if query.having is not None:
        _check_condition(query.having, schema)
    if isinstance(query.window, AttributeWindow):
        column_type(ex.Literal(None, span=query.window.span), query.window.attribute, schema)
    where = tuple(
        replace(group, clauses=tuple(_coerced(clause, schema) for clause in group.clauses))
        for group in query.where
    )
    having = query.having and check.coerce(query.having, schema)
    return replace(query, where=where, having=having)


def _coerced(clause: sase.Clause, schema: pa.Schema) -> sase.Clause:
    return replace(clause, condition=check.coerce(clause.condition, schema))


def _check_condition(condition: ex.Expression, schema: pa.Schema) -> None:
    if isinstance(condition, sase.Equivalence):
        for path in condition.paths:
            column_type(condition, path, schema)
    else:
        check.check(_built_in(condition, schema), schema)


def _built_in(node: ex.Expression, schema: pa.Schema) -> ex.Expression:
    """The expression with NULL in place of the user's own aggregates, whose values can be of any
    kind."""
    if isinstance(node, sase.Aggregate) and node.function not in sase.BUILT_IN:
        column_type(node, node.attribute or (), schema)
        return ex.Literal(None, span=node.span)
    return ex.rebuild(node, lambda child: _built_in(child, schema))


# ---------------------------------------------------------------- output


def _schema(union: sase.Union, inputs: list[pa.Schema], type: str, time: str | None) -> pa.Schema:
    """Type, time, and one column per value of RETURN: the same types in every block."""
    names = output_names(union, [type, *([] if time is None else [time])])
    first, *others = (
        [value_type(value, schema) for value in block.output.values]
        for block, schema in zip(union.blocks, inputs, strict=True)
    )
    for block, types in zip(union.blocks[1:], others, strict=True):
        for value, kind, other in zip(block.output.values, types, first, strict=True):
            if kind != other:
                raise ConditionTypeError(
                    f"this is of type {kind}, in the first query of the UNION of type {other}",
                    span=value.span,
                    hint="return values of one type in all of them",
                )
    fields = [pa.field(type, pa.string())]
    if time is not None:
        fields.append(pa.field(time, inputs[0].field(time).type))
    return pa.schema([*fields, *map(pa.field, names, first)])


def value_type(value: ex.Expression, schema: pa.Schema) -> pa.DataType:
    """The Arrow type of a value in RETURN: a scalar, a list, a struct, a list of structs."""
    match value:
        case sase.Series(_, path):
            return pa.list_(column_type(value, path, schema))
        case sase.Record(_, paths):
            return _struct(value, paths, schema)
        case sase.Records(_, paths):
            return pa.list_(_struct(value, paths, schema))
        case sase.Aggregate(k=int()):
            return pa.list_(column_type(value, value.attribute or (), schema))
        case ex.Attribute() | sase.Aggregate():
            return leaf_type(value, schema)
    kind = check.check(_built_in(value, schema), schema, expected=None)
    return type_of_kind(kind, value, schema)


def _struct(node: ex.Expression, paths: Iterable[sase.Path], schema: pa.Schema) -> pa.DataType:
    return pa.struct([pa.field(path[-1], column_type(node, path, schema)) for path in paths])
