"""The scalar functions of conditions on plain Python values, straight from docs/conditions.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

EARTH_RADIUS = 6_371_008.8  # the mean radius in metres (IUGG)


def call(name: str, arguments: Sequence[Any]) -> Any:
    """The function's value on arguments that are not NULL; NULL where it is not defined."""
    return FUNCTIONS[name](*(float(a) if isinstance(a, Decimal) else a for a in arguments))


def is_int64(number: int) -> bool:
    return -(2**63) <= number <= 2**63 - 1


def micros(length: timedelta) -> int:
    return length // timedelta(microseconds=1)


# ---------------------------------------------------------------- numbers


def _real(compute: Callable[..., float]) -> Callable[..., float | None]:
    """A function of real numbers: NaN of NaN, infinite on overflow, NULL outside its domain."""

    def function(*arguments: float) -> float | None:
        if any(map(math.isnan, arguments)):
            return math.nan
        try:
            value = compute(*map(float, arguments))
        except (ValueError, ZeroDivisionError):
            return None
        except OverflowError:
            return math.inf
        return None if math.isnan(value) else value

    return function


def _power(base: float, exponent: float) -> float:
    """A negative number has no fractional powers; its odd ones may overflow below."""
    if base < 0 and math.isfinite(exponent) and exponent % 1 != 0:
        return math.nan
    odd = abs(exponent) < 2**53 and exponent % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf


def _distance(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Along a great circle, by the haversine formula."""
    if any(map(math.isinf, (lat1, lon1, lat2, lon2))):
        return math.nan

    def haversine(degrees: float) -> float:
        return math.sin(math.radians(degrees) / 2) ** 2

    around = math.cos(math.radians(lat1)) * math.cos(math.radians(lat2))
    root = math.sqrt(haversine(lat2 - lat1) + around * haversine(lon2 - lon1))
    return 2 * EARTH_RADIUS * math.asin(min(root, 1.0))


def _absolute(number: float) -> float | None:
    size = abs(number)
    return None if isinstance(size, int) and not is_int64(size) else size


def _sign(number: float) -> float:
    return number if math.isnan(number) else (number > 0) - (number < 0)


def _round(number: float, digits: int = 0) -> float | None:
    """To the nearest multiple of 10**-digits, halves away from zero. Doubles are scaled, rounded
    and scaled back, so that `round(2.675, 2)` is 2.68."""
    if isinstance(number, int):
        unit = 10 ** max(0, -digits)
        steps, rest = divmod(abs(number), unit)
        size = (steps + (2 * rest >= unit)) * unit
        rounded = -size if number < 0 else size
        return rounded if is_int64(rounded) else None
    factor = float(f"1e{min(abs(digits), 300)}")
    scaled = abs(number) * factor if digits >= 0 else abs(number) / factor
    if not scaled < 2**52:  # no double of this size has a fraction
        return number
    nearest = math.floor(scaled) + (scaled - math.floor(scaled) >= 0.5)
    return math.copysign(nearest / factor if digits >= 0 else nearest * factor, number)


def _whole(toward: Callable[[float], int]) -> Callable[[float], float]:
    return lambda number: (
        float(toward(number)) if isinstance(number, float) and math.isfinite(number) else number
    )


# ---------------------------------------------------------------- texts


def _substr(text: str, start: int, length: float = math.inf) -> str:
    """The signs at the places `start`, `start + 1`, …; the first sign of a text has the place 1,
    and a negative start counts from the end."""
    first = max(start, 1) if start >= 0 else len(text) + 1 + start
    return "".join(s for p, s in enumerate(text, 1) if first <= p < first + length)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": _absolute,
    "sign": _sign,
    "sqrt": _real(math.sqrt),
    "exp": _real(math.exp),
    "ln": _real(math.log),
    "power": _real(_power),
    "round": _round,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "lower": str.lower,
    "upper": str.upper,
    "trim": lambda text: text.strip(" "),
    "length": len,
    "substr": _substr,
    "concat": lambda *texts: "".join(texts),
    "starts_with": lambda text, part: text[: len(part)] == part,
    "ends_with": lambda text, part: (
        text[len(text) - len(part) :] == part if len(part) <= len(text) else False
    ),
    "contains": lambda text, part: text.find(part) >= 0,
    "year": lambda when: when.year,
    "month": lambda when: when.month,
    "day": lambda when: when.day,
    "hour": lambda when: when.hour,
    "minute": lambda when: when.minute,
    "second": lambda when: when.second,
    "weekday": lambda when: when.isoweekday() - 1,
    "distance": _real(_distance),
}
