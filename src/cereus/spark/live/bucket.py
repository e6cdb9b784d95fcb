"""A bucket: the keys that share one piece of Spark's state, and what happens to their events.

Events wait until the watermark has passed them; then they are put in order and read by the
engine. An event is late when the watermark of the batch before the one it arrives in has passed
it: that is when Spark itself would drop it, and never before the engine has gone past it.

What waits is kept in *segments*, which are written once, and read when the watermark comes to
them: of each, the events up to the watermark of the last step have been read already.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.spark.batch.ordering import in_order
from cereus.spark.live.changed import changed
from cereus.spark.live.packing import from_bytes, to_bytes
from cereus.spark.live.recipe import AT, LATE, Recipe
from cereus.spark.live.rule_changes import ROW, RulesExecutor, rows_of
from cereus.spark.live.state import BucketState, Head, Segment, Store
from cereus.spark.live.warm import WARM, digest
from cereus.state import checked
from cereus.state.arrow import table_from

MOST_SEGMENTS = 64
"""More than so many segments are merged, the smallest neighbours first."""
MILLISECOND = 1000
ENGINE = "engine"
"""The piece of the state that holds the engine's snapshot."""


class BucketOutput(NamedTuple):
    """A packed piece of the result, and what is counted: events and late ones that arrived,
    matches found, and remarks about matches that a limit left out."""

    data: bytes | None = None
    events: int = 0
    late: int = 0
    matches: int = 0
    shed: int = 0


class Bucket:
    """One bucket in one step: a micro-batch of Spark's."""

    def __init__(self, number: int, recipe: Recipe, store: Store) -> None:
        self.number, self.recipe, self.store = number, recipe, store
        self.state = BucketState(store)
        self.head = self._head()

    def _head(self) -> Head:
        before, recipe = self.state.head, self.recipe
        if before is None:
            return Head(recipe.fingerprint, recipe.text)
        if before.fingerprint == recipe.fingerprint:
            return before
        if not recipe.restart:
            raise changed([before.text], recipe.text)
        self.state.clear()
        return Head(recipe.fingerprint, recipe.text, passed=before.passed, timer=before.timer)

    def step(
        self,
        arrived: Iterable[bytes],
        watermark: int,
        *,
        woken: bool = False,
        heard: bool = True,
        now: int = 0,
    ) -> Iterator[BucketOutput]:
        """Take in what has arrived; what the watermark (in milliseconds) completes. `heard`: the
        source has brought something; `now` is the time of the clock."""
        passed = self._passed(watermark, now, heard)
        tables = [from_bytes(data) for data in arrived]
        yield from self._change_rules([table for table in tables if ROW in table.column_names])
        late, events = self._split_late(
            self._events([table for table in tables if ROW not in table.column_names])
        )
        if self.recipe.late and late.num_rows:
            yield BucketOutput(to_bytes(*self._as_late(late)))
        due = self._wait_or_go(events, passed)
        if passed is not None and passed != self.head.passed:
            yield from self._release(due, passed)
            self._know(passed=passed)
        yield BucketOutput(events=events.num_rows + late.num_rows, late=late.num_rows)
        if woken or self.head.timer != watermark + 1:
            self.store.wake(watermark + 1, None if woken else self.head.timer)
            self._know(timer=watermark + 1)
        self.state.head = self.head
        self.state.save()

    def _passed(self, watermark: int, now: int, heard: bool) -> int | None:
        """Up to when time has passed. In a silent source it passes by the clock, from where the
        watermark was; it never goes back."""
        idle = self.recipe.idle
        if idle is None:
            return watermark * MILLISECOND if watermark > 0 else None
        if heard or self.head.heard is None:
            self._know(heard=now)
        if watermark <= 0:
            return None
        assert self.head.heard is not None
        silent = now - self.head.heard
        passed = (watermark + (silent if silent >= idle else 0)) * MILLISECOND
        return max(passed, self.head.passed or passed)

    def _know(self, **changes: Any) -> None:
        self.head = replace(self.head, **changes)

    # ------------------------------------------------------------ rules

    def _change_rules(self, changes: list[pa.Table]) -> Iterator[BucketOutput]:
        """Put and remove rules before events are read: those that came, or all of them, where
        these are not as they were."""
        known = None if self.recipe.rules is None else digest("".join(self.recipe.rules).encode())
        anew = known is not None and known != self.head.rules
        if not anew and not changes:
            return
        executor = self._executor()
        assert isinstance(executor, RulesExecutor)
        if anew:
            rows = [json.loads(rule) for rule in self.recipe.rules or ()]
            report = executor.change(rows, complete=True)
            self._know(rules=known)
        else:
            report = executor.change(rows_of(changes), complete=False)
        self._save(executor)
        if self.number == 0 and report.num_rows:
            yield BucketOutput(to_bytes(self._shaped(report)))

    # ------------------------------------------------------------ arriving

    def _events(self, tables: list[pa.Table]) -> pa.Table:
        return pa.concat_tables(tables) if tables else self.recipe.packed.empty_table()

    def _split_late(self, events: pa.Table) -> tuple[pa.Table, pa.Table]:
        if self.head.passed is None:
            return events.slice(0, 0), events
        return _cut(events, self.head.passed)

    def _as_late(self, events: pa.Table) -> list[pa.RecordBatch]:
        """Late events as rows of the result: nothing but the column LATE."""
        shown = self.recipe.columns.field(LATE).type
        late = events.select([field.name for field in shown]).to_struct_array().cast(shown)
        nothing = [
            pa.nulls(len(late), each.type) for each in self.recipe.columns if each.name != LATE
        ]
        columns = [*nothing, late.combine_chunks() if isinstance(late, pa.ChunkedArray) else late]
        return [pa.RecordBatch.from_arrays(columns, schema=self.recipe.columns)]

    def _wait_or_go(self, events: pa.Table, passed: int | None) -> pa.Table:
        """What the watermark has passed already; the rest waits."""
        due, waiting = (events.slice(0, 0), events) if passed is None else _cut(events, passed)
        if waiting.num_rows:
            number = max((each.number for each in self.head.segments), default=-1) + 1
            self._put_segments([*self.head.segments, self._written(number, waiting)])
        return due

    def _written(self, number: int, events: pa.Table) -> Segment:
        times = events.column(AT).to_numpy()
        self.state.set(_waiting(number), to_bytes(*events.combine_chunks().to_batches()))
        return Segment(number, int(times.min()), int(times.max()), len(times))

    def _put_segments(self, segments: list[Segment]) -> None:
        segments.sort(key=lambda each: each.first)
        while len(segments) > MOST_SEGMENTS:
            sizes = [a.rows + b.rows for a, b in pairwise(segments)]
            place = int(np.argmin(sizes))
            one, other = segments[place : place + 2]
            both = pa.concat_tables([self._unread(one), self._unread(other)])
            self.state.remove(_waiting(other.number))
            segments[place : place + 2] = [self._written(one.number, both)]
        self._know(segments=tuple(segments))

    def _unread(self, segment: Segment) -> pa.Table:
        """The events of a segment that the engine has not read."""
        data = table_from(self.state.get(_waiting(segment.number)))
        events = checked.table(data, "what waits", self.recipe.packed)
        return events if self.head.passed is None else _cut(events, self.head.passed)[1]

    # ------------------------------------------------------------ going

    def _release(self, due: pa.Table, passed: int) -> Iterator[BucketOutput]:
        """Let the engine read all events up to the watermark, in order, and know the time."""
        parts = [due]
        for segment in self.head.segments:
            if segment.first <= passed:
                parts.append(_cut(self._unread(segment), passed)[0])
                if segment.last <= passed:
                    self.state.remove(_waiting(segment.number))
        self._know(segments=tuple(each for each in self.head.segments if each.last > passed))
        events = in_order(
            pa.concat_tables(parts), self.recipe.order, AT if self.recipe.exact else None
        )
        waits = self.head.snapshot is not None and (self.recipe.timed or self._idle(passed))
        if events.num_rows or waits:
            yield from self._run(events, passed)

    def _idle(self, passed: int) -> bool:
        """Whether all keys have been silent for so long that the engine has much to forget."""
        window, latest = self.recipe.window, self.head.latest
        return window is not None and latest is not None and passed > latest + window

    def _run(self, events: pa.Table, passed: int) -> Iterator[BucketOutput]:
        executor = self._executor()
        noted = len(executor.shed)
        latest = int(events.column(AT).to_numpy().max()) if events.num_rows else None
        self._know(latest=latest)
        for batch in events.drop_columns([AT]).combine_chunks().to_batches():
            yield from self._outputs(executor.push(batch), executor)
        yield from self._outputs(executor.advance(self.recipe.next_time(passed)), executor)
        if len(executor.shed) > noted:
            yield BucketOutput(shed=len(executor.shed) - noted)
        self._save(executor)

    def _outputs(
        self, batches: Iterable[pa.RecordBatch], executor: Executor
    ) -> Iterator[BucketOutput]:
        for batch in batches:
            if batch.num_rows:
                shown = self.recipe.matching.result(batch, executor)
                yield BucketOutput(to_bytes(self._shaped(shown)), matches=batch.num_rows)

    def _shaped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Exactly the columns that come out."""
        columns = list(batch.columns)
        if self.recipe.late:
            columns.append(pa.nulls(batch.num_rows, self.recipe.columns.field(LATE).type))
        fitted = [
            column if column.type == each.type else column.cast(each.type)
            for column, each in zip(columns, self.recipe.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(fitted, schema=self.recipe.columns)

    # ------------------------------------------------------------ the engine's state

    def _executor(self) -> Executor:
        known = self.head.snapshot
        warm = WARM.take(self.recipe.fingerprint, self.number, known)
        if warm is not None:
            return warm
        executor = self.recipe.matching.executor(self.recipe.events)
        if known is not None:
            executor.restore(self.state.get(ENGINE))
        return executor

    def _save(self, executor: Executor) -> None:
        snapshot = executor.save()
        known = digest(snapshot)
        if known != self.head.snapshot:
            self.state.set(ENGINE, snapshot)
            self._know(snapshot=known)
        WARM.keep(self.recipe.fingerprint, self.number, known, executor, len(snapshot))


def _waiting(segment: int) -> str:
    return f"waiting/{segment}"


def _cut(events: pa.Table, passed: int) -> tuple[pa.Table, pa.Table]:
    """Events up to a time, and those after it."""
    before = events.column(AT).to_numpy() <= passed
    if before.all():
        return events, events.slice(0, 0)
    if not before.any():
        return events.slice(0, 0), events
    mask = pa.array(before)
    return events.filter(mask), events.filter(pa.array(~before))
