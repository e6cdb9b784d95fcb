"""One thread reads what the others have looked at: for queries whose input cannot be cut. Which
tests events pass, and which of them have the same key, depends on no other event."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import NamedTuple

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.key_shards import Piece, looked_at
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.workers import Workers

_Pieces = tuple[int, pa.RecordBatch, list[pa.RecordBatch]]


class _Looked(NamedTuple):
    """A batch from row `first` on, and its pieces as each reader sees them."""

    first: int
    batch: pa.RecordBatch
    pieces: list[Future[Piece]]


def ahead(run: BaseRun) -> Iterator[Stretch]:
    """Look at what comes next while a batch is read."""
    executor = run.started(1)
    readers = executor.readers
    if not readers:
        raise NotSplitError("its events are not read in batches")
    executor.defer()
    waiting: deque[_Looked] = deque()
    reading: deque[tuple[int, Future[list[pa.RecordBatch]]]] = deque()
    with Workers(run.threads) as workers:

        def read_next() -> None:
            """Begin to read the oldest of what was looked at."""
            first, batch, tasks = waiting.popleft()
            pieces = [task.result() for task in tasks]
            if reading:
                reading[-1][1].result()  # batches are read one after the other
            task = workers.submit(_read, executor, first, batch, pieces)
            reading.append((first + batch.num_rows, task))

        for first, batch, pieces in _batches(run, readers):
            tasks = [workers.submit(looked_at, readers, piece) for piece in pieces]
            waiting.append(_Looked(first, batch, tasks))
            if len(waiting) > run.threads:
                read_next()
            if len(reading) > 1:
                yield _stretch(*reading.popleft())
        while waiting:
            read_next()
        while reading:
            yield _stretch(*reading.popleft())
        yield Stretch(0, iter(workers.submit(lambda: list(executor.finish())).result()))


def _stretch(end: int, task: Future[list[pa.RecordBatch]]) -> Stretch:
    return Stretch(end, iter(task.result()))


def _batches(run: BaseRun, readers: Sequence[BatchReader]) -> Iterator[_Pieces]:
    """The batches of the input, and their pieces. Where results come in the order of events anyway,
    each piece is read on its own, so that nothing has to be joined."""
    in_order = len(readers) == 1 and not readers[0].reading.keys
    for first, batch in run.work.batches():
        if not in_order:
            yield first, batch, run.pieces(batch)
            continue
        for piece in run.pieces(batch):
            yield first, piece, [piece]
            first += piece.num_rows


def _read(
    executor: Executor, first: int, batch: pa.RecordBatch, pieces: list[Piece]
) -> list[pa.RecordBatch]:
    for place, reader in enumerate(executor.readers):
        reader.number_rows(first)
        reader.expect([piece[place] for piece in pieces])
    return list(executor.push(batch))
