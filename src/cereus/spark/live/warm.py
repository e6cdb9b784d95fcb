"""What stays in a worker's memory from one micro-batch to the next: engines, and events that wait.

It is only a shortcut: it is taken up where the state in Spark's store is the one that was saved
with it, which its description tells, byte for byte; everywhere else it is made anew from the store.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

import pyarrow as pa

from cereus.engine.executor import Executor

MOST_BYTES = 256 << 20
"""What one worker keeps is not larger than this, as far as the sizes of snapshots tell."""


@dataclass
class BucketMemory:
    """What a worker remembers of a bucket: the engine, and of segments the events that it has not
    read. What is not here is read from the store."""

    executor: Executor | None = None
    unread: dict[int, pa.Table] = field(default_factory=dict)

    @property
    def waiting_bytes(self) -> int:
        return sum(table.nbytes for table in self.unread.values())


class Warm:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, int], tuple[str, BucketMemory, int]] = OrderedDict()

    def take(self, query: str, bucket: int, description: str | None) -> BucketMemory:
        """What belongs to this state. It is not kept any more: who takes it changes it, and may
        fail."""
        kept = self._kept.pop((query, bucket), None)
        return BucketMemory() if kept is None or kept[0] != description else kept[1]

    def keep(
        self, query: str, bucket: int, description: str, memory: BucketMemory, size: int
    ) -> None:
        """`size`: of the engine's snapshot."""
        self._kept[query, bucket] = (description, memory, size + memory.waiting_bytes)
        while sum(each[2] for each in self._kept.values()) > self.most_bytes:
            self._kept.popitem(last=False)


WARM = Warm()


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
