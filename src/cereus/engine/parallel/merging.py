"""Puts the results of parts in the order in which one thread gives them.

Within a batch, results come by key, keys in the order in which they first occur in the input, and
those of a key as they were found; or, where they come in the order of events, by their rows.
Results that are emitted in several turns (*segments*) come turn by turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.interrupts import interruptible
from cereus.engine.parallel.base import Stretch
from cereus.engine.parallel.workers import Workers
from cereus.engine.ranges import ranges

Ints = npt.NDArray[np.int64]
ROWS = 1 << 16
"""The number of rows in a batch of results."""
LONG_RUN = 64
"""Runs of results that are on average at least this long are passed on as they are, not copied."""


@dataclass(frozen=True)
class RankedRows:
    """The results of one part: the turn in which they were emitted, and the rank of each row."""

    rows: pa.RecordBatch
    segment: int
    ranks: npt.NDArray[np.integer]


class _Runs(NamedTuple):
    """Runs of results of one part that have the same rank: where each begins among the results of
    all parts, and how long it is."""

    segments: Ints
    ranks: Ints
    begins: Ints
    sizes: Ints


def merged(parts: Sequence[RankedRows]) -> Iterator[pa.RecordBatch]:
    """The results of all parts, in order; those of equal rank stay as they are."""
    parts = [part for part in parts if part.rows.num_rows]
    if not parts:
        return
    runs = _runs(parts)
    order = interruptible(len(runs.ranks), lambda: np.lexsort((runs.ranks, runs.segments)))
    if np.array_equal(order, np.arange(len(order))):
        yield from (part.rows for part in parts)
        return
    begins, sizes = runs.begins[order], runs.sizes[order]
    apart = np.append(True, begins[1:] != begins[:-1] + sizes[:-1])
    begins, sizes = begins[apart], np.add.reduceat(sizes, np.flatnonzero(apart))
    if sizes.sum() >= LONG_RUN * len(sizes):
        yield from _stretches(parts, begins, sizes)
        return
    table = pa.Table.from_batches([part.rows for part in parts])
    rows = pa.array(ranges(begins, sizes))
    yield from table.take(rows).combine_chunks().to_batches(max_chunksize=ROWS)


def _runs(parts: Sequence[RankedRows]) -> _Runs:
    """The runs of all parts, one part after the other: most often far fewer than the results."""
    begins, ranks, segments, before = [], [], [], 0
    for part in parts:
        changes = np.flatnonzero(part.ranks[1:] != part.ranks[:-1]) + 1
        places = np.append(0, changes)
        begins.append(places + before)
        ranks.append(part.ranks[places].astype(np.int64))
        segments.append(np.full(len(places), part.segment))
        before += len(part.ranks)
    every = np.concatenate(begins)
    sizes = np.diff(np.append(every, before))
    return _Runs(np.concatenate(segments), np.concatenate(ranks), every, sizes)


def _stretches(parts: Sequence[RankedRows], begins: Ints, sizes: Ints) -> Iterator[pa.RecordBatch]:
    """Rows that are already together, without copying them."""
    ends = np.cumsum([part.rows.num_rows for part in parts])
    for at, stop in zip(begins.tolist(), (begins + sizes).tolist(), strict=True):
        while at < stop:
            place = int(np.searchsorted(ends, at, side="right"))
            here = at - (int(ends[place]) - parts[place].rows.num_rows)
            size = min(stop, int(ends[place])) - at
            yield parts[place].rows.slice(here, size)
            at += size


class JoinedBatches:
    """Batches whose results workers put in order, while the next ones are read."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._begun: deque[tuple[int, Future[list[pa.RecordBatch]]]] = deque()

    def join(self, end: int, results: Callable[[], Iterable[pa.RecordBatch]]) -> None:
        """Let a worker compute the results of the batch that ends before row `end`."""
        self._begun.append((end, self._workers.submit(lambda: list(results()))))

    def older(self) -> Iterator[Stretch]:
        """The oldest batch, except if it is the latest too: that one may not be in order yet."""
        if len(self._begun) > 1:
            yield self._oldest()

    def rest(self) -> Iterator[Stretch]:
        while self._begun:
            yield self._oldest()

    def _oldest(self) -> Stretch:
        end, results = self._begun.popleft()
        return Stretch(end, iter(results.result()))
