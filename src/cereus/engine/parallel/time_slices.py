"""Slices of time: the rows of a batch in parts, each with the rows of a window before it.

What is emitted while the rows before are read belongs to an earlier slice and is dropped. So a
slice gives the results of its own rows, if these depend on nothing before the window.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.clock import Clock, RowNumbers, as_integers, read
from cereus.engine.ingest.substreams import ascending
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.spread import cuts

Ints = npt.NDArray[np.int64]
MOST_OVERLAP = 0.25
"""Slices that would read more than this part of their rows twice are not worth it."""


@dataclass(frozen=True)
class Slice:
    """Rows to be read: `before` those of the slice, each batch with the row of its first, and then
    its own, from row `first` on."""

    before: tuple[tuple[int, pa.RecordBatch], ...]
    first: int
    rows: pa.RecordBatch
    measures: Ints
    """Of its rows, and of the one before them."""

    def refuse_backwards(self) -> None:
        """The rows before a slice are found by the order of their measures. Whoever reads a slice
        looks whether its rows have that order, and gives no results otherwise."""
        if not ascending(self.measures):
            raise NotSplitError("times are not in order")


@dataclass(frozen=True)
class _Recent:
    first: int
    batch: pa.RecordBatch
    measures: Ints


class TimeSlices:
    """Cuts batches, whose measures must ascend, into `parts` slices of at least `least` rows."""

    def __init__(self, clock: Clock, parts: int, *, least: int, always: bool) -> None:
        self._clock, self._parts, self._least, self._always = clock, parts, least, always
        self._recent: deque[_Recent] = deque()

    def cut(self, batch: pa.RecordBatch, first: int) -> list[Slice]:
        """The slices of the next batch, whose first row this is, in order."""
        if not batch.num_rows:
            return []
        measures = self._measures(batch)
        self._recent.append(_Recent(first, batch, measures))
        ranges = cuts(batch.num_rows, self._parts, self._least)
        slices = [self._slice(begin, end) for begin, end in ranges]
        self._refuse_overlap(slices, batch.num_rows)
        self._forget(int(measures[-1]))
        return slices

    def _measures(self, batch: pa.RecordBatch) -> Ints:
        assert self._clock.path is not None
        column = read(batch, self._clock.path, "the window's column")
        measures = as_integers(column, "the window's column", RowNumbers())
        if self._recent and measures[0] < self._recent[-1].measures[-1]:
            raise NotSplitError("times are not in order")
        return measures

    def _slice(self, begin: int, end: int) -> Slice:
        here = self._recent[-1]
        floor = self._clock.floor_at(int(here.measures[begin]))
        before: list[tuple[int, pa.RecordBatch]] = []
        for each in reversed(self._recent):
            stop = begin if each is here else each.batch.num_rows
            start = int(np.searchsorted(each.measures[:stop], floor))
            if start < stop:
                before.insert(0, (each.first + start, each.batch.slice(start, stop - start)))
            if start > 0:
                break
        rows = here.batch.slice(begin, end - begin)
        measures = here.measures[max(0, begin - 1) : end]
        return Slice(tuple(before), here.first + begin, rows, measures)

    def _refuse_overlap(self, slices: list[Slice], rows: int) -> None:
        twice = sum(each.num_rows for slice in slices for _, each in slice.before)
        if twice > MOST_OVERLAP * rows and not self._always:
            raise NotSplitError("the window is long for the number of events")

    def _forget(self, measure: int) -> None:
        """Batches that no window of later rows reaches."""
        floor = self._clock.floor_at(measure)
        while self._recent[0].measures[-1] < floor:
            self._recent.popleft()
