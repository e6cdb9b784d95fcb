"""The functions of `expr.functions` on plain Python values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from cereus.expr.functions import EARTH_RADIUS_METRES


def call(name: str, arguments: Sequence[Any]) -> Any:
    """The function's value: NULL for a NULL argument (but coalesce) and outside its domain."""
    if name == "coalesce":
        return next((value for value in arguments if value is not None), None)
    if None in arguments:
        return None
    plain = [float(value) if isinstance(value, Decimal) else value for value in arguments]
    return FUNCTIONS[name](*plain)


def defined(compute: Callable[..., float]) -> Callable[..., float | None]:
    """NaN for a NaN argument, NULL where mathematics has no value, infinity on overflow."""

    def wrapped(*arguments: float) -> float | None:
        if any(math.isnan(value) for value in arguments):
            return math.nan
        try:
            result = compute(*map(float, arguments))
            return None if math.isnan(result) else result
        except OverflowError:
            return math.inf
        except ValueError:
            return None

    return wrapped


def power(base: float, exponent: float) -> float:
    """C's pow; an odd power of a large negative number overflows to minus infinity."""
    root = math.isfinite(exponent) and not exponent.is_integer()
    if (base == 0 and exponent < 0) or (base < 0 and root):
        raise ValueError("a division by zero, or a root of a negative number")
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and math.fmod(exponent, 2) != 0 else math.inf


def distance(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Haversine."""
    north, east = math.radians(lat2 - lat1), math.radians(lon2 - lon1)
    across = math.cos(math.radians(lat1)) * math.cos(math.radians(lat2))
    half = math.sin(north / 2) ** 2 + across * math.sin(east / 2) ** 2
    return 2 * EARTH_RADIUS_METRES * math.asin(math.sqrt(min(half, 1.0)))


def absolute(value: float) -> float | None:
    return None if value == -(2**63) and isinstance(value, int) else abs(value)


def sign(value: float) -> float:
    return value if value != value else (value > 0) - (value < 0)


def rounded(value: float, decimals: int) -> float:
    """Half away from zero: scaled, rounded to a whole number, and scaled back."""
    scale = float(f"1e{min(abs(decimals), 300)}")
    scaled = abs(value) * scale if decimals >= 0 else abs(value) / scale
    if not scaled < 2**52:  # whole already, infinite, or NaN
        return value
    whole = math.floor(scaled)
    whole += scaled - whole >= 0.5
    return math.copysign(whole / scale if decimals >= 0 else whole * scale, value)


def rounded_number(value: float, decimals: int = 0) -> float | None:
    return rounded_integer(value, decimals) if isinstance(value, int) else rounded(value, decimals)


def rounded_integer(value: int, decimals: int) -> int | None:
    step = 10 ** max(0, -decimals)
    result = (abs(value) + step // 2) // step * step * (-1 if value < 0 else 1)
    return result if -(2**63) <= result < 2**63 else None


def whole(toward: Callable[[float], int]) -> Callable[[float], float]:
    def wrapped(value: float) -> float:
        if isinstance(value, int) or not math.isfinite(value):
            return value
        return float(toward(value))

    return wrapped


def substr(text: str, start: int, length: int | None = None) -> str:
    """From 1, by characters; 0 reads as 1, and a negative start counts from the end."""
    begin = start - 1 if start > 0 else start
    if length is None:
        return text[begin:]
    if length <= 0:
        return ""
    end = begin + length
    return text[begin:] if begin < 0 <= end else text[begin:end]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": absolute,
    "sign": sign,
    "sqrt": defined(math.sqrt),
    "exp": defined(math.exp),
    "ln": defined(math.log),
    "power": defined(power),
    "round": rounded_number,
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "lower": str.lower,
    "upper": str.upper,
    "trim": lambda text: text.strip(" "),
    "length": len,
    "substr": substr,
    "concat": lambda *texts: "".join(texts),
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda text, part: part in text,
    "year": lambda when: when.year,
    "month": lambda when: when.month,
    "day": lambda when: when.day,
    "hour": lambda when: when.hour,
    "minute": lambda when: when.minute,
    "second": lambda when: when.second,
    "weekday": lambda when: when.weekday(),
    "distance": defined(distance),
}
