"""The names of column types that users write: `price: double`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError, did_you_mean

TYPE_NAMES: dict[str, pa.DataType] = {
    **dict.fromkeys(("string", "str", "text", "varchar"), pa.string()),
    **dict.fromkeys(("int", "integer", "bigint", "long", "int64"), pa.int64()),
    **dict.fromkeys(("int32", "smallint"), pa.int32()),
    **dict.fromkeys(("double", "float", "float64", "number"), pa.float64()),
    **dict.fromkeys(("bool", "boolean"), pa.bool_()),
    **dict.fromkeys(("timestamp", "datetime", "time"), pa.timestamp("us")),
    **dict.fromkeys(("timestamptz", "timestamp_utc"), pa.timestamp("us", "UTC")),
    "date": pa.date32(),
}
"""The names that a user may give the type of a column."""


DECIMAL = re.compile(r"(?:decimal|numeric)\((\d+), *(\d+)\)", re.IGNORECASE)


def named_schema(columns: Mapping[str, Any]) -> pa.Schema:
    """A schema from column names and type names, `{"price": "double"}`; a mapping is a struct."""
    return pa.schema([pa.field(name, named_type(kind, name)) for name, kind in columns.items()])


def named_type(kind: Any, column: str) -> pa.DataType:
    if isinstance(kind, pa.DataType):
        return kind
    if isinstance(kind, Mapping):
        return pa.struct([pa.field(inner, named_type(k, inner)) for inner, k in kind.items()])
    if str(kind).lower() in TYPE_NAMES:
        return TYPE_NAMES[str(kind).lower()]
    decimal = DECIMAL.fullmatch(str(kind))
    if decimal is not None and int(decimal[2]) <= int(decimal[1]) <= 38:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    raise CereusError(
        f"the column {column!r} has the unknown type {kind!r}",
        hint=did_you_mean(str(kind), TYPE_NAMES),
    )
