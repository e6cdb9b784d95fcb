"""`cereus.funnel`: how far each key came through a row of steps, and where the others stopped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from cereus.funnels.run import FunnelRun
from cereus.funnels.spec import FunnelSpec, Steps, funnel_spec
from cereus.funnels.summary import PERIOD, group_names, steps_table, taken_steps
from cereus.notices import Notices, types_in, unseen_types
from cereus.sources import Source, source
from cereus.syntax.literals import Length
from cereus.writing.expressible import expressing, pandas_frame

SHARES = ("conversion", "from_previous")
SECONDS = ("mean_seconds", "median_seconds")
NUMBERS = ("step", "keys", "dropped", *SHARES, *SECONDS)
CAST = "cast the column, or leave such rows out with where="


@dataclass(frozen=True, repr=False)
class Funnel:
    """What came of a funnel.

    steps   an Arrow table with a row for each step (of each segment and period): `keys` that took
            it, `conversion` since the first step, `from_previous`, `dropped` (who went no
            further), `mean_seconds` and `median_seconds` since the step before
    keys    a row for each key: its columns and segments, `level` (the number of its last step),
            `entered` (when it took the first), `took` (the seconds from each step to the next);
            an Arrow table, on Spark a DataFrame
    warnings  what to know of the answer: a step whose type no event has
    """

    spec: FunnelSpec
    steps: pa.Table
    keys: Any
    warnings: tuple[str, ...] = ()

    @property
    def groups(self) -> list[str]:
        """The columns of `steps` that distinguish segments and periods."""
        return group_names(self.spec)

    def to_pandas(self) -> Any:
        return pandas_frame(self.steps)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.steps.__arrow_c_stream__(requested_schema)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        names = self.steps.column_names
        rows = [[cell_text(n, row[n]) for n in names] for row in self.steps.to_pylist()]
        return names, rows

    def __repr__(self) -> str:
        names, rows = self._cells()
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [names, *rows]
        return "\n".join("  ".join(map(_aligned, names, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        names, rows = self._cells()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        cells = ["".join(map(_td, names, row)) for row in rows]
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _aligned(name: str, cell: str, width: int) -> str:
    return cell.rjust(width) if name in NUMBERS else cell.ljust(width)


def _td(name: str, cell: str) -> str:
    side = "right" if name in NUMBERS else "left"
    return f'<td style="text-align:{side}">{html.escape(cell)}</td>'


def cell_text(name: str, value: Any) -> str:
    """A value of the table of steps, for people."""
    if value is None:
        return ""
    if name in SHARES:
        return f"{value:.1%}"
    if name in SECONDS:
        return f"{value:,.0f}" if value >= 1_000 else f"{value:.4g}"
    if name == PERIOD and isinstance(value, datetime) and value.time() == datetime.min.time():
        return str(value.date())
    return str(value)


def funnel(
    events: Any,
    steps: Steps,
    *,
    key: str | Iterable[str],
    time: str,
    within: Length | None = None,
    gaps: Length | Sequence[Length | None] | None = None,
    type: str | None = "type",
    unit: str | None = None,
    where: str | None = None,
    by: str | Iterable[str] = (),
    period: str | None = None,
    sort: bool = False,
    params: Mapping[str, Any] | None = None,
) -> Funnel:
    """How far each key came through the steps, as ClickHouse's `windowFunnel` counts it: one event
    of each step, in the order of time, all of them `within` a length of time from the first.

    events   what `query.run` takes: tables, frames, paths
    steps    types in their order, `"VIEW"`, with conditions `"PAY[amount > 10]"`, of any type
             `"*[page = '/']"`; or a dict of these by the names of the steps
    key      the columns whose values are who goes through the funnel
    time     the column with the time; `unit` where it holds plain numbers
    within   "1 hour": the most time from the first step to any other
    gaps     the most time from a step to the next, one for all or a list of one for each
    type     the column with an event's type
    where    a condition; events for which it is not true are left out
    by       columns whose values at the first step are segments, reported apart
    period   "day", "week", "month" …: the time of the first step, reported apart
    sort     put the events in the order of time first
    params   values of the parameters in the conditions, `PAY[amount > :limit]`
    """
    spec = funnel_spec(
        steps,
        key=key,
        time=time,
        within=within,
        gaps=gaps,
        type=type,
        unit=unit,
        where=where,
        by=by,
        period=period,
        params=params,
    )
    read = source(events, spec.stream, sort=sort)
    run = FunnelRun(spec, read.schema, row_numbers=read.row_numbers)
    with expressing("the segments and periods have values that Python", CAST):
        for batch in read.batches(spec.columns(read.schema)):
            run.push(batch)
        keys = run.finish()
        steps_taken = steps_table(spec, taken_steps(spec, keys))
    unseen = _unseen(spec, steps_taken, read)
    Notices().issue(unseen, above=2)
    return Funnel(spec, steps_taken, keys, unseen)


def _unseen(spec: FunnelSpec, steps: pa.Table, events: Source) -> tuple[str, ...]:
    """A warning about the types of steps that no key took and no event has."""
    taken = {row["name"] for row in steps.to_pylist() if row["keys"]}
    needed = {step.type for step in spec.steps if step.type and step.name not in taken}
    return unseen_types(needed, types_in(events, spec.stream.type, needed))
