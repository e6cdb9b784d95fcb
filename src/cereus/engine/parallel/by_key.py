"""Runs shards of keys, a thread for each. All threads first look at the rows of a batch, in pieces;
then one thread numbers the keys and deals them out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import NamedTuple

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.first_look import Shards
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.key_order import PartResults, with_their_keys
from cereus.engine.parallel.key_shards import MOST_IN_ONE, KeyShards, Piece, looked_at
from cereus.engine.parallel.merging import JoinedBatches, merged
from cereus.engine.parallel.sharing import NotSplitError, Sharing
from cereus.engine.parallel.workers import Workers

_Part = tuple[Executor, Sharing]


class _Looked(NamedTuple):
    """A batch from row `first` on, whose pieces are being looked at."""

    first: int
    batch: pa.RecordBatch
    pieces: list[Future[Piece]]


class _Read(NamedTuple):
    """The shards of a batch that ends before row `end`."""

    end: int
    shards: list[Future[PartResults]]


def by_key(run: BaseRun) -> Iterator[Stretch]:
    """Deal out the keys of every batch. While one batch is read, the next is dealt out, and the one
    after it is looked at. Each shard is read batch by batch, independently of the others."""
    parts = [run.shared() for _ in range(run.threads)]
    readers = parts[0][1].readers
    shards = KeyShards(run.split.keys, readers, run.schema, run.threads)
    looked: deque[_Looked] = deque()
    reading: deque[_Read] = deque()
    last: list[Future[PartResults] | None] = [None] * run.threads
    with Workers(run.threads) as workers:
        joined = JoinedBatches(workers)

        def read_next() -> None:
            """Deal out the oldest batch that was looked at, and begin to read it."""
            first, batch, tasks = looked.popleft()
            pieces = [each.result() for each in tasks]
            dealt = shards.deal(pieces)
            if shards.largest > MOST_IN_ONE and last[0] is None and not run.always:
                raise NotSplitError("most events have one key")
            for number, part in enumerate(parts):
                what = (part, last[number], number, first, batch, pieces, dealt)
                last[number] = workers.submit(_read_shard, *what)
            reading.append(_Read(first + batch.num_rows, [each for each in last if each]))

        def join(end: int, tasks: list[Future[PartResults]]) -> None:
            """Put the results of a batch in order, once its shards are read."""
            ranked = shards.order.ranked([task.result() for task in tasks])
            joined.join(end, lambda: merged(ranked))

        end = 0
        for first, batch in run.work.batches():
            end = first + batch.num_rows
            pieces = [workers.submit(looked_at, readers, piece) for piece in run.pieces(batch)]
            looked.append(_Looked(first, batch, pieces))
            if len(looked) > 1:
                read_next()
            if len(reading) > 1:
                join(*reading.popleft())
            yield from joined.older()
        if not looked:
            raise NotSplitError("there are no events")
        while looked:
            read_next()
        while reading:
            join(*reading.popleft())
        join(end, [workers.submit(_finish, part) for part in parts])
        yield from joined.rest()


def _read_shard(
    part: _Part,
    before: Future[PartResults] | None,
    number: int,
    first: int,
    batch: pa.RecordBatch,
    pieces: Sequence[Piece],
    dealt: Sequence[tuple[Shards, ...]],
) -> PartResults:
    """Read the rows of a batch whose keys are in shard `number`, once those of the batch `before`
    are read. Some thread has begun with these, as they were submitted first."""
    if before is not None:
        before.result()
    executor, sharing = part
    sharing.number_rows(first)
    for place, reader in enumerate(sharing.readers):
        pairs = zip(pieces, dealt, strict=True)
        reader.expect([each[place].of_shard(to[place], number) for each, to in pairs])
    return with_their_keys(sharing, sharing.ordered(executor.push(batch)))


def _finish(part: _Part) -> PartResults:
    executor, sharing = part
    return with_their_keys(sharing, sharing.ordered(executor.finish()))
