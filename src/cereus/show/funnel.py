"""A funnel as a chart: a bar for each step, or a line for each over the periods."""

from __future__ import annotations

from typing import Any

from cereus.funnels.funnel import Funnel
from cereus.funnels.summary import PERIOD
from cereus.show.pictures import field_name, tooltip
from cereus.show.timeline import altair_module, inline_data, plain_rows


def funnel_chart(funnel: Funnel) -> Any:
    """An altair chart. Bars are the keys that took a step, with the share that came so far from the
    first step; with periods, lines are that share over time. Each segment has its own panel."""
    alt = altair_module()
    names = list(dict.fromkeys(funnel.spec.names))
    base = alt.Chart(inline_data(plain_rows(funnel.steps)))
    tips = [tooltip(alt, name) for name in funnel.steps.column_names]
    if funnel.spec.period is not None:
        made = base.mark_line(point=True).encode(
            x=alt.X(f"{PERIOD}:T", title=f"{funnel.spec.period} of the first step"),
            y=alt.Y("conversion:Q", title="came so far", axis=alt.Axis(format="%")),
            color=alt.Color("name:N", title="step", sort=names),
            tooltip=tips,
        )
    else:
        bars = base.mark_bar().encode(
            x=alt.X("keys:Q", title=" · ".join(funnel.spec.stream.keys)),
            y=alt.Y("name:N", title="step", sort=names),
            tooltip=tips,
        )
        shares = bars.mark_text(align="left", dx=4).encode(
            text=alt.Text("conversion:Q", format=".1%")
        )
        made = bars + shares
    made = made.properties(width=480)
    segments = list(funnel.spec.by)
    if not segments:
        return made
    label = "segment"
    joined = " + ' · ' + ".join(f"datum['{field_name(name)}']" for name in segments)
    return made.transform_calculate(**{label: joined}).facet(
        row=alt.Row(f"{label}:N", title=" · ".join(segments))
    )
