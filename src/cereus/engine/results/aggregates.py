"""Aggregates over ranges of values, many at once: one value per range, as an Arrow array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.automata.memory.totals import EXACT, average, fitting
from cereus.engine.ingest.clock import python_values
from cereus.expr.python.aggregates import EVERY_VALUE, of_every_value

Ints = npt.NDArray[np.int64]
CERTAIN = 1 << 62
"""Sums of integers whose estimate is below this fit 64 bits."""


def aggregated(
    function: str,
    read: pa.Array,
    offsets: Ints,
    path: tuple[str, ...],
    *,
    parameter: float | None = None,
) -> pa.Array:
    """`count sum avg min max stddev percentile` of the values between each two offsets, without
    nulls."""
    if function in EVERY_VALUE:
        stretches = cut(python_values(read, path), offsets)
        made = [of_every_value(function, values, parameter) for values in stretches]
        return pa.array(made, pa.float64())
    values, offsets = without_nulls(read, offsets)
    if function == "count":
        return pa.array(np.diff(offsets))
    numbers = _numbers(values)
    if numbers is None or not _exact(function, numbers):
        return _folded(function, values, offsets, path)
    return _reduced(function, numbers, offsets, values.type)


def cut(values: list[Any], offsets: Ints) -> Iterator[list[Any]]:
    return (values[begin:end] for begin, end in pairwise(offsets.tolist()))


def without_nulls(values: pa.Array, offsets: Ints) -> tuple[pa.Array, Ints]:
    if not values.null_count:
        return values, offsets.astype(np.int64)
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(valid)])
    return values.drop_null(), before[offsets]


def _numbers(values: pa.Array) -> Any:
    """The values as a numpy array, where that has the same order and arithmetic."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_signed_integer(kind):
        return values.to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return values.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return None


def _exact(function: str, numbers: Any) -> bool:
    """Whether numpy computes what Python would: no sum overflows 64 bits."""
    if numbers.dtype.kind == "f" or function in ("min", "max"):
        return True
    largest = max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
    if largest * len(numbers) < CERTAIN:
        return True
    return float(np.abs(numbers.astype(np.float64)).sum()) < CERTAIN


def _reduced(function: str, numbers: Any, offsets: Ints, kind: pa.DataType) -> pa.Array:
    """One value per range; NULL where a range has no values."""
    sizes = np.diff(offsets)
    some = sizes > 0
    starts = offsets[:-1][some]
    totals = function in ("sum", "avg")
    dtype = np.float64 if numbers.dtype.kind == "f" else np.int64
    results = np.zeros(len(sizes), dtype if totals else numbers.dtype)
    if totals and dtype is np.float64:
        results[some] = _summed(numbers.astype(dtype), starts, sizes[some])
    elif some.any():
        how: Any = {"min": np.fmin, "max": np.fmax}.get(function, np.add)
        results[some] = how.reduceat(numbers.astype(results.dtype, copy=False), starts)
        if not totals and numbers.dtype.kind == "f":
            some &= ~np.isnan(results)  # NaN is not ordered: there were no others
    if function == "avg":
        results = results / np.maximum(sizes, 1)
    made = pa.array(results, mask=~some)
    return made if totals else made.cast(kind)


def _summed(numbers: Any, starts: Ints, sizes: Ints) -> Any:
    """Sums of floats, each from its first value to its last: the order makes a difference, and
    numpy's own sums go by halves."""
    longest = int(sizes.max(initial=0))
    if len(starts) < longest:
        stretches = zip(starts, starts + sizes, strict=True)
        return np.array([np.cumsum(numbers[begin:end])[-1] for begin, end in stretches])
    sums = np.zeros(len(starts))
    with np.errstate(over="ignore", invalid="ignore"):
        for place in range(longest):
            there = sizes > place
            sums[there] += numbers[starts[there] + place]
    return sums


FOLDS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": lambda values: _total(values),
    "avg": lambda values: average(_total(values), len(values)),
    "min": min,
    "max": max,
}


def _total(values: list[Any]) -> Any:
    return reduce(EXACT.add, values) if isinstance(values[0], Decimal) else sum(values)


def _folded(function: str, values: pa.Array, offsets: Ints, path: tuple[str, ...]) -> pa.Array:
    """Like `_reduced`, in Python, for values that numpy has no arithmetic for."""
    fold = FOLDS[function]
    stretches = cut(python_values(values, path), offsets)
    folded = [fold(each) if each else None for each in stretches]
    if function in ("min", "max"):
        return pa.array(folded, values.type)
    if function == "sum" and pa.types.is_integer(values.type):
        return pa.array(map(fitting, folded), pa.int64())
    return pa.array([None if each is None else float(each) for each in folded], pa.float64())
