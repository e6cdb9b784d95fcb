"""WITH TIMEOUTS: partial matches whose windows ended.

The events of a window that has ended are read once more, as a stream of their own, followed by a
row that stands for any event that could still have come. The whole pattern is looked for first,
unless the matches so far tell the answer; then ever fewer of its steps, followed by that row. Once
some steps are found, the window is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cereus.clauses.tree import Strategy, TimeWindow
from cereus.engine.ingest.clock import deadline_span
from cereus.engine.ingest.substreams import Ints
from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.match.after.open_starts import OpenStarts, Windows
from cereus.engine.match.runner import Runner
from cereus.engine.match.table_cache import TableCache
from cereus.engine.ranges import ranges
from cereus.engine.results.distinct import DistinctRows
from cereus.engine.results.match_chunks import MatchChunk
from cereus.plan.plan import Plan
from cereus.plan.timeouts import EVERY, StepPlan, TimeoutPlans, window_schema

Begun = tuple[StepPlan, MatchChunk]
"""Partial matches that came as far as this step."""


def timeout_payload(plan: Plan) -> tuple[str, ...]:
    """The columns of events that have to be remembered to read windows once more."""
    return tuple(sorted({path[0] for path in plan.columns}))


class Timeouts:
    """Finds the partial matches of a runner; `started` makes the runners that read their
    windows."""

    def __init__(self, runner: Runner, plans: TimeoutPlans, started: Callable[..., Runner]) -> None:
        self.runner, self.plans, self.started = runner, plans, started
        stream, self.span = runner.plan.stream, 0
        if isinstance(plans.window, TimeWindow):
            self.span = deadline_span(plans.window, stream, runner.schema, "WITH TIMEOUTS")
        self.starts = OpenStarts(runner, plans, self.span)
        self.columns = timeout_payload(runner.plan)
        fields = [runner.schema.field(name).with_nullable(True) for name in self.columns]
        self.schema = window_schema(pa.schema(fields))
        self.caches: dict[int, TableCache] = {}

    def in_windows(self, windows: Windows) -> Iterator[Begun]:
        """The partial matches of windows that have ended."""
        for piece in windows.pieces():
            yield from self._furthest(piece)

    def _furthest(self, windows: Windows) -> Iterator[Begun]:
        if not self._known_from_matches:
            complete = self._matches(self.plans.complete, windows, waiting=False)
            windows = windows.without(_firsts(list(complete)))
        for step in self.plans.steps:
            chunks = list(self._matches(step.plan, windows, waiting=True))
            yield from ((step, chunk) for chunk in chunks)
            windows = windows.without(_firsts(chunks))

    @property
    def _known_from_matches(self) -> bool:
        """Whether every match is listed, so that the first events of all matches are known."""
        query = self.runner.plan.query
        every = query.strategy in (Strategy.ALL, Strategy.STRICT)
        return every and query.select is None and query.limit is None

    # ------------------------------------------------------------ reading windows

    def _matches(self, plan: Plan, windows: Windows, *, waiting: bool) -> Iterator[MatchChunk]:
        """The matches of a plan in windows, as matches of the runner's events."""
        if not len(windows):
            return
        batch, ordinals = self._events(windows, waiting)
        runner = self.started(
            plan,
            self.schema,
            limits=self.runner.limits,
            row_numbers=ordinals,
            cache=self._cache(plan),
        )
        for chunk in _distinct(runner, runner.push(batch)):
            yield self._translated(chunk, runner, waiting)

    def _cache(self, plan: Plan) -> TableCache | None:
        if plan.traits.remembers_values:
            return None  # not cached: states that remember values are forgotten again
        if id(plan) not in self.caches:
            self.caches[id(plan)] = TableCache.empty(plan, self.runner.limits)
        return self.caches[id(plan)]

    def _events(self, windows: Windows, waiting: bool) -> tuple[pa.RecordBatch, Ints]:
        """The events of windows, one window after the other, and their ordinals. With `waiting`,
        each window is followed by a row of nulls at the time of its last event, in the stream of
        its first."""
        history, stream = self.runner.history, self.runner.plan.stream
        sizes = windows.high - windows.low + waiting
        ends = np.cumsum(sizes)
        ranks = ranges(windows.low, sizes)
        hoped_for = np.zeros(len(ranks), bool)
        hoped_for[ends[: len(ends) * waiting] - 1] = True
        places = windows.order[ranks - hoped_for]
        firsts = np.repeat(windows.order[windows.low], sizes)
        there = {stream.time: places, stream.stream: np.where(hoped_for, firsts, places)}
        taken = {name: pa.array(each) for name, each in there.items() if name is not None}
        assert history.payload is not None
        others = pa.array(places, mask=hoped_for)
        columns = [
            history.payload.column(name).take(taken.get(name, others)) for name in self.columns
        ]
        columns += [
            pa.array(np.repeat(windows.starts, sizes)),
            pa.array(np.ones(len(places), np.int8), mask=~hoped_for),
        ]
        table = pa.table(columns, schema=self.schema).combine_chunks()
        return table.to_batches()[0], places + history.first

    def _translated(self, chunk: MatchChunk, runner: Runner, waiting: bool) -> MatchChunk:
        """Matches in windows as matches of the runner's events, without the row behind each window
        and without events that are not shown."""
        ordinals = runner.history.rows
        cells = ordinals[chunk.cells - runner.history.first]
        ends = chunk.offsets[1:].astype(np.int64) - 1
        first, last = cells[chunk.offsets[:-1]], cells[ends - waiting]
        kept = np.ones(len(cells), bool)
        kept[ends[: len(ends) * waiting]] = False
        labels = chunk.labels
        if self.runner.plan.traits.labelled:
            shown = [label - {EVERY} for label in runner.labels.shown]
            if not len(labels):  # no variable of what is returned has been reached
                shown, labels = [frozenset({""})], np.full(len(cells), FIRST_SHOWN, np.int32)
            kept &= np.array([bool(label) for label in shown])[labels - FIRST_SHOWN]
            numbers = [self.runner.labels.number_shown(label) for label in shown]
            labels = np.array(numbers, np.int32)[labels - FIRST_SHOWN][kept]
        offsets, cells = replace(chunk, cells=cells).cells_where(kept)
        return MatchChunk(cells, labels, offsets, first, last, last)


def _distinct(runner: Runner, chunks: Iterator[MatchChunk]) -> Iterator[MatchChunk]:
    """The matches without repetitions."""
    rows = DistinctRows()
    for chunk in chunks:
        if runner.table.ambiguous:
            yield from rows.add(chunk, np.ones(len(runner.labels.shown), bool))
        else:
            yield chunk
    yield from rows.rest()


def _firsts(chunks: list[MatchChunk]) -> Ints:
    """The first events of matches."""
    return np.concatenate([np.zeros(0, np.int64), *(chunk.first for chunk in chunks)])
