"""Reading and writing the smallest pieces of a text: names, strings, numbers, durations, times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation, Overflow

from cereus.errors import CereusError, QuerySyntaxError, Span, did_you_mean, shortened

Length = str | timedelta
"""A length of time as an argument: `"30 minutes"`."""

_WORDS = """
    AND OR NOT IN IS LIKE BETWEEN CASE WHEN THEN ELSE TRUE FALSE NULL
    SELECT FROM WHERE FILTER AS UNLESS WITHIN
"""
RESERVED = frozenset(_WORDS.split())
"""The words that NAME in `grammar.lark` leaves out: as names they have to be quoted."""

UNITS = (
    ("weeks", 604_800_000_000, ("w", "week")),
    ("days", 86_400_000_000, ("d", "day")),
    ("hours", 3_600_000_000, ("h", "hr", "hrs", "hour")),
    ("minutes", 60_000_000, ("m", "min", "mins", "minute")),
    ("seconds", 1_000_000, ("s", "sec", "secs", "second")),
    ("milliseconds", 1_000, ("ms", "millis", "millisecond")),
    ("microseconds", 1, ("us", "µs", "micros", "microsecond")),
)
"""Units of time, longest first: the name we print, its microseconds, its other names."""

_UNEVEN = {
    "month": "months differ in length: write 30 days",
    "quarter": "quarters differ in length: write 90 days",
    "year": "years differ in length: write 365 days",
}
_COUNTED = ("event", "row", "record", "step")
_MICROSECONDS = {alias: size for name, size, aliases in UNITS for alias in (name, *aliases)}
_LARGEST = 2**63 - 1
_AMOUNT = re.compile(r"\s*+([+-]?[\d.]++)\s*+([^\W\d]++)\s*+")
MOST_AMOUNTS = 1000
"""The most amounts in a length of time."""
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


def unquote(text: str) -> str:
    """The text inside a pair of quotes; a doubled quote inside stands for itself."""
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)


def name_of(token: str) -> str:
    return unquote(token) if token[0] in '"`' else str(token)


def quote_name(name: str) -> str:
    """`name` as it is written in a text: quoted if it would not be read as a name."""
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_string(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def fits_int64(value: int) -> bool:
    return -_LARGEST - 1 <= value <= _LARGEST


def number(token: str, span: Span) -> int | float:
    """An integer of at most 64 bits, or a finite double."""
    if token.isdecimal():
        # digits are counted first: Python refuses to read integers of thousands of digits
        if len(token.lstrip("0")) <= 19 and int(token) <= _LARGEST:
            return int(token)
        raise QuerySyntaxError(
            "this integer does not fit in 64 bits",
            span=span,
            hint=f"write a double, 1e20 (16 digits), or read the column as text: '{token[:40]}'",
        )
    value = float(token)
    if value == float("inf"):
        raise QuerySyntaxError(
            "this number is too large for a double", span=span, hint="the largest is about 1.8e308"
        )
    return value


def timestamp(text: str) -> datetime | None:
    """An ISO 8601 date or date and time, or None when `text` is neither."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def microseconds(amounts: Iterable[tuple[str, str]], span: Span) -> int:
    """The length of `1 hour 30 minutes`, given as (amount, unit) pairs."""
    try:
        total = sum((_scaled(amount, unit, span) for amount, unit in amounts), Decimal(0))
    except Overflow:
        raise _too_long(span) from None
    if abs(total) > _LARGEST:
        raise _too_long(span)
    return round(total)


def _too_long(span: Span) -> QuerySyntaxError:
    hint = "at most 292,000 years can be compared"
    return QuerySyntaxError("this duration is too long", span=span, hint=hint)


def _scaled(amount: str, unit: str, span: Span) -> Decimal:
    size = _MICROSECONDS.get(unit.lower())
    if size is None:
        known = [name for name, _, _ in UNITS]
        hint = _other_unit(amount, unit) or did_you_mean(unit, known)
        raise QuerySyntaxError(
            f"unknown unit of time {shortened(repr(unit))}", span=span, hint=hint
        )
    try:
        return Decimal(amount) * size
    except InvalidOperation:
        raise QuerySyntaxError(f"{shortened(repr(amount))} is not a number", span=span) from None


def _other_unit(amount: str, unit: str) -> str | None:
    """A hint for what is no unit of time: `3 months`, `10 rows`, `1_000`."""
    digits = re.fullmatch(r"(_\d+)+", unit)
    if digits is not None:
        return f"write {amount}{unit.replace('_', '')}"
    word = unit.lower().removesuffix("s")
    return f"write WITHIN {amount} EVENTS" if word in _COUNTED else _UNEVEN.get(word)


def split_duration(text: str) -> list[tuple[str, str]] | None:
    """The (amount, unit) pairs of `1 hour 30 minutes`, or None when it is not a duration."""
    parts: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        part = _AMOUNT.match(text, at)
        if part is None or len(parts) == MOST_AMOUNTS:
            return None
        parts.append((part[1], part[2]))
        at = part.end()
    return parts or None


def duration_text(length: int) -> str:
    """`length` microseconds in the longest unit that divides it: `90 minutes`."""
    name, size = next((n, s) for n, s, _ in UNITS if length % s == 0)
    if length == 0:
        name, size = "seconds", 1_000_000
    count = length // size
    return f"{count} {name[:-1] if count == 1 else name}"


def time_text(value: datetime) -> str:
    """A time as people write it, without trailing zeros."""
    if getattr(value, "nanosecond", 0):  # of pandas
        unit = "nanoseconds"
    elif value.microsecond % 1000:
        unit = "microseconds"
    else:
        unit = "milliseconds" if value.microsecond else "seconds"
    return value.isoformat(sep=" ", timespec=unit)


def interval(amounts: Iterable[tuple[str, str]], span: Span) -> timedelta:
    return timedelta(microseconds=microseconds(amounts, span))


def length_of(length: Length, what: str) -> int:
    """Microseconds of `1 hour 30 minutes`, or of a timedelta; `what` is the argument's name."""
    if isinstance(length, timedelta):
        size = length // timedelta(microseconds=1)
        if not fits_int64(size):
            hint = "at most 292,000 years can be compared"
            raise CereusError(f"{what}= is too long a time", hint=hint)
        return size
    parts = split_duration(length) if isinstance(length, str) else None
    if parts is None:
        hint = 'write a length of time: "30 minutes"'
        raise CereusError(f"{what}={shortened(repr(length))} is no length of time", hint=hint)
    return microseconds(parts, (0, len(length)))
