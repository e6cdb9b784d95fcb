"""Ranges of whole numbers, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def ranges(begins: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The numbers of all ranges, one range after the other: `sizes[i]` numbers from `begins[i]` on.

    It sums up the steps from each number to the next. `numpy.repeat` would do as well, but holds
    the interpreter's lock.
    """
    used = sizes > 0
    begins, sizes = begins[used], sizes[used].astype(np.int64)
    if not len(sizes):
        return np.zeros(0, np.int64)
    ends = np.cumsum(sizes)
    steps = np.ones(int(ends[-1]), np.int64)
    steps[0] = begins[0]
    steps[ends[:-1]] = begins[1:] - (begins[:-1] + sizes[:-1] - 1)
    return np.cumsum(steps)
