"""Restores the order of one thread, in which keys are numbered in the order in which they first
come.

Each thread numbers the keys that it meets on its own. It hands over its results together with the
keys, and these get the numbers that one thread would give them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.keys import KeyIndex
from cereus.engine.parallel.merging import RankedRows
from cereus.engine.parallel.sharing import OrderedBatch, ResultOrder, Sharing


@dataclass(frozen=True)
class PartResults:
    """The results of one thread for its part, and the keys that they refer to, for each reader;
    None where results are ordered by their rows."""

    batches: list[OrderedBatch]
    keys: tuple[pa.RecordBatch, ...] | None


def with_all_keys(sharing: Sharing, results: list[OrderedBatch]) -> PartResults:
    """The results with all keys that were met, in their order."""
    if sharing.by_rows:
        return PartResults(results, None)
    return PartResults(results, tuple(_keys(reader.key_index) for reader in sharing.readers))


def with_their_keys(sharing: Sharing, results: list[OrderedBatch]) -> PartResults:
    """The results with the keys that occur in them."""
    if sharing.by_rows or not results:
        return PartResults(results, None)
    keys: list[pa.RecordBatch] = []
    for place, reader in enumerate(sharing.readers):
        occurs = np.zeros(len(reader.key_index), bool)
        for each in results:
            if each.order.reader == place:
                occurs[each.order.numbers] = True
        numbers = np.cumsum(occurs) - 1
        results = [
            _renumbered(each, numbers) if each.order.reader == place else each for each in results
        ]
        keys.append(_keys(reader.key_index).take(pa.array(np.flatnonzero(occurs))))
    return PartResults(results, tuple(keys))


def _renumbered(batch: OrderedBatch, numbers: npt.NDArray[np.int64]) -> OrderedBatch:
    segment, before, reader = batch.order
    return OrderedBatch(batch.rows, ResultOrder(segment, numbers[before], reader))


def _keys(index: KeyIndex) -> pa.RecordBatch:
    if not index.fields:
        return pa.RecordBatch.from_pydict({"": pa.nulls(1)})
    names = [str(place) for place in range(len(index.fields))]
    return pa.RecordBatch.from_arrays(index.values(), names)


class KeyOrder:
    """The keys of each reader, numbered as they come; `fields` are the fields of its keys."""

    def __init__(self, fields: Sequence[list[pa.Field]]) -> None:
        self.indexes = [KeyIndex(each) for each in fields]

    def number(self, reader: int, keys: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """The numbers of keys; new keys get the next ones."""
        index = self.indexes[reader]
        return index.encode_distinct(keys) if index.fields else np.zeros(1, np.int32)

    @property
    def orders(self) -> bool:
        """Whether there is anything to order by; otherwise results come as they were found."""
        return len(self.indexes) > 1 or any(index.fields for index in self.indexes)

    def ranked(self, parts: Iterable[PartResults]) -> list[RankedRows]:
        """The results of parts with the ranks that order them. Slices come in the order of time."""
        ranked = []
        for part in parts:
            keys = part.keys or ()
            known = [self.number(place, each) for place, each in enumerate(keys)]
            for rows, order in part.batches:
                ranks = known[order.reader][order.numbers] if known else order.numbers
                ranked.append(RankedRows(rows, order.segment, ranks))
        return ranked
