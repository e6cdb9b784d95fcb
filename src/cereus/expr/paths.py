"""Follows the path of an attribute, `place.city`, into types, columns and events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Path = tuple[str, ...]


def fields_of(type_: pa.Schema | pa.DataType) -> dict[str, pa.DataType]:
    """The columns of a schema, or the fields of a struct; nothing else has any."""
    nested = isinstance(type_, pa.Schema) or pa.types.is_struct(type_)
    return {field.name: field.type for field in type_} if nested else {}


def type_at(schema: pa.Schema | pa.DataType, path: Path) -> pa.DataType | None:
    """The type of a column, or of a field of a struct column; None if there is none."""
    type_: pa.DataType | None = schema
    for name in path:
        type_ = None if type_ is None else _field_type(type_, name)
    return type_


def _field_type(type_: pa.Schema | pa.DataType, name: str) -> pa.DataType | None:
    """The type of one of the `fields_of` a type, without reading the others."""
    if isinstance(type_, pa.Schema | pa.StructType):
        place = type_.get_field_index(name)
        if place >= 0:
            return type_.field(place).type
    return fields_of(type_).get(name)  # none of this name, or several


def column_at(table: pa.RecordBatch | pa.Table, path: Path) -> Any:
    """A column, or a field of a struct column, that must exist."""
    column = table.column(path[0])
    for name in path[1:]:
        column = pc.struct_field(column, name)
    return column


def value_at(event: Mapping[str, Any], path: Path) -> Any:
    """The value of one event; a missing one is NULL."""
    value: Any = event
    for name in path:
        value = None if value is None else value.get(name)
    return value
