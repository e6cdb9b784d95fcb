"""Shards of keys: the keys of a stream dealt out, so that every thread reads rows of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.ingest.first_look import FirstLook, Shards
from cereus.engine.ingest.keys import KeyIndex
from cereus.engine.ingest.substreams import key_field
from cereus.engine.parallel.key_order import KeyOrder
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.split import Path

MOST_IN_ONE = 0.8
"""If one part gets more than this share of the rows, it is not worth it."""


Piece = Sequence[FirstLook]
"""A first look at a piece of a batch, for every reader."""


def looked_at(readers: Sequence[BatchReader], batch: pa.RecordBatch) -> Piece:
    """A piece of a batch, looked at for every reader."""
    return [reader.look(batch) for reader in readers]


class KeyShards:
    """Deals out keys to `parts` shards, so that these have about as many rows.

    keys     the columns by which the keys of every reader are dealt out
    readers  whose keys they are
    order    numbers them as one thread does
    """

    def __init__(
        self,
        keys: tuple[Path, ...],
        readers: Sequence[BatchReader],
        schema: pa.Schema,
        parts: int,
    ) -> None:
        self._parts = parts
        self._dealt = KeyIndex([key_field(schema, path) for path in keys])
        self._shard_of: Shards = np.zeros(0, np.uint8)
        paths = [reader.reading.keys for reader in readers]
        if not all(set(keys) <= set(each) for each in paths):
            raise NotSplitError("its parts have other keys")
        self._columns = [[each.index(path) for path in keys] for each in paths]
        self.order = KeyOrder([reader.substreams.fields for reader in readers])

    def deal(self, pieces: Sequence[Piece]) -> list[tuple[Shards, ...]]:
        """For each piece of a batch and each reader, the shards of the distinct keys."""
        numbers = [tuple(map(self._numbers, count(), piece)) for piece in pieces]
        self._give_out(pieces, numbers)
        return [tuple(self._shard_of[each] for each in piece) for piece in numbers]

    def _numbers(self, reader: int, look: FirstLook) -> npt.NDArray[np.int32]:
        """The numbers of keys, by which they are dealt out."""
        distinct = look.substreams.distinct
        assert distinct is not None
        self.order.number(reader, distinct)
        columns = [distinct.column(place) for place in self._columns[reader]]
        return self._dealt.encode(columns)

    def _give_out(
        self,
        pieces: Sequence[Piece],
        numbers: Sequence[tuple[npt.NDArray[np.int32], ...]],
    ) -> None:
        """Give every new key a shard: the most frequent keys first, through the shards and back
        again."""
        known = len(self._shard_of)
        if len(self._dealt) == known:
            return
        counts = np.zeros(len(self._dealt), np.int64)
        for piece, of_piece in zip(pieces, numbers, strict=True):
            for each, places in zip(piece, of_piece, strict=True):
                np.add.at(counts, places, each.substreams.counts)
        there_and_back = np.concatenate([np.arange(self._parts), np.arange(self._parts)[::-1]])
        shards = np.empty(len(counts) - known, np.uint8)
        shards[np.argsort(-counts[known:], kind="stable")] = np.resize(there_and_back, len(shards))
        self._shard_of = np.concatenate([self._shard_of, shards])
        self.largest = float(np.bincount(self._shard_of, counts).max() / max(1, counts.sum()))

    largest = 0.0
    """The share of the rows of the largest shard, when keys were last dealt out."""
