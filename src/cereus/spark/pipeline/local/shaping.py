"""`select` and `where` of a pipeline without Spark: the condition language, with the parts of lists
that Spark SQL has: `bids[0].price`, `size(bids)`."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import CereusError, DataError, QueryError, did_you_mean
from cereus.expr.arrow.evaluate import evaluate, mask
from cereus.expr.check import check, coerce
from cereus.expr.text import parse_condition
from cereus.expr.tree import Attribute, Expression

ALIAS = re.compile(r"^(?P<value>.*\S)\s+AS\s+(?P<name>`[^`]+`|\w+)\s*$", re.IGNORECASE | re.DOTALL)
ELEMENT = re.compile(r"\b(?P<list>\w+)\[(?P<place>\d+)\](?:\.(?P<field>\w+))?")
SIZE = re.compile(r"\bsize\(\s*(?P<list>\w+)\s*\)", re.IGNORECASE)
EVERYTHING = "*"
HINT = "without Spark these are conditions of Cereus, with list[0].column and size(list)"


def shaped(table: pa.Table, select: tuple[str, ...], where: str | None) -> pa.Table:
    """The chosen rows and columns; `where` sees the columns before `select`."""
    if where is not None:
        parts, text = _with_parts(table, where)
        table = table.filter(pa.array(mask(_parsed(text, parts.schema, where), parts)))
    if not select:
        return table
    columns: dict[str, pa.ChunkedArray] = {}
    for item in select:
        columns.update(_selected(table, item.strip()))
    return pa.table(columns)


def _selected(table: pa.Table, item: str) -> dict[str, pa.ChunkedArray]:
    if item == EVERYTHING:
        return dict(zip(table.column_names, table.columns, strict=True))
    alias = ALIAS.match(item)
    written = item if alias is None else alias["value"]
    parts, text = _with_parts(table, written)
    expression = _parsed(text, parts.schema, written, boolean=False)
    name = alias["name"].strip("`") if alias else _name(expression, item)
    if isinstance(expression, Attribute) and expression.path[0] in parts.column_names:
        column = parts.column(expression.path[0])
        for step in expression.path[1:]:
            column = pc.struct_field(column, step)
        return {name: column}
    return {name: _column(evaluate(expression, parts), parts.num_rows)}


def _name(expression: Expression, item: str) -> str:
    if isinstance(expression, Attribute):
        return expression.path[-1]
    raise CereusError(f"what is {item!r} to be called?", hint=f"write {item} AS some_name")


def _column(value: pa.ChunkedArray | pa.Array | pa.Scalar, rows: int) -> pa.ChunkedArray:
    if isinstance(value, pa.Scalar):
        return pa.chunked_array([pa.repeat(value, rows)])
    return value if isinstance(value, pa.ChunkedArray) else pa.chunked_array([value])


def _parsed(text: str, schema: pa.Schema, written: str, *, boolean: bool = True) -> Expression:
    try:
        expression = parse_condition(text)
        if boolean:
            check(expression, schema)
        else:
            check(expression, schema, expected=None)
    except QueryError as error:
        raise CereusError(f"in {written!r}: {error.reason}", hint=error.hint or HINT) from None
    return coerce(expression, schema)


# ---------------------------------------------------------------- parts of lists


def _with_parts(table: pa.Table, text: str) -> tuple[pa.Table, str]:
    """The table with a column for each part of a list that a text names, and the text with the
    names of these columns."""
    made: dict[str, pa.ChunkedArray] = {}

    def part(column: pa.ChunkedArray) -> str:
        name = f"__part{len(made)}"
        made[name] = column
        return name

    def element(named: re.Match[str]) -> str:
        lists = _list(table, named["list"])
        return part(_element(lists, int(named["place"]), named["field"]))

    text = SIZE.sub(lambda m: part(pc.list_value_length(_list(table, m["list"]))), text)
    text = ELEMENT.sub(element, text)
    for name, column in made.items():
        table = table.append_column(name, column)
    return table, text


def _list(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        hint = did_you_mean(name, table.column_names)
        raise DataError(f"the events have no column {name!r}", hint=hint)
    column = table.column(name)
    if not pa.types.is_list(column.type):
        raise DataError(f"the column {name!r} is no list, but {column.type}", hint=HINT)
    return column


def _element(lists: pa.ChunkedArray, place: int, field: str | None) -> pa.ChunkedArray:
    """The value at a place of each list, or a field of it; NULL where a list is shorter."""
    values = lists.combine_chunks()
    long = pc.greater(pc.list_value_length(values), place)
    kind = values.type.value_type
    there = pc.list_element(values.filter(long), place)
    if field is not None:
        names = [kind.field(at).name for at in range(kind.num_fields)] if _is_struct(kind) else []
        if field not in names:
            raise DataError(f"there is no {field!r} in {kind}", hint=did_you_mean(field, names))
        there, kind = pc.struct_field(there, field), kind.field(field).type
    rows = pc.if_else(long, pc.subtract(pc.cumulative_sum(long.cast(pa.int64())), 1), None)
    return pa.chunked_array([there.take(rows.fill_null(None))], kind)


def _is_struct(kind: pa.DataType) -> bool:
    return bool(pa.types.is_struct(kind))
