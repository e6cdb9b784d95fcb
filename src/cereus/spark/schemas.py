"""Columns of DataFrames: which are there, which can leave Spark, which can be sorted by."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as st
from pyspark.sql.pandas.types import to_arrow_type

from cereus.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("cereus.spark")
Path = tuple[str, ...]


def chosen_columns(
    df: DataFrame, tie: str | Iterable[str], columns: Iterable[str] | None, order: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that break ties, and those that are shown: all of them are there."""
    ties = (tie,) if isinstance(tie, str) else tuple(tie)
    shown = tuple(df.columns) if columns is None else tuple(columns)
    for name in (*ties, *shown, *([order] if order else [])):
        if name not in df.columns:
            hint = did_you_mean(name, df.columns)
            raise DataError(f"the events have no column {name!r}", hint=hint)
    return ties, shown


def arrow_schema(schema: st.StructType) -> pa.Schema:
    """The columns that Spark hands over as Arrow data."""
    fields = []
    for field in schema:
        try:
            fields.append(pa.field(field.name, to_arrow_type(field.dataType, timezone="UTC")))
        except Exception:
            log.debug("column %s stays in Spark: %s", field.name, field.dataType)
    return pa.schema(fields)


def type_of(schema: st.StructType, path: Path) -> st.DataType:
    kind: st.DataType = schema
    for name in path:
        assert isinstance(kind, st.StructType)
        kind = kind[name].dataType
    return kind


def events_field(name: str, paths: Iterable[Path], schema: st.StructType) -> st.StructField:
    inner = [st.StructField(".".join(path), type_of(schema, path)) for path in paths]
    return st.StructField(name, st.ArrayType(st.StructType(inner)))


def orderable(kind: st.DataType) -> bool:
    if isinstance(kind, st.ArrayType):
        return orderable(kind.elementType)
    if isinstance(kind, st.StructType):
        return all(orderable(field.dataType) for field in kind)
    return isinstance(kind, st.AtomicType | st.NullType) and not isinstance(
        kind, st.VariantType | st.CalendarIntervalType
    )
