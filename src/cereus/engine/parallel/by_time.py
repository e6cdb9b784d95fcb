"""Runs slices of time, a thread for each; later slices begin before the results of earlier ones are
in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import NamedTuple

import pyarrow as pa

from cereus.engine.ingest.clock import Clock
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.key_order import KeyOrder, PartResults, with_all_keys
from cereus.engine.parallel.merging import JoinedBatches, merged
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.time_slices import SlicePart, TimeSlices
from cereus.engine.parallel.workers import Workers


class _Task(NamedTuple):
    """A part of a slice, and its results."""

    part: SlicePart
    results: Future[PartResults]


class _Slice:
    """The parts of a slice that nobody has begun. The reader of the slice takes the first; other
    threads, when they have nothing left to do, take the last."""

    def __init__(self) -> None:
        self._tasks: deque[_Task] = deque()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._tasks)

    def add(self, task: _Task) -> None:
        self._tasks.append(task)

    def take_first(self) -> _Task | None:
        with self._lock:
            return self._tasks.popleft() if self._tasks else None

    def take_last(self) -> _Task | None:
        """Take the last part, if a reader can begin with it."""
        with self._lock:
            if not self._tasks or self._tasks[-1].part.before is None:
                return None
            return self._tasks.pop()


class _SliceReader:
    """Reads parts of slices, as one of several."""

    def __init__(self, run: BaseRun, clock: Clock) -> None:
        self._executor, self.sharing = run.shared()
        self._sees_order = clock.follows_time and self.sharing.sees_all_times

    def read(self, task: _Task, *, begins: bool) -> None:
        """Read a part: as a continuation of the part before it, or (`begins`) from its
        beginning."""
        try:
            task.results.set_result(self._results(task.part, begins))
        except BaseException as error:
            task.results.set_exception(error)
            raise

    def _results(self, part: SlicePart, begins: bool) -> PartResults:
        if not self._sees_order:
            part.refuse_backwards()
        if begins:
            self._executor.forget()
            for first, batch in part.before or ():
                self.sharing.number_rows(first)
                for _ in self._executor.push(batch):
                    pass
        self.sharing.number_rows(part.first)
        results = self.sharing.ordered(self._executor.push(part.rows))
        if self._sees_order:
            self.sharing.refuse_backwards()
        return with_all_keys(self.sharing, results)


_Free = SimpleQueue[_SliceReader]


class _Begun(NamedTuple):
    """A batch that ends before row `end`: the numbers of the first and the last slice that have
    rows of it, and their results."""

    end: int
    first: int
    last: int
    parts: list[Future[PartResults]]


def by_time(run: BaseRun) -> Iterator[Stretch]:
    """Cut the input into slices. The results of every batch are put in order when its parts are
    read."""
    clock = Clock(run.split.window, run.stream, run.schema)
    rows = run.rows if run.at_hand else None
    slices = TimeSlices(clock, run.threads, least=run.least, always=run.always, rows=rows)
    with Workers(run.threads) as workers:
        yield from _SlicedRun(run, clock, slices, workers).stretches()


class _SlicedRun:
    """A run in slices: `slice` is being filled; `closed` slices were handed to workers, and `last`
    are the latest of these; `begun` are the batches whose results are not in order yet."""

    def __init__(self, run: BaseRun, clock: Clock, slices: TimeSlices, workers: Workers) -> None:
        self.run, self.clock, self.slices, self.workers = run, clock, slices, workers
        self.free: _Free = SimpleQueue()
        self.readers = 0
        self.order = KeyOrder([])
        self.slice = _Slice()
        self.last: deque[_Slice] = deque(maxlen=run.threads)
        self.closed = 0
        self.begun: deque[_Begun] = deque()
        self.joined = JoinedBatches(workers)

    def stretches(self) -> Iterator[Stretch]:
        for first, batch in self.run.work.batches():
            self.begin(first, batch)
            while self.begun and self.may_join(self.begun[0]):
                self.join()
            yield from self.joined.older()
        if len(self.slice):
            self.close()
        if not self.closed:
            raise NotSplitError("there are no events")
        for _ in range(self.readers):
            self.workers.submit(_take_over, self.free, self.last)
        while self.begun:
            self.join()
            yield from self.joined.older()
        yield from self.joined.rest()

    def begin(self, first: int, batch: pa.RecordBatch) -> None:
        """Cut a batch, and let the slices that it completes be read."""
        parts = self.slices.cut(batch, first)
        if not self.run.rows and len(parts) < 2 and not self.begun and not self.run.always:
            raise NotSplitError("there are few events")
        of_first, tasks = self.closed, [_Task(part, Future()) for part in parts]
        for task in tasks:
            self.slice.add(task)
            if task.part.closes:
                self.close()
        of_last = self.closed if len(self.slice) else self.closed - 1
        results = [task.results for task in tasks]
        self.begun.append(_Begun(first + batch.num_rows, of_first, of_last, results))

    def may_join(self, batch: _Begun) -> bool:
        """Whether the slices of a batch are closed, and enough later ones to keep all busy."""
        return batch.last < self.closed and self.closed - batch.first > self.run.threads

    def close(self) -> None:
        """Let the slice be read. Each of the first ones gets a reader of its own."""
        if self.readers < self.run.threads:
            self.add_reader()
        self.workers.submit(_read_slice, self.free, self.slice)
        self.last.append(self.slice)
        self.slice, self.closed = _Slice(), self.closed + 1

    def add_reader(self) -> None:
        reader = _SliceReader(self.run, self.clock)
        if not self.readers:
            self.order = KeyOrder([each.substreams.fields for each in reader.sharing.readers])
        self.readers += 1
        self.free.put(reader)

    def join(self) -> None:
        """Put the results of the oldest batch in order, once its parts are read."""
        batch = self.begun.popleft()
        parts = [task.result() for task in batch.parts]
        ranked = self.order.ranked(parts) if self.order.orders else []
        in_order = [each.rows for part in parts for each in part.batches]
        self.joined.join(batch.end, lambda: list(merged(ranked)) or in_order)


def _read_slice(free: _Free, slice: _Slice) -> None:
    """Read the parts of a slice, one after the other, up to one that cannot be read: nobody waits
    for those after it."""
    reader = free.get()
    try:
        begins = True
        while (task := slice.take_first()) is not None:
            reader.read(task, begins=begins)
            begins = False
    finally:
        free.put(reader)


def _take_over(free: _Free, slices: Iterable[_Slice]) -> None:
    """Take over parts that others have not begun: the last part of the slice with most parts."""
    reader = free.get()
    try:
        while (task := max(slices, key=len).take_last()) is not None:
            reader.read(task, begins=True)
    finally:
        free.put(reader)
