"""Slices of time: they let a stream without keys (or with a very long one) be matched in parallel.

Time is cut into slices of one length. An event belongs to the slice of its time, its *home*, and
also to the next one if it is within a window of it. So a slice holds every event that a match
ending in it can have, and each match is reported only by the home of its last event. To the engine
a slice is one more key. The length is at least the window, so an event is in two slices at most.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from math import isfinite

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from cereus.clauses import build as clauses
from cereus.clauses.tree import AttributeWindow, TimeWindow
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.types import Kind
from cereus.plan.plan import Plan
from cereus.spark.batch.skew import LongKeys
from cereus.spark.expr.typed import TypedColumn, attribute, micros
from cereus.spark.quoting import backticked

SLICE, IN_HOME, PLACE = "__cereus_slice", "__cereus_own", "__cereus_place"
WINDOWS = 8
"""Windows in a slice: one event in eight is read twice."""
SAFETY = 1.001
"""Windows on floating-point numbers overlap by this much more, because sums are rounded."""

LENGTHS = re.compile(r"([\d.]+)\s*([A-Za-z]+)")

Split = str | float | timedelta | bool | None


@dataclass(frozen=True)
class Slices:
    """Slices of `length`, overlapping by `window`, of the values of one column; where `long` keys
    are named, the others are not cut."""

    measure: TypedColumn
    window: int | float
    length: int | float
    long: LongKeys | None = None

    def spread(self, events: DataFrame) -> DataFrame:
        """Every event once per slice it belongs to, with the slice; one of them is its home."""
        home, guest = self.places()
        places = F.when(guest.isNull(), F.array(home)).otherwise(F.array(home, guest))
        spread = events.withColumn(PLACE, places).withColumn(PLACE, F.explode(PLACE))
        return spread.select(*map(backticked, events.columns), f"{PLACE}.*")

    def places(self, *others: Column) -> tuple[Column, Column]:
        """The slice that is the home of an event, and the one where it is a guest or NULL: structs
        of `others`, SLICE and IN_HOME."""
        home, last = self._slice(self.number), self._slice(self.number + F.lit(self.window))
        if self.long is not None:
            home, last = (F.when(self.long.condition, n).otherwise(0 * n) for n in (home, last))
        at_home = F.struct(*others, home.alias(SLICE), home.isNotNull().alias(IN_HOME))
        guest = F.struct(*others, last.alias(SLICE), F.lit(False).alias(IN_HOME))
        return at_home, F.when(home != last, guest)

    def joined(self, other: Slices) -> Slices:
        """Slices for queries of both, which cut the same keys by the same column."""
        window, length = max(self.window, other.window), max(self.length, other.length)
        return replace(self, window=window, length=length)

    @property
    def text(self) -> str:
        """`slices of 80 seconds`, in the numbers of the column"""
        length = f"{self.length:,}"
        if self.measure.kind is Kind.TIMESTAMP:
            length = str(timedelta(microseconds=int(self.length)))
        return f"slices of {length} that overlap by the window"

    @property
    def number(self) -> Column:
        """The values of the column that is cut, as numbers."""
        if self.measure.kind is Kind.TIMESTAMP:
            return micros(self.measure)
        exact = self.measure.kind is Kind.INTEGER
        return self.measure.column.cast("bigint" if exact else "double")

    def _slice(self, number: Column) -> Column:
        if isinstance(self.length, float):
            return F.floor(number / F.lit(self.length))
        return number - F.pmod(number, F.lit(self.length))  # exact, where a division is not


def slices_for(
    plan: Plan, schema: StructType, split: Split, long_keys: Callable[[Column], LongKeys | str]
) -> Slices | str:
    """How to cut the stream, or the reason why it is not cut. `long_keys` decides which keys to
    cut, by the numbers of a column, if the user has not."""
    if split is False:
        return "split=False says so"
    reason = plan.traits.looks_back
    if plan.keys and split is None:
        return reason or _cut_by_itself(_cut(plan, schema, None), long_keys)
    if reason is not None:
        if split is not None:
            raise CereusError(
                f"this pattern cannot be split by time: {reason}", hint="leave split out"
            )
        return reason
    return _cut(plan, schema, split)


def _cut_by_itself(slices: Slices, long_keys: Callable[[Column], LongKeys | str]) -> Slices | str:
    """Slices of long keys only; they are longer if there would be too many."""
    long = long_keys(slices.number)
    if isinstance(long, str):
        return long
    length = slices.length
    if isfinite(long.length):
        length = max(length, type(length)(long.length))
    return replace(slices, length=length, long=long)


def _cut(plan: Plan, schema: StructType, split: Split) -> Slices:
    measure, window = _window(plan, schema)
    length = WINDOWS * window if split in (None, True) else _length(split, measure, plan)
    if length < window:
        raise CereusError(
            f"split={split!r} is shorter than the window",
            hint="slices overlap by the window, so they have to be longer; some windows are good",
        )
    return Slices(measure, window, max(length, 1))


def _window(plan: Plan, schema: StructType) -> tuple[TypedColumn, int | float]:
    window = plan.query.window
    if isinstance(window, TimeWindow):
        assert plan.stream.time is not None
        measure = attribute(ex.Attribute((plan.stream.time,)), schema, None)
        return measure, _in_units(window.microseconds, measure, plan)
    assert isinstance(window, AttributeWindow)
    measure = attribute(ex.Attribute(window.attribute), schema, None)
    return measure, _rounded(window.size, measure)


def _in_units(microseconds: int, measure: TypedColumn, plan: Plan) -> int | float:
    if measure.kind is Kind.TIMESTAMP:
        return microseconds
    return _rounded(microseconds / plan.stream.need_unit(), measure)


def _rounded(size: float, measure: TypedColumn) -> int | float:
    """A length of at least `size`, in the numbers of the column."""
    return int(size) if measure.kind is Kind.INTEGER else float(size) * SAFETY


def _length(split: Split, measure: TypedColumn, plan: Plan) -> int | float:
    if isinstance(split, int | float):
        return int(split) if measure.kind is not Kind.FLOAT else float(split)
    if isinstance(split, str):
        return _in_units(length_of_time(split, "split"), measure, plan)
    assert isinstance(split, timedelta)
    return _in_units(split // timedelta(microseconds=1), measure, plan)


def length_of_time(option: object, name: str) -> int:
    """Microseconds in an option like "1 hour 30 minutes"."""
    text = option if isinstance(option, str) else ""
    amounts = LENGTHS.findall(text)
    window = clauses.window(amounts, (0, len(text))) if amounts else None
    if not isinstance(window, TimeWindow) or LENGTHS.sub("", text).strip():
        raise CereusError(
            f"{name}={option!r} is not a length of time", hint=f'say {name}="1 hour 30 minutes"'
        )
    return window.microseconds
