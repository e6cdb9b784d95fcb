"""Values of results as the cells of a table on a page."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pyarrow as pa

from cereus.syntax.literals import time_text


def cells(table: pa.Table) -> list[list[Any]]:
    """The rows of a table, in values that JSON has."""
    return [[cell(value) for value in row.values()] for row in table.to_pylist()]


def cell(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join("" if each is None else str(cell(each)) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {cell(part)}" for name, part in value.items())
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, datetime):
        return time_text(value)
    finite = isinstance(value, float) and abs(value) == float("inf")
    known = isinstance(value, int | float | str | bool) and not finite
    return value if known or value is None else str(value)


def embedded(value: Any) -> str:
    """JSON inside a page: nothing in it can end the script it stands in."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
