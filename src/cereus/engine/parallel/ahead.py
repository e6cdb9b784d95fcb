"""Lets threads look at batches ahead of the one thread that reads them: for queries whose input
cannot be cut. Which tests events pass, and which of them have the same key, depends on no other
event.

The same thread reads all batches, so that what it remembers stays in its cache. It begins when
there is a piece for every thread. When it has to wait for a piece that another thread looks at, it
looks at a later one meanwhile.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import NamedTuple

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.key_shards import Piece, looked_at
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.workers import Workers

PIECES_AHEAD = 4
"""How many pieces for each thread are looked at, or read, before results are waited for."""
_Pieces = tuple[int, pa.RecordBatch, list[pa.RecordBatch]]


class Look:
    """A piece of a batch that any thread may look at; the first one to come does."""

    def __init__(self, readers: Sequence[BatchReader], rows: pa.RecordBatch) -> None:
        self._readers, self._rows = readers, rows
        self._begun = threading.Lock()
        self.seen: Future[Piece] = Future()

    def take(self) -> bool:
        """Look at it, unless another thread does already. Returns whether this call did."""
        if not self._begun.acquire(blocking=False):
            return False
        try:
            self.seen.set_result(looked_at(self._readers, self._rows))
        except BaseException as error:
            self.seen.set_exception(error)
        return True


class _ToRead(NamedTuple):
    """A batch from row `first` on, its pieces, and its results."""

    first: int
    batch: pa.RecordBatch
    pieces: list[Look]
    results: Future[list[pa.RecordBatch]]


class InTurn:
    """Reads batches one after the other, in one thread, until None comes; `open` are the pieces
    that may not have been looked at yet."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.batches: SimpleQueue[_ToRead | None] = SimpleQueue()
        self.open: deque[Look] = deque()

    def add(self, first: int, batch: pa.RecordBatch, pieces: list[Look]) -> _ToRead:
        """Add a batch from row `first` on behind the others."""
        added = _ToRead(first, batch, pieces, Future())
        self.open.extend(pieces)
        self.batches.put(added)
        return added

    def read(self) -> None:
        """Read all batches, up to one that cannot be read: nobody waits for those after it."""
        while (each := self.batches.get()) is not None:
            try:
                pieces = [self._looked_at(piece) for piece in each.pieces]
                each.results.set_result(_read(self._executor, each.first, each.batch, pieces))
            except BaseException as error:
                each.results.set_exception(error)
                raise

    def _looked_at(self, piece: Look) -> Piece:
        piece.take()
        while not piece.seen.done() and self._look_further():
            pass
        return piece.seen.result()

    def _look_further(self) -> bool:
        """Look at the next piece that no thread has taken. Returns whether there was one."""
        while self.open:
            if self.open.popleft().take():
                return True
        return False


def ahead(run: BaseRun) -> Iterator[Stretch]:
    """Look at the next batches while one is read."""
    executor = run.started(1)
    readers = executor.readers
    if not readers:
        raise NotSplitError("its events are not read in batches")
    executor.defer()
    turn = InTurn(executor)
    reading: Future[None] | None = None
    begun: deque[_ToRead] = deque()
    with Workers(run.threads) as workers:
        try:
            for first, batch, pieces in _batches(run, readers):
                begun.append(turn.add(first, batch, [Look(readers, piece) for piece in pieces]))
                for look in begun[-1].pieces:
                    workers.submit(look.take)
                if reading is None and sum(map(_pieces, begun)) >= run.threads:
                    reading = workers.submit(turn.read)
                while sum(map(_pieces, begun)) > PIECES_AHEAD * run.threads:
                    yield _stretch(begun.popleft())
            reading = reading or workers.submit(turn.read)
            while begun:
                yield _stretch(begun.popleft())
        finally:
            turn.batches.put(None)
        reading.result()
        yield Stretch(0, iter(workers.submit(lambda: list(executor.finish())).result()))


def _pieces(batch: _ToRead) -> int:
    return len(batch.pieces)


def _stretch(batch: _ToRead) -> Stretch:
    return Stretch(batch.first + batch.batch.num_rows, iter(batch.results.result()))


def _batches(run: BaseRun, readers: Sequence[BatchReader]) -> Iterator[_Pieces]:
    """The batches of the input with their pieces. If results come in the order of events anyway,
    each piece is read on its own, so that nothing has to be joined."""
    in_order = len(readers) == 1 and not readers[0].reading.keys and not run.split.uncut
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
