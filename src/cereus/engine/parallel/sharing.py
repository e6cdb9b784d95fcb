"""The part of an executor that lets several of one query share the reading of an input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.batch_reader import BatchReader


class NotSplitError(Exception):
    """An input cannot be cut in some way, or it is not worth it."""


class ResultOrder(NamedTuple):
    """What orders the rows of a result.

    segment  in which turn of a push it was emitted
    numbers  of each row the number of its key, or its row in the input
    reader   which of the executor's readers has numbered the keys
    """

    segment: int
    numbers: npt.NDArray[np.integer]
    reader: int = 0


class OrderedBatch(NamedTuple):
    """A batch of results with its order."""

    rows: pa.RecordBatch
    order: ResultOrder


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

    def number_rows(self, row: int) -> None:
        """Set the number of the next row in the input."""
        for reader in self.readers:
            reader.number_rows(row)

    @property
    def sees_all_times(self) -> bool:
        """Whether reading rows checks the order of their times from row to row."""
        return any(reader.sees_all_times for reader in self.readers)

    def refuse_backwards(self) -> None:
        """Refuse the rows that were read if they are not in the order of time over all keys."""
        if not all(reader.substreams.progress.in_order for reader in self.readers):
            raise NotSplitError("times are not in order")

    def ordered(self, results: Iterator[pa.RecordBatch]) -> list[OrderedBatch]:
        """All results of a push, each with its order."""
        return [OrderedBatch(batch, self.last()) for batch in results]
