"""WITH TIMEOUTS: rows of partial matches that their windows ended.

The events of a window are read once more, as a stream of their own, with a row behind them that
stands for any event that could still have come. First the whole pattern is looked for, where the
matches found so far do not tell; then ever fewer of its steps and that row. Where steps are found,
the window is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.clauses.tree import TIMEOUTS, Strategy, TimeWindow
from cereus.engine.ingest.clock import as_times, deadline_span
from cereus.engine.ingest.substreams import Ints
from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.match.open_starts import OpenStarts, Windows
from cereus.engine.match.runner import Runner
from cereus.engine.match.table_cache import TableCache
from cereus.engine.results.event_rows import EventRows, EventShape
from cereus.engine.results.match_chunks import MatchChunk
from cereus.engine.results.results import Results
from cereus.engine.results.rows import PositionRows, needed_payload
from cereus.limits import Limits
from cereus.plan.plan import Plan
from cereus.plan.timeouts import EVERY, FIRST, StepPlan, TimeoutPlans, window_schema

Started = Callable[..., Runner]
"""Makes a runner for a plan."""


def timeout_payload(plan: Plan) -> tuple[str, ...]:
    """The columns of events that have to be remembered to read windows once more."""
    return tuple(sorted({path[0] for path in plan.columns}))


class BegunPositions(PositionRows):
    """Rows of partial matches, without the event that could have come."""

    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        return super().batch(without_last(chunk, self.runner))


class BegunEvents(EventRows):
    """The same, carrying their events."""

    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        return super().batch(without_last(chunk, self.runner))


def without_last(chunk: MatchChunk, runner: Runner) -> MatchChunk:
    """Matches without their last events, and without events that nothing is shown of."""
    ends = chunk.offsets[1:].astype(np.int64) - 1
    kept = np.ones(len(chunk.cells), bool)
    kept[ends] = False
    if len(chunk.labels):
        shown = np.array([label != {EVERY} for label in runner.labels.shown], bool)
        kept &= shown[chunk.labels - FIRST_SHOWN]
    offsets, cells = chunk.cells_where(kept)
    labels = chunk.labels[kept] if len(chunk.labels) else chunk.labels
    return replace(chunk, cells=cells, labels=labels, offsets=offsets, last=chunk.cells[ends - 1])


class Timeouts:
    """The time-outs of one query; `results` are those of its complete matches."""

    def __init__(
        self,
        results: Results,
        plans: TimeoutPlans,
        schema: pa.Schema,
        limits: Limits | None,
        shape: EventShape | None,
        started: Started,
    ) -> None:
        self.results, self.runner, self.plans = results, results.runner, plans
        self.limits, self.started = limits or Limits(), started
        self.shape = None if shape is None else replace(shape, reported=None)
        self.span, stream = 0, results.plan.stream
        if isinstance(plans.window, TimeWindow):
            self.span = deadline_span(plans.window, stream, schema, "WITH TIMEOUTS")
        self.starts = OpenStarts(self.runner, plans, self.span)
        fields = [schema.field(name).with_nullable(True) for name in self.runner.payload]
        self.window_schema = window_schema(pa.schema(fields))
        self.caches: dict[int, TableCache] = {}

    def read(self, chunks: Iterator[MatchChunk]) -> Iterator[pa.RecordBatch]:
        """The matches of a batch, then what it has ended."""
        yield from self.results.batches(self.starts.noting(chunks))
        yield from self.batches(self.starts.read())

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        yield from self.batches(self.starts.advance(time))

    def finish(self) -> Iterator[pa.RecordBatch]:
        yield from self.batches(self.starts.finish())

    def batches(self, windows: Windows) -> Iterator[pa.RecordBatch]:
        """The partial matches of windows that have ended."""
        for piece in windows.pieces():
            yield from self._rows(piece)

    def _rows(self, windows: Windows) -> Iterator[pa.RecordBatch]:
        if not self._told_by_matches:
            windows = windows.without(self._completed(windows))
        for step in self.plans.steps:
            found = []
            for batch in self._found(step.plan, windows, waiting=True):
                found.append(batch.column(FIRST).to_numpy())
                yield self._shown(batch, step)
            if found:
                windows = windows.without(np.concatenate(found))

    @property
    def _told_by_matches(self) -> bool:
        """Whether every match is listed, and so all first events of matches are known."""
        query = self.results.plan.query
        every = query.strategy in (Strategy.ALL, Strategy.STRICT)
        return every and query.select is None and query.limit is None

    def _completed(self, windows: Windows) -> Ints:
        """The first events of windows in which the pattern is complete."""
        found = self._found(self.plans.complete, windows, waiting=False)
        firsts = [batch.column(FIRST).to_numpy() for batch in found]
        return np.concatenate(firsts) if firsts else np.zeros(0, np.int64)

    # ------------------------------------------------------------ reading windows

    def _found(self, plan: Plan, windows: Windows, *, waiting: bool) -> Iterator[pa.RecordBatch]:
        if not len(windows):
            return
        batch, rows = self._events(windows, waiting)
        runner = self.started(
            plan,
            self.window_schema,
            limits=self.limits,
            payload=self._payload(plan),
            row_numbers=rows,
            cache=self._cache(plan),
        )
        yield from self._results(runner, waiting).batches(runner.push(batch))

    def _payload(self, plan: Plan) -> tuple[str, ...]:
        carried = () if self.shape is None else self.shape.payload(plan.query)
        return tuple(dict.fromkeys((*needed_payload(plan.query), *carried)))

    def _results(self, runner: Runner, waiting: bool) -> Results:
        if self.shape is None:
            return (BegunPositions if waiting else PositionRows)(runner, self.window_schema)
        kind = BegunEvents if waiting else EventRows
        return kind(runner, self.window_schema, self.shape)

    def _cache(self, plan: Plan) -> TableCache | None:
        if plan.traits.remembers_values:
            return None  # states that remember values are forgotten again
        if id(plan) not in self.caches:
            self.caches[id(plan)] = TableCache.empty(plan, self.limits.states)
        return self.caches[id(plan)]

    def _events(self, windows: Windows, waiting: bool) -> tuple[pa.RecordBatch, Ints]:
        """The events of windows, one window after the other, and their rows. Behind each, if it is
        `waiting`, a row of nulls at the time of its last event, of the stream of its first."""
        history, stream = self.runner.history, self.results.plan.stream
        sizes = windows.high - windows.low + waiting
        ends = np.cumsum(sizes)
        ranks = np.arange(int(ends[-1])) - np.repeat(ends - sizes - windows.low, sizes)
        hoped_for = np.zeros(len(ranks), bool)
        hoped_for[ends[: len(ends) * waiting] - 1] = True
        ranks -= hoped_for
        places = windows.order[ranks]
        firsts = np.repeat(windows.order[windows.low], sizes)
        there = {stream.time: places, stream.stream: np.where(hoped_for, firsts, places)}
        taken = {name: pa.array(each) for name, each in there.items() if name is not None}
        assert history.payload is not None
        others = pa.array(places, mask=hoped_for)
        columns = [
            history.payload.column(name).take(taken.get(name, others))
            for name in self.runner.payload
        ]
        columns += [
            pa.array(np.repeat(windows.starts, sizes)),
            pa.array(np.ones(len(places), np.int8), mask=~hoped_for),
        ]
        table = pa.table(columns, schema=self.window_schema).combine_chunks()
        return table.to_batches()[0], np.where(hoped_for, -1, history.rows[places])

    # ------------------------------------------------------------ rows

    def _shown(self, batch: pa.RecordBatch, step: StepPlan) -> pa.RecordBatch:
        """A row with all columns: what is not reached is null, or an empty list."""
        places = batch.column(FIRST).to_numpy() - self.runner.history.first
        known = {**self._timeouts(places, step), **self._keys(places)}
        columns = []
        for each in self.results.schema:
            if each.name in known:
                columns.append(known[each.name])
            elif each.name in batch.schema.names:
                columns.append(batch.column(each.name))
            else:
                columns.append(_nothing(each.type, len(places)))
        return pa.RecordBatch.from_arrays(columns, schema=self.results.schema)

    def _keys(self, places: Ints) -> dict[str, pa.Array]:
        """The keys of events, also where they are returned."""
        plan = self.results.plan
        if not plan.keys:
            return {}
        columns = self.runner.reader.key_columns(self.runner.history.keys[places])
        return {
            ".".join(p): c
            for p, c in zip(plan.keys, columns, strict=True)
            if p in plan.declared_keys
        }

    def _timeouts(self, places: Ints, step: StepPlan) -> dict[str, Any]:
        size = len(places)
        texts = (pa.array([text] * size, pa.string()) for text in (step.reached, step.waiting_for))
        columns = [pa.array([True] * size), *texts]
        if isinstance(self.plans.window, TimeWindow):
            times = self.runner.history.times[places] + self.span
            columns.append(as_times(times, self.results.time_type))
        return dict(zip(TIMEOUTS, columns, strict=False))


def _nothing(kind: pa.DataType, size: int) -> pa.Array:
    if not pa.types.is_list(kind):
        return pa.nulls(size, kind)
    return pa.ListArray.from_arrays(np.zeros(size + 1, np.int32), pa.array([], kind.value_type))
