"""Cuts the rows of an input into slices of time, each with the rows of one window before it.

Results that are emitted while the rows before a slice are read belong to an earlier slice and are
dropped. So a slice gives the results of its own rows, if these depend on nothing before the window.

Where all rows are in memory, slices are longer than batches: the reader of a slice goes on from
batch to batch, and starts again only with the next slice. The last slices end in short parts, so
that threads with nothing left to do can take them over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.clock import Clock, RowNumbers, as_integers, read
from cereus.engine.ingest.substreams import ascending
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.spread import cuts

Measures = npt.NDArray[np.int64] | range
"""The measures of rows; their numbers, if the window counts rows."""
MOST_OVERLAP = 0.25
"""Slices are not worth it if they would read more than this share of their rows twice."""
MOST_ROWS = 1 << 21
"""The most rows of a slice: the results of later slices wait for it."""


def slice_ends(rows: int, threads: int, least: int) -> list[int]:
    """Where slices end if all rows are in memory: rounds of equal slices for the threads."""
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
        """Refuse rows whose measures go backwards: the rows before a slice are found by this order.
        The reader of a part checks its rows, and gives no results otherwise."""
        if not isinstance(self.measures, range) and not ascending(self.measures):
            raise NotSplitError("times are not in order")


@dataclass(frozen=True)
class _Recent:
    first: int
    batch: pa.RecordBatch
    measures: Measures


class TimeSlices:
    """Cuts batches, whose measures must ascend, into slices for some threads, of at least `least`
    rows. `rows` is the number of rows, if all are in memory; else no slice is longer than a
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
        """The parts of the next batch, in order; `first` is its first row."""
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
        """Where slices end within the last batch."""
        if self._ends is None:
            return [end for _, end in cuts(size, self._threads, self._least)]
        return [end - first for end in self._ends if first < end <= first + size]

    def _refused(self, end: int, size: int, cuts: int) -> bool:
        """Whether the next slice would read too many rows twice. Then there is no cut; if it is the
        first slice, threads are not worth it. Rows that are not in memory would pile up in a slice
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
        """The rows before row `begin` of the last batch that are in the window of the row at
        `at`."""
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
        """The rows before a part; None if others would have to read too many of them."""
        if not begins and self._recent[-1].first + begin < self._last_round:
            return None
        before = self._before(begin, begin)
        rows = sum(batch.num_rows for _, batch in before)
        worth = begins or self._always or rows <= MOST_OVERLAP * (end - begin)
        return tuple(before) if worth else None

    def _forget(self, measure: int) -> None:
        """Forget batches that no window of later rows reaches."""
        floor = self._clock.floor_at(measure)
        while self._recent[0].measures[-1] < floor:
            self._recent.popleft()
