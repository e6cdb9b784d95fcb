"""Slices of time: the rows of an input in parts, each with the rows of a window before it.

What is emitted while the rows before are read belongs to an earlier slice and is dropped. So a
slice gives the results of its own rows, if these depend on nothing before the window.

Where all rows are at hand, slices are longer than batches: whoever reads one goes on from batch to
batch, and begins anew only with the next slice. The last slices end in short parts, which threads
that have nothing left to do take over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import Clock, RowNumbers, as_integers, read
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.spread import cuts

Measures = npt.NDArray[np.int64] | range
"""Of rows; their numbers, where the window counts them."""
MOST_OVERLAP = 0.25
"""Slices that would read more than this part of their rows twice are not worth it."""
MOST_ROWS = 1 << 21
"""Of a slice: the results of those behind it wait for it."""


def slice_ends(rows: int, threads: int, least: int) -> list[int]:
    """Where slices of so many rows end, if all are at hand: rounds of equal ones for threads."""
    rounds = -(-rows // (threads * MOST_ROWS))
    return [end for _, end in cuts(rows, rounds * threads, least)]


def part_ends(begin: int, end: int, least: int) -> list[int]:
    """Where the parts of one of the last slices end: each is two thirds of what is left."""
    ends: list[int] = []
    while end - begin >= 3 * least:
        begin += 2 * (end - begin) // 3
        ends.append(begin)
    return ends


@dataclass(frozen=True)
class SlicePart:
    """Rows of a slice that are in one batch: from row `first` on.

    before    the rows before it that whoever begins with it has to read, each batch with the row of
              its first; None if it is for those alone who read the part before it
    measures  of its rows, and of the one before them
    begins, closes  whether it is the first part of its slice, and the last
    """

    before: tuple[tuple[int, pa.RecordBatch], ...] | None
    first: int
    rows: pa.RecordBatch
    measures: Measures
    begins: bool
    closes: bool

    def refuse_backwards(self) -> None:
        """The rows before a slice are found by the order of their measures. Whoever reads a part
        looks whether its rows have that order, and gives no results otherwise."""
        if not isinstance(self.measures, range) and not codes.ascending(self.measures):
            raise NotSplitError("times are not in order")


@dataclass(frozen=True)
class _Recent:
    first: int
    batch: pa.RecordBatch
    measures: Measures


class TimeSlices:
    """Cuts batches, whose measures must ascend, into slices for so many threads, of at least
    `least` rows; `rows` is how many there are, if all are at hand, else no slice is longer than a
    batch."""

    def __init__(
        self, clock: Clock, threads: int, *, least: int, always: bool, rows: int | None = None
    ) -> None:
        self._clock, self._threads, self._least, self._always = clock, threads, least, always
        self._recent: deque[_Recent] = deque()
        self._ends = None if rows is None else slice_ends(rows, threads, least)
        last = [0, *(self._ends or ())][-threads - 1 :]
        self._last_round = last[0]
        parts = [part_ends(*each, least) for each in pairwise(last)]
        self._part_ends = frozenset(chain.from_iterable(parts))
        self._rows, self._cut, self._open = rows or 0, False, False
        self._counted = 0

    def cut(self, batch: pa.RecordBatch, first: int) -> list[SlicePart]:
        """The parts of the next batch, whose first row this is, in order."""
        if not batch.num_rows:
            return []
        measures = self._measures(batch)
        self._recent.append(_Recent(first, batch, measures))
        parts = self._parts()
        self._forget(int(measures[-1]))
        return parts

    def _measures(self, batch: pa.RecordBatch) -> Measures:
        if self._clock.path is None:  # the window counts rows
            self._counted += batch.num_rows
            return range(self._counted - batch.num_rows, self._counted)
        column = read(batch, self._clock.path, "the window's column")
        measures = as_integers(column, "the window's column", RowNumbers())
        if self._recent and measures[0] < self._recent[-1].measures[-1]:
            raise NotSplitError("times are not in order")
        return measures

    def _parts(self) -> list[SlicePart]:
        first, size = self._recent[-1].first, self._recent[-1].batch.num_rows
        ends = self._ends_in(first, size)
        inner = {end - first for end in self._part_ends if first < end < first + size}
        parts: list[SlicePart] = []
        begin = 0
        for end in sorted({*ends, *inner, size}):
            closes = end in ends and not self._refused(end, size, len(ends) - 1)
            if closes or end in inner or end == size:
                parts.append(self._part(begin, end, closes=closes))
                begin = end
        return parts

    def _ends_in(self, first: int, size: int) -> list[int]:
        """Where slices end in the last batch."""
        if self._ends is None:
            return [end for _, end in cuts(size, self._threads, self._least)]
        return [end - first for end in self._ends if first < end <= first + size]

    def _refused(self, end: int, size: int, cuts: int) -> bool:
        """Whether the next slice would read too many rows twice. Then there is no cut; if it is
        the first, threads are not worth it. Rows that are not at hand would pile up in a slice
        that is not cut."""
        if self._ends is not None:
            size, cuts = self._rows, len(self._ends) - 1
        last = self._recent[-1].first + end >= self._rows > 0
        twice = sum(batch.num_rows for _, batch in self._before(end, end - 1))
        if self._always or last or max(1, cuts) * twice <= MOST_OVERLAP * size:
            self._cut = True
            return False
        if not self._cut or self._ends is None:
            raise NotSplitError("the window is long for the number of events")
        return True

    def _before(self, begin: int, at: int) -> list[tuple[int, pa.RecordBatch]]:
        """The rows before one of the last batch that are in the window of the row at `at`."""
        here = self._recent[-1]
        floor = self._clock.floor_at(int(here.measures[at]))
        before: list[tuple[int, pa.RecordBatch]] = []
        for each in reversed(self._recent):
            stop = begin if each is here else each.batch.num_rows
            start = bisect_left(each.measures, floor, 0, stop)
            if start < stop:
                before.insert(0, (each.first + start, each.batch.slice(start, stop - start)))
            if start > 0:
                break
        return before

    def _part(self, begin: int, end: int, *, closes: bool) -> SlicePart:
        here, begins = self._recent[-1], not self._open
        self._open = not closes
        return SlicePart(
            self._before_part(begin, end, begins=begins),
            here.first + begin,
            here.batch.slice(begin, end - begin),
            here.measures[max(0, begin - 1) : end],
            begins,
            closes,
        )

    def _before_part(
        self, begin: int, end: int, *, begins: bool
    ) -> tuple[tuple[int, pa.RecordBatch], ...] | None:
        """The rows before a part; None where others would have to read too many of them."""
        if not begins and self._recent[-1].first + begin < self._last_round:
            return None
        before = self._before(begin, begin)
        rows = sum(batch.num_rows for _, batch in before)
        worth = begins or self._always or rows <= MOST_OVERLAP * (end - begin)
        return tuple(before) if worth else None

    def _forget(self, measure: int) -> None:
        """Batches that no window of later rows reaches."""
        floor = self._clock.floor_at(measure)
        while self._recent[0].measures[-1] < floor:
            self._recent.popleft()
