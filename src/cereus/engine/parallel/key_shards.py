"""Shards of keys: the rows of a batch dealt out, those of one key always to the same part."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.clock import RowNumbers, as_integers, read
from cereus.engine.ingest.substreams import Substreams, ascending
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.split import Split

Ints = npt.NDArray[np.int64]
MOST_IN_ONE = 0.8
"""If one part gets more than this of the rows, it is not worth it."""


class KeyShards:
    """Deals out the keys of a stream to `parts` shards, so that these have about as many rows."""

    def __init__(self, split: Split, schema: pa.Schema, parts: int, *, always: bool) -> None:
        self._substreams = Substreams(split.keys, schema, ())
        self._ascending, self._latest = split.ascending, -np.inf
        self._parts, self._always = parts, always
        self._shard_of: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)

    def deal(self, batch: pa.RecordBatch) -> list[Ints]:
        """The rows of each shard."""
        self._refuse_backwards(batch)
        keys = self._substreams.codes(batch)
        self._know(keys)
        shards = self._shard_of[keys]
        dealt = [np.flatnonzero(shards == part) for part in range(self._parts)]
        largest = max(len(rows) for rows in dealt)
        if largest > MOST_IN_ONE * batch.num_rows and not self._always:
            raise NotSplitError("most events have one key")
        return dealt

    def _refuse_backwards(self, batch: pa.RecordBatch) -> None:
        if self._ascending is None:
            return
        column = read(batch, (self._ascending,), "the time column")
        times = as_integers(column, "the time column", RowNumbers())
        if times[0] < self._latest or not ascending(times):
            raise NotSplitError("times are not in order")
        self._latest = times[-1]

    def _know(self, keys: npt.NDArray[np.int32]) -> None:
        """Give every new key a shard: the most frequent ones first, there and back again."""
        known = len(self._shard_of)
        if len(self._substreams) == known:
            return
        counts = np.bincount(keys, minlength=len(self._substreams))[known:]
        there_and_back = np.concatenate([np.arange(self._parts), np.arange(self._parts)[::-1]])
        shards = np.empty(len(counts), np.uint8)
        shards[np.argsort(-counts, kind="stable")] = np.resize(there_and_back, len(counts))
        self._shard_of = np.concatenate([self._shard_of, shards])
