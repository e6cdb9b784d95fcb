"""Aggregates that need every value: the deviation and the percentiles. Exact, then rounded once."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

EVERY_VALUE = ("stddev", "percentile")
"""The aggregates that no running total decides."""


def deviation(values: Sequence[Any]) -> float | None:
    """The standard deviation of a sample, as SQL's stddev; NULL for less than two values."""
    numbers = list(map(float, values))
    if len(numbers) < 2:
        return None
    return statistics.stdev(numbers) if all(map(math.isfinite, numbers)) else math.nan


def percentile(values: Sequence[Any], part: float) -> float | None:
    """SQL's percentile_cont: between two values in proportion. NaN has no place in the order."""
    ranked = sorted(float(value) for value in values if value == value)
    if not ranked:
        return None
    place = Fraction(repr(part)) * (len(ranked) - 1)
    low, high, share = ranked[math.floor(place)], ranked[math.ceil(place)], place % 1
    if low == high:
        return low
    if math.isinf(low) or math.isinf(high):
        return float(1 - share) * low + float(share) * high
    return float(Fraction(low) + (Fraction(high) - Fraction(low)) * share)


def of_every_value(function: str, values: Sequence[Any], parameter: float | None) -> float | None:
    known = [value for value in values if value is not None]
    functions: dict[str, Callable[[], float | None]] = {
        "stddev": lambda: deviation(known),
        "percentile": lambda: percentile(known, 0.0 if parameter is None else parameter),
    }
    return functions[function]()
