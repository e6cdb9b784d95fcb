"""Executors that stay in a worker's memory from one micro-batch to the next.

They are only a shortcut: an executor is taken up where the state in Spark's store is the one that
it saved last, byte for byte, and made anew from that state everywhere else.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from cereus.engine.executor import Executor

MOST_BYTES = 256 << 20
"""The snapshots of the executors that one worker keeps are not larger than this, all together."""


class Warm:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, int], tuple[str, Executor, int]] = OrderedDict()

    def take(self, query: str, bucket: int, snapshot: str | None) -> Executor | None:
        """The executor that saved this snapshot. It is not kept any more: who takes it changes it,
        and may fail."""
        kept = self._kept.pop((query, bucket), None)
        return None if kept is None or kept[0] != snapshot else kept[1]

    def keep(self, query: str, bucket: int, snapshot: str, executor: Executor, size: int) -> None:
        self._kept[query, bucket] = (snapshot, executor, size)
        while sum(each[2] for each in self._kept.values()) > self.most_bytes:
            self._kept.popitem(last=False)


WARM = Warm()


def digest(snapshot: bytes) -> str:
    return hashlib.sha256(snapshot).hexdigest()
