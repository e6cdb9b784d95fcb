"""Columns from whose consecutive rows values can be taken by rank.

Each is a wavelet matrix (F. Claude, G. Navarro and A. Ordóñez, 2015): values are numbers of places
in their order. On every level, from the highest bit of these numbers on, values with a 0 stand
before those with a 1. The number of zeros before each place is enough to find the value of any
rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from cereus.engine.interrupts import interruptible
from cereus.errors import LimitError

MOST_CELLS = 1 << 29


@dataclass(frozen=True)
class Percentile:
    """A part (a fraction) of the values of a column."""

    column: int
    numerator: int
    denominator: int


@dataclass(frozen=True)
class Percentiles:
    """The percentiles that conditions read, and the wavelet matrices of their columns.

    `parts[n]` is the column, the numerator and the denominator of percentile n, and `of[n]` its
    matrix: `before[m, row]` values stand before a row, `zeros[m, level, place]` of those before a
    place have a 0, and the first `sizes[m]` of `values[m]` are all that there are, in order."""

    parts: npt.NDArray[np.int64]
    of: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]
    zeros: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.int64]

    @classmethod
    def none(cls) -> Percentiles:
        return cls(
            np.zeros((1, 3), np.int64),
            np.zeros(1, np.int32),
            np.zeros((1, 1), np.int64),
            np.zeros((1, 1, 1), np.int32),
            np.zeros((1, 1), np.float64),
            np.zeros(1, np.int64),
        )


def percentiles(
    wanted: Sequence[Percentile], floats: npt.NDArray[np.float64], valid: npt.NDArray[np.uint8]
) -> Percentiles:
    """The matrices of the columns whose percentiles are needed."""
    if not wanted:
        return Percentiles.none()
    columns = sorted({each.column for each in wanted})
    known = [(valid[column] != 0) & ~np.isnan(floats[column]) for column in columns]
    ordered = [
        interruptible(len(those), partial(np.unique, floats[column][those], return_inverse=True))
        for column, those in zip(columns, known, strict=True)
    ]
    most = max(len(distinct) for distinct, _ in ordered)
    levels = max((most - 1).bit_length(), 1)
    width = floats.shape[1] + 1
    if len(columns) * levels * width > MOST_CELLS:
        raise LimitError(
            f"percentiles of {len(columns)} columns of {width:,} rows need more than 2 GB",
            hint="partition the rows",
        )
    before = np.zeros((len(columns), width), np.int64)
    zeros = np.zeros((len(columns), levels, width), np.int32)
    values = np.zeros((len(columns), max(most, 1)), np.float64)
    for place, (distinct, ranks) in enumerate(ordered):
        np.cumsum(known[place], out=before[place, 1:])
        values[place, : len(distinct)] = distinct
        _sort_by_bits(ranks.reshape(-1), zeros[place])
    return Percentiles(
        np.array([(each.column, each.numerator, each.denominator) for each in wanted], np.int64),
        np.array([columns.index(each.column) for each in wanted], np.int32),
        before,
        zeros,
        values,
        np.array([len(distinct) for distinct, _ in ordered], np.int64),
    )


def _sort_by_bits(ranks: npt.NDArray[np.int64], zeros: npt.NDArray[np.int32]) -> None:
    """Fill in how many zeros come before each place, on every level."""
    for level, counts in enumerate(zeros):
        low = (ranks >> (len(zeros) - 1 - level)) & 1 == 0
        np.cumsum(low, out=counts[1 : len(ranks) + 1])
        counts[len(ranks) + 1 :] = counts[len(ranks)]
        ranks = np.concatenate([ranks[low], ranks[~low]])
