"""Values of results as the cells of a table on a page."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cereus.show.pictures import LARGEST_EXACT
from cereus.syntax.literals import time_text
from cereus.writing.expressible import expressible, shown_rows
from cereus.writing.json_text import json_text


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
