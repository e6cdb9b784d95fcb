"""Charts of matches along time: events as marks in lanes, matches as bands; and the number of
matches by time and by key."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError, switch
from cereus.language.anatomy import variable_of
from cereus.matches import Matches
from cereus.pictures.graphs import library
from cereus.show.axes import along_axis, is_time, on_axis, zone_of
from cereus.show.colours import INK, PALETTE
from cereus.show.pictures import LARGEST_EXACT, field_name, tooltip
from cereus.show.stretches import CountedStretch, stretches
from cereus.syntax.literals import time_text
from cereus.writing.expressible import expressible, shown_rows
from cereus.writing.json_text import finite

EPOCH = datetime(1970, 1, 1)
EARLIEST, LATEST = (
    (each - EPOCH) // timedelta(milliseconds=1) for each in (datetime.min, datetime.max)
)
"""The milliseconds of the first and last times that Python has."""

MOST_MATCHES = 50
VARIABLES = "variables"
SINCE = "since the first event"
SECONDS, UNITS = "seconds", ((86_400, "days"), (3_600, "hours"), (60, "minutes"))
FROM = 3
"""An axis is in the largest unit of which it has at least this many."""
MATCH = "match"
AT, LABEL, UNTIL = "~at", "~label", "~until"
"""Fields of the charts themselves: no column has such a name in a chart."""
ZOOM = "zoom"
"""The name of the parameter that zooms a chart, for pages with zoom buttons."""
ROOM = {"left": 5, "top": 5, "right": 30, "bottom": 5}
"""The padding of a chart, in pixels. A still picture is measured with one font and shown with
another, in which the legend may be wider."""
TITLE_PADDING = 10
LABEL_ROOM = 1
"""Pixels for each letter of the longest label of a lane, for the same reason: the title of the axis
stands behind it."""
BAND = {"color": INK, "opacity": 0.35, "strokeWidth": 7, "strokeCap": "round"}
MARK = {"size": 70, "opacity": 1, "stroke": "#fff", "strokeWidth": 0.8}
"""A mark has a thin border, so that it can be distinguished from the one behind it."""
LONGEST_LABEL = 45
"""The most letters of a label; Vega cuts longer ones."""
MOST_COUNTS = 5
"""The number of ticks along an axis of counts."""
LABELS_APART = 8
"""The pixels between two labels of an axis; if there are many, some are left out."""


def timeline(
    matches: Matches,
    *,
    time: str | None = None,
    color: str | None = None,
    lanes: str = MATCH,
    aligned: bool = False,
    most: int = MOST_MATCHES,
) -> Any:
    """An altair chart of the first matches: events along `time` (positions without one), matches
    as bands from their first event to their last. It zooms and shows the values of an event.

    `lanes` is what has a lane of its own: each match, or the values of a column of the events (a
    key, `variables`, `type`). `color` is a column of the events; without it, the selected
    variables or the type. `aligned` lets every match begin at 0 (seconds, or positions), to
    compare their shapes.
    """
    switch("aligned", aligned)
    alt = altair_module()
    events = expressible(matches.head(most).events())
    along = time or "position"
    shade = color or _usual_shade(matches, events)
    _check(events, (along, shade))
    if lanes != MATCH:
        _check(events, (str(lanes),))
    if aligned:
        unit = _unit(matches, events, along)
        events, unit = _aligned(events, along, unit)
        along, title = SINCE, f"{unit} {SINCE}"
    else:
        title = _title(matches, events, along)
    keys = key_columns(matches)
    labels = _labels(events, matches, keys) if lanes == MATCH else events.column(lanes).to_pylist()
    rows = plain_rows(events)
    for row, value, label in zip(rows, events.column(along).to_pylist(), labels, strict=True):
        row |= {AT: on_axis(value), LABEL: _plain(label)}
    base = alt.Chart(inline_data(rows)).encode(
        x=along_axis(alt, AT, events.schema.field(along).type, title),
        y=alt.Y(
            LABEL,
            type="ordinal",
            title=" · ".join([MATCH, *keys]) if lanes == MATCH else lanes,
            sort=None if lanes == MATCH else _sorted(matches, events, lanes),
            axis=_labelled_axis(alt, labels),
        ),
    )
    bands = base.mark_line(**BAND, clip=True).encode(detail=[alt.Detail("match:O")])
    points = base.mark_circle(**MARK, clip=True).encode(
        color=_colour(alt, matches, events, shade),
        tooltip=[tooltip(alt, name) for name in events.column_names],
    )
    count = len({*map(str, labels)})
    shaped = (bands + points).properties(width=640, height=lane_height(count))
    zoom = alt.selection_interval(name=ZOOM, bind="scales", encodings=["x"])
    return styled(shaped).add_params(zoom)


def _usual_shade(matches: Matches, events: pa.Table) -> str | None:
    """The column whose values have a colour each: the variables, else the type."""
    kind = matches.query.stream.type
    names = (VARIABLES, f"event_{kind}" if kind in (MATCH, "position") else kind)
    return next((name for name in names if name in events.column_names), None)


def lane_height(count: int) -> int:
    """The height of a chart with `count` lanes. It is a number, since a page may stretch the
    width."""
    return max(count, 2) * 20


def _labelled_axis(alt: Any, labels: Iterable[Any]) -> Any:
    """An axis whose title is clear of the longest of its labels."""
    longest = max((len(str(_plain(each))) for each in labels), default=0)
    return alt.Axis(titlePadding=TITLE_PADDING + LABEL_ROOM * min(longest, LONGEST_LABEL))


def _colour(alt: Any, matches: Matches, events: pa.Table, shade: str | None) -> Any:
    if shade is None:
        return alt.value(PALETTE[0])
    return alt.Color(
        field_name(shade),
        type="nominal",
        title=shade,
        sort=_order(matches, events, shade),
        scale=alt.Scale(range=list(PALETTE)),
    )


def _title(matches: Matches, events: pa.Table, along: str) -> str:
    """What the axis counts, and in which zone or unit: `ts (ms)`."""
    stream = matches.query.stream
    zone = zone_of(events.schema.field(along).type)
    note = zone or (stream.unit if along == stream.time else None)
    return along if note is None else f"{along} ({note})"


def _unit(matches: Matches, events: pa.Table, along: str) -> str:
    """What is counted from the first event of a match on."""
    stream = matches.query.stream
    if is_time(events.schema.field(along).type):
        return SECONDS
    unit = stream.unit if along == stream.time else None
    return unit or ("positions" if along == "position" else along)


def key_columns(matches: Matches) -> list[str]:
    """The key columns, as the matches call them."""
    names = [".".join(path) for path in matches.query.keys]
    return [name for name in names if name in matches.table.column_names]


def _labels(events: pa.Table, matches: Matches, keys: list[str]) -> list[str]:
    """The labels of the lanes: the number of the match, and its key."""
    values = shown_rows(matches.table.select(keys)) if keys else []
    numbers = events.column("match").to_pylist()
    return [" · ".join([str(n), *(_named(values[n][key]) for key in keys)]) for n in numbers]


def _named(key: Any) -> str:
    """A key as people write it."""
    return "null" if key is None else str(_plain(key))


def _order(matches: Matches, events: pa.Table, shade: str) -> list[str]:
    """The order of the legend: that of the pattern, or of the first events."""
    shown = list(dict.fromkeys(str(_plain(value)) for value in events.column(shade).to_pylist()))
    if shade != VARIABLES:
        return shown
    names = map(variable_of, matches.query.variables)
    places = {name: place for place, name in enumerate(names)}
    return sorted(shown, key=lambda names: [places[name] for name in names.split(", ") if name])


def _sorted(matches: Matches, events: pa.Table, lanes: str) -> Any:
    """Lanes of variables in the order of the pattern, others in that of their values."""
    return _order(matches, events, lanes) if lanes == VARIABLES else "ascending"


def altair_module() -> Any:
    return library("altair")


def inline_data(rows: list[dict[str, Any]]) -> Any:
    """Rows as the data of a chart. Altair would check every value against its schema, which takes
    seconds for some thousands. Here it is told not to; it skips inline data when it checks a
    chart."""
    alt = altair_module()
    with alt.utils.schemapi.debug_mode(False):
        return alt.InlineData(values=rows)


def matches_per_time(matches: Matches, *, time: str = "end_time") -> Any:
    """An altair chart: how many matches there are when."""
    alt = altair_module()
    table = expressible(matches.table)
    _check(table, (time,))
    kind = table.schema.field(time).type
    counted = stretches(map(on_axis, table.column(time).to_pylist()), timed=is_time(kind))
    chart = alt.Chart(inline_data([_bar(each, kind) for each in counted]))
    zone = zone_of(kind)
    encoded = chart.mark_bar(color=PALETTE[0], binSpacing=1).encode(
        x=along_axis(alt, AT, kind, time if zone is None else f"{time} ({zone})", bin="binned"),
        x2=UNTIL,
        y=alt.Y(
            "matches:Q", title="matches", axis=_counting_axis(alt, [each.count for each in counted])
        ),
        tooltip=[tooltip(alt, name) for name in ("from", "to", "matches")],
    )
    return styled(encoded.properties(width=640, height=160))


def _bar(stretch: CountedStretch, kind: pa.DataType) -> dict[str, Any]:
    first, last = (
        _time_text(each) if is_time(kind) else f"{each:,}" for each in (stretch.begin, stretch.end)
    )
    return {
        AT: stretch.begin,
        UNTIL: stretch.end,
        "from": first,
        "to": last,
        "matches": stretch.count,
    }


def _time_text(milliseconds: float) -> str:
    """A round time, or the nearest one that Python has."""
    at = min(max(milliseconds, EARLIEST), LATEST)
    return time_text(EPOCH + timedelta(milliseconds=at))


def matches_per_key(matches: Matches, key: str, *, most: int = 30) -> Any:
    """An altair chart: how many matches the keys have that have most."""
    alt = altair_module()
    _check(matches.table, (key,))
    counts = _countable(expressible(matches.table.select([key])).column(0)).value_counts()
    largest = sorted(counts.to_pylist(), key=lambda each: -each["counts"])[:most]
    field = field_name(key)
    values = [{field: _plain(each["values"]), "matches": each["counts"]} for each in largest]
    chart = alt.Chart(inline_data(values)).mark_bar(color=PALETTE[0])
    keys = [each[field] for each in values]
    y = alt.Y(field, type="nominal", sort="-x", title=key, axis=_labelled_axis(alt, keys))
    x = alt.X("matches:Q", axis=_counting_axis(alt, [each["counts"] for each in largest]))
    return styled(chart.encode(x=x, y=y).properties(width=640, height=lane_height(len(values))))


def _countable(column: pa.ChunkedArray) -> Any:
    """A column whose values Arrow can count: nested ones as texts."""
    if not (pa.types.is_nested(column.type) or pa.types.is_interval(column.type)):
        return column
    texts = (None if value is None else str(_plain(value)) for value in column.to_pylist())
    return pa.array(texts, pa.string())


def _counting_axis(alt: Any, counts: Iterable[int]) -> Any:
    """An axis of whole numbers."""
    most = max(counts, default=1)
    return alt.Axis(tickMinStep=1, tickCount=min(most, MOST_COUNTS), format=",d")


def styled(chart: Any) -> Any:
    """The chart without a background, and in a gray that can be read in dark and light."""
    gray = {"labelColor": INK, "titleColor": INK, "gridColor": INK, "gridOpacity": 0.2}
    return (
        chart.configure(background="transparent", padding=ROOM)
        .configure_axis(domainColor=INK, tickColor=INK, titlePadding=TITLE_PADDING, **gray)
        .configure_axisX(labelSeparation=LABELS_APART)
        .configure_legend(labelColor=INK, titleColor=INK)
        .configure_view(stroke=None)
    )


def _check(table: pa.Table, names: Iterable[str | None]) -> None:
    for name in names:
        if name is not None and name not in table.column_names:
            raise CereusError(
                f"there is no column {name!r}", hint=f"there are {', '.join(table.column_names)}"
            )


def _aligned(events: pa.Table, along: str, unit: str) -> tuple[pa.Table, str]:
    """The events with a column that counts from the first event of each match, and in which unit:
    many seconds are minutes, hours or days."""
    first: dict[int, Any] = {}
    since = []
    for match, value in zip(
        events.column(MATCH).to_pylist(), events.column(along).to_pylist(), strict=True
    ):
        try:
            passed = value - first.setdefault(match, value)
        except TypeError:
            raise CereusError(
                f"matches cannot be aligned along {along!r}: {value!r} is no time and no number",
                hint="write aligned=False, or time= with another column",
            ) from None
        since.append(passed.total_seconds() if isinstance(passed, timedelta) else passed)
    if unit == SECONDS:
        most = max(map(abs, since), default=0)
        size, unit = next((each for each in UNITS if most >= FROM * each[0]), (1, unit))
        since = [each / size for each in since] if size > 1 else since
    return events.append_column(SINCE, pa.array(since)), unit


def plain_rows(events: pa.Table) -> list[dict[str, Any]]:
    """Plain values, as Vega reads them."""
    return [
        {field_name(name): _plain(value) for name, value in row.items()}
        for row in shown_rows(events)
    ]


def _plain(value: Any) -> Any:
    """A value that is shown as it is and differs from all others."""
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return str(value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items())
    if isinstance(value, datetime):
        return time_text(value)
    known = isinstance(value, int | float | str | bool) or value is None
    return finite(value) if known else str(value)
