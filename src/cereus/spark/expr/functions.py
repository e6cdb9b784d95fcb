"""The functions of `expr.functions` as Spark columns."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import reduce
from importlib.util import find_spec

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from cereus.expr.functions import EARTH_RADIUS_METRES
from cereus.expr.python.functions import (
    FALSE_TEXTS,
    INTEGER_TEXT,
    NUMBER_TEXT,
    TIME_TEXT,
    TRUE_TEXTS,
    cidr_match,
)
from cereus.expr.text_patterns import with_text_end
from cereus.expr.types import Kind
from cereus.spark.expr.typed import (
    DAY,
    MICROS,
    NULL,
    SMALLEST,
    StoredTime,
    TypedColumn,
    as_bigint,
    as_float,
    big,
    instant,
    micros,
    one_of,
    unify,
)

HAS_NO_FRACTION = 2.0**52


def call(function: str, arguments: Sequence[TypedColumn]) -> TypedColumn:
    """The value of a function: NULL for a NULL argument (except for coalesce) and outside its
    domain."""
    if function == "coalesce":
        operands = unify(arguments)
        return one_of(operands, F.coalesce(*(each.column for each in operands)))
    if any(argument.kind is Kind.NULL for argument in arguments):
        return NULL()
    return FUNCTIONS[function](*arguments)


def _real(compute: Callable[..., Column]) -> Callable[..., TypedColumn]:
    """A function of doubles: NaN for a NaN argument, NULL where the result is NaN without one."""

    def build(*arguments: TypedColumn) -> TypedColumn:
        numbers = [as_float(argument).column for argument in arguments]
        value = compute(*numbers)
        nan = reduce(operator.or_, [F.isnan(number) for number in numbers])
        known = reduce(operator.and_, [number.isNotNull() for number in numbers])
        defined = F.when(nan, F.lit(float("nan"))).when(~F.isnan(value), value)
        return TypedColumn(F.when(known, defined), Kind.FLOAT)

    return build


def _power(base: Column, exponent: Column) -> Column:
    """A power. Java has no value for 1 to the power of infinity; C gives 1."""
    fraction = (F.abs(exponent) < HAS_NO_FRACTION) & (F.floor(exponent) != exponent)
    undefined = ((base == 0) & (exponent < 0)) | ((base < 0) & fraction)
    return (
        F.when(undefined, F.lit(None).cast("double"))
        .when((F.abs(base) == 1) & (F.abs(exponent) == F.lit(float("inf"))), F.lit(1.0))
        .otherwise(F.pow(base, exponent))
    )


def _distance(lat1: Column, lon1: Column, lat2: Column, lon2: Column) -> Column:
    """Haversine."""
    north, east = F.sin(F.radians(lat2 - lat1) / 2), F.sin(F.radians(lon2 - lon1) / 2)
    across = F.cos(F.radians(lat1)) * F.cos(F.radians(lat2))
    half = north * north + across * east * east
    clipped = F.when((half > 1) & ~F.isnan(half), F.lit(1.0)).otherwise(half)
    return F.asin(F.sqrt(clipped)) * (2 * EARTH_RADIUS_METRES)


def _abs(number: TypedColumn) -> TypedColumn:
    if number.kind is not Kind.INTEGER:
        return TypedColumn(F.abs(as_float(number).column), Kind.FLOAT)
    value = as_bigint(number).column
    return TypedColumn(F.when(value != big(SMALLEST), F.abs(value)), Kind.INTEGER)


def _sign(number: TypedColumn) -> TypedColumn:
    if number.kind is not Kind.INTEGER:
        return TypedColumn(F.signum(as_float(number).column), Kind.FLOAT)
    return TypedColumn(F.signum(number.column).cast("bigint"), Kind.INTEGER)


def _integral(toward: Callable[[Column], Column]) -> Callable[[TypedColumn], TypedColumn]:
    """A function to whole numbers. Spark's floor gives a bigint, which has no NaN and no
    infinity."""

    def build(number: TypedColumn) -> TypedColumn:
        if number.kind is Kind.INTEGER:
            return number
        value = as_float(number).column
        integral = toward(value).cast("double")
        return TypedColumn(
            F.when(F.abs(value) < HAS_NO_FRACTION, integral).otherwise(value), Kind.FLOAT
        )

    return build


def _round(number: TypedColumn, decimals: TypedColumn | None = None) -> TypedColumn:
    """Rounding. It does not use Spark's round, which rounds the decimal digits of a double."""
    places = 0 if decimals is None else _literal_integer(decimals, "the decimals of round")
    if number.kind is Kind.INTEGER:
        return number if places >= 0 else _round_integer(as_bigint(number).column, -places)
    value = as_float(number).column
    scale = float(f"1e{min(abs(places), 300)}")
    scaled = F.abs(value) * scale if places >= 0 else F.abs(value) / scale
    floor = F.floor(scaled).cast("double")
    integral = F.when(scaled - floor >= 0.5, floor + 1.0).otherwise(floor)
    size = integral / scale if places >= 0 else integral * scale
    rounded = F.when(value < 0, -size).otherwise(size)
    return TypedColumn(F.when(scaled < HAS_NO_FRACTION, rounded).otherwise(value), Kind.FLOAT)


def _round_integer(value: Column, zeros: int) -> TypedColumn:
    if zeros > 18:  # to 0, or past the end
        limit = 5 * 10**18
        inside = (value < big(limit)) & (value > big(-limit)) if zeros == 19 else value.isNotNull()
        return TypedColumn(F.when(inside, big(0)), Kind.INTEGER)
    step = 10**zeros
    rest = value % big(step)
    base = value - rest
    up = F.when(rest >= big(step // 2), F.try_add(base, big(step)))
    down = up.when(rest <= big(-(step // 2)), F.try_subtract(base, big(step)))
    return TypedColumn(down.otherwise(base), Kind.INTEGER)


def _substr(
    text: TypedColumn, start: TypedColumn, length: TypedColumn | None = None
) -> TypedColumn:
    begin = _literal_integer(start, "the start of substr")
    size = 2**31 - 1 if length is None else _literal_integer(length, "the length of substr")
    return TypedColumn(F.substring(text.column, begin, max(0, size)), Kind.STRING)


def _literal_integer(operand: TypedColumn, what: str) -> int:
    assert isinstance(operand.value, int), what
    return operand.value


def _of_strings(function: Callable[..., Column], result: Kind) -> Callable[..., TypedColumn]:
    return lambda *texts: TypedColumn(function(*(text.column for text in texts)), result)


def _calendar(part: Callable[[Column], Column]) -> Callable[[TypedColumn], TypedColumn]:
    def build(when: TypedColumn) -> TypedColumn:
        return TypedColumn(part(_date(when)), Kind.INTEGER)

    return build


def _date(when: TypedColumn) -> Column:
    """The day in UTC; Spark's own casts would use the session's time zone."""
    assert when.kind is Kind.TIMESTAMP, when.kind
    if when.stored is not StoredTime.INSTANT:
        return when.column.cast("date")
    days = F.floor(F.unix_seconds(when.column) / F.lit(float(DAY)))
    return F.date_from_unix_date(days.cast("int"))


def _clock(period: int, unit: int) -> Callable[[TypedColumn], TypedColumn]:
    """How many whole units of seconds have passed in the current period."""

    def build(when: TypedColumn) -> TypedColumn:
        seconds = F.pmod(_seconds(when), big(period))
        return TypedColumn(F.floor(seconds / F.lit(float(unit))), Kind.INTEGER)

    return build


def _seconds(when: TypedColumn) -> Column:
    assert when.kind is Kind.TIMESTAMP, when.kind
    if when.stored is StoredTime.INSTANT:
        return F.unix_seconds(when.column)
    if when.stored is StoredTime.LOCAL:
        clock = F.hour(when.column) * 3600 + F.minute(when.column) * 60 + F.second(when.column)
        return clock.cast("bigint")
    return F.when(when.column.isNotNull(), big(0))


def _epoch(when: TypedColumn) -> TypedColumn:
    return TypedColumn(micros(when).cast("double") / F.lit(float(MICROS)), Kind.FLOAT)


PERIODS = {"second": 1, "minute": 60, "hour": 3600, "day": DAY, "week": 7 * DAY}


def _date_trunc(unit: TypedColumn, when: TypedColumn) -> TypedColumn:
    """Truncation in UTC; Spark's own function would use the session's zone."""
    word = str(unit.value).lower()
    if word not in PERIODS:
        days = F.unix_date(F.trunc(_date(when), word)).cast("bigint")
        return instant(days * big(DAY * MICROS))
    count, period = micros(when), big(PERIODS[word] * MICROS)
    shift = big(3 * DAY * MICROS if word == "week" else 0)  # 1970 began on a Thursday
    return instant(count - F.pmod(count + shift, period))


def _replace(text: TypedColumn, old: TypedColumn, new: TypedColumn) -> TypedColumn:
    if not old.value:
        return text
    return TypedColumn(F.replace(text.column, old.column, new.column), Kind.STRING)


def _split_part(text: TypedColumn, separator: TypedColumn, number: TypedColumn) -> TypedColumn:
    place = F.lit(_literal_integer(number, "the number of a part"))
    return TypedColumn(F.split_part(text.column, separator.column, place), Kind.STRING)


def _extract(
    text: TypedColumn, pattern: TypedColumn, group: TypedColumn | None = None
) -> TypedColumn:
    wanted = 0 if group is None else _literal_integer(group, "the group")
    spelled = "(?d)" + with_text_end(str(pattern.value), r"\z")
    extracted = F.regexp_extract(text.column, spelled, wanted)
    return TypedColumn(F.when(text.column.rlike(spelled), extracted), Kind.STRING)


def _cidr_match(text: TypedColumn, *blocks: TypedColumn) -> TypedColumn:
    """A match of an address, computed in Python: Spark has no addresses."""
    given = [str(block.value) for block in blocks]

    def match(address: str | None) -> bool | None:
        return None if address is None else cidr_match(address, *given)

    # without this PySpark infers from type hints which kind of function this is, and warns
    batched = find_spec("pandas") is not None
    called = F.udf(match, "boolean", useArrow=batched)
    return TypedColumn(called(text.column), Kind.BOOLEAN)


def _to_integer(value: TypedColumn) -> TypedColumn:
    if value.kind is Kind.STRING:
        return TypedColumn(_read(value, INTEGER_TEXT).try_cast("bigint"), Kind.INTEGER)
    if value.kind in (Kind.INTEGER, Kind.BOOLEAN):
        return TypedColumn(value.column.cast("bigint"), Kind.INTEGER)
    number = as_float(value).column
    inside = (number > F.lit(-(2.0**63) - 1)) & (number < F.lit(2.0**63)) & ~F.isnan(number)
    return TypedColumn(F.when(inside, number.try_cast("bigint")), Kind.INTEGER)


def _to_double(value: TypedColumn) -> TypedColumn:
    if value.kind is Kind.STRING:
        return TypedColumn(_read(value, NUMBER_TEXT).try_cast("double"), Kind.FLOAT)
    return TypedColumn(value.column.cast("double"), Kind.FLOAT)


def _to_string(value: TypedColumn) -> TypedColumn:
    return TypedColumn(value.column.cast("string"), Kind.STRING)


def _to_boolean(value: TypedColumn) -> TypedColumn:
    if value.kind is Kind.BOOLEAN:
        return value
    if value.kind is not Kind.STRING:
        number = as_float(value).column
        return TypedColumn((number != 0.0) | F.isnan(number), Kind.BOOLEAN)
    word = F.lower(F.trim(value.column))
    known = F.when(word.isin(*TRUE_TEXTS), F.lit(True)).when(word.isin(*FALSE_TEXTS), F.lit(False))
    return TypedColumn(known, Kind.BOOLEAN)


def _to_timestamp(value: TypedColumn) -> TypedColumn:
    if value.kind is not Kind.STRING:
        return value
    # Spark reads no zone after minutes, so seconds are put between them.
    minutes = r"^(.{16})(Z|[+-][0-9]{2}:[0-9]{2})?$"
    text = F.regexp_replace(_read(value, TIME_TEXT), minutes, "$1:00$2")
    dated = F.when(F.length(text) == 10, F.concat(text, F.lit("T00:00:00Z")))
    zoned = F.when(text.rlike("(Z|[+-][0-9]{2}:[0-9]{2})$"), text)
    instant_text = F.coalesce(dated, zoned, F.concat(text, F.lit("Z")))
    return TypedColumn(instant_text.try_cast("timestamp"), Kind.TIMESTAMP)


def _read(text: TypedColumn, form: re.Pattern[str]) -> Column:
    """A text without the spaces around it, if it has the form."""
    trimmed = F.trim(text.column)
    return F.when(trimmed.rlike(rf"\A(?:{form.pattern})\z"), trimmed)


FUNCTIONS: dict[str, Callable[..., TypedColumn]] = {
    "cidr_match": _cidr_match,
    "log10": _real(F.log10),
    "replace": _replace,
    "split_part": _split_part,
    "regexp_extract": _extract,
    "date_trunc": _date_trunc,
    "epoch": _epoch,
    "to_integer": _to_integer,
    "to_double": _to_double,
    "to_string": _to_string,
    "to_boolean": _to_boolean,
    "to_timestamp": _to_timestamp,
    "to_date": lambda value: _date_trunc(
        TypedColumn(F.lit("day"), Kind.STRING, "day"), _to_timestamp(value)
    ),
    "abs": _abs,
    "sign": _sign,
    "sqrt": _real(F.sqrt),
    "exp": _real(F.exp),
    "ln": _real(F.ln),
    "power": _real(_power),
    "round": _round,
    "floor": _integral(F.floor),
    "ceil": _integral(F.ceil),
    "lower": _of_strings(F.lower, Kind.STRING),
    "upper": _of_strings(F.upper, Kind.STRING),
    "trim": _of_strings(F.trim, Kind.STRING),
    "length": _of_strings(F.length, Kind.INTEGER),
    "substr": _substr,
    "concat": _of_strings(F.concat, Kind.STRING),
    "starts_with": _of_strings(F.startswith, Kind.BOOLEAN),
    "ends_with": _of_strings(F.endswith, Kind.BOOLEAN),
    "contains": _of_strings(F.contains, Kind.BOOLEAN),
    "year": _calendar(F.year),
    "month": _calendar(F.month),
    "day": _calendar(F.dayofmonth),
    "hour": _clock(DAY, 3600),
    "minute": _clock(3600, 60),
    "second": _clock(60, 1),
    "weekday": _calendar(F.weekday),
    "distance": _real(_distance),
}
