"""Values of results as the cells of a table on a page."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cereus.matches import Matches
from cereus.show.pictures import LARGEST_EXACT
from cereus.syntax.literals import time_text
from cereus.syntax.mentioned import mentioned
from cereus.writing.expressible import expressible, shown_rows
from cereus.writing.json_text import json_text

OF_EVENTS = ("match", "position", "variables")
"""The columns of `Matches.events()` that are not columns of the events."""
ENDS, POSITIONS = ("start", "end"), "positions"
MOST_VALUES = 8
"""A table of matches with more attributes of events than this would be too wide."""


def with_values(matches: Matches) -> pa.Table:
    """The table of some matches, with the attributes that the text of the query mentions of
    variables that have one event in each match: `small.amount`. Their row numbers are among the
    positions, so they are left out."""
    table = matches.table
    single = [name for name in matches.query.variables if _has_one_row(table, name)]
    values = _values(matches, single) if POSITIONS in table.column_names else {}
    if not values:
        return table
    left_out = {*ENDS, *(variable for variable, _ in values)}
    kept = [name for name in table.column_names if name not in left_out]
    behind = [name for name in kept if name in (POSITIONS, *matches.query.variables)]
    columns = {name: table.column(name) for name in kept if name not in behind}
    columns |= {f"{variable}.{name}": value for (variable, name), value in values.items()}
    return pa.table(columns | {name: table.column(name) for name in behind})


def _values(matches: Matches, single: list[str]) -> dict[tuple[str, str], pa.ChunkedArray]:
    """The attributes of variables with one event, by variable and name; none if a column of the
    results is called the same."""
    events = matches.events()
    known = {*OF_EVENTS, *(path[0] for path in matches.query.keys)}
    named = [name for name in events.column_names if name not in known]
    variables = events.column("variables").to_pylist() if single else []
    values = {}
    for variable in single:
        rows = events.filter(pa.array([variable in each for each in variables]))
        for name in mentioned(matches.query.text, named):
            values[variable, name] = rows.column(name)
    clash = any(f"{variable}.{name}" in matches.table.column_names for variable, name in values)
    return {} if clash or len(values) > MOST_VALUES else values


def _has_one_row(table: pa.Table, name: str) -> bool:
    """Whether a column has one row number in each match."""
    if name not in table.column_names or not len(table):
        return False
    column = table.column(name)
    numbers = pa.types.is_list(column.type) and pa.types.is_integer(column.type.value_type)
    return numbers and pc.all(pc.equal(pc.list_value_length(column), 1)).as_py() is True


def cells(table: pa.Table) -> list[list[Any]]:
    """The rows of a table, in values that JSON has."""
    return [[cell(value) for value in row.values()] for row in shown_rows(table)]


def cell(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join("" if each is None else str(cell(each)) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {cell(part)}" for name, part in value.items())
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, datetime):
        return time_text(value)
    infinite = isinstance(value, float) and abs(value) == float("inf")
    exact = not isinstance(value, int) or abs(value) <= LARGEST_EXACT
    known = isinstance(value, int | float | str | bool) and not infinite and exact
    return value if known or value is None else str(value)


def ranks(table: pa.Table) -> list[list[int] | None]:
    """The ranks of the rows by each column, to sort the table: the order of values may differ from
    that of their texts. None if it is that of the texts."""
    return [_ranks(column) for column in expressible(table).columns]


def _ranks(column: pa.ChunkedArray) -> list[int] | None:
    kind = column.type
    if _is_ordered(kind):
        return pc.rank(column, tiebreaker="dense").to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_list(kind) and _is_ordered(kind.value_type):
        return _list_ranks(column.to_pylist())
    return None


def _is_ordered(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_temporal,
    )
    unordered = pa.types.is_interval(kind) or pa.types.is_float16(kind)  # Arrow cannot order these
    return any(test(kind) for test in tests) and not unordered


def _list_ranks(lists: list[list[Any] | None]) -> list[int]:
    """Ranks by the first items, then by the second ones; NULL comes after all values."""
    keys = [(each is None, tuple((item is None, item) for item in each or ())) for each in lists]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [places[key] for key in keys]


def embedded(value: Any) -> str:
    """JSON inside a page: nothing in it can end the script around it."""
    text = json_text(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
