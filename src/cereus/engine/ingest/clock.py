"""Reads the columns that order a stream (times, window measures, keys) as checked plain
integers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import AttributeWindow, EventWindow, TimeWindow, Window
from cereus.engine.memory import empty
from cereus.errors import CereusError, DataError, RefusedError, did_you_mean
from cereus.expr.paths import column_at, type_at
from cereus.stream import Stream, no_time

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
SMALLEST, LARGEST = -(2**63), 2**63 - 1
UNIT_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def read(batch: pa.RecordBatch, path: tuple[str, ...], what: str) -> pa.Array:
    """A column by its path, or an error that names the nearest one."""
    if path[0] not in batch.schema.names:
        raise DataError(
            f"{what} {'.'.join(path)!r} is not in the events",
            hint=did_you_mean(path[0], batch.schema.names),
        )
    return column_at(batch, path)


def places_in_dictionary(column: pa.DictionaryArray) -> npt.NDArray[Any]:
    """The index of each row in the dictionary, as int32 or int64; 0 for null."""
    indices = column.indices.fill_null(0) if column.null_count else column.indices
    places: npt.NDArray[Any] = indices.to_numpy(zero_copy_only=False)
    return places if places.dtype in (np.int32, np.int64) else places.astype(np.int64)


class RowNumbers(NamedTuple):
    """The row numbers of a batch: what its rows are called in the input, in results and messages.

    first     the number of the batch's first row
    selected  the places of the rows that are read, when not all are
    numbers   the input's row numbers, when its rows were sorted
    """

    first: int = 0
    selected: Ints | None = None
    numbers: Ints | None = None

    def of_selected(self, place: int) -> int:
        """The row number of a selected row, given by its place among them."""
        row = self.first + int(place if self.selected is None else self.selected[place])
        return row if self.numbers is None else int(self.numbers[row])

    def of_places(self, places: Ints) -> Ints:
        """The row numbers of rows that are given by their places in the batch."""
        rows = self.first + places if self.first else places
        return rows if self.numbers is None else self.numbers[rows]

    def at(self, places: Ints) -> RowNumbers:
        """Some of the selected rows."""
        return self._replace(selected=places if self.selected is None else self.selected[places])


def as_integers(column: pa.Array, what: str, rows: RowNumbers) -> Ints:
    """A time or a number as int64, in the order of its values; nulls are refused.

    Floats become integers that sort as the floats do (their bits, mirrored below zero).
    """
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(
            f"{what} is null in row {rows.of_selected(row)}",
            hint='drop such rows first, or leave them out: Stream(where="… IS NOT NULL"), or fill '
            "the column in",
        )
    kind = column.type
    if pa.types.is_date(kind):
        column, kind = _microseconds(column, what), pa.timestamp("us")
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time64(kind):
        return np.ascontiguousarray(column.cast(pa.int64()).to_numpy())
    if pa.types.is_time32(kind):
        return np.asarray(column.cast(pa.int32()), np.int64)
    if pa.types.is_uint64(kind):
        refuse_beyond(column, what, rows)
    if pa.types.is_integer(kind):
        return np.ascontiguousarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
    if pa.types.is_null(kind):  # the column has no rows: a file with only a header
        return np.zeros(0, np.int64)
    assert _is_real(kind), kind
    return sortable(column.cast(pa.float64()).to_numpy(zero_copy_only=False), what, rows)


def _microseconds(dates: pa.Array, what: str) -> pa.Array:
    try:
        return dates.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        raise DataError(
            f"{what} has a date that is too far away to be counted in microseconds",
            hint="drop such rows first, or make it a number of days",
        ) from None


def as_times(values: Ints, kind: pa.DataType) -> pa.Array:
    """Integers of `as_integers` as the times that they were made from."""
    numbers = pa.array(_floats(values) if _is_real(kind) else values)
    if pa.types.is_date(kind):
        return numbers.cast(pa.timestamp("us")).cast(kind)
    if pa.types.is_time32(kind):
        numbers = numbers.cast(pa.int32())
    # without a copy, if possible: a cast costs more than finding a few matches
    same = pa.types.is_primitive(kind) and kind.bit_width == numbers.type.bit_width
    return numbers.view(kind) if same else numbers.cast(kind)


def refuse_beyond(column: pa.Array, what: str, rows: RowNumbers) -> None:
    """Refuse numbers from 2**63 on: they do not fit int64."""
    values = column.to_numpy(zero_copy_only=False)
    beyond = np.flatnonzero(values > np.uint64(np.iinfo(np.int64).max))
    if len(beyond):
        row = int(beyond[0])
        raise DataError(
            f"{what} is {values[row]} in row {rows.of_selected(row)}, and must be below 2**63",
            hint="subtract where the times begin, or count in a coarser unit",
        )


def python_values(column: pa.Array, path: tuple[str, ...]) -> list[Any]:
    """Values as Python objects that can be compared and saved. Times are in UTC. They are pandas'
    times only if they have nanoseconds, which Python's times cannot have."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.timestamp(kind.unit))
    if (pa.types.is_timestamp(kind) or pa.types.is_duration(kind)) and kind.unit == "ns":
        with suppress(pa.ArrowInvalid):  # which says that there are nanoseconds
            column = column.cast(
                pa.duration("us") if pa.types.is_duration(kind) else pa.timestamp("us")
            )
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError) as error:
        raise DataError(
            f"{'.'.join(path)!r} cannot be compared between events: {error}",
            hint="install pandas, or cast the column to microseconds",
        ) from None
    return values


def sortable(values: Floats, what: str, rows: RowNumbers) -> Ints:
    if np.isnan(values).any():
        row = int(np.flatnonzero(np.isnan(values))[0])
        raise DataError(
            f"{what} is not a number (NaN) in row {rows.of_selected(row)}",
            hint="drop such rows first, or fill the column in",
        )
    return ordered(values)


def ordered(values: Floats) -> Ints:
    """Floats as integers in the same order (`_floats` is the inverse)."""
    bits = (values + 0.0).view(np.int64)  # + 0.0 makes -0.0 the same as 0.0
    return np.where(bits < 0, np.int64(-(2**63)) - bits - 1, bits)


class Clock:
    """How a plan measures the distance between events: what to read, and how far is too far.

    Every event has a *measure* and a *floor*: a match that ends at it is inside the window when
    the measure of its first event is not below the floor. Both are integers that sort as the
    values do, so the kernel only compares.
    """

    def __init__(self, window: Window | None, stream: Stream, schema: pa.Schema) -> None:
        self.windowed = window is not None
        self.by_time = False
        """Whether the times are the measures."""
        self.path: tuple[str, ...] | None = None
        self.span: int | float = 0
        self.real = False
        match window:
            case EventWindow(size):
                self.span = size - 1
            case TimeWindow(microseconds):
                if stream.time is None:
                    raise no_time(window, schema)
                self.path = (stream.time,)
                self.span = in_units_of(type_at(schema, self.path), microseconds, stream)
            case AttributeWindow(size, path):
                self.path = path
                self.span = _attribute_span(type_at(schema, path), size, path)
        self.follows_time = self.path == (stream.time,)
        """Whether the window is measured by the time column."""
        if self.path is not None:
            kind = type_at(schema, self.path)
            self.real = _is_real(kind)
            self.by_time = self.follows_time and not self.real

    def floor_at(self, measure: int) -> int:
        """The smallest measure inside a window that ends at this one."""
        return int(self.floors(np.array([measure]))[0])

    def floors(self, measures: Ints) -> Ints:
        """`floor_at` for several measures."""
        if self.real:
            return float_floors(_floats(measures), self.span)
        return _no_further_back(measures, int(self.span))

    def read(
        self, batch: pa.RecordBatch, places: Ints, positions: Ints, times: Ints, rows: RowNumbers
    ) -> tuple[Ints, Ints]:
        """Measures and floors of the rows at some places of a batch, which have these positions
        and times."""
        if self.path is None:
            return positions, _no_further_back(positions, int(self.span))
        if self.by_time:
            return times, _no_further_back(times, int(self.span))
        what = f"the window's column {'.'.join(self.path)!r}"
        column = read(batch, self.path, "the window's column")
        if len(places) < len(column):
            column = column.take(pa.array(places))
        measures = np.require(as_integers(column, what, rows.at(places)), requirements="W")
        if self.real:
            values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            return measures, float_floors(values, self.span)
        return measures, _no_further_back(measures, int(self.span))


def _no_further_back(measures: Ints, span: int) -> Ints:
    """The measures less the span, but not below the smallest int64."""
    furthest = SMALLEST + span
    if len(measures) and measures.min() < furthest:
        measures = np.maximum(measures, furthest)
    floors: Ints = np.subtract(measures, span, out=empty(len(measures), np.int64))
    return floors


def float_floors(ends: Floats, span: float) -> Ints:
    """The smallest start, in the order of `sortable`, with end − start ≤ span.

    `end − span` may miss it by the rounding of either subtraction; then it is searched for.
    """
    floors: Ints = ordered(ends - span)

    def inside(starts: Ints, ends: Floats) -> npt.NDArray[np.bool_]:
        return ends - _floats(starts) <= span

    with np.errstate(invalid="ignore", over="ignore"):
        wrong = np.flatnonzero(~inside(floors, ends) | inside(floors - 1, ends))
        low = np.full(len(wrong), ordered(np.array([-np.inf]))[0])
        high = ordered(ends[wrong])
        while np.any(low < high):
            middle = (low & high) + ((low ^ high) >> 1)  # their sum may not fit
            fits = inside(middle, ends[wrong])
            low, high = np.where(fits, low, middle + 1), np.where(fits, middle, high)
    floors[wrong] = high
    return floors


def _floats(ordered: Ints) -> Floats:
    bits = np.where(ordered < 0, np.int64(-(2**63)) - ordered - 1, ordered)
    return bits.view(np.float64)


def _is_real(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def in_units_of(kind: pa.DataType, microseconds: int, stream: Stream) -> int | float:
    """A length of time in the units of the time column."""
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind):
        return microseconds * UNIT_PER_SECOND[kind.unit] // 10**6
    if pa.types.is_date(kind) or pa.types.is_null(kind):  # null: nothing will be measured
        return microseconds
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        length = microseconds / stream.need_unit(f", or write WITHIN n [{stream.time}]")
        return length if pa.types.is_floating(kind) else int(length)
    raise CereusError(
        f"the time column {stream.time!r} has the type {kind}",
        hint="cast it to a timestamp or a number first; in CSV and JSON a time that is read as one "
        "is written 2025-03-03 09:30:00",
    )


def _attribute_span(kind: pa.DataType, size: int | float, path: tuple[str, ...]) -> int | float:
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return int(np.floor(size))
    if _is_real(kind):
        return size
    name = ".".join(path)
    raise CereusError(
        f"WITHIN {size} [{name}] needs a number, but {name!r} is a {kind}",
        hint="for a time, make it the stream's time column and write WITHIN 10 seconds",
    )


def later(times: Ints, span: int) -> Ints:
    """The times plus a span, but not after the last possible time."""
    within = min(span, LARGEST)
    return np.minimum(times, LARGEST - within) + within


def earlier(times: Ints, span: int) -> Ints:
    """The times less a span, but not before the first possible time."""
    within = min(span, LARGEST)
    return np.maximum(times, SMALLEST + within) - within


def deadline_span(window: Window, stream: Stream, schema: pa.Schema, clause: str) -> int:
    """How long a match waits, in the units of the time column."""
    clock = Clock(window, stream, schema)
    if clock.real:
        raise RefusedError(
            f"{clause} needs times that are timestamps or whole numbers",
            hint="cast the time column to timestamps, or to whole numbers",
        )
    return int(clock.span)
