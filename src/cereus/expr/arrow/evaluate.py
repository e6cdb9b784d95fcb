"""Evaluates conditions over Arrow batches; the values are those of `expr.python`.

A part of a condition that reads only one dictionary-encoded column is computed once per dictionary
entry and looked up by code, so `symbol LIKE 'A%'` costs as much as `symbol = 'A'`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import ConditionTypeError
from cereus.expr import tree as ex
from cereus.expr.arrow import functions as scalar_functions
from cereus.expr.arrow import operators as op
from cereus.expr.arrow.vector import (
    NULL,
    Vector,
    boolean,
    both,
    constant,
    from_arrow,
    to_arrow,
)
from cereus.expr.paths import column_at, type_at, value_at
from cereus.expr.text_patterns import like_as_regex
from cereus.expr.types import Kind, kind_of

Table: TypeAlias = "pa.RecordBatch | pa.Table"
Bindings: TypeAlias = Mapping[str, "Table | Mapping[str, object]"]
Columns: TypeAlias = Mapping[ex.Attribute, "pa.Array | Vector"]


def evaluate(
    expression: ex.Expression, table: Table, bindings: Bindings | None = None, unit: str = ""
) -> pa.Array | pa.ChunkedArray | pa.Scalar:
    """The value on every row: an array for a batch, a chunked array for a table, and a scalar for a
    value that does not depend on the row. Times are in UTC; in `unit`, if it is given and as fine
    as theirs, and NULL if there is no such time.

    `bindings` gives each variable one event (a mapping) or an event per row (a table as long as
    `table`).
    """
    if isinstance(table, pa.RecordBatch):
        value = value_of(expression, _read(expression, table, bindings))
        return to_arrow(op.in_unit(value, unit) if unit and value.unit else value, table.num_rows)
    parts = [evaluate(expression, *part, unit) for part in _batches(table, bindings)]
    return parts[0] if isinstance(parts[0], pa.Scalar) else pa.chunked_array(parts)


def mask(
    expression: ex.Expression, table: Table, bindings: Bindings | None = None
) -> npt.NDArray[np.bool_]:
    """The rows for which the condition is true; NULL is not true."""
    if isinstance(table, pa.RecordBatch):
        truth = op.truth(value_of(expression, _read(expression, table, bindings))).values
        return truth if np.ndim(truth) else np.full(table.num_rows, truth)
    return np.concatenate([mask(expression, *part) for part in _batches(table, bindings)])


def _batches(
    table: pa.Table, bindings: Bindings | None
) -> list[tuple[pa.RecordBatch, Bindings | None]]:
    """The table in batches (at least one), each with its rows of the bindings."""
    batches: list[tuple[pa.RecordBatch, Bindings | None]] = []
    row = 0
    for batch in table.to_batches() or [_empty(table.schema)]:
        batches.append((batch, bindings and _rows(bindings, row, batch.num_rows)))
        row += batch.num_rows
    return batches


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)


def _rows(bindings: Bindings, start: int, length: int) -> Bindings:
    return {
        name: bound if isinstance(bound, Mapping) else bound.slice(start, length)
        for name, bound in bindings.items()
    }


def _read(expression: ex.Expression, batch: pa.RecordBatch, bindings: Bindings | None) -> Columns:
    """The columns of all attributes that the expression mentions."""
    columns: dict[ex.Attribute, pa.Array | Vector] = {}
    for attribute in attributes_in(expression):
        variable = attribute.variable
        source = batch if variable is None else (bindings or {})[variable]
        if isinstance(source, Mapping):
            columns[attribute] = _bound(source, attribute)
        else:
            columns[attribute] = _column(source, attribute)
    return columns


@functools.lru_cache(maxsize=4096)
def attributes_in(expression: ex.Expression) -> frozenset[ex.Attribute]:
    """The attributes in an expression. Cached between batches: walking the tree took most of the
    time of a small one."""
    return frozenset(node for node in expression.walk() if isinstance(node, ex.Attribute))


def _bound(event: Mapping[str, Any], attribute: ex.Attribute) -> Vector:
    return constant(value_at(event, attribute.path))


def _column(source: Table, attribute: ex.Attribute) -> pa.Array:
    assert type_at(source.schema, attribute.path) is not None, attribute.name
    data = column_at(source, attribute.path)
    return data.combine_chunks() if isinstance(data, pa.ChunkedArray) else data


def value_of(node: ex.Expression, columns: Columns) -> Vector:
    """The value of an expression, given every attribute that it mentions."""
    coded = _coded_column(node, columns)
    if coded is not None:
        return _by_code(node, *coded)
    try:
        return _computed(node, columns)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ConditionTypeError(f"cannot be computed: {error}", span=node.span) from error


def _coded_column(
    node: ex.Expression, columns: Columns
) -> tuple[ex.Attribute, pa.DictionaryArray] | None:
    """The dictionary column, if it is all that this expression reads, and a lookup is worth it."""
    if isinstance(node, ex.Attribute):
        return None
    used = attributes_in(node)
    if len(used) != 1:
        return None
    (attribute,) = used
    data = columns[attribute]
    small = isinstance(data, pa.DictionaryArray) and len(data.dictionary) < len(data)
    return (attribute, data) if small else None


def _by_code(node: ex.Expression, attribute: ex.Attribute, data: pa.DictionaryArray) -> Vector:
    entries = data.dictionary
    codes = from_arrow(data.indices)
    places = codes.values
    if codes.valid is not None:  # one more entry, for the rows that are null
        places = np.where(codes.valid, places, len(entries))
        entries = pa.concat_arrays([entries, pa.nulls(1, entries.type)])
    return _look_up(value_of(node, {attribute: entries}), places)


def _look_up(entries: Vector, places: Any) -> Vector:
    if entries.constant:
        return entries
    if isinstance(entries.values, pa.Array):
        return replace(entries, values=entries.values.take(pa.array(places)))
    if entries.kind is Kind.BOOLEAN and entries.valid is None:
        hits = np.flatnonzero(entries.values)
        if len(hits) == 1:  # comparing codes takes a tenth of the time of a lookup
            return boolean(places == places.dtype.type(hits[0]))
    pair = (entries.values, entries.valid)
    values, valid = (part if np.ndim(part) == 0 else part.take(places) for part in pair)
    return replace(entries, values=values, valid=valid)


def _computed(node: ex.Expression, columns: Columns) -> Vector:
    return NODES[type(node)](node, columns)


def _attribute(node: ex.Attribute, columns: Columns) -> Vector:
    data = columns[node]
    return data if isinstance(data, Vector) else from_arrow(data)


def _in(node: ex.In, columns: Columns) -> Vector:
    operand = value_of(node.operand, columns)
    items = [value_of(item, columns) for item in node.items]
    known = [item for item in items if item.kind is not Kind.NULL]
    simple = all(item.kind is operand.kind and item.constant for item in known)
    if operand.constant or not simple or operand.kind not in (Kind.STRING, Kind.INTEGER):
        return op.disjunction([op.compare("=", operand, item) for item in items])
    member = _member(operand, known)
    valid = operand.validity()
    return boolean(member, valid if len(known) == len(items) else both(valid, member))


def _member(operand: Vector, items: Sequence[Vector]) -> Any:
    if operand.kind is Kind.INTEGER:
        return np.isin(operand.values, np.array([item.values for item in items], np.int64))
    kind = operand.values.type
    wanted = pa.array([item.values.as_py() for item in items], kind)
    return from_arrow(pc.is_in(operand.values, wanted)).values


def _between(node: ex.Between, columns: Columns) -> Vector:
    operand = value_of(node.operand, columns)
    bounds = ((">=", node.low), ("<=", node.high))
    return op.conjunction(
        [op.compare(how, operand, value_of(end, columns)) for how, end in bounds if end is not None]
    )


def _like(node: ex.Like, columns: Columns) -> Vector:
    """LIKE. Arrow's own LIKE treats an escape after a leading % as a plain character; a regular
    expression does not."""
    if "\\" not in node.pattern:
        return _matched(node.operand, columns, pc.match_like, node.pattern)
    pattern = rf"(?s)\A{like_as_regex(node.pattern)}\z"
    return _matched(node.operand, columns, pc.match_substring_regex, pattern)


def _regexp(node: ex.Regexp, columns: Columns) -> Vector:
    return _matched(node.operand, columns, pc.match_substring_regex, node.pattern)


def _matched(
    text: ex.Expression, columns: Columns, kernel: Callable[[Any, str], Any], pattern: str
) -> Vector:
    operand = value_of(text, columns)
    return NULL if operand.kind is Kind.NULL else from_arrow(kernel(operand.values, pattern))


def _is_null(node: ex.IsNull, columns: Columns) -> Vector:
    data = columns[node.operand] if isinstance(node.operand, ex.Attribute) else None
    if isinstance(data, pa.Array) and kind_of(data.type) is Kind.OTHER:
        return from_arrow(data.is_null())  # a list, for example: only IS NULL is possible
    operand = value_of(node.operand, columns)
    valid = operand.validity()
    if valid is None:
        size = () if operand.constant else len(operand.values)
        return boolean(np.zeros(size, np.bool_)[()])
    return boolean(~valid)


def _case(node: ex.Case, columns: Columns) -> Vector:
    conditions = [op.truth(value_of(when, columns)).values for when, _ in node.branches]
    outcomes = [value_of(then, columns) for _, then in node.branches]
    default = NULL if node.default is None else value_of(node.default, columns)
    *chosen, rest = op.unify([*outcomes, default])
    for condition, outcome in zip(reversed(conditions), reversed(chosen), strict=True):
        rest = op.choose(condition, outcome, rest)
    return rest


def _call(node: ex.Call, columns: Columns) -> Vector:
    match node:
        case ex.Call(function="regexp", arguments=(operand, ex.Literal(value=str(pattern)))):
            return _regexp(ex.Regexp(operand, pattern), columns)
    return scalar_functions.call(
        node.function, [value_of(each, columns) for each in node.arguments]
    )


def _unary(compute: Callable[[Vector], Vector]) -> Callable[[Any, Columns], Vector]:
    return lambda node, columns: compute(value_of(node.operand, columns))


def _connective(
    combine: Callable[[Sequence[Vector]], Vector],
) -> Callable[[Any, Columns], Vector]:
    return lambda node, columns: combine([value_of(each, columns) for each in node.operands])


def _binary(combine: Callable[[str, Vector, Vector], Vector]) -> Callable[[Any, Columns], Vector]:
    return lambda node, columns: combine(
        node.op, value_of(node.left, columns), value_of(node.right, columns)
    )


NODES: dict[type[ex.Expression], Callable[[Any, Columns], Vector]] = {
    ex.Literal: lambda node, columns: constant(node.value),
    ex.Attribute: _attribute,
    ex.Negate: _unary(op.negate),
    ex.Arithmetic: _binary(op.arithmetic),
    ex.Comparison: _binary(op.compare),
    ex.And: _connective(op.conjunction),
    ex.Or: _connective(op.disjunction),
    ex.Not: _unary(op.complement),
    ex.In: _in,
    ex.Between: _between,
    ex.Like: _like,
    ex.Regexp: _regexp,
    ex.IsNull: _is_null,
    ex.Case: _case,
    ex.Call: _call,
}
