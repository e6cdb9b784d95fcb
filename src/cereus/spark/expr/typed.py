"""Spark columns with what is known about their types: attributes, literals, conversions.

Spark's own rules differ by type (NaN, overflow, time zones). So a condition is translated with the
schema at hand, and guards are built only where the types need them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum, auto
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 (the name that everyone knows it by)
from pyspark.sql import types as st

from cereus.expr import tree as ex
from cereus.expr.types import NUMBERS, Kind
from cereus.spark.quoting import quoted

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400
MICROS = 10**6
YEAR_1, YEAR_10000 = -62_135_596_800 * MICROS, 253_402_300_800 * MICROS
SMALLEST, LARGEST = -(2**63), 2**63 - 1


class StoredTime(Enum):
    """How Spark stores a time."""

    INSTANT = auto()
    """TIMESTAMP"""
    LOCAL = auto()
    """TIMESTAMP_NTZ, read as UTC"""
    DATE = auto()


@dataclass(frozen=True)
class TypedColumn:
    """A column and the kind of its values. `value` is that of a literal, None for anything else;
    `stored` is for times."""

    column: Column
    kind: Kind
    value: Any = None
    stored: StoredTime = StoredTime.INSTANT

    @property
    def may_be_nan(self) -> bool:
        return self.kind is Kind.FLOAT and (self.value is None or self.value != self.value)


KINDS: tuple[tuple[tuple[type[st.DataType], ...], Kind], ...] = (
    ((st.NullType,), Kind.NULL),
    ((st.BooleanType,), Kind.BOOLEAN),
    ((st.ByteType, st.ShortType, st.IntegerType, st.LongType), Kind.INTEGER),
    ((st.FloatType, st.DoubleType), Kind.FLOAT),
    ((st.DecimalType,), Kind.DECIMAL),
    ((st.StringType, st.CharType, st.VarcharType), Kind.STRING),
    ((st.TimestampType, st.TimestampNTZType, st.DateType), Kind.TIMESTAMP),
    ((st.DayTimeIntervalType,), Kind.INTERVAL),
)
STORED: dict[type[st.DataType], StoredTime] = {
    st.TimestampNTZType: StoredTime.LOCAL,
    st.DateType: StoredTime.DATE,
}


def attribute(node: ex.Attribute, schema: st.StructType, prefix: str | None) -> TypedColumn:
    """A column by its path, below its variable or `prefix`."""
    type_ = _type_of(node, schema)
    owner = node.variable if node.variable is not None else prefix
    names = node.path if owner is None else (owner, *node.path)
    column = quoted(names)
    kind = next((kind for types, kind in KINDS if isinstance(type_, types)), Kind.OTHER)
    column = column.cast("double") if isinstance(type_, st.FloatType) else column
    return TypedColumn(column, kind, stored=STORED.get(type(type_), StoredTime.INSTANT))


def _type_of(node: ex.Attribute, schema: st.StructType) -> st.DataType:
    type_: st.DataType = schema
    for name in node.path:
        assert isinstance(type_, st.StructType), node.name
        type_ = type_[name].dataType
    return type_


def literal(value: Any) -> TypedColumn:
    """A literal. An integer that does not fit 64 bits becomes a double."""
    match value:
        case None:
            return NULL()
        case bool():
            return TypedColumn(F.lit(value), Kind.BOOLEAN, value)
        case int() if SMALLEST <= value <= LARGEST:
            return TypedColumn(F.lit(value), Kind.INTEGER, value)
        case int() | float():
            return TypedColumn(F.lit(float(value)), Kind.FLOAT, float(value))
        case str():
            return TypedColumn(F.lit(value), Kind.STRING, value)
        case datetime():
            utc = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
            count = (utc - EPOCH) // timedelta(microseconds=1)
            return TypedColumn(F.timestamp_micros(big(count)), Kind.TIMESTAMP, utc)
        case timedelta():
            return TypedColumn(F.lit(value), Kind.INTERVAL, value)
    raise AssertionError(f"no literal: {value!r}")


def NULL() -> TypedColumn:  # noqa: N802 (a constant, made anew because a column needs a session)
    return TypedColumn(F.lit(None), Kind.NULL)


def big(value: int) -> Column:
    return F.lit(value).cast("bigint")


def truth(operand: TypedColumn) -> Column:
    if operand.kind is Kind.NULL:
        return operand.column.cast("boolean")
    assert operand.kind is Kind.BOOLEAN, operand.kind
    return operand.column


def as_float(operand: TypedColumn) -> TypedColumn:
    if operand.kind is Kind.FLOAT:
        return operand
    assert operand.kind in NUMBERS, operand.kind
    if isinstance(operand.value, int):
        return literal(float(operand.value))
    return TypedColumn(operand.column.cast("double"), Kind.FLOAT)


def as_bigint(operand: TypedColumn) -> TypedColumn:
    return replace(operand, column=operand.column.cast("bigint"))


def stored_as(operand: TypedColumn, stored: StoredTime) -> TypedColumn | None:
    """A time in another form that needs no computation per row; None if there is no such form."""
    if operand.kind is Kind.TIMESTAMP and operand.stored is stored:
        return operand
    if not isinstance(operand.value, datetime):
        return None
    text = operand.value.replace(tzinfo=None).isoformat(" ")
    if stored is StoredTime.LOCAL:
        return replace(operand, column=F.lit(text).cast("timestamp_ntz"), stored=stored)
    if stored is StoredTime.DATE and operand.value.timestamp() % DAY == 0:
        return replace(operand, column=F.lit(text[:10]).cast("date"), stored=stored)
    return None


def same_times(times: Sequence[TypedColumn]) -> list[TypedColumn] | None:
    """Times in one form, if literals can take the form of the columns."""
    columns = [time for time in times if time.kind is Kind.TIMESTAMP and time.value is None]
    for stored in {time.stored for time in columns} or {StoredTime.INSTANT}:
        same = [time if time.kind is Kind.NULL else stored_as(time, stored) for time in times]
        if None not in same:
            return [time for time in same if time is not None]
    return None


def micros(operand: TypedColumn) -> Column:
    """Microseconds since 1970 in UTC, or in an interval; whatever the session's time zone."""
    column = operand.column
    match operand.kind, operand.stored:
        case Kind.TIMESTAMP, StoredTime.INSTANT:
            return F.unix_micros(column)
        case Kind.TIMESTAMP, StoredTime.DATE:
            return F.unix_date(column).cast("bigint") * (DAY * MICROS)
        case Kind.TIMESTAMP, StoredTime.LOCAL:
            days = F.unix_date(column.cast("date")).cast("bigint")
            return days * (DAY * MICROS) + _clock(column, F.hour(column), F.minute(column))
        case Kind.INTERVAL, _:
            days, hours, minutes = (_field(each, column) for each in ("DAY", "HOUR", "MINUTE"))
            return days * (DAY * MICROS) + _clock(column, hours, minutes)
    raise AssertionError(f"no time: {operand.kind}")


def _field(field: str, column: Column) -> Column:
    return F.extract(F.lit(field), column).cast("bigint")


def _clock(column: Column, hours: Column, minutes: Column) -> Column:
    seconds = F.extract(F.lit("SECOND"), column) * MICROS
    clock = hours.cast("bigint") * 3600 + minutes.cast("bigint") * 60
    return clock * MICROS + seconds.cast("bigint")


def instant(count: Column) -> TypedColumn:
    """The timestamp of a count of microseconds."""
    return TypedColumn(F.timestamp_micros(count), Kind.TIMESTAMP)


def interval(count: Column) -> TypedColumn:
    """The interval of a count of microseconds, as between two timestamps."""
    seconds = count.cast("decimal(20,0)") * F.lit(Decimal("0.000001"))
    return TypedColumn(F.make_dt_interval(secs=seconds.cast("decimal(18,6)")), Kind.INTERVAL)


def unify(operands: Sequence[TypedColumn]) -> list[TypedColumn]:
    """The operands in one kind: numbers as the widest of them, mixed times as timestamps."""
    kinds = {operand.kind for operand in operands} - {Kind.NULL}
    if kinds == {Kind.TIMESTAMP}:
        return same_times(operands) or [
            each if each.kind is Kind.NULL else instant(micros(each)) for each in operands
        ]
    if len(kinds) <= 1:
        return [as_bigint(each) if each.kind is Kind.INTEGER else each for each in operands]
    if kinds <= NUMBERS and Kind.FLOAT in kinds:
        return [each if each.kind is Kind.NULL else as_float(each) for each in operands]
    if kinds <= NUMBERS:  # Spark's own rule for integers and decimals
        return [
            each if each.kind is Kind.NULL else replace(each, kind=Kind.DECIMAL)
            for each in operands
        ]
    raise AssertionError(f"values of different kinds: {kinds}")


def one_of(operands: Sequence[TypedColumn], column: Column) -> TypedColumn:
    """A column whose values are taken from these, which are of one kind."""
    like = next((each for each in operands if each.kind is not Kind.NULL), operands[0])
    return replace(like, column=column, value=None)


def name(operand: TypedColumn) -> str:
    return f"a {operand.kind.name.lower()}"
