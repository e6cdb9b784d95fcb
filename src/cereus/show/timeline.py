"""Matches along time: events as marks in lanes, matches as bands; and how many matches there are
when, and of which key."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError
from cereus.matches import Matches, expressible
from cereus.pictures.graphs import library
from cereus.show.colours import INK, PALETTE
from cereus.show.pictures import LARGEST_EXACT, field_name, tooltip

MOST_MATCHES = 50
NAMES = ("variables", "type")
SINCE = "since the first event"
MATCH = "match"
LABEL = "label"
BINS = 60
ROOM = {"left": 5, "top": 5, "right": 30, "bottom": 5}
"""Around a chart, in pixels. A still picture is measured with one font and shown with another, in
which the legend may be wider."""
TITLE_PADDING = 10
LABEL_ROOM = 1
"""Pixels for each letter of the longest label of a lane, for the same reason: the title of the axis
stands behind it."""
TICKS = 8
"""Along time, about so many: of more, labels are left out, and only the parts of seconds stay."""
LABELS_APART = 8
"""Pixels between two labels of an axis, of which some are left out where there are many."""


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
    alt = altair_module()
    events = expressible(matches.head(most).events())
    along = time or "position"
    shade = color or next((name for name in NAMES if name in events.column_names), None)
    _check(events, (along, shade, lanes))
    title = _title(matches, events, along, aligned=aligned)
    if aligned:
        events, along = _aligned(events, along), SINCE
    keys = key_columns(matches)
    events = _labelled(events, matches, keys)
    timed = _scale(events, along) == "temporal"
    shown = LABEL if lanes == MATCH else lanes
    base = alt.Chart(inline_data(plain_rows(events, along))).encode(
        x=alt.X(
            field_name(along),
            type=_scale(events, along),
            title=title,
            scale=_spread(alt, events, along),
            axis=alt.Axis(tickCount=TICKS) if timed else alt.Undefined,
        ),
        y=alt.Y(
            field_name(shown),
            type="ordinal",
            title=" · ".join([MATCH, *keys]) if lanes == MATCH else lanes,
            sort=None if lanes == MATCH else _sorted(matches, events, lanes),
            axis=_labelled_axis(alt, events.column(shown)),
        ),
    )
    bands = base.mark_line(color=INK, opacity=0.35, strokeWidth=7, strokeCap="round").encode(
        detail=[alt.Detail("match:O")]
    )
    points = base.mark_circle(size=70, opacity=1).encode(
        color=_colour(alt, matches, events, shade),
        tooltip=[tooltip(alt, name) for name in events.column_names],
    )
    count = len({*map(str, events.column(shown).to_pylist())})
    shaped = (bands + points).properties(width=640, height=lane_height(count))
    return _styled(shaped).interactive(bind_y=False)


def lane_height(count: int) -> int:
    """The height of a chart with so many lanes. A number, where a page may stretch the width."""
    return max(count, 2) * 20


def _labelled_axis(alt: Any, labels: pa.ChunkedArray) -> Any:
    """An axis whose title stands clear of the longest of its labels."""
    longest = max((len(str(_plain(each))) for each in labels.to_pylist()), default=0)
    return alt.Axis(titlePadding=TITLE_PADDING + LABEL_ROOM * longest)


def _spread(alt: Any, events: pa.Table, along: str) -> Any:
    """Numbers need not begin at 0; times never do."""
    if _scale(events, along) == "temporal":
        return alt.Scale(padding=12)
    return alt.Scale(zero=False, nice=False, padding=12)


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


def _title(matches: Matches, events: pa.Table, along: str, *, aligned: bool) -> str:
    """What the axis counts, in which unit: `ts (ms)`, `seconds since the first event`."""
    stream = matches.query.stream
    timed = along == stream.time
    unit = "seconds" if _scale(events, along) == "temporal" else (stream.unit if timed else None)
    if aligned:
        return f"{unit or ('positions' if along == 'position' else along)} {SINCE}"
    return f"{along} ({stream.unit})" if timed and stream.unit is not None else along


def key_columns(matches: Matches) -> list[str]:
    """The key columns, as the matches call them."""
    names = [".".join(path) for path in matches.query.keys]
    return [name for name in names if name in matches.table.column_names]


def _labelled(events: pa.Table, matches: Matches, keys: list[str]) -> pa.Table:
    """With what stands before each line: the number of the match, and its key."""
    values = matches.table.select(keys).to_pylist() if keys else []
    numbers = events.column("match").to_pylist()
    labels = [" · ".join([str(n), *(str(values[n][key]) for key in keys)]) for n in numbers]
    return events.append_column(LABEL, pa.array(labels, pa.string()))


def _order(matches: Matches, events: pa.Table, shade: str) -> list[str]:
    """The legend in the order of the pattern, or of the first events."""
    shown = list(dict.fromkeys(str(_plain(value)) for value in events.column(shade).to_pylist()))
    if shade != "variables":
        return shown
    places = {name: place for place, name in enumerate(matches.query.variables)}
    return sorted(shown, key=lambda names: [places[name] for name in names.split(", ") if name])


def _sorted(matches: Matches, events: pa.Table, lanes: str) -> Any:
    """Lanes of variables in the order of the pattern, others in that of their values."""
    return _order(matches, events, lanes) if lanes == "variables" else "ascending"


def altair_module() -> Any:
    return library("altair")


def inline_data(rows: list[dict[str, Any]]) -> Any:
    """Rows as the data of a chart. Altair would put every value to its schema, which takes seconds
    for some thousands: it is told not to here, and sets aside what is inline when it checks a
    chart."""
    alt = altair_module()
    with alt.utils.schemapi.debug_mode(False):
        return alt.InlineData(values=rows)


def matches_per_time(matches: Matches, *, time: str = "end_time") -> Any:
    """An altair chart: how many matches there are when."""
    alt = altair_module()
    table = expressible(matches.table)
    _check(table, (time,))
    kind = _scale(table, time)
    values = [{field_name(time): _on_axis(value)} for value in table.column(time).to_pylist()]
    chart = alt.Chart(inline_data(values)).mark_bar(color=PALETTE[0])
    x = alt.X(field_name(time), type=kind, bin=alt.Bin(maxbins=BINS), title=time)
    y = alt.Y("count()", title="matches", axis=_counting_axis(alt))
    return _styled(chart.encode(x=x, y=y).properties(width=640, height=160))


def matches_per_key(matches: Matches, key: str, *, most: int = 30) -> Any:
    """An altair chart: how many matches the keys have that have most."""
    alt = altair_module()
    _check(matches.table, (key,))
    counts = matches.table.column(key).value_counts().to_pylist()
    largest = sorted(counts, key=lambda each: -each["counts"])[:most]
    field = field_name(key)
    values = [{field: _plain(each["values"]), "matches": each["counts"]} for each in largest]
    chart = alt.Chart(inline_data(values)).mark_bar(color=PALETTE[0])
    keys = pa.chunked_array([[str(each[field]) for each in values]], pa.string())
    y = alt.Y(field, type="nominal", sort="-x", title=key, axis=_labelled_axis(alt, keys))
    x = alt.X("matches:Q", axis=_counting_axis(alt))
    return _styled(chart.encode(x=x, y=y).properties(width=640, height=lane_height(len(values))))


def _counting_axis(alt: Any) -> Any:
    """An axis of whole numbers."""
    return alt.Axis(tickMinStep=1, labelExpr="datum.value % 1 ? '' : datum.label", format=",d")


def _styled(chart: Any) -> Any:
    """Without a background, and in a gray that can be read in dark and light."""
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


def _aligned(events: pa.Table, along: str) -> pa.Table:
    """With a column that counts from the first event of each match."""
    first: dict[int, Any] = {}
    since = []
    for match, value in zip(
        events.column(MATCH).to_pylist(), events.column(along).to_pylist(), strict=True
    ):
        passed = value - first.setdefault(match, value)
        since.append(passed.total_seconds() if isinstance(passed, timedelta) else passed)
    return events.append_column(SINCE, pa.array(since))


def plain_rows(events: pa.Table, along: str | None = None) -> list[dict[str, Any]]:
    """Plain values, as Vega reads them; `along` is the column of the axis of numbers."""
    return [
        {
            field_name(name): _on_axis(value) if name == along else _plain(value)
            for name, value in row.items()
        }
        for row in events.to_pylist()
    ]


def _on_axis(value: Any) -> Any:
    """A number or a time, as an axis has it: of a large number, one near it."""
    return value if isinstance(value, int) else _plain(value)


def _plain(value: Any) -> Any:
    """A value that is shown as it is, and told from all others."""
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return str(value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)


def _scale(events: pa.Table, name: str) -> str:
    kind = events.schema.field(name).type
    return "temporal" if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else "quantitative"
