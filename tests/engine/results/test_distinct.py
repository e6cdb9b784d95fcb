"""Each row once: against the definition, row by row."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.results.distinct import DistinctRows
from cereus.engine.results.match_chunks import MatchChunk
from tests.volume import volume

Row = tuple[int, tuple[int, ...], tuple[int, ...], int, int]
"""The event it is reported at, cells, labels, first, last."""
SHOWN = np.array([False, True, True])


def drawn(draw: Random, *, labelled: bool, mixed: bool) -> list[Row]:
    rows = []
    at = 0
    for _ in range(draw.randrange(30)):
        at = draw.randrange(4) if mixed else at + (draw.randrange(4) == 0)
        size = draw.randrange(1, 4)
        cells = tuple(draw.randrange(2) for _ in range(size))
        labels = tuple(draw.randrange(3) + FIRST_SHOWN for _ in range(size)) if labelled else ()
        rows.append((at, cells, labels, draw.randrange(3), draw.randrange(3)))
    return rows


def chunk_of(rows: list[Row]) -> MatchChunk:
    def flat(column: int) -> list[int]:
        return [value for row in rows for value in row[column]]  # type: ignore[attr-defined]

    return MatchChunk(
        cells=np.array(flat(1), np.int64),
        labels=np.array(flat(2), np.int32),
        offsets=np.cumsum([0, *(len(row[1]) for row in rows)]).astype(np.int32),
        first=np.array([row[3] for row in rows], np.int64),
        last=np.array([row[4] for row in rows], np.int64),
        at=np.array([row[0] for row in rows], np.int64),
    )


def rows_of(chunk: MatchChunk) -> list[Row]:
    parts = [slice(a, b) for a, b in zip(chunk.offsets[:-1], chunk.offsets[1:], strict=True)]
    spans = zip(chunk.first.tolist(), chunk.last.tolist(), chunk.at.tolist(), strict=True)
    return [
        (at, tuple(chunk.cells[part].tolist()), tuple(chunk.labels[part].tolist()), first, last)
        for part, (first, last, at) in zip(parts, spans, strict=True)
    ]


def expected(rows: list[Row], limit: int | None) -> list[Row]:
    events: dict[int, dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, int]]] = {}
    for at, cells, labels, first, last in rows:
        if labels:
            seen = [SHOWN[label - FIRST_SHOWN] for label in labels]
            cells = tuple(cell for cell, is_seen in zip(cells, seen, strict=True) if is_seen)
            labels = tuple(label for label, is_seen in zip(labels, seen, strict=True) if is_seen)
        if cells:
            alike = events.setdefault(at, {})
            alike[cells, labels] = max(alike.get((cells, labels), (-1, -1)), (first, last))
    return [
        (at, *look, *span)
        for at, alike in events.items()
        for look, span in list(alike.items())[:limit]
    ]


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_random_rows_come_once(labelled: bool, mixed: bool) -> None:
    for seed in range(volume(40, 1_000)):
        draw = Random(seed)
        rows = drawn(draw, labelled=labelled, mixed=mixed)
        limit = draw.choice([None, 1, 2])
        distinct = DistinctRows(limit, mixed=mixed)
        found: list[Row] = []
        size = draw.randrange(1, 8)
        for begin in range(0, len(rows), size):
            chunk = chunk_of(rows[begin : begin + size])
            for each in distinct.add(chunk, SHOWN):
                found += rows_of(each)
            chunk.cells[:] = -1  # the kernel writes to it again
        for each in distinct.rest():
            found += rows_of(each)
        assert found == expected(rows, limit), seed
