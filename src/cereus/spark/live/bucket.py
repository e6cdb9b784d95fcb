"""A bucket: the keys that share one piece of Spark's state, and what happens to their events.

Events wait until the watermark has passed them; then they are sorted and read by the engine. An
event is late if the watermark of the batch before the one it arrives in has passed it: that is when
Spark itself would drop it, and never before the engine has gone past it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.spark.live.meter import Meter
from cereus.spark.live.packing import from_bytes, to_bytes
from cereus.spark.live.recipe import AT, LATE, Recipe
from cereus.spark.live.rules.changes import ROW, RulesExecutor, rows_of
from cereus.spark.live.state.changed import changed
from cereus.spark.live.state.copies import Copies, digest
from cereus.spark.live.state.journal import Journal, cut
from cereus.spark.live.state.stored import BucketState, Head, Store
from cereus.spark.live.state.warm import WARM

MILLISECOND = 1000
MOST_COUNTED = 1 << 48
"""Of the matches of one piece, so many are counted: `COUNT(*)` may count infinitely many, and Spark
adds the pieces of a micro-batch up in 64 bits."""


class BucketOutput(NamedTuple):
    """A packed piece of the result, and what is counted: events and late ones that arrived,
    matches found, remarks about matches that a limit left out, and the CPU seconds of the engine.
    """

    data: bytes | None = None
    events: int = 0
    late: int = 0
    matches: int = 0
    shed: int = 0
    kernel_seconds: float = 0.0


class Bucket:
    """One bucket in one step: a micro-batch of Spark."""

    def __init__(
        self, number: int, recipe: Recipe, store: Store, copies: Copies | None = None
    ) -> None:
        self.number, self.recipe, self.store = number, recipe, store
        state = BucketState(store, copies)
        before, head = state.head, self._head(state)
        kept = before is not None and before.fingerprint != head.fingerprint
        self.must_save = kept and head.snapshot is not None
        """Whether the engine must be saved: reading its events again would not give the same
        engine."""
        memory = WARM.take(recipe.fingerprint, number)
        self.journal = Journal(recipe, state, head, memory, adopts=self.must_save)

    def _head(self, state: BucketState) -> Head:
        before, recipe = state.head, self.recipe
        if before is None:
            return Head(recipe.fingerprint, recipe.text, carries=recipe.carries)
        if before.fingerprint == recipe.fingerprint:
            return replace(before, carries=recipe.carries)
        if recipe.keeps(before.carries):
            return replace(before, fingerprint=recipe.fingerprint, text=recipe.text)
        if recipe.on_change != "restart":
            raise changed([before.text], recipe.text, recipe.on_change)
        state.clear()
        passed, timer = before.passed, before.timer
        fresh = Head(recipe.fingerprint, recipe.text, passed=passed, base=passed, timer=timer)
        return replace(fresh, carries=recipe.carries)

    @property
    def head(self) -> Head:
        return self.journal.head

    def step(
        self,
        arrived: Iterable[bytes],
        watermark: int,
        *,
        woken: bool = False,
        heard: bool = True,
        now: int = 0,
    ) -> Iterator[BucketOutput]:
        """Take in the events that arrived, and yield what the watermark (in milliseconds)
        completes. `heard`: the source has brought something; `now` is the time of the clock."""
        tables = [from_bytes(data) for data in arrived]
        yield from self._change_rules([table for table in tables if ROW in table.column_names])
        every = self._events([table for table in tables if ROW not in table.column_names])
        passed = self._passed(watermark, now, heard, every)
        late, events = self._split_late(every)
        if self.recipe.late and late.num_rows:
            yield BucketOutput(to_bytes(*self._as_late(late)))
        waiting = events
        if passed is not None and passed != self.head.passed:
            due, waiting = cut(events, passed)
            yield from self._release([due, *self.journal.due(passed)], passed)
            self.journal.know(passed=passed)
        yield BucketOutput(events=events.num_rows + late.num_rows, late=late.num_rows)
        if woken or self.head.timer != watermark + 1:
            self.store.wake(watermark + 1, None if woken else self.head.timer)
            self.journal.know(timer=watermark + 1)
        self.journal.write(events, waiting, snapshot=self.must_save)
        self.journal.save()
        WARM.keep(self.recipe.fingerprint, self.number, self.journal.memory)

    def _passed(self, watermark: int, now: int, heard: bool, events: pa.Table) -> int | None:
        """The time that has passed; it never goes back."""
        silent = self._silent(now, heard)
        reached = [] if self.head.passed is None else [self.head.passed]
        if watermark > 0:
            reached.append((watermark + silent) * MILLISECOND)
        if self.recipe.delay is not None and events.num_rows:
            # not the latest time itself: more events of that time may come
            reached.append(int(events.column(AT).to_numpy().max()) - self.recipe.delay - 1)
        return max(reached, default=None)

    def _silent(self, now: int, heard: bool) -> int:
        """The milliseconds that passed by the clock, if the source has been silent for long."""
        idle = self.recipe.idle
        if idle is None:
            return 0
        if heard or self.head.heard is None:
            self.journal.know(heard=now)
        assert self.head.heard is not None
        silent = now - self.head.heard
        return silent if silent >= idle else 0

    # ------------------------------------------------------------ rules

    def _change_rules(self, changes: list[pa.Table]) -> Iterator[BucketOutput]:
        """Add and remove rules before events are read: those that came, or all of them, if they are
        not what they were."""
        known = None if self.recipe.rules is None else digest("".join(self.recipe.rules).encode())
        anew = known is not None and known != self.head.rules
        if not anew and not changes:
            return
        executor = self.journal.executor()
        assert isinstance(executor, RulesExecutor)
        if anew:
            rows = [json.loads(rule) for rule in self.recipe.rules or ()]
            report = executor.change(rows, complete=True)
            self.journal.know(rules=known)
        else:
            report = executor.change(rows_of(changes), complete=False)
        self.must_save = True
        if self.number == 0 and report.num_rows:
            yield BucketOutput(to_bytes(self._shaped(report)))

    # ------------------------------------------------------------ arriving

    def _events(self, tables: list[pa.Table]) -> pa.Table:
        return pa.concat_tables(tables) if tables else self.recipe.packed.empty_table()

    def _split_late(self, events: pa.Table) -> tuple[pa.Table, pa.Table]:
        if self.head.passed is None:
            return events.slice(0, 0), events
        return cut(events, self.head.passed)

    def _as_late(self, events: pa.Table) -> list[pa.RecordBatch]:
        """Late events as rows of the result, with only the column LATE."""
        shown = self.recipe.columns.field(LATE).type
        late = events.select([field.name for field in shown]).to_struct_array().cast(shown)
        nothing = [
            pa.nulls(len(late), each.type) for each in self.recipe.columns if each.name != LATE
        ]
        columns = [*nothing, late.combine_chunks() if isinstance(late, pa.ChunkedArray) else late]
        return [pa.RecordBatch.from_arrays(columns, schema=self.recipe.columns)]

    # ------------------------------------------------------------ going

    def _release(self, due: list[pa.Table], passed: int) -> Iterator[BucketOutput]:
        """Let the engine read all events up to the watermark, in order, and tell it the time."""
        events = self.journal.in_order(due)
        idle = self._idle(passed)
        waits = self.head.snapshot is not None and (self.recipe.timed or idle)
        if events.num_rows or waits:
            yield from self._run(events, passed)
            self.must_save |= idle  # there is much to forget in the store, too

    def _idle(self, passed: int) -> bool:
        """Whether all keys have been silent for so long that the engine has much to forget."""
        window, latest = self.recipe.window, self.head.latest
        return window is not None and latest is not None and passed > latest + window

    def _run(self, events: pa.Table, passed: int) -> Iterator[BucketOutput]:
        executor = self.journal.executor()
        noted = len(executor.shed)
        latest = int(events.column(AT).to_numpy().max()) if events.num_rows else None
        meter = Meter()
        results = meter.around(self.journal.read(executor, events, passed))
        yield from self._outputs(results, executor)
        yield BucketOutput(shed=len(executor.shed) - noted, kernel_seconds=meter.seconds)
        self.journal.know(latest=latest, steps=(*self.head.steps, passed))

    def _outputs(
        self, batches: Iterable[pa.RecordBatch], executor: Executor
    ) -> Iterator[BucketOutput]:
        for batch in batches:
            if batch.num_rows:
                shown = self.recipe.matching.result(batch, executor)
                counts = self.recipe.matching.counts(batch)
                matches = int(min(counts.matches or 0, MOST_COUNTED))
                yield BucketOutput(to_bytes(self._shaped(shown)), matches=matches)

    def _shaped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with exactly the columns of the result."""
        columns = list(batch.columns)
        if self.recipe.late:
            columns.append(pa.nulls(batch.num_rows, self.recipe.columns.field(LATE).type))
        fitted = [
            column if column.type == each.type else column.cast(each.type)
            for column, each in zip(columns, self.recipe.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(fitted, schema=self.recipe.columns)
