"""Rows that look the same are one: the one that starts last, where the first of them was."""

from __future__ import annotations

import runpy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.engine import results
from cereus.engine.results.same_rows import rows_once

Row = tuple[int, tuple[int, ...], tuple[int, ...], int, int]
"""Where it is reported, cells, labels, first and last."""


def found(rows: list[Row], *, labelled: bool) -> list[int]:
    sizes = [len(row[1]) for row in rows]
    labels = [label for row in rows for label in row[2]] if labelled else []

    def whole(numbers: list[int]) -> npt.NDArray[np.int64]:
        return np.array(numbers, np.int64)

    places = rows_once(
        whole([row[0] for row in rows]),
        np.array([0, *np.cumsum(sizes)], np.int32),
        whole([cell for row in rows for cell in row[1]]),
        np.array(labels, np.int32),
        whole([row[3] for row in rows]),
        whole([row[4] for row in rows]),
    )
    return [int(place) for place in places]


def expected(rows: list[Row], *, labelled: bool) -> list[int]:
    kept: dict[object, int] = {}
    for place, (at, cells, labels, *span) in enumerate(rows):
        looks = at, cells, labels if labelled else ()
        other = kept.setdefault(looks, place)
        if tuple(span) >= rows[other][3:]:
            kept[looks] = place
    return list(kept.values())


def test_rows_that_look_the_same_are_one() -> None:
    for seed in range(200):
        draw = Random(seed)
        rows: list[Row] = []
        for _ in range(draw.choice((0, 1, 5, 60))):
            size = draw.randrange(1, 4)
            cells = tuple(draw.choice((-1, 0, 1, 2**62)) for _ in range(size))
            labels = tuple(draw.randrange(2) for _ in range(size))
            rows.append((draw.randrange(3), cells, labels, draw.randrange(3), draw.randrange(3)))
        labelled = bool(draw.randrange(2))
        assert found(rows, labelled=labelled) == expected(rows, labelled=labelled)


def test_rows_that_differ_in_labels_only_are_told_apart_without_comparing_all() -> None:
    """`(A AS x OR A AS y)+` has thousands of such matches in a chunk. The source is run, where what
    it compares can be counted."""
    size = 256
    module = runpy.run_path(str(Path(results.__path__[0]) / "same_rows.py"))
    within, compared = module["rows_once"].__globals__, list[Any]()
    usual = within["_alike"]
    within["_alike"] = lambda *given: (compared.append(given), usual(*given))[1]
    labels = (np.arange(size)[:, None] >> np.arange(8)) & 1
    zeros = np.zeros(size, np.int64)
    cells = np.tile(np.arange(8), size)
    offsets = np.arange(0, 8 * size + 1, 8, dtype=np.int32)
    labels = labels.astype(np.int32).ravel()
    assert len(module["rows_once"](zeros, offsets, cells, labels, zeros, zeros)) == size
    assert len(compared) < 2 * size
