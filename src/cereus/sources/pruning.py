"""Finds row groups of a file that cannot matter to a query, by an Arrow expression over its
columns.

A Parquet file knows the smallest and the largest value of every column in each of its row groups. A
group in which no event can pass a test of the query is not read. Parts of a condition that have no
such bounds are ignored, which only makes more groups seem possible.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cereus.expr import tree as ex
from cereus.plan.tests import EventTest, conditions_of
from cereus.stream import Stream

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
EXACT = 2**53
"""Whole numbers up to this are exact as float64."""
UNFIT = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)


def possible(tests: Sequence[EventTest], stream: Stream, schema: pa.Schema) -> Any:
    """An expression that is true for every event that can pass a test; None if all may."""
    parts = [_test(test, stream, schema) for test in tests]
    passing = None
    if parts and all(part is not None for part in parts):
        passing = reduce(operator.or_, parts)
    where = None if stream.condition is None else _condition(stream.condition, schema)
    given = [each for each in (passing, where) if each is not None]
    return reduce(operator.and_, given) if given else None


def _test(test: EventTest, stream: Stream, schema: pa.Schema) -> Any:
    if test.negated:
        return None
    return _every(conditions_of(test, stream), schema)


def _every(conditions: Iterable[ex.Expression], schema: pa.Schema) -> Any:
    parts = [_condition(condition, schema) for condition in conditions]
    known = [part for part in parts if part is not None]
    return reduce(operator.and_, known) if known else None


def _condition(condition: ex.Expression, schema: pa.Schema) -> Any:
    """A condition as an expression over the bounds of columns; None if it has none."""
    match condition:
        case ex.And(operands):
            return _every(operands, schema)
        case ex.Or(operands):
            parts = [_condition(each, schema) for each in operands]
            return None if any(p is None for p in parts) else reduce(operator.or_, parts)
        case ex.Comparison(op, ex.Attribute() as column, ex.Literal() as value):
            return _compared(op, column, value, schema)
        case ex.Comparison(op, ex.Literal() as value, ex.Attribute() as column):
            return _compared(MIRRORED.get(op, op), column, value, schema)
    return None


def _compared(op: str, column: ex.Attribute, value: ex.Literal, schema: pa.Schema) -> Any:
    if op not in COMPARISONS or len(column.path) > 1 or column.path[0] not in schema.names:
        return None
    kind = schema.field(column.path[0]).type
    if not _exact(value.value, kind):
        return None
    try:
        scalar = pa.scalar(value.value, kind)
    except UNFIT:
        return None
    return COMPARISONS[op](pc.field(column.path[0]), scalar)


def _exact(value: object, kind: pa.DataType) -> bool:
    """Whether a value is the same in a column of this type, so that both compare alike."""
    if isinstance(value, str):
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    if isinstance(value, datetime):
        return pa.types.is_timestamp(kind) and kind.tz is None and value.tzinfo is None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if pa.types.is_float64(kind):
        return abs(value) <= EXACT
    return bool(pa.types.is_integer(kind)) and isinstance(value, int)
