"""The columns of several files as one schema: by name, with types that hold the values of all."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cereus.errors import DataError


def joined_schema(parts: Sequence[tuple[str, pa.Schema]]) -> pa.Schema:
    """All columns of the parts, in the order in which they first appear. A column that has whole
    numbers in one part and decimals in another is decimal; text and numbers do not go together."""
    joined: dict[str, tuple[str, pa.DataType]] = {}
    for name, schema in parts:
        for field in schema:
            first, kind = joined.get(field.name, (name, field.type))
            joined[field.name] = first, _joined(kind, field.type, field.name, first, name)
    return pa.schema([pa.field(column, kind) for column, (_, kind) in joined.items()])


def _joined(
    one: pa.DataType, other: pa.DataType, column: str, first: str, second: str
) -> pa.DataType:
    if one == other:
        return one
    schemas = [pa.schema([("c", _plain(kind))]) for kind in (one, other)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("c").type
    except pa.ArrowException:
        where = "" if first == second else f" of {first!r}"
        raise DataError(
            f"the column {column!r}{where} has the type {one}, but {other} in {second!r}",
            hint=f'read it as one type: types={{"{column}": "string"}}' if where else None,
        ) from None


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type without dictionary encoding: dictionaries differ from file to file, and only their
    values matter."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind
