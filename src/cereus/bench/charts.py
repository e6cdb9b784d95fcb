"""The pictures of benchmarks: bars of multiples, and lines of growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cereus.pictures.graphs import library
from cereus.show.pictures import field_name

Row = Mapping[str, Any]
BLUE = "#2b6cb0"


def _data(alt: Any, rows: Sequence[Row], names: Sequence[str]) -> Any:
    values = [{field_name(name): row.get(name) for name in names} for row in rows]
    return alt.Data(values=values)


def bars(
    rows: Sequence[Row], label: str, value: str, title: str, *, logarithmic: bool = False
) -> Any:
    """One bar for each row that has the value, in the order of the rows; a line at one. Bars on a
    logarithmic scale begin there."""
    alt = library("altair")
    shown = [row for row in rows if row.get(value) is not None]
    ends = {"scale": alt.Scale(type="log")} if logarithmic else {}
    bar = (
        alt.Chart(_data(alt, shown, (label, value)))
        .mark_bar(color=BLUE, height={"band": 0.7})
        .encode(
            x=alt.X(field_name(value), type="quantitative", title=title, **ends),
            x2=alt.datum(1 if logarithmic else 0),
            y=alt.Y(
                field_name(label),
                type="nominal",
                sort=None,
                title=None,
                axis=alt.Axis(labelLimit=320),
            ),
        )
    )
    line = alt.Chart(alt.Data(values=[{"at": 1}])).mark_rule(color="#555", strokeDash=[4, 3])
    both = bar + line.encode(x=alt.X("at", type="quantitative", title=title, **ends))
    return both.properties(width=480)


def lines(
    rows: Sequence[Row],
    across: str,
    up: str,
    of: str,
    *,
    across_log: bool = True,
    up_log: bool = True,
) -> Any:
    """Points joined by a line for each value of `of`, by default with both scales logarithmic, so
    that a power of x is a straight line."""
    alt = library("altair")

    def scale(logarithmic: bool) -> Any:
        return alt.Scale(type="log" if logarithmic else "linear", zero=False, nice=True)

    chart = alt.Chart(_data(alt, rows, (across, up, of))).mark_line(point=True)
    return chart.encode(
        x=alt.X(field_name(across), type="quantitative", scale=scale(across_log), title=across),
        y=alt.Y(field_name(up), type="quantitative", scale=scale(up_log), title=up),
        color=alt.Color(field_name(of), type="nominal", sort=None, title=of),
    ).properties(width=480, height=260)
