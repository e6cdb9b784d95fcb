"""The Arrow types of computed values."""

from __future__ import annotations

import pyarrow as pa

from cereus.expr import check
from cereus.expr import tree as ex
from cereus.expr.functions import FUNCTIONS
from cereus.expr.python.aggregates import EVERY_VALUE
from cereus.expr.types import Kind, column_type

ARROW = {
    Kind.STRING: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.TIMESTAMP: pa.timestamp("us", "UTC"),
    Kind.INTERVAL: pa.duration("us"),
    Kind.ANY: pa.null(),
}
"""The types of computed values, except numbers and times."""
TIMES = {Kind.TIMESTAMP: pa.timestamp("ns", "UTC"), Kind.INTERVAL: pa.duration("ns")}


def value_type(value: ex.Expression, schema: pa.Schema) -> pa.DataType:
    """The type of an expression's values over events with these columns."""
    if isinstance(value, ex.Attribute | ex.Aggregate):
        return leaf_type(value, schema)
    return type_of_kind(check.check(value, schema, expected=None), value, schema)


def type_of_kind(kind: Kind, value: ex.Expression, schema: pa.Schema) -> pa.DataType:
    """The type of values of a kind; for numbers it depends on the expression that computes them."""
    if kind in TIMES and _has_nanoseconds(value, schema):
        return TIMES[kind]
    if kind is not Kind.NUMBER:
        return ARROW[kind]
    return pa.int64() if _is_integer(value, schema) else pa.float64()


def _has_nanoseconds(value: ex.Expression, schema: pa.Schema) -> bool:
    """Whether something that it reads has nanoseconds: then so has the result."""
    leaves = (node for node in value.walk() if isinstance(node, ex.Attribute | ex.Aggregate))
    return any(getattr(leaf_type(leaf, schema), "unit", None) == "ns" for leaf in leaves)


def leaf_type(node: ex.Attribute | ex.Aggregate, schema: pa.Schema) -> pa.DataType:
    """The type of a column, or of an aggregate of it. A user's own aggregate has the type of the
    values that it combines."""
    if isinstance(node, ex.Attribute):
        return column_type(node, node.path, schema)
    if node.function == "count":
        if node.attribute is not None:
            column_type(node, node.attribute, schema)
        return pa.int64()
    column = column_type(node, node.attribute or (), schema)
    if node.function not in ("sum", "avg", *EVERY_VALUE):
        return column
    check.check(node, schema, expected=Kind.NUMBER)
    return pa.int64() if node.function == "sum" and pa.types.is_integer(column) else pa.float64()


def _is_integer(node: ex.Expression, schema: pa.Schema) -> bool:
    """Whether a number is always an integer."""
    match node:
        case ex.Literal(value):
            return isinstance(value, int)
        case ex.Attribute() | ex.Aggregate():
            return bool(pa.types.is_integer(leaf_type(node, schema)))
        case ex.Arithmetic(op):
            return op != "/" and all(_is_integer(child, schema) for child in node.children())
        case ex.Call(function) if function != "sign":
            return FUNCTIONS[function].result is Kind.INTEGER
        case ex.Case(branches, default):
            values = [value for _, value in branches] + ([default] if default else [])
            return all(_is_integer(value, schema) for value in values)
    return all(_is_integer(child, schema) for child in node.children())
