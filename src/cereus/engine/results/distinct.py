"""Each match once, where the kernel may find it several times.

That is so where variables that are not selected make a difference that is not seen, and where a
pattern with slots is ambiguous. Of matches that look the same, the one that starts last stays.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.results.match_chunks import Mask, MatchChunk

Span = tuple[int, int, int]
Row = tuple[Span, Ints, Codes]


class DistinctRows:
    """The rows of the event that is being reported, by what they look like."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._rows: dict[tuple[bytes, bytes], Row] = {}
        self._at = -1

    def add(self, chunk: MatchChunk, shown: Mask) -> Iterator[MatchChunk]:
        """Take a chunk; the rows of events that are over. `shown` are the labels that are seen."""
        done: list[Row] = []
        seen = shown[chunk.labels - FIRST_SHOWN] if len(chunk.labels) else None
        spans = zip(chunk.first.tolist(), chunk.last.tolist(), chunk.at.tolist(), strict=True)
        for place, span in enumerate(spans):
            if span[2] != self._at:
                done.extend(self._take())
                self._at = span[2]
            part = slice(chunk.offsets[place], chunk.offsets[place + 1])
            cells, labels = chunk.cells[part], chunk.labels[part]
            if seen is not None:
                cells, labels = cells[seen[part]], labels[seen[part]]
            self._keep(span, cells.copy(), labels.copy())
        yield from _chunk_of(done)

    def _keep(self, span: Span, cells: Ints, labels: Codes) -> None:
        if not len(cells):
            return
        key = (cells.tobytes(), labels.tobytes())
        if key not in self._rows or self._rows[key][0] < span:
            self._rows[key] = (span, cells, labels)

    def rest(self) -> Iterator[MatchChunk]:
        """The rows of the last event."""
        yield from _chunk_of(self._take())
        self._at = -1

    def _take(self) -> list[Row]:
        """The rows of an event that is over; LIMIT counts them, not the ways they arise."""
        rows = list(self._rows.values())
        self._rows = {}
        return rows[: self._limit]


def _chunk_of(rows: list[Row]) -> Iterator[MatchChunk]:
    if rows:
        spans, cells, labels = zip(*rows, strict=True)
        offsets = np.cumsum([0, *map(len, cells)]).astype(np.int32)
        yield MatchChunk(np.concatenate(cells), np.concatenate(labels), offsets, *np.array(spans).T)
