"""Axes of time: labels that say a time as a person reads it, however far a chart is zoomed in."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError, shortened

TICKS = 8
"""About this many ticks along time; with more, labels are left out, and only the parts of seconds
stay."""
PADDING = 12
FORMATS = {
    "year": "%Y",
    "quarter": "%b %Y",
    "month": "%b %Y",
    "week": "%-d %b",
    "date": "%-d %b",
    "hours": "%H:%M",
    "minutes": "%H:%M",
    "seconds": "%H:%M:%S",
    "milliseconds": "%H:%M:%S.%L",
}
"""The format of a tick, by the unit that begins there. Vega's own labels leave out the hour and the
minute where these are the same, and do not tell morning from afternoon."""
DAY = "%-d %b %Y"
"""The text below the first label."""
MIDNIGHT = "00:00:00.000"


def is_time(kind: pa.DataType) -> bool:
    """Whether a column has points in time, with hours and minutes; other columns are numbers."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def axis_type(kind: pa.DataType) -> str:
    return "temporal" if is_time(kind) else "quantitative"


def zone_of(kind: pa.DataType) -> str | None:
    """The zone that times are shown in: the one that they are given in, if any."""
    return kind.tz if pa.types.is_timestamp(kind) else None


def on_axis(value: Any) -> Any:
    """A number, or a time for an axis: milliseconds of the local clock where the times are from, so
    that no browser moves them into its own zone. A large number is rounded; one that is not finite
    is left out. A duration is its seconds."""
    if isinstance(value, date):
        clock = (
            value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        )
        return clock.replace(tzinfo=UTC).timestamp() * 1000
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, timedelta):
        return value.total_seconds()
    if not isinstance(value, float | Decimal):
        raise CereusError(
            f"an axis has times or numbers, not {shortened(repr(value))}",
            hint="write time= with another column",
        )
    number = float(value)
    return number if isfinite(number) else None


def along_axis(alt: Any, field: str, kind: pa.DataType, title: str, **more: Any) -> Any:
    """An axis of times or of numbers, which need not begin at 0."""
    timed = is_time(kind)
    return alt.X(
        field,
        type=axis_type(kind),
        title=title,
        scale=_times(alt) if timed else alt.Scale(zero=False, nice=False, padding=PADDING),
        axis=time_axis(alt) if timed else alt.Undefined,
        **more,
    )


def _times(alt: Any) -> Any:
    return alt.Scale(type="utc", padding=PADDING)


def time_axis(alt: Any) -> Any:
    """An axis of times, with the day below its first label; a label at midnight is the day."""
    written = f"utcFormat(datum.value, {FORMATS})"
    day = f"utcFormat(datum.value, '{DAY}')"
    first = f"utcFormat(datum.value, '%H:%M:%S.%L') === '{MIDNIGHT}' ? {day} : [{written}, {day}]"
    return alt.Axis(tickCount=TICKS, labelExpr=f"datum.index ? {written} : {first}")
