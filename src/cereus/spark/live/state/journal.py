"""The state of a bucket in the store: a snapshot of the engine, and the events that it has not
read.

Events are written once, in *segments*, when they arrive. The engine reads them when the watermark
has passed them. A snapshot of it is made only when the events read since the last one are larger:
with many keys a snapshot is many times as large as the events of a micro-batch. A new engine takes
up the snapshot and reads again what was read since, in the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.snapshot import load
from cereus.spark.batch.ordering import in_order
from cereus.spark.live.packing import to_bytes
from cereus.spark.live.recipe import AT, Recipe
from cereus.spark.live.state.copies import digest
from cereus.spark.live.state.stored import BucketState, Head, Segment
from cereus.spark.live.state.warm import BucketMemory
from cereus.state import checked
from cereus.state.arrow import table_from

ENGINE = "engine"
"""The piece of the state that holds the engine's snapshot."""
MOST_SEGMENTS = 64
"""With more segments than this, the smallest neighbours are merged."""
MOST_STEPS = 64
"""After this many steps there is a snapshot, whatever its size."""
READ_TO_SNAPSHOT = 2
"""There is a snapshot once the events read since the last one are this many times as large."""


class Journal:
    """The snapshot and the segments of one bucket, and their description (`head`). `adopts`: the
    snapshot is that of another query, with which this one can go on."""

    def __init__(
        self,
        recipe: Recipe,
        state: BucketState,
        head: Head,
        memory: BucketMemory,
        *,
        adopts: bool = False,
    ) -> None:
        self.recipe, self.state, self.head, self.memory = recipe, state, head, memory
        self.adopts = adopts
        if memory.head != state.head:
            self._catch_up()

    def know(self, **changes: Any) -> None:
        self.head = replace(self.head, **changes)

    def save(self) -> None:
        self.state.save(self.head)
        self.memory.head = self.head

    # ------------------------------------------------------------ the engine

    def _catch_up(self) -> None:
        """Read what other workers have read since this one had the bucket, or forget everything."""
        then, now, executor = self.memory.head, self.state.head, self.memory.executor
        if then is None or now is None or executor is None or not then.leads_to(now):
            self.memory = BucketMemory()
            return
        known = {each.number for each in now.segments if each in then.segments}
        unread = {n: events for n, events in self.memory.unread.items() if n in known}
        self.memory = BucketMemory(None, executor, unread)
        for step in now.steps[len(then.steps) :]:
            for segment in now.begun(step):
                if segment.number not in unread:
                    unread[segment.number] = self._since(segment, then.passed)
            self._reread(executor, self.due(step), step)

    def executor(self) -> Executor:
        """The engine, as it was when the last step ended."""
        if self.memory.executor is None:
            self.memory.executor = self._made_anew()
        return self.memory.executor

    def _made_anew(self) -> Executor:
        executor = self.recipe.matching.executor(self.recipe.events)
        if self.adopts:
            assert isinstance(executor, PatternExecutor)
            executor.adopt(load(self._snapshot(), {}))
        elif self.head.snapshot is not None:
            executor.restore(self._snapshot())
        before = self.head.base
        for step in self.head.steps:
            events = [cut(self._since(each, before), step)[0] for each in self.head.begun(step)]
            self._reread(executor, events, step)
            before = step
        return executor

    def _snapshot(self) -> bytes:
        return self.state.get(ENGINE, self.head.snapshot or "")

    def _reread(self, executor: Executor, events: list[pa.Table], passed: int) -> None:
        for _ in self.read(executor, self.in_order(events), passed):
            pass  # it was emitted when it was read first

    def read(self, executor: Executor, events: pa.Table, passed: int) -> Iterator[pa.RecordBatch]:
        """Let an engine read events in order, and tell it the time. Yields what that completes."""
        for batch in events.drop_columns([AT]).combine_chunks().to_batches():
            yield from executor.push(batch)
        yield from executor.advance(self.recipe.next_time(passed))

    def in_order(self, events: list[pa.Table]) -> pa.Table:
        every = pa.concat_tables([self.recipe.packed.empty_table(), *events])
        return in_order(every, self.recipe.order, AT if self.recipe.exact else None)

    # ------------------------------------------------------------ events that wait

    def due(self, passed: int) -> list[pa.Table]:
        """The stored events that the watermark passes now; from now on they count as read."""
        parts = []
        for segment in self.head.begun(passed):
            now, later = cut(self._unread(segment), passed)
            parts.append(now)
            self.memory.unread[segment.number] = later
        return parts

    def _unread(self, segment: Segment) -> pa.Table:
        """The events of a segment that the engine has not read."""
        kept = self.memory.unread.get(segment.number)
        return self._since(segment, self.head.passed) if kept is None else kept

    def _since(self, segment: Segment, passed: int | None) -> pa.Table:
        """The events of a segment after a time, from the store."""
        data = table_from(self.state.get(_waiting(segment.number), segment.known))
        events = checked.table(data, "what waits", self.recipe.packed)
        return events if passed is None else cut(events, passed)[1]

    # ------------------------------------------------------------ writing

    @property
    def _wants_snapshot(self) -> bool:
        if not self.head.steps:
            return False
        read = sum(each.size for each in self.head.begun(self.head.steps[-1]))
        return len(self.head.steps) >= MOST_STEPS or read >= READ_TO_SNAPSHOT * self.head.size

    def write(self, arrived: pa.Table, waiting: pa.Table, *, snapshot: bool) -> None:
        """Store the changes of a step: the events that arrived, of which some wait. With
        `snapshot`, the events that the engine has read do not show what it has done."""
        if snapshot or self._wants_snapshot:
            self._write_snapshot()
            waiting = pa.concat_tables([*self._rests(), waiting])
            self._add(waiting, waiting)
        else:
            self._add(arrived, waiting)

    def _write_snapshot(self) -> None:
        made = self.executor().save()
        known = digest(made)
        if known != self.head.snapshot:
            self.state.set(ENGINE, made, known)
        self.know(snapshot=known, size=len(made), base=self.head.passed, steps=())

    def _rests(self) -> list[pa.Table]:
        """Drop the segments of which the snapshot has read half or more, and return the unread
        events."""
        rests, kept = [], []
        begun = set(self.head.begun(self.head.passed))
        for segment in self.head.segments:
            unread = self._unread(segment) if segment in begun else None
            if unread is None or 2 * unread.num_rows > segment.rows:
                kept.append(segment)
                continue
            rests.append(unread)
            self._drop(segment)
        self.know(segments=tuple(kept))
        return rests

    def _add(self, events: pa.Table, unread: pa.Table) -> None:
        if not events.num_rows:
            return
        number = max((each.number for each in self.head.segments), default=-1) + 1
        segments = sorted([*self.head.segments, self._written(number, events)], key=_first)
        self.memory.unread[number] = unread
        while len(segments) > MOST_SEGMENTS:
            place = int(np.argmin([a.rows + b.rows for a, b in pairwise(segments)]))
            segments[place : place + 2] = [self._merged(*segments[place : place + 2])]
        self.know(segments=tuple(segments))

    def _merged(self, one: Segment, other: Segment) -> Segment:
        unread = pa.concat_tables([self._unread(one), self._unread(other)])
        events = pa.concat_tables([self._since(each, self.head.base) for each in (one, other)])
        self._drop(other)
        self.memory.unread[one.number] = unread
        return self._written(one.number, events)

    def _written(self, number: int, events: pa.Table) -> Segment:
        times = events.column(AT).to_numpy()
        data = to_bytes(*events.combine_chunks().to_batches())
        known = digest(data)
        self.state.set(_waiting(number), data, known)
        first, last = int(times.min()), int(times.max())
        return Segment(number, first, last, len(times), len(data), known)

    def _drop(self, segment: Segment) -> None:
        self.state.remove(_waiting(segment.number))
        self.memory.unread.pop(segment.number, None)


def _waiting(segment: int) -> str:
    return f"waiting/{segment}"


def _first(segment: Segment) -> int:
    return segment.first


def cut(events: pa.Table, passed: int) -> tuple[pa.Table, pa.Table]:
    """Events up to a time, and those after it."""
    before = events.column(AT).to_numpy() <= passed
    if before.all():
        return events, events.slice(0, 0)
    if not before.any():
        return events.slice(0, 0), events
    return events.filter(pa.array(before)), events.filter(pa.array(~before))
