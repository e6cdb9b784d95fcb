"""Checks that the clauses of a query fit the columns of the events."""

from __future__ import annotations

import pyarrow as pa

from cereus.clauses.tree import AnyQuery, AttributeWindow
from cereus.errors import UnknownNameError, did_you_mean
from cereus.expr.check import check
from cereus.expr.tree import Attribute, Expression
from cereus.expr.types import Kind, column_type
from cereus.stream import Stream
from cereus.syntax.literals import quote_name
from cereus.syntax.parsing import located
from cereus.syntax.tree import Node


def check_clauses(query: AnyQuery, stream: Stream, schema: pa.Schema) -> None:
    """Check that every column that the stream and the clauses name exists, and that totals are of
    numbers."""
    stream.need_columns(schema)
    for path in query.partition_by:
        _require(path, schema, query, "the PARTITION BY column")
    if isinstance(query.window, AttributeWindow):
        _require(query.window.attribute, schema, query, "the window's attribute")
    for output in query.select or ():
        for path in output.attributes:
            _require(path, schema, query, "the selected attribute", output)
    for each in query.returned:
        check_value(each.value, schema, query.text)
    for total in query.totals:
        check(Attribute(total.attribute or (), span=total.span), schema, query.text, Kind.NUMBER)


def _column_alone(path: tuple[str, ...], known: list[str], what: str) -> str | None:
    """`PARTITION BY a.user`: a key is a column of all events, not an attribute of a variable."""
    keyed = "PARTITION" in what and path[-1] in known
    return f"write the column alone: PARTITION BY {quote_name(path[-1])}" if keyed else None


def check_value(value: Expression, schema: pa.Schema, text: str | None) -> None:
    """Check a value that is shown; a column may be of any type."""
    if isinstance(value, Attribute):
        try:
            column_type(value, value.path, schema)
        except UnknownNameError as error:
            raise (error if text is None else located(error, text)) from None
    else:
        check(value, schema, text, expected=None)


def _require(
    path: tuple[str, ...],
    schema: pa.Schema,
    query: AnyQuery,
    what: str,
    node: Node | None = None,
) -> None:
    if not path:
        return
    known = schema.names
    kind: pa.DataType | None = None
    for step in path:
        if step not in known:
            raise UnknownNameError(
                f"{what} {'.'.join(path)!r} is not in the events",
                text=query.text if node is not None else None,
                span=node.span if node is not None else None,
                hint=_column_alone(path, known, what) or did_you_mean(step, known),
            )
        kind = schema.field(step).type if kind is None else kind.field(step).type
        known = [f.name for f in kind] if pa.types.is_struct(kind) else []
