"""Slices of time, a thread for each; the next are begun before the last are put in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import NamedTuple

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.clock import Clock
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.key_order import KeyOrder, PartResults, with_all_keys
from cereus.engine.parallel.merging import merged
from cereus.engine.parallel.sharing import NotSplitError, Sharing
from cereus.engine.parallel.time_slices import SlicePart, TimeSlices
from cereus.engine.parallel.workers import Workers

_Free = SimpleQueue[tuple[Executor, Sharing]]
_Slice = list[tuple[SlicePart, Future[PartResults]]]


class _Begun(NamedTuple):
    """A batch that ends before row `end`: the numbers of the first and the last slice that have
    rows of it, and what these give."""

    end: int
    first: int
    last: int
    parts: list[Future[PartResults]]


def by_time(run: BaseRun) -> Iterator[Stretch]:
    """Cut the input into slices. Every batch is put in order when its parts are read."""
    clock = Clock(run.split.window, run.stream, run.schema)
    rows = run.rows if run.at_hand else None
    slices = TimeSlices(clock, run.threads, least=run.least, always=run.always, rows=rows)
    free: _Free | None = None
    order = KeyOrder([])
    slice: _Slice = []
    closed = 0
    begun: deque[_Begun] = deque()
    joined: deque[tuple[int, Future[list[pa.RecordBatch]]]] = deque()
    with Workers(run.threads) as workers:

        def join() -> None:
            """Put the results of the oldest batch in order, when its parts are read."""
            batch = begun.popleft()
            parts = [task.result() for task in batch.parts]
            ranked = order.ranked(parts) if order.orders else []
            in_order = [each.rows for part in parts for each in part.batches]
            joined.append((batch.end, workers.submit(lambda: list(merged(ranked)) or in_order)))

        for first, batch in run.work.batches():
            parts = slices.cut(batch, first)
            if not run.rows and len(parts) < 2 and not begun and not run.always:
                raise NotSplitError("there are few events")
            if free is None:
                free, order = _executors(run)
            of_first, tasks = closed, [Future[PartResults]() for _ in parts]
            for part, task in zip(parts, tasks, strict=True):
                slice.append((part, task))
                if part.closes:
                    workers.submit(_read_slice, free, slice)
                    closed, slice = closed + 1, []
            of_last = closed if slice else closed - 1
            begun.append(_Begun(first + batch.num_rows, of_first, of_last, tasks))
            while begun and begun[0].last < closed and closed - begun[0].first > run.threads:
                join()
            if len(joined) > 1:
                yield _stretch(*joined.popleft())
        if free is None:
            raise NotSplitError("there are no events")
        if slice:
            workers.submit(_read_slice, free, slice)
        while begun:
            join()
            if len(joined) > 1:
                yield _stretch(*joined.popleft())
        while joined:
            yield _stretch(*joined.popleft())


def _stretch(end: int, task: Future[list[pa.RecordBatch]]) -> Stretch:
    return Stretch(end, iter(task.result()))


def _executors(run: BaseRun) -> tuple[_Free, KeyOrder]:
    """One for each thread; who reads a slice takes one."""
    free: _Free = SimpleQueue()
    made = [run.shared() for _ in range(run.threads)]
    for each in made:
        free.put(each)
    _, sharing = made[0]
    return free, KeyOrder([reader.substreams.fields for reader in sharing.readers])


def _read_slice(free: _Free, slice: _Slice) -> None:
    """Read the parts of a slice, one after the other, up to one that cannot be read: nobody waits
    for those behind it."""
    executor, sharing = free.get()
    try:
        for part, task in slice:
            try:
                task.set_result(_read_part(executor, sharing, part))
            except BaseException as error:
                task.set_exception(error)
                raise
    finally:
        free.put((executor, sharing))


def _read_part(executor: Executor, sharing: Sharing, part: SlicePart) -> PartResults:
    part.refuse_backwards()
    if part.begins:
        executor.forget()
    for first, batch in part.before:
        sharing.number_rows(first)
        for _ in executor.push(batch):
            pass
    sharing.number_rows(part.first)
    return with_all_keys(sharing, sharing.ordered(executor.push(part.rows)))
