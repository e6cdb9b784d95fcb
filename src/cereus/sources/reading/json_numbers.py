"""Whole numbers of JSON that do not fit in 64 bits: Arrow reads them as doubles, which rounds them.

A column of whole numbers, some of them beyond 64 bits, is read as decimals, which are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

EXACT = pa.decimal128(38, 0)
LONG_NUMBER = re.compile(rb"[:,\[]\s*-?\d{19,}\s*[,}\]]")
BEYOND = float(2**63)

Path = tuple[int, ...]


def exact_schema(table: pa.Table, block: bytes, parses: Callable[[pa.Field], bool]) -> pa.Schema:
    """The columns of a block, with decimals where doubles would round whole numbers. `parses` tells
    whether the values of a column can be read with another type."""
    schema = table.schema
    for at, field in enumerate(table.schema):
        for path in list(_doubles(field.type)):
            if _is_beyond(table.column(at), path) and LONG_NUMBER.search(block):
                exact = schema.field(at).with_type(_replaced(schema.field(at).type, path))
                schema = schema.set(at, exact) if parses(exact) else schema
    return schema


def _doubles(kind: Any, path: Path = ()) -> Iterator[Path]:
    """The places of doubles in a type: fields of structs, elements of lists."""
    if pa.types.is_floating(kind):
        yield path
    elif pa.types.is_struct(kind):
        for at in range(kind.num_fields):
            yield from _doubles(kind.field(at).type, (*path, at))
    elif pa.types.is_list(kind):
        yield from _doubles(kind.value_type, (*path, 0))


def _is_beyond(values: pa.ChunkedArray, path: Path) -> bool:
    for at in path:
        inside = pa.types.is_list(values.type)
        values = pc.list_flatten(values) if inside else pc.struct_field(values, [at])
    bounds = pc.min_max(values).as_py()
    return bounds["max"] is not None and max(-bounds["min"], bounds["max"]) >= BEYOND


def _replaced(kind: Any, path: Path) -> pa.DataType:
    if not path:
        return EXACT
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_replaced(kind.value_type, path[1:])))
    fields = [kind.field(at) for at in range(kind.num_fields)]
    inner = fields[path[0]]
    fields[path[0]] = inner.with_type(_replaced(inner.type, path[1:]))
    return pa.struct(fields)
