"""Shards of keys, a thread for each. Before that, the rows of a batch are looked at in pieces, by
all threads; what is then left to one thread is to number the keys, and to deal them out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.first_look import Shards
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.key_order import PartResults, with_their_keys
from cereus.engine.parallel.key_shards import MOST_IN_ONE, KeyShards, Piece, looked_at
from cereus.engine.parallel.merging import merged
from cereus.engine.parallel.sharing import NotSplitError, Sharing
from cereus.engine.parallel.workers import Workers

_Part = tuple[Executor, Sharing]
_Reading = tuple[int, list[Future[PartResults]]]


def by_key(run: BaseRun) -> Iterator[Stretch]:
    """Deal out the keys of every batch; the next is looked at while one is read."""
    parts = [run.shared() for _ in range(run.threads)]
    readers = parts[0][1].readers
    shards = KeyShards(run.split.keys, readers, run.schema, run.threads)
    reading: _Reading | None = None
    joined: deque[tuple[int, Future[list[pa.RecordBatch]]]] = deque()
    with Workers(run.threads) as workers:

        def join(reading: _Reading) -> None:
            """Put the results of a batch in order, when its shards are read."""
            end, tasks = reading
            ranked = shards.order.ranked([task.result() for task in tasks])
            joined.append((end, workers.submit(lambda: list(merged(ranked)))))

        for first, batch in run.work.batches():
            looks = [workers.submit(looked_at, readers, piece) for piece in run.pieces(batch)]
            if reading is not None:
                join(reading)
            pieces = [each.result() for each in looks]
            dealt = shards.deal(pieces)
            if shards.largest > MOST_IN_ONE and reading is None and not run.always:
                raise NotSplitError("most events have one key")
            tasks = [
                workers.submit(_read_shard, part, number, first, batch, pieces, dealt)
                for number, part in enumerate(parts)
            ]
            reading = first + batch.num_rows, tasks
            if len(joined) > 1:
                yield _stretch(*joined.popleft())
        if reading is None:
            raise NotSplitError("there are no events")
        join(reading)
        end = reading[0]
        join((end, [workers.submit(_finish, part) for part in parts]))
        while joined:
            yield _stretch(*joined.popleft())


def _stretch(end: int, task: Future[list[pa.RecordBatch]]) -> Stretch:
    return Stretch(end, iter(task.result()))


def _read_shard(
    part: _Part,
    number: int,
    first: int,
    batch: pa.RecordBatch,
    pieces: Sequence[Piece],
    dealt: Sequence[tuple[Shards, ...]],
) -> PartResults:
    """Read the rows of a batch whose keys are of the shard with this number."""
    executor, sharing = part
    sharing.number_rows(first)
    for place, reader in enumerate(sharing.readers):
        pairs = zip(pieces, dealt, strict=True)
        reader.expect([each[place].of_shard(to[place], number) for each, to in pairs])
    return with_their_keys(sharing, sharing.ordered(executor.push(batch)))


def _finish(part: _Part) -> PartResults:
    executor, sharing = part
    return with_their_keys(sharing, sharing.ordered(executor.finish()))
