"""Events in any form → Arrow tables and schemas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from cereus.column_types import named_schema
from cereus.errors import CereusError, DataError, shortened
from cereus.sources.files import Files
from cereus.sources.scan import scan
from cereus.sources.supported import supported_schema, supported_table
from cereus.stream import refuse_repeated

UNREADABLE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, pa.ArrowIndexError)
"""The errors that Arrow raises for malformed data."""
WRONG = (*UNREADABLE, TypeError, ValueError, OverflowError, RecursionError)
"""The errors that values of a wrong type raise."""


def to_schema(schema: Any) -> pa.Schema:
    """A schema, or what can stand for one: {"column": type}, a table of any library, files."""
    if is_path(schema):
        return scan(schema if isinstance(schema, Files) else Files(schema)).schema
    if isinstance(schema, Mapping) and not hasattr(schema, "__arrow_c_schema__"):
        return supported_schema(named_schema(schema))
    try:
        return supported_schema(pa.schema(schema))
    except (TypeError, ValueError):
        if _is_table(schema):
            return to_table(schema).schema
        raise CereusError(
            f"a schema is needed, not a {type(schema).__name__}",
            hint="give a pyarrow schema, a table, a path, or {column: type}",
        ) from None


def to_table(data: Any, schema: pa.Schema | None = None) -> pa.Table:
    """Any table-like object as an Arrow table, without copying where that is possible.

    `schema` is for dicts, which do not have one."""
    try:
        return supported_table(_table(data, schema))
    except WRONG as error:
        reason = shortened(_first_line(error))
        wrong = _wrong_value(data, schema) or _mixed_column(data)
        raise wrong or DataError(f"cannot read the events: {reason}") from None


def _wrong_value(data: Any, schema: pa.Schema | None) -> DataError | None:
    """Of events that are dicts: the column that cannot be read, and its value."""
    rows = [data] if isinstance(data, Mapping) else data
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return None
    for name in (rows[0] if rows else ()) if schema is None else schema.names:
        values = [row.get(name) for row in rows]
        if schema is not None:
            kind = schema.field(name).type
            for value in values:
                if _unreadable([value], kind) is not None:
                    return _no_value_of(name, value, kind)
        elif (reason := _unreadable(values)) is not None:
            return DataError(f"cannot read the events: in the column {name!r}: {reason}")
    return None


def _mixed_column(data: Any) -> DataError | None:
    """Of a frame: the first column of objects that have several types."""
    if not _is_pandas(data):
        return None
    for name in data.columns:
        if data[name].dtype == object and (reason := _unreadable(data[name])) is not None:
            return DataError(
                f"cannot read the events: in the column {str(name)!r}: {reason}",
                hint="give all of its values one type: "
                f'frame["{name}"].astype(str), or pandas.to_numeric(…, errors="coerce")',
            )
    return None


def _unreadable(values: Any, kind: pa.DataType | None = None) -> str | None:
    try:
        pa.array(values, kind)
    except WRONG as error:
        return shortened(_first_line(error))
    return None


def _no_value_of(name: str, value: Any, kind: pa.DataType) -> DataError:
    texts = pa.types.is_timestamp(kind) and isinstance(value, str)
    return DataError(
        f"cannot read the events: in the column {name!r}, {shortened(repr(value))} is not of the "
        f"type {kind}",
        hint="make a time of it before: datetime.fromisoformat(…)"
        if texts
        else "convert the value before, or give the column another type in the schema",
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _table(data: Any, schema: pa.Schema | None) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if is_path(data):
        described = scan(data if isinstance(data, Files) else Files(data))
        return pa.Table.from_batches(list(described.batches()), described.schema)
    if isinstance(data, list) and all(isinstance(part, Mapping) for part in data):
        _check_names(data[0] if data else {})
        return pa.Table.from_pylist(data, schema=schema)
    if _is_lazy(data):
        data = data.collect()
    if type(data).__module__.startswith("pyspark."):
        raise DataError(
            "cannot read the events: this is a DataFrame of Spark",
            hint="match it on Spark with cereus.spark.match(frame, query), or give frame.toArrow()",
        )
    if hasattr(data, "__arrow_c_stream__") and not _is_pandas(data):
        return pa.table(data)
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)])
    if _is_pandas(data):
        return _of_pandas(data)
    if hasattr(data, "to_arrow_table"):
        return data.to_arrow_table()
    if isinstance(data, Mapping):
        return _of_columns(data, schema)
    raise DataError(
        f"cannot read the events: a {type(data).__name__} is not a table",
        hint="give a pyarrow, pandas or polars table, a DuckDB relation, a list of dicts, or paths",
    )


def is_path(data: Any) -> bool:
    """Whether this is files: a path or a list of paths; a list of dicts is a list of events."""
    if isinstance(data, list):
        return bool(data) and all(isinstance(part, str | Path) for part in data)
    return isinstance(data, str | Path | Files)


def _is_table(data: Any) -> bool:
    ways = ("__arrow_c_stream__", "__arrow_c_array__", "to_arrow_table")
    return _is_lazy(data) or _is_pandas(data) or any(hasattr(data, way) for way in ways)


def _is_lazy(data: Any) -> bool:
    """Whether this is a LazyFrame of polars, which is computed now."""
    return type(data).__module__.startswith("polars") and hasattr(data, "collect")


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.startswith("pandas") and hasattr(data, "columns")


def _of_pandas(data: Any) -> pa.Table:
    """A frame as a table; an index with a name, or of times, is a column as well. A column of
    objects must have one type."""
    if _is_unnamed_time(data.index):
        data = data.rename_axis("index")
    if any(name is not None for name in data.index.names):
        data = data.reset_index() if not _repeats(data) else data
    names = [str(name) for name in data.columns]
    refuse_repeated(names, "the events have")
    return pa.Table.from_pandas(data, preserve_index=False)


def _is_unnamed_time(index: Any) -> bool:
    """Whether an index without a name has the times of the rows; its column is called "index", as
    `reset_index` calls it."""
    return list(index.names) == [None] and str(index.dtype).startswith("datetime64")


def _repeats(data: Any) -> bool:
    """Whether the index is already a column, as after `set_index(…, drop=False)`."""
    return any(name in data.columns for name in data.index.names)


def _of_columns(data: Mapping[str, Any], schema: pa.Schema | None) -> pa.Table:
    """Columns by name; a dict of single values is one event."""
    _check_names(data)
    if not any(_is_column(value) for value in data.values()):
        return pa.Table.from_pylist([data], schema=schema)
    for name, value in data.items():
        if not _is_column(value):
            raise DataError(
                f"cannot read the events: {name!r} is one value, where others are columns",
                hint="give a list of dicts, or a dict of lists",
            )
    return pa.table(dict(data))


def _check_names(columns: Mapping[Any, Any]) -> None:
    for name in columns:
        if not isinstance(name, str):
            raise DataError(
                f"cannot read the events: a column is named by a text, not by a "
                f"{type(name).__name__}",
                hint='write {"type": "A", "price": 5}',
            )


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping)
