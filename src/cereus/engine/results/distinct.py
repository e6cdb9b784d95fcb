"""Each match once, where the kernel may find it several times.

That is so where variables that are not selected make a difference that is not seen, and where a
pattern with slots is ambiguous. Of matches that look the same, the one that starts last stays, in
the place of the one that was found first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cereus.engine.ingest.substreams import Ints
from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.results.match_chunks import Mask, MatchChunk, joined


class DistinctRows:
    """The rows of the event that is being reported, and no two that look the same.

    mixed  rows of several events come in any order, as they do when windows pass at the end of
           the input: they are kept back until all have come
    """

    def __init__(self, limit: int | None = None, *, mixed: bool = False) -> None:
        self._limit, self._mixed = limit, mixed
        self._kept: MatchChunk | None = None

    def add(self, chunk: MatchChunk, shown: Mask) -> Iterator[MatchChunk]:
        """Take a chunk; the rows of events that are over. `shown` are the labels that are seen."""
        rows = _seen(chunk, shown)
        if self._kept is not None:
            rows = joined([self._kept, rows])
        if not len(rows):
            return
        goes_on = np.full(len(rows), True) if self._mixed else rows.at == rows.at[-1]
        self._kept = _once(rows.only(goes_on)).copied()  # the kernel writes to the others again
        if not goes_on.all():
            yield self._limited(_once(rows.only(~goes_on)))

    def rest(self) -> Iterator[MatchChunk]:
        """The rows of the last event."""
        if self._kept is not None:
            yield self._limited(self._kept)
            self._kept = None

    def _limited(self, rows: MatchChunk) -> MatchChunk:
        """The rows of each event together; LIMIT counts these, not the ways they arise."""
        _, begins, event = np.unique(rows.at, return_index=True, return_inverse=True)
        order = np.argsort(begins[event], kind="stable")
        begin = begins[event][order]
        place = np.arange(len(rows)) - np.searchsorted(begin, begin)
        return rows.take(order if self._limit is None else order[place < self._limit])


def _seen(chunk: MatchChunk, shown: Mask) -> MatchChunk:
    """What is seen of matches, where anything is."""
    if len(chunk.labels):
        seen = shown[chunk.labels - FIRST_SHOWN]
        offsets, cells = chunk.cells_where(seen)
        spans = chunk.first, chunk.last, chunk.at
        chunk = MatchChunk(cells, chunk.labels[seen], offsets, *spans)
    return chunk.only(np.diff(chunk.offsets) > 0)


def _once(rows: MatchChunk) -> MatchChunk:
    """No two rows that look the same."""
    sizes = np.diff(rows.offsets)
    alike = [_first_alike(rows, np.flatnonzero(sizes == size)) for size in np.unique(sizes)]
    places, firsts = np.concatenate(alike, axis=1)
    if np.array_equal(places, firsts):
        return rows
    latest = np.lexsort((rows.last[places], rows.first[places], firsts))
    ends = np.flatnonzero(np.diff(firsts[latest], append=-1))  # of those alike, the latest start
    return rows.take(places[latest[ends]])


def _first_alike(rows: MatchChunk, places: Ints) -> Ints:
    """Rows of one size, and for each of them the first one that looks the same."""
    if np.all(np.diff(rows.at[places]) > 0):
        return np.stack([places, places])  # of one event each: no two look the same
    cells = rows.offsets[places][:, None] + np.arange(np.diff(rows.offsets)[places[0]])
    looks = [rows.at[places], *rows.cells[cells].T]
    looks += [*rows.labels[cells].T] if len(rows.labels) else []
    names = [str(number) for number in range(len(looks))]
    table = pa.table([*map(pa.array, looks), pa.array(places)], names=[*names, "place"])
    groups = table.group_by(names, use_threads=False).aggregate([("place", "list")])
    together = groups["place_list"].combine_chunks()
    members = together.flatten().to_numpy()
    sizes = np.diff(together.offsets.to_numpy())
    firsts = np.minimum.reduceat(members, np.cumsum(sizes) - sizes)
    return np.stack([members, np.repeat(firsts, sizes)])
