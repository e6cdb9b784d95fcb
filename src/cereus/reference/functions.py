"""The scalar functions of conditions on plain Python values, straight from docs/conditions.md."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

EARTH_RADIUS = 6_371_008.8  # the mean radius in metres (IUGG)


def call(name: str, arguments: Sequence[Any]) -> Any:
    """The value of a function on arguments that are not NULL; NULL where it is not defined."""
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
    """A power. A negative number has no fractional powers; its odd ones may overflow to minus
    infinity."""
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
    if isinstance(number, int):
        return (number > 0) - (number < 0)
    return number if math.isnan(number) else float((number > 0) - (number < 0))


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


def _rounded(toward: Callable[[float], int]) -> Callable[[float], float]:
    return lambda number: (
        float(toward(number)) if isinstance(number, float) and math.isfinite(number) else number
    )


# ---------------------------------------------------------------- texts


def _substr(text: str, start: int, length: float = math.inf) -> str:
    """The characters at the places `start`, `start + 1`, …; the first character of a text has the
    place 1, and a negative start counts from the end."""
    first = max(start, 1) if start >= 0 else len(text) + 1 + start
    return "".join(s for p, s in enumerate(text, 1) if first <= p < first + length)


def _split_part(text: str, separator: str, number: int) -> str:
    parts = dict(enumerate(text.split(separator) if separator else [text], 1))
    return parts.get(number if number > 0 else len(parts) + 1 + number, "")


def _extract(text: str, pattern: str, group: int = 0) -> str | None:
    """The text that a group matches; `$` is only the end of the text, as in RE2."""
    ends = re.sub(
        r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\$",
        lambda part: r"\Z" if part[0] == "$" else part[0],
        pattern,
    )
    match = re.compile(ends, re.ASCII).search(text)
    return None if match is None else (match[group] or "")


def _replace(text: str, old: str, new: str) -> str:
    return new.join(text.split(old)) if old else text


# ---------------------------------------------------------------- times


def _date_trunc(unit: str, when: datetime) -> datetime:
    """The latest start of a unit that is not after the time."""
    day = datetime(when.year, when.month, when.day, tzinfo=UTC)
    sizes = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
    if unit.lower() in sizes:
        length = timedelta(seconds=sizes[unit.lower()])
        return day + (when - day) // length * length
    if unit.lower() == "week":
        return day - timedelta(days=day.isoweekday() - 1)
    months = {"month": 1, "quarter": 3, "year": 12}[unit.lower()]
    return datetime(when.year, when.month - (when.month - 1) % months, 1, tzinfo=UTC)


# ---------------------------------------------------------------- CAST


def _integer(value: Any) -> int | None:
    try:
        number = int(_trimmed(value, r"[+-]?\d+"))
    except (ValueError, OverflowError):
        return None
    return number if is_int64(number) else None


def _trimmed(value: Any, form: str) -> Any:
    """A text without the spaces around it, if it has the form; other values as they are."""
    if not isinstance(value, str):
        return value
    text = value.strip(" ")
    if re.fullmatch(form, text, re.ASCII) is None:
        raise ValueError(f"not of the form {form}")
    return text


def _floating(value: Any) -> float | None:
    try:
        return float(_trimmed(value, r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"))
    except ValueError:
        return None


def _truth(value: Any) -> bool | None:
    words = dict.fromkeys(("true", "t", "yes", "y", "1"), True)
    words |= dict.fromkeys(("false", "f", "no", "n", "0"), False)
    return words.get(value.strip(" ").lower()) if isinstance(value, str) else value != 0


def _timestamp(value: Any) -> datetime | None:
    clock = r"[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?"
    try:
        text = _trimmed(value, rf"\d{{4}}-\d\d-\d\d({clock})?")
        when = datetime.fromisoformat(text) if isinstance(text, str) else text
        return when.replace(tzinfo=when.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _date(value: Any) -> datetime | None:
    when = _timestamp(value)
    return None if when is None else _date_trunc("day", when)


def _cidr_match(text: str, *blocks: str) -> bool | None:
    """Whether the first bits agree, as many as the block says; all of them if it says nothing."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return any(_begins_alike(address, *block.partition("/")) for block in blocks)


def _begins_alike(address: Any, start: str, slash: str, size: str) -> bool:
    first = ipaddress.ip_address(start)
    bits = first.max_prefixlen
    same = bits - int(size) if slash else 0
    return first.version == address.version and int(first) >> same == int(address) >> same


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cidr_match": _cidr_match,
    "log10": _real(math.log10),
    "replace": _replace,
    "split_part": _split_part,
    "regexp_extract": _extract,
    "date_trunc": _date_trunc,
    "epoch": lambda when: micros(when - datetime(1970, 1, 1, tzinfo=UTC)) / 10**6,
    "to_integer": _integer,
    "to_double": _floating,
    "to_string": lambda value: (
        {True: "true", False: "false"}[value] if isinstance(value, bool) else f"{value}"
    ),
    "to_boolean": _truth,
    "to_timestamp": _timestamp,
    "to_date": _date,
    "abs": _absolute,
    "sign": _sign,
    "sqrt": _real(math.sqrt),
    "exp": _real(math.exp),
    "ln": _real(math.log),
    "power": _real(_power),
    "round": _round,
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
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
