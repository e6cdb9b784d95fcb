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
from cereus.engine.parallel.merging import merged
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
    free: _Free = SimpleQueue()
    readers = 0
    order = KeyOrder([])
    slice = _Slice()
    last: deque[_Slice] = deque(maxlen=run.threads)
    closed = 0
    begun: deque[_Begun] = deque()
    joined: deque[tuple[int, Future[list[pa.RecordBatch]]]] = deque()
    with Workers(run.threads) as workers:

        def one_more_reader() -> None:
            nonlocal readers, order
            reader = _SliceReader(run, clock)
            if not readers:
                order = KeyOrder([each.substreams.fields for each in reader.sharing.readers])
            readers += 1
            free.put(reader)

        def close() -> None:
            """Let the slice be read. Each of the first ones gets a reader of its own."""
            nonlocal slice, closed
            if readers < run.threads:
                one_more_reader()
            workers.submit(_read_slice, free, slice)
            last.append(slice)
            slice, closed = _Slice(), closed + 1

        def join() -> None:
            """Put the results of the oldest batch in order, once its parts are read."""
            batch = begun.popleft()
            parts = [task.result() for task in batch.parts]
            ranked = order.ranked(parts) if order.orders else []
            in_order = [each.rows for part in parts for each in part.batches]
            joined.append((batch.end, workers.submit(lambda: list(merged(ranked)) or in_order)))

        for first, batch in run.work.batches():
            parts = slices.cut(batch, first)
            if not run.rows and len(parts) < 2 and not begun and not run.always:
                raise NotSplitError("there are few events")
            of_first, tasks = closed, [_Task(part, Future()) for part in parts]
            for task in tasks:
                slice.add(task)
                if task.part.closes:
                    close()
            of_last = closed if len(slice) else closed - 1
            results = [task.results for task in tasks]
            begun.append(_Begun(first + batch.num_rows, of_first, of_last, results))
            while begun and begun[0].last < closed and closed - begun[0].first > run.threads:
                join()
            if len(joined) > 1:
                yield _stretch(*joined.popleft())
        if len(slice):
            close()
        if not closed:
            raise NotSplitError("there are no events")
        for _ in range(readers):
            workers.submit(_take_over, free, last)
        while begun:
            join()
            if len(joined) > 1:
                yield _stretch(*joined.popleft())
        while joined:
            yield _stretch(*joined.popleft())


def _stretch(end: int, task: Future[list[pa.RecordBatch]]) -> Stretch:
    return Stretch(end, iter(task.result()))


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
