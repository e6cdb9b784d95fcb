"""Reads all of the input first, then runs its pieces, a thread for each: for rows that have to be
sorted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future

import pyarrow as pa

from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.workers import Workers


def by_piece(run: BaseRun) -> Iterator[Stretch]:
    """Read everything, and let threads work on pieces. Only a few pieces for each thread
    run ahead of the results that are taken."""
    executor = run.started(1)
    executor.defer()
    end = 0
    for first, batch in run.work.batches():
        end = first + batch.num_rows
        yield Stretch(end, executor.push(batch))
    begun: deque[Future[list[pa.RecordBatch]]] = deque()
    with Workers(run.threads) as workers:
        for piece in executor.pieces(workers):
            begun.append(workers.submit(piece))
            if len(begun) > 2 * run.threads:
                yield Stretch(end, iter(begun.popleft().result()))
        while begun:
            yield Stretch(end, iter(begun.popleft().result()))
