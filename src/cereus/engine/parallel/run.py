"""Runs a query over batches, on as many threads as that is worth.

The rows are those of one thread, in the same order: by batch, by key where there are keys, and by
the event at which a match is complete. (Of the matches that are complete at one event the order is
that of the forest of partial matches, which differs with what the forest has forgotten.)

If a part cannot go on, because of its data or of a limit, all is run once more by one thread, so
that errors are those of one thread too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.executor import Executor
from cereus.engine.ingest.clock import Clock
from cereus.engine.ingest.keys import KeyIndex
from cereus.engine.ingest.substreams import key_field
from cereus.engine.parallel.key_shards import KeyShards
from cereus.engine.parallel.merging import RankedRows, merged
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.split import Split
from cereus.engine.parallel.time_slices import Slice, TimeSlices
from cereus.engine.parallel.workers import Workers
from cereus.errors import CereusError
from cereus.stream import Stream

Ints = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]
_Begun = tuple[int, list[Future[list[RankedRows]]]]
"""A batch of so many rows, and what its shards will give."""
TRIED, MOST_TRIED = 64, 1 << 14
"""One in so many events of a batch is tried before keys are dealt out, and no more than this."""
STEPS = 8
"""Steps and results per event from which on it pays."""
LEAST_ROWS = 1 << 16
"""Of a part: fewer are read before threads have begun."""


class Work(Protocol):
    """One query over one input, which can be read again."""

    def executor(self, share: int) -> Executor:
        """What runs it, with one of so many shares of what a run may use."""

    def batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The events that may matter, each batch with the row of its first."""


@dataclass
class ParallelRun:
    """The results of a query.

    rows    how many events there are, if that is known
    least   the least rows of a part; with `always`, however little it is worth
    shed    what one thread has left out because a limit was reached
    result_schema  the columns of the results, known when some were asked for
    how     how the input was cut in the end: "time", "key", or "" if it was not
    """

    work: Work
    stream: Stream
    schema: pa.Schema
    split: Split
    threads: int
    rows: int | None = None
    least: int = LEAST_ROWS
    always: bool = False
    progress: Progress | None = None
    shed: list[str] = field(default_factory=list)
    how: str = ""
    result_schema: pa.Schema = None
    _read: int = 0
    _matches: int = 0
    _at_work: list[Executor] = field(default_factory=list)

    @property
    def costs(self) -> Costs:
        """What was done, by all threads together; what slices have in common counts for each."""
        return sum((executor.costs for executor in self._at_work), Costs())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The results, in batches."""
        given = 0
        for how, attempt in self._attempts():
            self.how = how
            self._read = self._matches = 0
            self._at_work = []
            passed = 0
            try:
                for batch in attempt():
                    # what an attempt before this one has given is not given again
                    fresh = batch.slice(min(batch.num_rows, max(0, given - passed)))
                    passed += batch.num_rows
                    given = max(given, passed)
                    if fresh.num_rows:
                        yield fresh
                return
            except (NotSplitError, CereusError):
                if not how:
                    raise

    def _attempts(self) -> Iterator[tuple[str, Callable[[], Iterator[pa.RecordBatch]]]]:
        enough = self.rows is None or self.rows >= 2 * self.least
        if self.threads > 1 and (enough or self.always):
            if self.split.window is not None:
                yield "time", self._by_time
            if self.split.keys:
                yield "key", self._by_key
        yield "", self._by_one

    def _note(self, rows: int, results: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The results of a batch of so many events."""
        for batch in results:
            self._matches += batch.num_rows
            yield batch
        self._read += rows
        if self.progress is not None and rows:
            self.progress(self._read, self._matches)

    def _started(self, share: int) -> Executor:
        executor = self.work.executor(share)
        self.result_schema = executor.schema
        self._at_work.append(executor)
        return executor

    # ------------------------------------------------------------ one thread

    def _by_one(self) -> Iterator[pa.RecordBatch]:
        executor = self._started(1)
        executor.defer()
        row = 0
        for first, batch in self.work.batches():
            if first != row:
                executor.skip_to(first)
            row = first + batch.num_rows
            yield from self._note(row - self._read, executor.push(batch))
        yield from self._note(0, executor.finish())
        self.shed = executor.shed

    # ------------------------------------------------------------ slices of time

    def _by_time(self) -> Iterator[pa.RecordBatch]:
        """Every batch in slices; the next ones are begun before the results of one are given."""
        clock = Clock(self.split.window, self.stream, self.schema)
        slices = TimeSlices(clock, self.threads, least=self.least, always=self.always)
        free: SimpleQueue[Executor] | None = None
        keys = _Numbered(self.split.keys, self.schema)
        with Workers(self.threads) as workers:
            begun: deque[tuple[int, list[Future[_SliceResults]]]] = deque()
            for first, batch in self.work.batches():
                cut = slices.cut(batch, first)
                if not self.rows and len(cut) < 2 and not begun and not self.always:
                    raise NotSplitError("there are few events")
                free = free or self._executors()
                tasks = [workers.submit(_read_slice, free, each) for each in cut]
                begun.append((first + batch.num_rows, tasks))
                if len(begun) > 1:
                    yield from self._joined(keys, *begun.popleft())
            if free is None:
                raise NotSplitError("there are no events")
            while begun:
                yield from self._joined(keys, *begun.popleft())

    def _executors(self) -> SimpleQueue[Executor]:
        """One for each thread; who reads a slice takes one."""
        free: SimpleQueue[Executor] = SimpleQueue()
        for _ in range(self.threads):
            free.put(self._started(self.threads))
        return free

    def _joined(
        self, keys: _Numbered, rows: int, begun: list[Future[_SliceResults]]
    ) -> Iterator[pa.RecordBatch]:
        done = [each.result() for each in begun]
        return self._note(rows - self._read, keys.joined(done))

    # ------------------------------------------------------------ shards of keys

    def _worth_dealing(self) -> bool:
        """Dealing out an event costs about as much as reading it. So it pays only where partial
        matches, or results, make more work than that: the first events show it."""
        first = next((batch for _, batch in self.work.batches() if batch.num_rows), None)
        if first is None:
            return False
        some = first.slice(0, min(MOST_TRIED, first.num_rows // TRIED))
        executor = self._started(1)
        results = sum(batch.num_rows for batch in executor.push(some))
        return bool(executor.steps + results >= STEPS * some.num_rows)

    def _by_key(self) -> Iterator[pa.RecordBatch]:
        """Every batch in shards; the next is dealt out while one is read."""
        shards = KeyShards(self.split, self.schema, self.threads, always=self.always)
        if not self.always and not self._worth_dealing():
            raise NotSplitError("reading is most of the work")
        executors = [self._started(self.threads) for _ in range(self.threads)]
        for executor in executors:
            sharing = executor.sharing()
            if sharing is None:
                raise NotSplitError("its results have no order by key")
            sharing.note_first()
        with Workers(self.threads) as workers:
            begun: _Begun | None = None
            for first, batch in self.work.batches():
                dealt = shards.deal(batch) if batch.num_rows else []
                done = _done(begun)
                pairs = zip(executors, dealt, strict=False)
                tasks = [
                    workers.submit(_read_shard, executor, batch, rows, first)
                    for executor, rows in pairs
                ]
                begun = first + batch.num_rows, tasks
                if done is not None:
                    yield from self._note(done[0] - self._read, merged(done[1]))
            done = _done(begun)
            if done is not None:
                yield from self._note(done[0] - self._read, merged(done[1]))
            ends = [workers.submit(_finish, executor) for executor in executors]
            done = _done((0, ends))
            assert done is not None
            yield from self._note(0, merged(done[1]))


def _done(begun: _Begun | None) -> tuple[int, list[RankedRows]] | None:
    if begun is None:
        return None
    rows, tasks = begun
    return rows, [part for task in tasks for part in task.result()]


# ---------------------------------------------------------------- what threads do


@dataclass(frozen=True)
class _SliceResults:
    """Results of a slice with the numbers of their keys, and the keys in that order."""

    rows: list[pa.RecordBatch]
    numbers: list[Ints]
    keys: list[pa.Array]


def _read_slice(free: SimpleQueue[Executor], slice: Slice) -> _SliceResults:
    executor = free.get()
    try:
        sharing = executor.sharing()
        if sharing is None:
            raise NotSplitError("its results have no order")
        executor.forget()
        for first, batch in slice.before:
            sharing.number_rows(first)
            for _ in executor.push(batch):
                pass
        sharing.number_rows(slice.first)
        rows: list[pa.RecordBatch] = []
        numbers: list[Ints] = []
        for batch in executor.push(slice.rows):
            rows.append(batch)
            numbers.append(sharing.last().numbers.astype(np.int64))
        return _SliceResults(rows, numbers, sharing.keys())
    finally:
        free.put(executor)


def _read_shard(
    executor: Executor, batch: pa.RecordBatch, rows: Ints, first: int
) -> list[RankedRows]:
    sharing = executor.sharing()
    assert sharing is not None
    sharing.number_rows(rows + first)
    part = batch if len(rows) == batch.num_rows else batch.take(pa.array(rows))
    return _parts(executor, executor.push(part))


def _finish(executor: Executor) -> list[RankedRows]:
    return _parts(executor, executor.finish())


def _parts(executor: Executor, results: Iterator[pa.RecordBatch]) -> list[RankedRows]:
    sharing = executor.sharing()
    assert sharing is not None
    parts = []
    for batch in results:
        order = sharing.last()
        parts.append(RankedRows(batch, order.segment, sharing.first_seen(order)))
    return parts


class _Numbered:
    """Numbers keys as one thread would: in the order of slices, and as each slice has them."""

    def __init__(self, keys: tuple[tuple[str, ...], ...], schema: pa.Schema) -> None:
        self._index = KeyIndex([key_field(schema, path) for path in keys]) if keys else None

    def joined(self, slices: list[_SliceResults]) -> Iterator[pa.RecordBatch]:
        """The results of the slices of one batch, in order."""
        if self._index is None:
            return (batch for each in slices for batch in each.rows)
        parts = []
        for each in slices:
            known = self._index.encode(each.keys) if len(each.keys[0]) else np.zeros(0, np.int32)
            for batch, numbers in zip(each.rows, each.numbers, strict=True):
                parts.append(RankedRows(batch, 0, known[numbers].astype(np.int64)))
        return merged(parts)
