"""Converts Arrow's newer layouts (views, run-end encoding, small numbers) to plain ones with the
same values; extension types to their storage types; times in an unknown zone to UTC, which is how
they are stored; and dictionaries with nulls among their entries to ones without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import DataError


def supported_type(kind: pa.DataType) -> pa.DataType:
    """The type that values of this type are read as: the type itself, or the nearest one that
    Arrow's functions support."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return supported_type(kind.storage_type)
    if types.is_string_view(kind):
        return pa.string()
    if types.is_binary_view(kind):
        return pa.binary()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_run_end_encoded(kind):
        return supported_type(kind.value_type)
    if types.is_list(kind) or types.is_list_view(kind):
        return pa.list_(_supported_field(kind.value_field))
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(_supported_field(kind.value_field))
    if types.is_fixed_size_list(kind):
        return pa.list_(_supported_field(kind.value_field), kind.list_size)
    if types.is_map(kind):
        key, item = _supported_field(kind.key_field), _supported_field(kind.item_field)
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    if types.is_dictionary(kind) and not _stays_encoded(kind.value_type):
        return supported_type(kind.value_type)
    if types.is_timestamp(kind) and kind.tz is not None and not is_zone(kind.tz):
        return pa.timestamp(kind.unit, "UTC")
    if types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pa.struct([_supported_field(field) for field in fields])
    return kind


def _supported_field(field: pa.Field) -> pa.Field:
    return field.with_type(supported_type(field.type))


def _stays_encoded(kind: pa.DataType) -> bool:
    """Whether a dictionary stays: texts are compared by their codes, numbers are not."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


OFFSET = re.compile(r"[+-]\d\d:?\d\d")


@cache
def is_zone(name: str) -> bool:
    """Whether a time zone is known here."""
    if OFFSET.fullmatch(name):
        return True
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # not found, or not a name at all
        return False
    return True


PLAIN = frozenset(
    kind.id
    for kind in (
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.large_string()),
        *(pa.date32(), pa.date64(), pa.duration("s")),
    )
)
"""Types that every part of the engine reads, whatever their parameters."""
TIME = pa.timestamp("s").id
UNIONS = frozenset((pa.dense_union([]).id, pa.sparse_union([]).id))


def _is_plain(kind: pa.DataType) -> bool:
    return kind.id in PLAIN or (kind.id == TIME and kind.tz is None)


def supported_schema(schema: pa.Schema) -> pa.Schema:
    if all(_is_plain(kind) for kind in schema.types):
        return schema  # most tables, without checking every field
    fields = [_supported_field(field) for field in schema]
    return schema if fields == list(schema) else pa.schema(fields)


def refuse_unions(schema: pa.Schema, names: Iterable[str]) -> None:
    """Refuse unions of types: Arrow cannot take single rows of them."""
    if not any(kind.id in UNIONS for kind in schema.types):
        return  # most tables, without checking every field
    wanted = set(names)
    for field in schema:  # a name may occur twice, which is refused elsewhere
        if field.name in wanted and pa.types.is_union(field.type):
            raise DataError(
                f"the column {field.name!r} has the type {field.type}, and cannot be read",
                hint="drop it, or cast it to one type",
            )


def supported_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same values, in layouts that every part of the engine reads."""
    given = batch.schema  # another object each time that it is read
    schema = supported_schema(given)
    if schema is given and not _with_null_entries(batch, given):
        return batch
    columns = [_plain(c, f.type) for c, f in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def supported_table(table: pa.Table) -> pa.Table:
    if not table.num_columns:
        return pa.table({})  # Arrow lets it have rows, and loses them
    given = table.schema
    schema = supported_schema(given)
    if schema is given and not _with_null_entries(table, given):
        return table
    return pa.Table.from_batches([supported_batch(b) for b in table.to_batches()], schema)


def _with_null_entries(events: pa.RecordBatch | pa.Table, schema: pa.Schema) -> bool:
    """Whether a dictionary has nulls among its entries: Arrow cannot join such dictionaries."""
    return any(
        each.dictionary.null_count
        for place, kind in enumerate(schema.types)
        if pa.types.is_dictionary(kind) or pa.types.is_nested(kind)
        for chunk in _chunks(events.column(place))
        for each in _dictionaries(chunk)
    )


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


LISTS = (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray)


def _dictionaries(column: pa.Array) -> Iterator[pa.DictionaryArray]:
    """The dictionary columns in a column, after a check that their codes are those of entries."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        _check_places(column)
        yield column
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _dictionaries(column.field(place))
    elif pa.types.is_map(kind):
        yield from _dictionaries(column.keys)
        yield from _dictionaries(column.items)
    elif isinstance(column, LISTS):
        yield from _dictionaries(column.values)


def _check_places(column: pa.DictionaryArray) -> None:
    """Check the codes: compiled loops read entries without checking how many there are."""
    bounds = pc.min_max(column.indices).as_py()
    low, high = bounds["min"], bounds["max"]
    if low is not None and not 0 <= low <= high < len(column.dictionary):
        raise DataError(
            f"a column of dictionaries has the entry {low if low < 0 else high}, of "
            f"{len(column.dictionary)}",
            hint="write the data anew: it is broken",
        )


def _without_null_entries(column: pa.Array) -> pa.Array:
    if not pa.types.is_dictionary(column.type):
        return pa.array(column.to_pylist(), column.type)
    valid = column.dictionary.is_valid()
    places = np.cumsum(valid.to_numpy(zero_copy_only=False)) - 1
    moved = pc.if_else(valid, pa.array(places, pa.int64()), pa.scalar(None, pa.int64()))
    indices = moved.take(column.indices).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(
        indices, column.dictionary.drop_null(), ordered=column.type.ordered
    )


def _runs(column: pa.RunEndEncodedArray) -> pa.Array:
    """The run that each row is in. (Arrow's own decoding knows no runs of dictionaries.)"""
    rows = np.arange(column.offset, column.offset + len(column))
    return pa.array(np.searchsorted(column.run_ends.to_numpy(), rows, side="right"))


def _plain(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if column.type == kind:
        empty = any(each.dictionary.null_count for each in _dictionaries(column))
        return _without_null_entries(column) if empty else column
    if isinstance(column.type, pa.BaseExtensionType):
        return _plain(column.storage, kind)
    if pa.types.is_run_end_encoded(column.type):
        return _plain(column.values, kind).take(_runs(column))
    if pa.types.is_dictionary(column.type):
        return _plain(column.dictionary, kind).take(column.indices)
    if pa.types.is_timestamp(column.type):
        return column.view(kind)
    if pa.types.is_nested(kind):
        return pa.array(column.to_pylist(), kind)  # Arrow has no sound cast of views of lists
    return column.cast(kind)
