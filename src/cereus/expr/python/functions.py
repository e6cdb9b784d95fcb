"""The functions of `expr.functions` on plain Python values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from cereus.expr.functions import EARTH_RADIUS_METRES
from cereus.expr.python.arithmetic import fits
from cereus.expr.python.text_matching import extracted

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def call(name: str, arguments: Sequence[Any]) -> Any:
    """The value of a function: NULL for a NULL argument (except for coalesce) and outside its
    domain."""
    if name == "coalesce":
        return next((value for value in arguments if value is not None), None)
    if None in arguments:
        return None
    plain = [float(value) if isinstance(value, Decimal) else value for value in arguments]
    return FUNCTIONS[name](*plain)


def defined(compute: Callable[..., float]) -> Callable[..., float | None]:
    """A function of floats: NaN for a NaN argument, NULL where it is not defined, infinity on
    overflow."""

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
    """Metres between two places on Earth, by the haversine formula."""
    north, east = math.radians(lat2 - lat1), math.radians(lon2 - lon1)
    across = math.cos(math.radians(lat1)) * math.cos(math.radians(lat2))
    half = math.sin(north / 2) ** 2 + across * math.sin(east / 2) ** 2
    return 2 * EARTH_RADIUS_METRES * math.asin(math.sqrt(min(half, 1.0)))


def absolute(value: float) -> float | None:
    return None if value == -(2**63) and isinstance(value, int) else abs(value)


def sign(value: float) -> float:
    """The sign, of the kind of its argument: an integer for an integer, else a double."""
    if value != value:
        return value
    integer = (value > 0) - (value < 0)
    return integer if isinstance(value, int) else float(integer)


def rounded(value: float, decimals: int) -> float:
    """A number rounded half away from zero: scaled, rounded to a whole number, and scaled back."""
    scale = float(f"1e{min(abs(decimals), 300)}")
    scaled = abs(value) * scale if decimals >= 0 else abs(value) / scale
    if not scaled < 2**52:  # whole already, infinite, or NaN
        return value
    integral = math.floor(scaled)
    integral += scaled - integral >= 0.5
    return math.copysign(integral / scale if decimals >= 0 else integral * scale, value)


def rounded_number(value: float, decimals: int = 0) -> float | None:
    return rounded_integer(value, decimals) if isinstance(value, int) else rounded(value, decimals)


def rounded_integer(value: int, decimals: int) -> int | None:
    step = 10 ** max(0, -decimals)
    result = (abs(value) + step // 2) // step * step * (-1 if value < 0 else 1)
    return result if -(2**63) <= result < 2**63 else None


def integral(toward: Callable[[float], int]) -> Callable[[float], float]:
    def wrapped(value: float) -> float:
        if isinstance(value, int) or not math.isfinite(value):
            return value
        return float(toward(value))

    return wrapped


def substr(text: str, start: int, length: int | None = None) -> str:
    """A part of a text, from 1, by characters; 0 reads as 1, and a negative start counts from the
    end."""
    begin = start - 1 if start > 0 else start
    if length is None:
        return text[begin:]
    if length <= 0:
        return ""
    end = begin + length
    return text[begin:] if begin < 0 <= end else text[begin:end]


def date_trunc(unit: str, when: datetime) -> datetime:
    start = when.replace(microsecond=0)
    if unit.lower() == "second":
        return start
    kept = {"minute": 1, "hour": 2}.get(unit.lower(), 3)
    start = start.replace(**dict.fromkeys(("second", "minute", "hour")[:kept], 0))  # type: ignore[arg-type]
    match unit.lower():
        case "week":
            return start - timedelta(days=start.weekday())
        case "month":
            return start.replace(day=1)
        case "quarter":
            return start.replace(month=(start.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return start.replace(month=1, day=1)
    return start


def split_part(text: str, separator: str, number: int) -> str:
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def regexp_extract(text: str, pattern: str, group: int = 0) -> str | None:
    return extracted(pattern, text, group)


INTEGER_TEXT = re.compile(r"[+-]?[0-9]+")
NUMBER_TEXT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
TIME_TEXT = re.compile(
    r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
"""The texts that CAST reads as times, without spaces around them."""
TRUE_TEXTS, FALSE_TEXTS = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


def to_integer(value: Any) -> int | None:
    if isinstance(value, str):
        value = value.strip(" ")
        value = int(value) if INTEGER_TEXT.fullmatch(value) and len(value) < 100 else None
    if value is None or not math.isfinite(value):
        return None
    integral = math.trunc(value)
    return integral if fits(integral) else None


def to_double(value: Any) -> float | None:
    if not isinstance(value, str):
        return float(value)
    value = value.strip(" ")
    return float(value) if NUMBER_TEXT.fullmatch(value) else None


def to_string(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_boolean(value: Any) -> bool | None:
    if not isinstance(value, str):
        return bool(value != 0)
    word = value.strip(" ").lower()
    return word in TRUE_TEXTS if word in TRUE_TEXTS + FALSE_TEXTS else None


def to_timestamp(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return value  # type: ignore[no-any-return]
    text = value.strip(" ")
    try:
        when = datetime.fromisoformat(text) if TIME_TEXT.fullmatch(text) else None
        return when and (when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def to_date(value: Any) -> datetime | None:
    when = to_timestamp(value)
    return when and date_trunc("day", when)


def cidr_match(text: str, *blocks: str) -> bool | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return any(address in _network(block) for block in blocks)


@lru_cache(maxsize=4096)
def _network(block: str) -> IPv4Network | IPv6Network:
    """A block of addresses; bits after its prefix do not count."""
    return ip_network(block, strict=False)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cidr_match": cidr_match,
    "log10": defined(math.log10),
    "replace": lambda text, old, new: text.replace(old, new) if old else text,
    "split_part": split_part,
    "regexp_extract": regexp_extract,
    "date_trunc": date_trunc,
    "epoch": lambda when: (when - EPOCH) / timedelta(seconds=1),
    "to_integer": to_integer,
    "to_double": to_double,
    "to_string": to_string,
    "to_boolean": to_boolean,
    "to_timestamp": to_timestamp,
    "to_date": to_date,
    "abs": absolute,
    "sign": sign,
    "sqrt": defined(math.sqrt),
    "exp": defined(math.exp),
    "ln": defined(math.log),
    "power": defined(power),
    "round": rounded_number,
    "floor": integral(math.floor),
    "ceil": integral(math.ceil),
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
