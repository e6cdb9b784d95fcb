"""Slices of time, a thread for each; the next batch is begun before the last is put in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from queue import SimpleQueue

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.clock import Clock
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.key_order import KeyOrder, PartResults, with_all_keys
from cereus.engine.parallel.merging import merged
from cereus.engine.parallel.sharing import NotSplitError, Sharing
from cereus.engine.parallel.time_slices import Slice, TimeSlices
from cereus.engine.parallel.workers import Workers

_Free = SimpleQueue[tuple[Executor, Sharing]]


def by_time(run: BaseRun) -> Iterator[Stretch]:
    """Cut every batch into slices."""
    clock = Clock(run.split.window, run.stream, run.schema)
    slices = TimeSlices(clock, run.threads, least=run.least, always=run.always)
    free: _Free | None = None
    order = KeyOrder([])
    begun: deque[tuple[int, list[Future[PartResults]]]] = deque()
    joined: deque[tuple[int, Future[list[pa.RecordBatch]]]] = deque()
    with Workers(run.threads) as workers:

        def join() -> None:
            """Put the results of the oldest batch in order, when its slices are read."""
            end, tasks = begun.popleft()
            parts = [task.result() for task in tasks]
            ranked = order.ranked(parts) if order.orders else []
            in_order = [each.rows for part in parts for each in part.batches]
            joined.append((end, workers.submit(lambda: list(merged(ranked)) or in_order)))

        for first, batch in run.work.batches():
            cut = slices.cut(batch, first)
            if not run.rows and len(cut) < 2 and not begun and not run.always:
                raise NotSplitError("there are few events")
            if free is None:
                free, order = _executors(run)
            tasks = [workers.submit(_read_slice, free, each) for each in cut]
            begun.append((first + batch.num_rows, tasks))
            if len(begun) > 1:
                join()
            if len(joined) > 1:
                yield _stretch(*joined.popleft())
        if free is None:
            raise NotSplitError("there are no events")
        while begun:
            join()
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


def _read_slice(free: _Free, slice: Slice) -> PartResults:
    executor, sharing = free.get()
    try:
        slice.refuse_backwards()
        executor.forget()
        for first, batch in slice.before:
            sharing.number_rows(first)
            for _ in executor.push(batch):
                pass
        sharing.number_rows(slice.first)
        return with_all_keys(sharing, sharing.ordered(executor.push(slice.rows)))
    finally:
        free.put((executor, sharing))
