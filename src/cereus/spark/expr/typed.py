"""Spark columns with what is known of their type: attributes, literals, conversions.

Spark's own rules differ by type (NaN, overflow, time zones), so a condition is translated with
the schema at hand, and guards are built only where the types call for them.
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

from cereus.errors import ConditionTypeError, DataError, did_you_mean
from cereus.expr import tree as ex

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400
MICROS = 10**6
YEAR_1, YEAR_10000 = -62_135_596_800 * MICROS, 253_402_300_800 * MICROS
SMALLEST, LARGEST = -(2**63), 2**63 - 1


class Sort(Enum):
    NULL = auto()
    BOOLEAN = auto()
    INTEGER = auto()
    FLOAT = auto()
    DECIMAL = auto()
    STRING = auto()
    INSTANT = auto()
    """TIMESTAMP"""
    LOCAL = auto()
    """TIMESTAMP_NTZ, read as UTC"""
    DATE = auto()
    INTERVAL = auto()
    OTHER = auto()


NUMBERS = frozenset({Sort.INTEGER, Sort.FLOAT, Sort.DECIMAL})
TIMES = frozenset({Sort.INSTANT, Sort.LOCAL, Sort.DATE})


@dataclass(frozen=True)
class Typed:
    """A column and its sort; `value` is what a literal says, None for anything else."""

    column: Column
    sort: Sort
    value: Any = None

    @property
    def may_be_nan(self) -> bool:
        return self.sort is Sort.FLOAT and (self.value is None or self.value != self.value)


SORTS: tuple[tuple[tuple[type[st.DataType], ...], Sort], ...] = (
    ((st.NullType,), Sort.NULL),
    ((st.BooleanType,), Sort.BOOLEAN),
    ((st.ByteType, st.ShortType, st.IntegerType, st.LongType), Sort.INTEGER),
    ((st.FloatType, st.DoubleType), Sort.FLOAT),
    ((st.DecimalType,), Sort.DECIMAL),
    ((st.StringType, st.CharType, st.VarcharType), Sort.STRING),
    ((st.TimestampType,), Sort.INSTANT),
    ((st.TimestampNTZType,), Sort.LOCAL),
    ((st.DateType,), Sort.DATE),
    ((st.DayTimeIntervalType,), Sort.INTERVAL),
)


def attribute(node: ex.Attribute, schema: st.StructType, prefix: str | None) -> Typed:
    """A column by its path, below its variable or `prefix`."""
    kind = _type_of(node, schema)
    owner = node.variable if node.variable is not None else prefix
    names = node.path if owner is None else (owner, *node.path)
    column = F.col(".".join(f"`{name.replace('`', '``')}`" for name in names))
    sort = next((sort for kinds, sort in SORTS if isinstance(kind, kinds)), Sort.OTHER)
    return Typed(column.cast("double") if isinstance(kind, st.FloatType) else column, sort)


def _type_of(node: ex.Attribute, schema: st.StructType) -> st.DataType:
    kind: st.DataType = schema
    for name in node.path:
        known = kind.names if isinstance(kind, st.StructType) else []
        if name not in known:
            hint = did_you_mean(name, known)
            raise DataError(f"the events have no attribute {node.name!r}", hint=hint)
        assert isinstance(kind, st.StructType)
        kind = kind[name].dataType
    return kind


def literal(value: Any) -> Typed:
    """An integer that does not fit 64 bits is read as a double."""
    match value:
        case None:
            return NULL()
        case bool():
            return Typed(F.lit(value), Sort.BOOLEAN, value)
        case int() if SMALLEST <= value <= LARGEST:
            return Typed(F.lit(value), Sort.INTEGER, value)
        case int() | float():
            return Typed(F.lit(float(value)), Sort.FLOAT, float(value))
        case str():
            return Typed(F.lit(value), Sort.STRING, value)
        case datetime():
            utc = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
            count = (utc - EPOCH) // timedelta(microseconds=1)
            return Typed(F.timestamp_micros(big(count)), Sort.INSTANT, utc)
        case timedelta():
            return Typed(F.lit(value), Sort.INTERVAL, value)
    raise ConditionTypeError(f"Spark has no literal for {value!r}")


def NULL() -> Typed:  # noqa: N802 (a constant, made anew because a column needs a session)
    return Typed(F.lit(None), Sort.NULL)


def big(value: int) -> Column:
    return F.lit(value).cast("bigint")


def truth(operand: Typed) -> Column:
    if operand.sort is Sort.NULL:
        return operand.column.cast("boolean")
    if operand.sort is not Sort.BOOLEAN:
        raise ConditionTypeError(f"a condition is expected here, not {name(operand)}")
    return operand.column


def as_float(operand: Typed) -> Typed:
    if operand.sort is Sort.FLOAT:
        return operand
    if operand.sort not in NUMBERS:
        raise ConditionTypeError(f"a number is expected here, not {name(operand)}")
    if isinstance(operand.value, int):
        return literal(float(operand.value))
    return Typed(operand.column.cast("double"), Sort.FLOAT)


def as_bigint(operand: Typed) -> Typed:
    return replace(operand, column=operand.column.cast("bigint"))


def in_sort(operand: Typed, sort: Sort) -> Typed | None:
    """A time in the given sort without a computation per row; None where there is no such way."""
    if operand.sort is sort:
        return operand
    if not isinstance(operand.value, datetime):
        return None
    text = operand.value.replace(tzinfo=None).isoformat(" ")
    if sort is Sort.LOCAL:
        return Typed(F.lit(text).cast("timestamp_ntz"), sort, operand.value)
    if sort is Sort.DATE and operand.value.timestamp() % DAY == 0:
        return Typed(F.lit(text[:10]).cast("date"), sort, operand.value)
    return None


def same_times(times: Sequence[Typed]) -> list[Typed] | None:
    """Times of one sort where literals can take the sort of the columns."""
    for sort in {time.sort for time in times if time.value is None} or {Sort.INSTANT}:
        found = [time if time.sort is Sort.NULL else in_sort(time, sort) for time in times]
        if None not in found:
            return [time for time in found if time is not None]
    return None


def micros(operand: Typed) -> Column:
    """Microseconds since 1970 in UTC, or in an interval; whatever the session's time zone."""
    column = operand.column
    match operand.sort:
        case Sort.INSTANT:
            return F.unix_micros(column)
        case Sort.DATE:
            return F.unix_date(column).cast("bigint") * (DAY * MICROS)
        case Sort.LOCAL:
            days = F.unix_date(column.cast("date")).cast("bigint")
            return days * (DAY * MICROS) + _clock(column, F.hour(column), F.minute(column))
        case Sort.INTERVAL:
            days, hours, minutes = (_field(each, column) for each in ("DAY", "HOUR", "MINUTE"))
            return days * (DAY * MICROS) + _clock(column, hours, minutes)
    raise ConditionTypeError(f"a time is expected here, not {name(operand)}")


def _field(field: str, column: Column) -> Column:
    return F.extract(F.lit(field), column).cast("bigint")


def _clock(column: Column, hours: Column, minutes: Column) -> Column:
    seconds = F.extract(F.lit("SECOND"), column) * MICROS
    clock = hours.cast("bigint") * 3600 + minutes.cast("bigint") * 60
    return clock * MICROS + seconds.cast("bigint")


def instant(count: Column) -> Typed:
    """The timestamp of a count of microseconds."""
    return Typed(F.timestamp_micros(count), Sort.INSTANT)


def interval(count: Column) -> Typed:
    """The interval of a count of microseconds, as between two timestamps."""
    seconds = count.cast("decimal(20,0)") * F.lit(Decimal("0.000001"))
    return Typed(F.make_dt_interval(secs=seconds.cast("decimal(18,6)")), Sort.INTERVAL)


def unify(operands: Sequence[Typed]) -> list[Typed]:
    """The operands in one sort: numbers as the widest of them, mixed times as timestamps."""
    sorts = {operand.sort for operand in operands} - {Sort.NULL}
    if len(sorts) <= 1:
        return [as_bigint(each) if each.sort is Sort.INTEGER else each for each in operands]
    if sorts <= NUMBERS and Sort.FLOAT in sorts:
        return [each if each.sort is Sort.NULL else as_float(each) for each in operands]
    if sorts <= NUMBERS:  # Spark's own rule for integers and decimals
        return [
            each if each.sort is Sort.NULL else replace(each, sort=Sort.DECIMAL)
            for each in operands
        ]
    if sorts <= TIMES:
        return same_times(operands) or [
            each if each.sort is Sort.NULL else instant(micros(each)) for each in operands
        ]
    names = " and ".join(sorted({name(each) for each in operands}))
    raise ConditionTypeError(f"cannot choose between {names}")


def common_sort(operands: Sequence[Typed]) -> Sort:
    return next((each.sort for each in operands if each.sort is not Sort.NULL), Sort.NULL)


def name(operand: Typed) -> str:
    return f"a {operand.sort.name.lower()}"
