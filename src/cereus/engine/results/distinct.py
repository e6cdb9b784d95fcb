"""Gives each match once, where the kernel may find it several times.

That happens where variables that are not selected make a difference that is not seen, and where a
pattern with slots is ambiguous. Of matches that look the same, the one that starts last stays, in
the place of the one that was found first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.results.match_chunks import Mask, MatchChunk, joined
from cereus.engine.results.same_rows import rows_once


class DistinctRows:
    """Collects the rows of the event that is being reported, without rows that look the same.

    mixed  rows of several events come in any order, as they do when windows pass at the end of
           the input: they are kept back until all have come
    """

    def __init__(self, limit: int | None = None, *, mixed: bool = False) -> None:
        self._limit, self._mixed = limit, mixed
        self._kept: MatchChunk | None = None

    def add(self, chunk: MatchChunk, shown: Mask) -> Iterator[MatchChunk]:
        """Take a chunk, and yield the rows of events that are over. `shown` are the visible
        labels."""
        rows = _seen(chunk, shown)
        if self._kept is not None:
            rows = joined([self._kept, rows])
        if not len(rows):
            return
        over = 0 if self._mixed else _begin_of_last(rows)
        self._kept = _once(rows.span(over, len(rows))).copied()  # the kernel writes there again
        if over:
            yield self._limited(_once(rows.span(0, over)))

    def rest(self) -> Iterator[MatchChunk]:
        """The rows of the last event."""
        if self._kept is not None:
            yield self._limited(self._kept)
            self._kept = None

    def _limited(self, rows: MatchChunk) -> MatchChunk:
        """The rows of each event together, cut to LIMIT, which counts rows and not the ways they
        arise."""
        if self._limit is None and not self._mixed:
            return rows
        _, begins, event = np.unique(rows.at, return_index=True, return_inverse=True)
        order = np.argsort(begins[event], kind="stable")
        begin = begins[event][order]
        place = np.arange(len(rows)) - np.searchsorted(begin, begin)
        return rows.take(order if self._limit is None else order[place < self._limit])


def _seen(chunk: MatchChunk, shown: Mask) -> MatchChunk:
    """The visible part of the matches that have one."""
    if len(chunk.labels):
        seen = shown[chunk.labels - FIRST_SHOWN]
        offsets, cells = chunk.cells_where(seen)
        spans = chunk.first, chunk.last, chunk.at
        chunk = MatchChunk(cells, chunk.labels[seen], offsets, *spans)
    return chunk.only(np.diff(chunk.offsets) > 0)


def _begin_of_last(rows: MatchChunk) -> int:
    """Where the rows of the last event begin."""
    others = np.flatnonzero(rows.at != rows.at[-1])
    return int(others[-1]) + 1 if len(others) else 0


def _once(rows: MatchChunk) -> MatchChunk:
    """The rows without those that look like another."""
    places = rows_once(rows.at, rows.offsets, rows.cells, rows.labels, rows.first, rows.last)
    return rows if len(places) == len(rows) else rows.take(places)
