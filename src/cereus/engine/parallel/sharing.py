"""What executors of one query need to read an input together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.batch_reader import BatchReader

Ints = npt.NDArray[np.int64]


class NotSplitError(Exception):
    """An input cannot be cut in some way, or is not worth it."""


class ResultOrder(NamedTuple):
    """What orders the rows of a result.

    segment  in which turn of a push it was emitted
    numbers  of each row the number of its key, or its row in the input
    reader   which of the executor's readers has numbered the keys
    """

    segment: int
    numbers: npt.NDArray[np.integer]
    reader: int = 0


@dataclass(frozen=True)
class Sharing:
    """An executor as one of several.

    readers  what reads its batches
    last     the order of the result that was given last
    by_rows  results come in the order of events, not by key
    """

    readers: tuple[BatchReader, ...]
    last: Callable[[], ResultOrder]
    by_rows: bool = False

    def number_rows(self, rows: int | Ints) -> None:
        """The next rows are the input's from this one on, or those of the next batch are these."""
        for reader in self.readers:
            reader.number_rows(rows)

    def note_first(self) -> None:
        """Note from now on in which row each key comes first."""
        for reader in self.readers:
            reader.first_seen = np.zeros(0, np.int64)

    def first_seen(self, order: ResultOrder) -> Ints:
        """What is common to all executors: the first rows of keys, or the rows."""
        if self.by_rows:
            return order.numbers.astype(np.int64)
        first = self.readers[order.reader].first_seen
        assert first is not None
        rows: Ints = first[order.numbers]
        return rows

    def keys(self) -> list[pa.Array]:
        """The keys that the first reader has seen, in the order of their numbers."""
        return self.readers[0].key_index.values()
