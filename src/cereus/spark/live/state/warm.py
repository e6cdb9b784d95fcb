"""Keeps engines, and events that wait, in a worker's memory from one micro-batch to the next.

It is only a shortcut: it is used if the state in Spark's store is the one that was saved with it,
or has gone on from there, which the heads of both show. Spark gives a bucket to one worker now and
to another later, so a memory that is some steps behind catches up (`Journal`). Otherwise everything
is made again from the store.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.spark.live.state.stored import Head

MOST_BYTES = 256 << 20
"""The most bytes that one worker keeps, as far as the sizes of snapshots tell."""


@dataclass
class BucketMemory:
    """What a worker remembers about a bucket: the head at that time, the engine, and the unread
    events of segments. Everything else is read from the store."""

    head: Head | None = None
    executor: Executor | None = None
    unread: dict[int, pa.Table] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The size in bytes, as far as the size of the engine's snapshot tells."""
        engine = 0 if self.head is None else self.head.size
        return engine + sum(int(table.nbytes) for table in self.unread.values())


class Warm:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, int], BucketMemory] = OrderedDict()

    def take(self, query: str, bucket: int) -> BucketMemory:
        """Take what is remembered about a bucket. It is removed here: the taker changes it, and may
        fail."""
        return self._kept.pop((query, bucket), None) or BucketMemory()

    def keep(self, query: str, bucket: int, memory: BucketMemory) -> None:
        self._kept[query, bucket] = memory
        while sum(each.size for each in self._kept.values()) > self.most_bytes:
            self._kept.popitem(last=False)


WARM = Warm()
