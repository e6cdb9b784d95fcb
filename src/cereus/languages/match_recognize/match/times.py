"""WITHIN: the times of rows, and the length of the window in their units."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import DataError, RefusedError
from cereus.expr.arrow.vector import PER_SECOND, from_arrow
from cereus.expr.types import Kind
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.sorting import SortedRows


def window(
    bound: Bound, rows: SortedRows, unit: str | None = None
) -> tuple[npt.NDArray[np.int64] | None, int]:
    """The times of the rows, and how long a match may be (less than that); (None, -1) without
    WITHIN. `unit` is that of a time column that holds plain numbers."""
    if bound.clause.within is None:
        return None, -1
    return times(bound, rows.column(bound.order[0].path[0])), length(bound, unit)


def times(bound: Bound, data: pa.Array) -> npt.NDArray[np.int64]:
    name = bound.order[0].path[0]
    if data.null_count:
        raise DataError(
            f"the time column {name!r} has a null, and WITHIN needs the time of every row",
            hint="leave such rows out before",
        )
    return np.ascontiguousarray(from_arrow(data).values, np.int64)


def deadlines(bound: Bound, starts: pa.Array, unit: str | None = None) -> pa.Array:
    """Where the windows of matches that begin at these times end."""
    within = bound.clause.within
    assert within is not None
    if pa.types.is_integer(starts.type):
        return pc.add(starts.cast(pa.int64()), length(bound, unit))
    if pa.types.is_date(starts.type):
        starts = starts.cast(pa.timestamp("us"))
    if within.length % timedelta(seconds=1) and starts.type.unit in ("s", "ms"):
        finer = pa.timestamp("us", getattr(starts.type, "tz", None))
        starts = starts.cast(pa.duration("us") if pa.types.is_duration(starts.type) else finer)
    return pc.add(starts, pa.scalar(within.length, pa.duration(starts.type.unit)))


def length(bound: Bound, unit: str | None = None) -> int:
    """The window in units of the time column. Fractions are rounded up: a match that is shorter
    than the window by less than a unit counts."""
    within = bound.clause.within
    assert within is not None
    name = bound.order[0].path[0]
    kind = bound.schema.field(name).type
    if pa.types.is_integer(kind):
        if unit is None:
            raise RefusedError(
                f"the time column {name!r} holds plain numbers: which unit?",
                span=within.span,
                hint=f'say Stream(time="{name}", unit="ms"), or order by a timestamp',
            )
        size = PER_SECOND[unit]
    elif pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind):
        sample = from_arrow(pa.array([], kind))
        assert sample.kind in (Kind.TIMESTAMP, Kind.INTERVAL)
        size = PER_SECOND[sample.unit]
    else:
        raise RefusedError(
            f"WITHIN needs a time, and {name!r} has the type {kind}",
            span=within.span,
            hint="the first column of ORDER BY is the time",
        )
    microseconds = within.length // timedelta(microseconds=1)
    return -(-microseconds * size // 10**6)
