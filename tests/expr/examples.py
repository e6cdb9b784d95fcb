"""Worked examples: what each operator and function gives, edge cases by name."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from cereus.expr import tree as ex

NOW = datetime(2024, 2, 29, 13, 45, 59, 750_000)
UTC_NOW = NOW.replace(tzinfo=UTC)
BIG = 2**63 - 1


def lit(value: Any) -> ex.Literal:
    return ex.Literal(value)


def op(left: Any, sign: str, right: Any) -> ex.Expression:
    sides = [side if isinstance(side, ex.Expression) else lit(side) for side in (left, right)]
    node = ex.Arithmetic if sign in "+-*/%" else ex.Comparison
    return node(sign, *sides)


def fn(name: str, *arguments: Any) -> ex.Call:
    return ex.Call(name, tuple(a if isinstance(a, ex.Expression) else lit(a) for a in arguments))


TRUE, FALSE, NULL = lit(True), lit(False), lit(None)

EXAMPLES: dict[str, tuple[ex.Expression, Any]] = {
    # CAST: what has no such form is NULL.
    "a text as an integer": (fn("to_integer", " -12 "), -12),
    "a text with a point is no integer": (fn("to_integer", "1.5"), None),
    "a double as an integer": (fn("to_integer", -2.9), -2),
    "NaN is no integer": (fn("to_integer", math.nan), None),
    "too large for an integer": (fn("to_integer", 1e300), None),
    "true as an integer": (fn("to_integer", True), 1),
    "a text as a double": (fn("to_double", "1.5e3"), 1500.0),
    "a word is no double": (fn("to_double", "nan"), None),
    "an integer as a text": (fn("to_string", -7), "-7"),
    "a boolean as a text": (fn("to_string", True), "true"),
    "yes is true": (fn("to_boolean", " Yes "), True),
    "0 is false": (fn("to_boolean", 0), False),
    "maybe is no boolean": (fn("to_boolean", "maybe"), None),
    "a text as a time": (fn("to_timestamp", "2024-02-29T14:45:59.75+01:00"), UTC_NOW),
    "no such day": (fn("to_timestamp", "2024-02-30"), None),
    "a day is in UTC": (fn("to_timestamp", "2024-02-29"), datetime(2024, 2, 29, tzinfo=UTC)),
    "the day of a text": (fn("to_date", "2024-02-29 13:45"), datetime(2024, 2, 29, tzinfo=UTC)),
    "the day of a time": (fn("to_date", NOW), datetime(2024, 2, 29, tzinfo=UTC)),
    # Parts of texts.
    "replace": (fn("replace", "banana", "an", "x"), "bxxa"),
    "replace nothing": (fn("replace", "ab", "", "x"), "ab"),
    "split_part": (fn("split_part", "a--b", "--", 2), "b"),
    "split_part from the end": (fn("split_part", "a,b,c", ",", -1), "c"),
    "split_part beyond the end": (fn("split_part", "a,b", ",", 3), ""),
    "split_part of no separator": (fn("split_part", "ab", "", 1), "ab"),
    "regexp_extract": (fn("regexp_extract", "id=42;", "[0-9]+"), "42"),
    "regexp_extract of a group": (fn("regexp_extract", "id=42", r"(\w+)=([(]?)(\d)", 3), "4"),
    "regexp_extract of an empty group": (fn("regexp_extract", "ab", "a(x)?", 1), ""),
    "regexp_extract without a match": (fn("regexp_extract", "ab", "x"), None),
    "regexp_extract at the end": (fn("regexp_extract", "ab\n", "b$"), None),
    # Addresses.
    "in a block": (fn("cidr_match", "10.1.2.3", "10.0.0.0/8"), True),
    "in the second block": (fn("cidr_match", "10.1.2.3", "172.16.0.0/12", "10.1.2.3"), True),
    "beside a block": (fn("cidr_match", "11.0.0.0", "10.0.0.0/8"), False),
    "the end of a block": (fn("cidr_match", "10.255.255.255", "10.9.0.0/8"), True),
    "everything": (fn("cidr_match", "1.2.3.4", "0.0.0.0/0"), True),
    "IPv6": (fn("cidr_match", "2001:db8::1", "2001:DB8::/32"), True),
    "IPv6 is no IPv4": (fn("cidr_match", "::1", "0.0.0.0/0"), False),
    "no address": (fn("cidr_match", "10.1.2", "10.0.0.0/8"), None),
    "no address either": (fn("cidr_match", "010.1.2.3", "10.0.0.0/8"), None),
    "the block of null": (fn("cidr_match", NULL, "10.0.0.0/8"), None),
    # Times.
    "the year": (fn("date_trunc", "year", NOW), datetime(2024, 1, 1, tzinfo=UTC)),
    "the quarter": (fn("date_trunc", "quarter", NOW), datetime(2024, 1, 1, tzinfo=UTC)),
    "the month": (fn("date_trunc", "MONTH", NOW), datetime(2024, 2, 1, tzinfo=UTC)),
    "a week begins on Monday": (fn("date_trunc", "week", NOW), datetime(2024, 2, 26, tzinfo=UTC)),
    "the week before 1970": (
        fn("date_trunc", "week", datetime(1969, 12, 28, 23)),
        datetime(1969, 12, 22, tzinfo=UTC),
    ),
    "the minute": (fn("date_trunc", "minute", NOW), UTC_NOW.replace(second=0, microsecond=0)),
    "epoch": (fn("epoch", datetime(1970, 1, 1, 0, 0, 1, 500_000)), 1.5),
    "epoch before 1970": (fn("epoch", datetime(1969, 12, 31, 23, 59, 59)), -1.0),
    "log10": (fn("log10", 1000), 3.0),
    "log10 of 0": (fn("log10", 0), None),
    # Three-valued logic.
    "false AND null": (ex.And((FALSE, NULL)), False),
    "true AND null": (ex.And((TRUE, NULL)), None),
    "true OR null": (ex.Or((NULL, TRUE)), True),
    "false OR null": (ex.Or((FALSE, NULL)), None),
    "NOT null": (ex.Not(NULL), None),
    "null = null": (op(None, "=", None), None),
    "null != 1": (op(None, "!=", 1), None),
    "null IS NULL": (ex.IsNull(NULL), True),
    "NaN is not null": (ex.IsNull(lit(math.nan)), False),
    "1 IN (1, null)": (ex.In(lit(1), (lit(1), NULL)), True),
    "2 IN (1, null)": (ex.In(lit(2), (lit(1), NULL)), None),
    "null IN (1)": (ex.In(NULL, (lit(1),)), None),
    "5 BETWEEN null AND 3": (ex.Between(lit(5), NULL, lit(3)), False),
    "5 BETWEEN null AND 9": (ex.Between(lit(5), NULL, lit(9)), None),
    "5 IN {5..}": (ex.Between(lit(5), lit(5), None), True),
    "CASE skips null": (ex.Case(((NULL, lit(1)), (TRUE, lit(2)))), 2),
    "CASE without ELSE": (ex.Case(((FALSE, lit(1)),)), None),
    "CASE of integer and double": (ex.Case(((FALSE, lit(1)),), lit(2.5)), 2.5),
    # Numbers.
    "7 / 2": (op(7, "/", 2), 3.5),
    "1 / 0": (op(1, "/", 0), None),
    "1.0 / -0.0": (op(1.0, "/", -0.0), None),
    "NaN / 0": (op(math.nan, "/", 0), None),
    "-7 % 3": (op(-7, "%", 3), -1),
    "7 % -3": (op(7, "%", -3), 1),
    "-7.5 % 2": (op(-7.5, "%", 2), -1.5),
    "5 % 0": (op(5, "%", 0), None),
    "5.0 % 0.0": (op(5.0, "%", 0.0), None),
    "inf % 2": (op(math.inf, "%", 2), math.nan),
    "smallest % -1": (op(-BIG - 1, "%", -1), 0),
    "integers overflow to null": (op(BIG, "+", 1), None),
    "difference overflows": (op(-BIG, "-", 2), None),
    "product overflows": (op(2**32, "*", 2**31), None),
    "product just fits": (op(2**32, "*", -(2**31)), -(2**63)),
    "minus the smallest": (ex.Negate(lit(-BIG - 1)), None),
    "doubles overflow to infinity": (op(1e308, "*", 10), math.inf),
    "a literal beyond 64 bits": (op(2**64, ">", BIG), True),
    "integer and double": (op(2**53 + 1, "=", float(2**53)), True),
    "integers compare exactly": (op(2**53 + 1, "=", 2**53), False),
    # NaN compares as in IEEE 754.
    "NaN = NaN": (op(math.nan, "=", math.nan), False),
    "NaN != NaN": (op(math.nan, "!=", math.nan), True),
    "NaN > 1": (op(math.nan, ">", 1), False),
    "1 < NaN": (op(1, "<", math.nan), False),
    "NaN >= NaN": (op(math.nan, ">=", math.nan), False),
    "NaN > null": (op(math.nan, ">", None), None),
    "NaN IN (1)": (ex.In(lit(math.nan), (lit(1.0),)), False),
    "NaN BETWEEN 1 AND 2": (ex.Between(lit(math.nan), lit(1), lit(2)), False),
    "least with NaN": (fn("least", 1.0, math.nan), math.nan),
    "greatest with NaN": (fn("greatest", math.nan, 1.0), math.nan),
    # Functions of numbers.
    "abs": (fn("abs", -3), 3),
    "abs of the smallest": (fn("abs", -BIG - 1), None),
    "sign": (fn("sign", -2.5), -1),
    "the sign of a double is a double, whose sums do not overflow": (
        op(op(fn("sign", 0.1), "+", BIG), ">", 0),
        True,
    ),
    "sqrt": (fn("sqrt", 9), 3.0),
    "sqrt of a negative": (fn("sqrt", -1), None),
    "sqrt of NaN": (fn("sqrt", math.nan), math.nan),
    "exp overflows": (fn("exp", 1000), math.inf),
    "ln": (fn("ln", 1), 0.0),
    "ln of zero": (fn("ln", 0), None),
    "power": (fn("power", 2, 10), 1024.0),
    "power without a value": (fn("power", -8, 0.5), None),
    "root of minus infinity": (fn("power", -math.inf, 0.5), None),
    "minus infinity cubed": (fn("power", -math.inf, 3), -math.inf),
    "power of zero": (fn("power", 0, -1), None),
    "power of NaN": (fn("power", math.nan, 0), math.nan),
    "power to infinity": (fn("power", -1, math.inf), 1.0),
    "round up": (fn("round", 2.5), 3.0),
    "round down": (fn("round", -2.5), -3.0),
    "round below a half": (fn("round", 0.49999999999999994), 0.0),
    "round decimals": (fn("round", 2.345, 2), 2.35),
    "round by value, not by digits": (fn("round", 1.005, 2), 1.0),
    "round an integer": (fn("round", 1250, -2), 1300),
    "round a negative integer": (fn("round", -1250, -2), -1300),
    "round overflows": (fn("round", BIG, -18), 9 * 10**18),
    "round past the end": (fn("round", BIG, -19), None),
    "round to nothing": (fn("round", BIG, -20), 0),
    "round infinity": (fn("round", math.inf, 1), math.inf),
    "floor": (fn("floor", -1.5), -2.0),
    "ceil": (fn("ceil", -1.5), -1.0),
    "floor of NaN": (fn("floor", math.nan), math.nan),
    "floor of a large number": (fn("floor", 1e300), 1e300),
    "least with null": (fn("least", 1, None), None),
    "greatest": (fn("greatest", 1, 3, 2), 3),
    "least of strings": (fn("least", "b", "B"), "B"),
    "coalesce": (fn("coalesce", None, 2, 3), 2),
    "distance": (fn("distance", 52.52, 13.405, 48.8566, 2.3522), 877_464.537_921_5),
    "distance to the antipode": (fn("distance", 0, 0, 0, 180), math.pi * 6_371_008.8),
    # Strings.
    "upper in full": (fn("upper", "Straße"), "STRASSE"),
    "lower": (fn("lower", "ÀB"), "àb"),
    "trim takes spaces only": (fn("trim", "  a\t "), "a\t"),
    "length in characters": (fn("length", "é😀"), 2),
    "substr": (fn("substr", "日本語", 2, 1), "本"),
    "substr to the end": (fn("substr", "abc", 2), "bc"),
    "substr from 0": (fn("substr", "abc", 0, 2), "ab"),
    "substr from the end": (fn("substr", "abc", -2, 1), "b"),
    "substr before the start": (fn("substr", "abc", -5, 3), "a"),
    "substr of no length": (fn("substr", "abc", 2, -1), ""),
    "concat with null": (fn("concat", "a", None), None),
    "concat": (fn("concat", "a", "", "b"), "ab"),
    "starts_with": (fn("starts_with", "abc", "ab"), True),
    "ends_with": (fn("ends_with", "abc", "ab"), False),
    "contains is no pattern": (fn("contains", "a.c", "."), True),
    "strings compare by code point": (op("Z", "<", "a"), True),
    "LIKE is the whole string": (ex.Like(lit("abc"), "b"), False),
    "LIKE crosses lines": (ex.Like(lit("a\nb"), "a%b"), True),
    "LIKE escapes": (ex.Like(lit("50%"), r"50\%"), True),
    "LIKE escaped": (ex.Like(lit("500"), r"50\%"), False),
    "LIKE a backslash": (ex.Like(lit(r"a\b"), r"a\b"), True),
    "LIKE is no regular expression": (ex.Like(lit("a.c"), "a.c"), True),
    "LIKE null": (ex.Like(NULL, "%"), None),
    "regexp anywhere": (fn("regexp", "abc", "b"), True),
    "LIKE a dot": (ex.Like(lit("a.exe"), "%.exe"), True),
    "LIKE a bracket": (ex.Like(lit("["), "["), True),
    "$ is the end of the text": (ex.Regexp(lit("a\n"), "a$"), False),
    "$ in a class": (ex.Regexp(lit("a$"), "[$]"), True),
    ". takes a carriage return": (ex.Regexp(lit("a\rb"), "a.b"), True),
    r"\d is ASCII": (ex.Regexp(lit("٣"), r"\d"), False),
    # Times.
    "year": (fn("year", NOW), 2024),
    "month": (fn("month", NOW), 2),
    "day": (fn("day", NOW), 29),
    "hour": (fn("hour", NOW), 13),
    "minute": (fn("minute", NOW), 45),
    "whole seconds": (fn("second", NOW), 59),
    "seconds before 1970": (fn("second", datetime(1969, 12, 31, 23, 59, 58, 1)), 58),
    "Thursday": (fn("weekday", NOW), 3),
    "hours are UTC": (fn("hour", NOW.replace(tzinfo=timezone(timedelta(hours=5)))), 8),
    "no time zone is UTC": (op(NOW, "=", UTC_NOW), True),
    "time + interval": (op(NOW, "+", timedelta(hours=12)), UTC_NOW + timedelta(hours=12)),
    "time - time": (op(UTC_NOW, "-", datetime(2024, 2, 29)), timedelta(seconds=49559.75)),
    "minus an interval": (ex.Negate(lit(timedelta(days=1))), timedelta(days=-1)),
    "after the year 9999": (op(datetime(9999, 12, 31), "+", timedelta(days=1)), None),
    "before the year 1": (op(datetime(1, 1, 1), "-", timedelta(microseconds=1)), None),
}
