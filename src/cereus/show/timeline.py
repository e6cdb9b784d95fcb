"""Matches as a timeline: one line per match, one mark per matched event."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError
from cereus.matches import Matches

MOST_MATCHES = 50
NAMES = ("variables", "type")
SINCE = "since the first event"
LABEL = "label"


def timeline(
    matches: Matches,
    *,
    time: str | None = None,
    color: str | None = None,
    aligned: bool = False,
    most: int = MOST_MATCHES,
) -> Any:
    """An altair chart of the first matches: events along `time` (positions without one).

    `color` is a column of the events; without it, the selected variables or the type.
    `aligned` lets every match begin at 0 (seconds, or positions), to compare their shapes.
    """
    alt = altair_module()
    events = _events(matches, most)
    along = time or "position"
    shade = color or next((name for name in NAMES if name in events.column_names), None)
    for name in (along, shade):
        if name is not None and name not in events.column_names:
            raise CereusError(
                f"the events have no column {name!r}",
                hint=f"they have {', '.join(events.column_names)}",
            )
    title = _title(matches, events, along, aligned=aligned)
    if aligned:
        events, along = _aligned(events, along), SINCE
    keys = _keys(matches)
    events = _labelled(events, matches, keys)
    base = alt.Chart(alt.Data(values=plain_rows(events))).encode(
        x=alt.X(along, type=_scale(events, along), title=title, scale=alt.Scale(zero=False)),
        y=alt.Y(f"{LABEL}:O", title=" · ".join(["match", *keys]), sort=None),
    )
    joined = base.mark_line(color="lightgray").encode(detail="match:O")
    points = base.mark_circle(size=70, opacity=1).encode(
        color=alt.Color(f"{shade}:N", sort=_order(matches, events, shade), title=shade)
        if shade
        else alt.value("steelblue"),
        tooltip=[alt.Tooltip(name, type="nominal") for name in events.column_names],
    )
    return (joined + points).properties(width=640)


def _title(matches: Matches, events: pa.Table, along: str, *, aligned: bool) -> str:
    """What the axis counts, in which unit: `ts (ms)`, `seconds since the first event`."""
    stream = matches.query.stream
    timed = along == stream.time
    unit = "seconds" if _scale(events, along) == "temporal" else (stream.unit if timed else None)
    if aligned:
        return f"{unit or ('positions' if along == 'position' else along)} {SINCE}"
    return f"{along} ({stream.unit})" if timed and stream.unit is not None else along


def _keys(matches: Matches) -> list[str]:
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


def altair_module() -> Any:
    try:
        return import_module("altair")
    except ImportError:
        raise CereusError(
            "altair is not installed", hint="pip install 'cereus[notebook]'"
        ) from None


def _events(matches: Matches, most: int) -> pa.Table:
    return matches.head(most).events()


def _aligned(events: pa.Table, along: str) -> pa.Table:
    """With a column that counts from the first event of each match."""
    first: dict[int, Any] = {}
    since = []
    for match, value in zip(
        events.column("match").to_pylist(), events.column(along).to_pylist(), strict=True
    ):
        passed = value - first.setdefault(match, value)
        since.append(passed.total_seconds() if isinstance(passed, timedelta) else passed)
    return events.append_column(SINCE, pa.array(since))


def plain_rows(events: pa.Table) -> list[dict[str, Any]]:
    """Plain values, as Vega reads them."""
    return [{name: _plain(value) for name, value in row.items()} for row in events.to_pylist()]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value


def _scale(events: pa.Table, name: str) -> str:
    kind = events.schema.field(name).type
    return "temporal" if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else "quantitative"
