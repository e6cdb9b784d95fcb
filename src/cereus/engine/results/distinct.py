"""Each match once, where the kernel may find it several times.

That is so where variables that are not selected make a difference that is not seen, and where a
pattern with registers is ambiguous. Of matches that look the same, the one that starts last stays.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cereus.engine.ingest.batch_reader import Ints
from cereus.engine.match.table import FIRST_SHOWN
from cereus.engine.results.match_chunks import Found

Span = tuple[int, int, int]
Row = tuple[Span, Ints, npt.NDArray[np.int32]]


class Distinct:
    """Rows of the event that is being reported, by what they look like."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._rows: dict[tuple[bytes, bytes], Row] = {}
        self._at = -1

    def add(self, chunk: Found, shown: npt.NDArray[np.bool_]) -> Iterator[Found]:
        """Take a chunk; the rows of events that are over. `shown` says which labels are seen."""
        done: list[Row] = []
        seen = shown[chunk.labels - FIRST_SHOWN] if len(chunk.labels) else None
        spans = zip(chunk.first.tolist(), chunk.last.tolist(), chunk.at.tolist(), strict=True)
        for place, span in enumerate(spans):
            if span[2] != self._at:
                done.extend(self._taken())
                self._at = span[2]
            part = slice(chunk.offsets[place], chunk.offsets[place + 1])
            cells, names = chunk.cells[part], chunk.labels[part]
            if seen is not None:
                cells, names = cells[seen[part]], names[seen[part]]
            self._keep(span, cells.copy(), names.copy())
        yield from _joined(done)

    def _keep(self, span: Span, cells: Ints, names: npt.NDArray[np.int32]) -> None:
        if not len(cells):
            return
        key = (cells.tobytes(), names.tobytes())
        if key not in self._rows or self._rows[key][0] < span:
            self._rows[key] = (span, cells, names)

    def rest(self) -> Iterator[Found]:
        yield from _joined(self._taken())
        self._at = -1

    def _taken(self) -> list[Row]:
        """The rows of an event that is over; LIMIT counts them, not the ways they were found."""
        rows = list(self._rows.values())
        self._rows = {}
        return rows[: self._limit]


def _joined(rows: list[Row]) -> Iterator[Found]:
    if rows:
        spans, cells, names = zip(*rows, strict=True)
        sizes = np.cumsum([0, *map(len, cells)]).astype(np.int32)
        yield Found(np.concatenate(cells), np.concatenate(names), sizes, *np.array(spans).T)
