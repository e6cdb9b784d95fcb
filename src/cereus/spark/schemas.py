"""Columns of DataFrames: which exist, which can leave Spark, which are in results."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from inspect import signature
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import types as st
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

from cereus.clauses.tree import TIMEOUTS
from cereus.engine.results.counts import total_name
from cereus.engine.results.event_rows import EVENTS
from cereus.errors import DataError, did_you_mean
from cereus.expr.arrow.value_type import value_type
from cereus.language.compiled import EventwiseQuery
from cereus.language.event_results import result_order
from cereus.plan.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("cereus.spark")
Path = tuple[str, ...]

IN_UTC: dict[str, Any] = (
    {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
)
"""How Spark hands over timestamps; before Spark 4.2 there was no other way, and no name for it."""


def chosen_columns(
    df: DataFrame, tie: str | Iterable[str], columns: Iterable[str] | None, order: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that break ties, and those that are shown, after a check that they exist."""
    ties = (tie,) if isinstance(tie, str) else tuple(tie)
    columns = (columns,) if isinstance(columns, str) else columns
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
            fields.append(pa.field(field.name, to_arrow_type(field.dataType, **IN_UTC)))
        except PySparkException:
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


# ---------------------------------------------------------------- what comes out


def pattern_schema(
    plan: Plan, known: st.StructType, shown: Iterable[str], *, listed: bool
) -> st.StructType:
    """The columns of the matches of a pattern; `listed`: with the column `events`."""
    fields = [st.StructField(".".join(path), type_of(known, path)) for path in plan.shown_keys]
    counted = plan.query.count
    if plan.stream.time is not None:
        kind = type_of(known, (plan.stream.time,))
        names = ("end_time",) if counted else ("start_time", "end_time")
        fields += [st.StructField(name, kind) for name in names]
    if counted:
        totals = (total_name(each) for each in plan.query.totals)
        fields += [st.StructField(name, st.DoubleType()) for name in ("count", *totals)]
        fields.append(st.StructField("exact", st.BooleanType()))
    if plan.query.timeouts:
        kinds = (st.BooleanType(), st.StringType(), st.StringType())
        fields += [*map(st.StructField, TIMEOUTS, kinds)]
    waits = plan.query.unfollowed is not None or plan.query.timeouts
    if waits and plan.stream.time is not None:
        fields.append(st.StructField("deadline", type_of(known, (plan.stream.time,))))
    events = arrow_schema(known)
    for column in plan.returned:
        kind = from_arrow_type(value_type(column.value, events))
        fields.append(st.StructField(column.name, kind))
    columns = tuple((name,) for name in shown)
    for output in plan.query.select or ():
        fields.append(events_field(output.variable, output.attributes or columns, known))
    if listed:
        fields.append(events_field(EVENTS, columns, known))
    return st.StructType(fields)


def eventwise_schema(
    query: EventwiseQuery, known: st.StructType, shown: Iterable[str]
) -> st.StructType:
    """The columns of the results of a query; with the events, if any of their columns are shown."""
    fields = []
    event = st.StructType([known[name] for name in shown])
    made = query.executor(arrow_schema(known)).schema
    for field in (made.field(name) for name in result_order(query, made.names)):
        if field.name not in query.row_columns:
            fields.append(st.StructField(field.name, from_arrow_type(field.type)))
        elif event:
            kind = st.ArrayType(event) if pa.types.is_list(field.type) else event
            fields.append(st.StructField(query.row_columns[field.name], kind))
    return st.StructType(fields)


def check_once(names: list[str], message: str, hint: str) -> None:
    """Refuse two columns of one name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(message.format(repr(twice[0])), hint=hint)


def check_cases(session: SparkSession, names: Iterable[str]) -> None:
    """Refuse names that differ only in case: Spark takes `a` and `A` for one column by default."""
    if session.conf.get("spark.sql.caseSensitive") == "true":
        return
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise DataError(
                f"Spark takes the columns {other!r} and {name!r} for one",
                hint="rename one of them, or set spark.sql.caseSensitive",
            )


def check_arrow(names: Iterable[str], schema: st.StructType) -> None:
    """Check that the columns that travel can leave Spark."""
    known = arrow_schema(schema)
    for name in names:
        if name not in known.names:
            kind = schema[name].dataType.simpleString()
            raise DataError(
                f"the column {name!r} has the type {kind}, which cannot leave Spark as Arrow data",
                hint="choose the columns to show: columns=[…]",
            )
