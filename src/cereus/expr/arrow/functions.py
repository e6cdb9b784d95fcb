"""The functions of `expr.functions` on vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.expr.arrow.operators import as_float, as_int64, choose, compare, half_away, unify
from cereus.expr.arrow.vector import (
    INT64,
    NULL,
    PER_SECOND,
    Vector,
    both,
    constant,
    from_arrow,
    to_arrow,
)
from cereus.expr.functions import EARTH_RADIUS_METRES
from cereus.expr.python import functions as python
from cereus.expr.text_patterns import one_group
from cereus.expr.types import Kind


def call(name: str, arguments: Sequence[Vector]) -> Vector:
    """The value of a function: NULL for a NULL argument (except for coalesce) and outside its
    domain."""
    if name == "coalesce":
        return _coalesce(arguments)
    if any(argument.kind is Kind.NULL for argument in arguments):
        return NULL
    with np.errstate(all="ignore"):
        return FUNCTIONS[name](*arguments)


def _coalesce(arguments: Sequence[Vector]) -> Vector:
    *firsts, last = unify(arguments)
    return functools.reduce(lambda rest, first: _first_or(first, rest), reversed(firsts), last)


def _first_or(first: Vector, rest: Vector) -> Vector:
    valid = first.validity()
    return first if valid is None else choose(valid, first, rest)


def _extreme(op: str, *arguments: Vector) -> Vector:
    return functools.reduce(functools.partial(_better, op), unify(arguments))


def _better(op: str, best: Vector, other: Vector) -> Vector:
    """The better of two values: NULL if either is, else NaN if either is."""
    wins = compare(op, other, best).values
    if best.kind is Kind.FLOAT:
        wins = wins | np.isnan(other.values)
    chosen = choose(wins, other, best)
    valid = both(best.validity(), other.validity())
    if isinstance(chosen.values, pa.Array | pa.Scalar):
        return chosen if valid is None else choose(valid, chosen, _nothing(chosen))
    return replace(chosen, valid=None).where(valid)


def _nothing(like: Vector) -> Vector:
    return replace(like, values=pa.scalar(None, like.values.type))


def _real(compute: Callable[..., Any]) -> Callable[..., Vector]:
    """A function of doubles: NaN for a NaN argument, NULL where the result is NaN without one."""

    def wrapped(*arguments: Vector) -> Vector:
        numbers = [as_float(argument) for argument in arguments]
        valid = functools.reduce(both, [number.valid for number in numbers])
        nan = functools.reduce(np.logical_or, [np.isnan(number.values) for number in numbers])
        values = np.where(nan, np.nan, compute(*(number.values for number in numbers)))[()]
        return Vector(Kind.FLOAT, values, valid).where(nan | ~np.isnan(values))

    return wrapped


def _ln(values: Any) -> Any:
    return np.where(values > 0, np.log(values), np.nan)


def _power(base: Any, exponent: Any) -> Any:
    # numpy takes a square root for the exponent 0.5 alone, which differs at minus infinity.
    root = (base < 0) & np.isfinite(exponent) & (np.floor(exponent) != exponent)
    undefined = root | ((base == 0) & (exponent < 0))
    return np.where(undefined, np.nan, np.power(base, exponent))


def _distance(lat1: Any, lon1: Any, lat2: Any, lon2: Any) -> Any:
    """Metres between two places on Earth, by the haversine formula."""
    north, east = np.radians(lat2 - lat1), np.radians(lon2 - lon1)
    across = np.cos(np.radians(lat1)) * np.cos(np.radians(lat2))
    half = np.sin(north / 2) ** 2 + across * np.sin(east / 2) ** 2
    return 2 * EARTH_RADIUS_METRES * np.arcsin(np.sqrt(np.minimum(half, 1.0)))


def _abs(number: Vector) -> Vector:
    if number.kind is not Kind.INTEGER:
        number = as_float(number)
        return replace(number, values=np.abs(number.values))
    number = as_int64(number)
    return replace(number, values=np.abs(number.values)).where(number.values != INT64.min)


def _sign(number: Vector) -> Vector:
    number = number if number.kind is Kind.INTEGER else as_float(number)
    return replace(number, values=np.sign(number.values))


def _integral(toward: Callable[[Any], Any]) -> Callable[[Vector], Vector]:
    def wrapped(number: Vector) -> Vector:
        if number.kind is Kind.INTEGER:
            return number
        number = as_float(number)
        return replace(number, values=toward(number.values))

    return wrapped


def _round(number: Vector, decimals: Vector | None = None) -> Vector:
    places = 0 if decimals is None else _literal_integer(decimals, "the decimals of round")
    if number.kind is Kind.INTEGER:
        return number if places >= 0 else _round_integer(as_int64(number), -places)
    number = as_float(number)
    scale = np.float64(f"1e{min(abs(places), 300)}")
    scaled = number.values * scale if places >= 0 else number.values / scale
    rounded = half_away(scaled)
    back = rounded / scale if places >= 0 else rounded * scale
    return replace(number, values=np.where(np.abs(scaled) < 2.0**52, back, number.values)[()])


def _round_integer(number: Vector, zeros: int) -> Vector:
    if zeros > 19:
        return replace(number, values=np.zeros_like(number.values))
    # Unsigned, so that neither 10**19 nor the largest size wraps around.
    step = np.uint64(10**zeros)
    size = np.where(number.values < 0, -number.values, number.values).astype(np.uint64)
    integer = size // step
    integer = integer + (size - integer * step >= step // np.uint64(2))
    fits = (integer == 0) | (integer <= np.uint64(INT64.max) // step)
    sized = np.where(fits, integer * step, np.uint64(0)).astype(np.int64)
    return replace(number, values=np.where(number.values < 0, -sized, sized)[()]).where(fits)


def _text(kernel: Callable[..., Any]) -> Callable[..., Vector]:
    return lambda *texts: from_arrow(kernel(*(text.values for text in texts)))


def _cased(ascii_kernel: Callable[[Any], Any], change: Callable[[str], str]) -> Callable[..., Any]:
    """Changes case: Arrow's kernel if all is ASCII; Python's full case mapping (`ß` to `SS`)
    otherwise."""

    def kernel(texts: Any) -> Any:
        if pc.all(pc.string_is_ascii(texts), min_count=0).as_py() is not False:
            return ascii_kernel(texts)
        if isinstance(texts, pa.Scalar):
            return pa.scalar(change(texts.as_py()), texts.type)
        coded = texts.dictionary_encode()
        changed = pa.array([change(text) for text in coded.dictionary.to_pylist()], texts.type)
        return changed.take(coded.indices)

    return kernel


def _concat(*texts: Vector) -> Vector:
    same = [text.values for text in unify(texts)]
    return from_arrow(pc.binary_join_element_wise(*same, pa.scalar("", same[0].type)))


def _substr(text: Vector, start: Vector, length: Vector | None = None) -> Vector:
    begin = _literal_integer(start, "the start of substr")
    begin = begin - 1 if begin > 0 else begin
    if length is None:
        return _slice(text, begin, None)
    size = max(0, _literal_integer(length, "the length of substr"))
    end = begin + size
    return _slice(text, begin, None if begin < 0 <= end and size else end if size else begin)


def _slice(text: Vector, begin: int, end: int | None) -> Vector:
    return from_arrow(pc.utf8_slice_codeunits(text.values, start=begin, stop=end))


def _literal_integer(vector: Vector, what: str) -> int:
    assert vector.constant and vector.kind is Kind.INTEGER, what
    return int(vector.values)


def _part(kernel: Callable[..., Any], test: Callable[[str, str], bool]) -> Callable[..., Vector]:
    def wrapped(text: Vector, part: Vector) -> Vector:
        if part.constant:
            return from_arrow(kernel(text.values, part.values.as_py()))
        texts = (
            [text.values.as_py()] * len(part.values) if text.constant else text.values.to_pylist()
        )
        pairs = zip(texts, part.values.to_pylist(), strict=True)
        decisions = [None if a is None or b is None else test(a, b) for a, b in pairs]
        return from_arrow(pa.array(decisions, pa.bool_()))

    return wrapped


def _calendar(kernel: Callable[..., Any]) -> Callable[[Vector], Vector]:
    def wrapped(when: Vector) -> Vector:
        assert when.kind is Kind.TIMESTAMP
        data = to_arrow(when, np.size(when.values))
        return from_arrow(kernel(data.cast(pa.timestamp(when.unit))))

    return wrapped


def _log10(values: Any) -> Any:
    return np.where(values > 0, np.log10(values), np.nan)


def _epoch(when: Vector) -> Vector:
    seconds = when.values / np.float64(PER_SECOND[when.unit])
    return Vector(Kind.FLOAT, seconds, when.valid)


PERIODS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
THURSDAY = 3 * 86_400
"""The seconds from a Monday to the beginning of 1970, which was a Thursday."""


def _date_trunc(unit: Vector, when: Vector) -> Vector:
    word = str(unit.values.as_py()).lower()
    if word not in PERIODS:
        return replace(when, values=_month_start(when, {"quarter": 3, "year": 12}.get(word, 1)))
    period = np.int64(PERIODS[word] * PER_SECOND[when.unit])
    shift = np.int64(THURSDAY * PER_SECOND[when.unit] if word == "week" else 0)
    passed = np.mod(np.mod(when.values, period) + shift, period)
    return replace(when, values=when.values - passed)


def _month_start(when: Vector, months: int) -> Any:
    counts = np.asarray(when.values).astype(f"datetime64[{when.unit}]")
    month = counts.astype("datetime64[M]").astype(np.int64)
    start = (month - np.mod(month, months)).astype("datetime64[M]")
    return start.astype(f"datetime64[{when.unit}]").astype(np.int64)[()]


def _replace_text(text: Vector, old: Vector, new: Vector) -> Vector:
    pattern, replacement = old.values.as_py(), new.values.as_py()
    if not pattern:
        return text
    return from_arrow(pc.replace_substring(text.values, pattern, replacement))


def _split_part(text: Vector, separator: Vector, number: Vector) -> Vector:
    sign, place = separator.values.as_py(), _literal_integer(number, "the number of a part")
    if text.constant:
        value = text.values.as_py()
        return constant(None if value is None else python.split_part(value, sign, place))
    if not sign:
        return text if place in (1, -1) else _mapped(text, lambda _: "", pa.string())
    parts = pc.split_pattern(text.values, sign)
    offsets = parts.offsets.to_numpy()
    start, counts = offsets[:-1], np.diff(offsets)
    index = start + (place - 1 if place > 0 else counts + place)
    inside = (index >= start) & (index < start + counts)
    # the text after the last part is '': parts that do not exist are taken from there
    values = pa.concat_arrays([parts.values, pa.array([""], parts.values.type)])
    chosen = values.take(pa.array(np.where(inside, index, len(parts.values))))
    valid = text.validity()
    return Vector(
        Kind.STRING, chosen if valid is None else pc.if_else(pa.array(valid), chosen, None)
    )


def _extract(text: Vector, pattern: Vector, group: Vector | None = None) -> Vector:
    wanted = 0 if group is None else _literal_integer(group, "the group")
    spelled = one_group(pattern.values.as_py(), wanted)
    return from_arrow(pc.struct_field(pc.extract_regex(text.values, spelled), 0))


def _mapped(text: Vector, change: Callable[[str], Any], type_: pa.DataType) -> Vector:
    """A function of each distinct text: there are far fewer of these than events."""
    if text.constant:
        return from_arrow(pa.scalar(change(text.values.as_py()), type_))
    coded = text.values.dictionary_encode()
    changed = pa.array([change(each) for each in coded.dictionary.to_pylist()], type_)
    return from_arrow(changed.take(coded.indices))


def _cidr_match(text: Vector, *blocks: Vector) -> Vector:
    if text.constant and not text.values.is_valid:
        return NULL
    given = [block.values.as_py() for block in blocks]
    return _mapped(text, lambda each: python.cidr_match(each, *given), pa.bool_())


def _cast(
    change: Callable[[Any], Any], type_: pa.DataType, of_numbers: Callable[[Vector], Vector]
) -> Callable[[Vector], Vector]:
    """A cast: texts by Python's rules, each distinct one once; everything else at once."""

    def wrapped(value: Vector) -> Vector:
        if value.constant and value.validity() is not None and not value.validity():
            return constant(None)
        return _mapped(value, change, type_) if value.kind is Kind.STRING else of_numbers(value)

    return wrapped


def _as_number(value: Vector) -> Vector:
    if value.kind is not Kind.BOOLEAN:
        return value
    return Vector(Kind.INTEGER, value.values.astype(np.int64), value.valid)


def _to_integer(value: Vector) -> Vector:
    if value.kind in (Kind.BOOLEAN, Kind.INTEGER):
        return as_int64(_as_number(value))
    number = as_float(value)
    inside = (number.values > -(2.0**63) - 1) & (number.values < 2.0**63)
    integer = np.where(inside, np.trunc(number.values), 0.0).astype(np.int64)[()]
    return Vector(Kind.INTEGER, integer, number.valid).where(inside)


def _to_string(value: Vector) -> Vector:
    data = to_arrow(value, np.size(value.values))
    return from_arrow(data.cast(pa.string()))


def _to_boolean(value: Vector) -> Vector:
    if value.kind is Kind.BOOLEAN:
        return value
    return compare("!=", value, constant(0))


INSTANTS = pa.timestamp("us", "UTC")

FUNCTIONS: dict[str, Callable[..., Vector]] = {
    "cidr_match": _cidr_match,
    "log10": _real(_log10),
    "replace": _replace_text,
    "split_part": _split_part,
    "regexp_extract": _extract,
    "date_trunc": _date_trunc,
    "epoch": _epoch,
    "to_integer": _cast(python.to_integer, pa.int64(), _to_integer),
    "to_double": _cast(python.to_double, pa.float64(), lambda value: as_float(_as_number(value))),
    "to_string": _cast(python.to_string, pa.string(), _to_string),
    "to_boolean": _cast(python.to_boolean, pa.bool_(), _to_boolean),
    "to_timestamp": _cast(python.to_timestamp, INSTANTS, lambda when: when),
    "to_date": _cast(python.to_date, INSTANTS, lambda when: _date_trunc(constant("day"), when)),
    "abs": _abs,
    "sign": _sign,
    "sqrt": _real(np.sqrt),
    "exp": _real(np.exp),
    "ln": _real(_ln),
    "power": _real(_power),
    "round": _round,
    "floor": _integral(np.floor),
    "ceil": _integral(np.ceil),
    "least": functools.partial(_extreme, "<"),
    "greatest": functools.partial(_extreme, ">"),
    "lower": _text(_cased(pc.ascii_lower, str.lower)),
    "upper": _text(_cased(pc.ascii_upper, str.upper)),
    "trim": _text(functools.partial(pc.utf8_trim, characters=" ")),
    "length": _text(pc.utf8_length),
    "substr": _substr,
    "concat": _concat,
    "starts_with": _part(pc.starts_with, str.startswith),
    "ends_with": _part(pc.ends_with, str.endswith),
    "contains": _part(pc.match_substring, str.__contains__),
    "year": _calendar(pc.year),
    "month": _calendar(pc.month),
    "day": _calendar(pc.day),
    "hour": _calendar(pc.hour),
    "minute": _calendar(pc.minute),
    "second": _calendar(pc.second),
    "weekday": _calendar(pc.day_of_week),
    "distance": _real(_distance),
}
