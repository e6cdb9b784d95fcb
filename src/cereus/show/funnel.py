"""A funnel as a chart: a bar for each step, or a line for each over the periods."""

from __future__ import annotations

from typing import Any

from cereus.funnels.funnel import Funnel
from cereus.funnels.summary import PERIOD
from cereus.show.axes import along_axis, on_axis
from cereus.show.colours import INK, PALETTE
from cereus.show.pictures import field_name, tooltip
from cereus.show.timeline import AT, altair_module, inline_data, plain_rows, styled

ROOM_FOR_SHARES = 1.1
"""How much longer the axis is than the longest bar, so that its share has room beside it."""


def funnel_chart(funnel: Funnel) -> Any:
    """An altair chart. Bars are the keys that took a step, with the share that came so far from the
    first step; with periods, lines are that share over time. Each segment has its own panel."""
    alt = altair_module()
    names = list(dict.fromkeys(funnel.spec.names))
    rows = plain_rows(funnel.steps)
    if funnel.spec.period is not None:
        for row, begin in zip(rows, funnel.steps.column(PERIOD).to_pylist(), strict=True):
            row[AT] = on_axis(begin)
    base = alt.Chart(inline_data(rows))
    tips = [tooltip(alt, name) for name in funnel.steps.column_names]
    if funnel.spec.period is not None:
        kind = funnel.steps.schema.field(PERIOD).type
        made = base.mark_line(point=True).encode(
            x=along_axis(alt, AT, kind, f"{funnel.spec.period} of the first step"),
            y=alt.Y("conversion:Q", title="conversion", axis=alt.Axis(format="%")),
            color=alt.Color(
                "name:N", title="step", sort=names, scale=alt.Scale(range=list(PALETTE))
            ),
            tooltip=tips,
        )
    else:
        most = max(funnel.steps.column("keys").to_pylist(), default=0)
        bars = base.mark_bar(color=PALETTE[0]).encode(
            x=alt.X(
                "keys:Q",
                title=f"keys ({' · '.join(funnel.spec.stream.keys)})",
                scale=alt.Scale(domain=[0, ROOM_FOR_SHARES * max(most, 1)]),
            ),
            y=alt.Y("name:N", title="step", sort=names),
            tooltip=tips,
        )
        shares = bars.mark_text(align="left", dx=4, color=INK).encode(
            text=alt.Text("conversion:Q", format=".1%")
        )
        made = bars + shares
    made = made.properties(width=480)
    segments = list(funnel.spec.by)
    if not segments:
        return styled(made)
    label = "segment"
    joined = " + ' · ' + ".join(f"datum['{field_name(name)}']" for name in segments)
    panels = made.transform_calculate(**{label: joined}).facet(
        row=alt.Row(
            f"{label}:N",
            title=" · ".join(segments),
            header=alt.Header(labelColor=INK, titleColor=INK),
        )
    )
    return styled(panels)
