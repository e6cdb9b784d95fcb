"""Rows that look the same are one: the one that starts last, where the first of them was."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt

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
