"""What executors of one query need to read an input together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.batch_reader import BatchReader


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


class OrderedBatch(NamedTuple):
    """A batch of results, and what orders them."""

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
        """The next rows are the input's from this one on."""
        for reader in self.readers:
            reader.number_rows(row)

    @property
    def sees_all_times(self) -> bool:
        """Whether time goes on from row to row is known when rows were read."""
        return any(reader.sees_all_times for reader in self.readers)

    def refuse_backwards(self) -> None:
        """The rows that were read have to be in the order of time, whatever their keys."""
        if not all(reader.substreams.progress.in_order for reader in self.readers):
            raise NotSplitError("times are not in order")

    def ordered(self, results: Iterator[pa.RecordBatch]) -> list[OrderedBatch]:
        """All results of a push, each with its order."""
        return [OrderedBatch(batch, self.last()) for batch in results]
