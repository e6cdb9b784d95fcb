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
    """The rows of the event that is being reported, by what they look like.

    mixed  rows of several events come in any order, as they do when windows pass at the end of
           the input: they are kept back until all have come
    """

    def __init__(self, limit: int | None = None, *, mixed: bool = False) -> None:
        self._limit, self._mixed = limit, mixed
        self._rows: dict[int, dict[tuple[bytes, bytes], Row]] = {}

    def add(self, chunk: MatchChunk, shown: Mask) -> Iterator[MatchChunk]:
        """Take a chunk; the rows of events that are over. `shown` are the labels that are seen."""
        done: list[Row] = []
        seen = shown[chunk.labels - FIRST_SHOWN] if len(chunk.labels) else None
        spans = zip(chunk.first.tolist(), chunk.last.tolist(), chunk.at.tolist(), strict=True)
        for place, span in enumerate(spans):
            if span[2] not in self._rows and not self._mixed:
                done.extend(self._take())
            part = slice(chunk.offsets[place], chunk.offsets[place + 1])
            cells, labels = chunk.cells[part], chunk.labels[part]
            if seen is not None:
                cells, labels = cells[seen[part]], labels[seen[part]]
            self._keep(span, cells.copy(), labels.copy())
        yield from _chunk_of(done)

    def _keep(self, span: Span, cells: Ints, labels: Codes) -> None:
        if not len(cells):
            return
        key, rows = (cells.tobytes(), labels.tobytes()), self._rows.setdefault(span[2], {})
        if key not in rows or rows[key][0] < span:
            rows[key] = (span, cells, labels)

    def rest(self) -> Iterator[MatchChunk]:
        """The rows of the last event."""
        yield from _chunk_of(self._take())

    def _take(self) -> list[Row]:
        """The rows of events that are over; LIMIT counts those of an event, not the ways they
        arise."""
        rows = [row for each in self._rows.values() for row in list(each.values())[: self._limit]]
        self._rows = {}
        return rows


def _chunk_of(rows: list[Row]) -> Iterator[MatchChunk]:
    if rows:
        spans, cells, labels = zip(*rows, strict=True)
        offsets = np.cumsum([0, *map(len, cells)]).astype(np.int32)
        yield MatchChunk(np.concatenate(cells), np.concatenate(labels), offsets, *np.array(spans).T)
