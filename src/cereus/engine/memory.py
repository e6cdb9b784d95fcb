"""Arrays in memory that is reused.

The C library returns large blocks to the system when they are freed, and every page of the next
block causes a page fault: that took a third of the time of a run. Arrow's memory pool keeps the
blocks.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

NO_INTS: npt.NDArray[np.int64] = np.zeros(0, np.int64)
NO_CODES: npt.NDArray[np.int32] = np.zeros(0, np.int32)
NO_COLUMNS: npt.NDArray[np.int64] = np.zeros((1, 0), np.int64)
"""An array without columns, made once."""
SMALL = 1 << 11
"""Arrays of at most this many numbers: the C library keeps their memory anyway."""


def empty(shape: int | tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """Like `numpy.empty`."""
    count = prod(shape) if isinstance(shape, tuple) else shape
    if count < SMALL:
        return np.empty(shape, dtype)
    kind = np.dtype(dtype)
    made = np.frombuffer(pa.allocate_buffer(int(count) * kind.itemsize), kind)
    # from a plain array: its views then refer to it (`Chunk.in_use` counts them), not to what is
    # below it
    return made.reshape(shape) if isinstance(shape, tuple) else made


def filled(shape: int | tuple[int, ...], value: float, dtype: Any) -> npt.NDArray[Any]:
    """Like `numpy.full`."""
    made = empty(shape, dtype)
    made[...] = value
    return made


def longer(array: npt.ArrayLike, size: int, fill: int) -> npt.NDArray[Any]:
    """A longer copy of a one-dimensional array, filled up."""
    old = np.asarray(array)
    bigger = empty(size, old.dtype)
    if not len(old):
        bigger.fill(fill)
        return bigger
    bigger[: len(old)] = old
    bigger[len(old) :] = fill
    return bigger


def taller(array: npt.ArrayLike, size: int) -> npt.NDArray[Any]:
    """A copy of a two-dimensional array with more rows, which are zero."""
    old = np.asarray(array)
    bigger = empty((size, old.shape[1]), old.dtype)
    bigger[: len(old)] = old
    bigger[len(old) :] = 0
    return bigger


def taken(values: npt.NDArray[Any], places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """`values[places]`; all places are inside."""
    return values.take(places, out=empty(len(places), values.dtype), mode="clip")
