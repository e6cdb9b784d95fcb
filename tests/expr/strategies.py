"""Random tables and random well-typed conditions over them.

Mixed choices (CASE, least, coalesce over integers and doubles) are left to worked examples: the
reference keeps an integer of more than 53 bits where a typed column turns it into a double.
Functions that are computed by different mathematical libraries (exp, power, …) stand only at
the top, where results may differ in the last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from cereus.expr import tree as ex

PLACE = pa.struct(
    {"city": pa.string(), "pos": pa.struct({"lat": pa.float64(), "level": pa.int32()})}
)
SCHEMA = pa.schema(
    {
        "i": pa.int64(),
        "j": pa.int32(),
        "x": pa.float64(),
        "y": pa.float32(),
        "d": pa.decimal128(12, 2),
        "wide": pa.decimal128(38, 4),
        "s": pa.string(),
        "t": pa.string(),
        "k": pa.string(),
        "b": pa.bool_(),
        "ts": pa.timestamp("us"),
        "tz": pa.timestamp("ms", "Europe/Paris"),
        "day": pa.date32(),
        "gap": pa.duration("us"),
        "place": PLACE,
    }
)
ENCODED = {"t": pa.string_view(), "k": pa.dictionary(pa.int8(), pa.string())}

INTEGERS = (*range(-9, 10), 100, 1250, 2**31 - 1, 2**53 + 1, 2**62, 2**63 - 1, -(2**63))
INT32S = (*range(-9, 10), 2**31 - 1, -(2**31))
FLOATS = (0.0, -0.0, 0.5, -0.5, 1.5, -2.5, 2.675, 0.1, 7.0, 10.0, -3.25, 1e18, 1e308, math.inf)
ODD_FLOATS = (*FLOATS, -math.inf, math.nan, math.nan)
DEGREES = (0.0, 52.5, -13.4, 179.9, -180.0, math.nan)
FLOAT32S = (0.0, 0.5, -1.5, 16777216.0, 3.25, math.nan)
DECIMALS = tuple(Decimal(text) for text in ("0.00", "0.10", "7.00", "-2.50", "1000000.01", "1e9"))
WIDE = (*DECIMALS, *(Decimal(text) for text in ("123456789012345678901234.5678", "-1e30")))
TEXTS = (
    "",
    "a",
    "A",
    "abc",
    " ab ",
    "a%b",
    "a_b",
    "a\\b",
    "Straße",
    "日本語",
    "é😀z",
    "x\ny",
    "b1",
)
TIMES = (
    datetime(1969, 12, 31, 23, 59, 59, 999_000),
    datetime(2024, 2, 29),
    datetime(2024, 3, 31, 1, 30),
    datetime(2024, 10, 27, 0, 30, 15, 250_000),
    datetime(2100, 12, 31, 23, 59, 59),
    datetime(1900, 1, 1, 12),
)
DAYS = (date(1969, 12, 31), date(2024, 2, 29), date(2024, 10, 27), date(1900, 1, 1))
INTERVALS = tuple(
    timedelta(microseconds=us)
    for us in (0, 1, -1, 3_600_000_000, -86_400_000_000, 90_061_000_001, 10**13)
)
BOOLEANS = (True, False)
PLACES = tuple(
    {"city": city, "pos": pos}
    for city in (None, "Straße", "a")
    for pos in (None, {"lat": None, "level": 3}, {"lat": 0.5, "level": -2})
)
POOLS: dict[str, Sequence[object]] = {
    "i": INTEGERS,
    "j": INT32S,
    "x": ODD_FLOATS,
    "y": FLOAT32S,
    "d": DECIMALS,
    "wide": WIDE,
    "s": TEXTS,
    "t": TEXTS,
    "k": TEXTS[:5],
    "b": BOOLEANS,
    "ts": TIMES,
    "tz": tuple(when.replace(tzinfo=UTC) for when in TIMES),
    "day": DAYS,
    "gap": INTERVALS,
    "place": PLACES,
}
LIKES = (
    "%\\\\b",
    "%.b",
    "[a%",
    "a+(",
    "%",
    "a%",
    "%b",
    "_",
    "a\\%b",
    "a\\_b",
    "%\\\\%",
    "a\\b",
    "x_y",
    "",
    "%é%",
    "_😀_",
)
REGEXES = ("a", "^a", "b$", "[a-c]+", r"\d", "^.$", r"a|^\s", "[$]", "(?:ab)+c?", "^$", "é")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
CASTABLE = (*TEXTS, " 42 ", "-7", "1.5e2", "true", "No", "2024-02-29", "2024-01-31T10:00+01:00")
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
PARTS = ("year", "month", "day", "hour", "minute", "second", "weekday")


def column(pool: Sequence[object]) -> st.SearchStrategy[object]:
    return st.sampled_from((None, *pool))


rows = st.fixed_dictionaries({name: column(pool) for name, pool in POOLS.items()})


def table_of(records: list[dict[str, Any]], *, encoded: bool = True) -> pa.Table:
    """The records in Arrow; `encoded` stores strings as views and dictionaries."""
    columns = []
    for field in SCHEMA:
        data = pa.array([record[field.name] for record in records], field.type)
        kind = ENCODED.get(field.name) if encoded else None
        if kind is not None:
            indirect = pa.types.is_dictionary(kind)
            data = data.dictionary_encode().cast(kind) if indirect else data.cast(kind)
        columns.append(data)
    return pa.table(columns, names=SCHEMA.names)


tables = st.lists(rows, max_size=7).map(table_of)

Make = Callable[[], ex.Expression]


class Growth:
    """One random expression; every step down leaves less depth to grow."""

    def __init__(self, draw: Any, depth: int) -> None:
        self.draw = draw
        self.depth = depth

    def pick(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def grow(self, leaf: Make, *ways: Make) -> ex.Expression:
        if self.depth <= 0:
            return leaf()
        self.depth -= 1
        made: ex.Expression = self.pick((leaf, *ways))()
        self.depth += 1
        return made

    def leaf(self, pool: Sequence[object], *paths: str) -> ex.Expression:
        kind = self.pick(("attribute",) * 6 + ("literal",) * 3 + ("null",))
        if kind == "attribute":
            return ex.Attribute(tuple(self.pick(paths).split(".")))
        return ex.Literal(None if kind == "null" else self.pick(pool))

    def call(self, names: Sequence[str], *arguments: ex.Expression) -> ex.Expression:
        return ex.Call(self.pick(names), arguments)

    def chosen(self, of: Make) -> ex.Expression:
        """One of several values of the same sort."""
        if self.pick(BOOLEANS):
            return self.call(("least", "greatest", "coalesce"), of(), of(), of())
        default = of() if self.pick(BOOLEANS) else None
        return ex.Case(((self.boolean(), of()), (self.boolean(), of())), default)

    def operation(self, ops: str, left: Make, right: Make) -> ex.Expression:
        return ex.Arithmetic(self.pick(ops), left(), right())

    def rounded(self, of: Make) -> ex.Expression:
        places = self.pick((None, 0, 1, 2, -1, -2, 5))
        return ex.Call("round", (of(),) if places is None else (of(), ex.Literal(places)))

    def number(self) -> ex.Expression:
        made: ex.Expression = self.pick((self.integer, self.double, self.decimal))()
        return made

    def decimal(self) -> ex.Expression:
        return ex.Attribute((self.pick(("d", "wide")),))

    def integer(self) -> ex.Expression:
        return self.grow(
            lambda: self.leaf(INTEGERS, "i", "j", "place.pos.level"),
            lambda: self.operation("+-*%", self.integer, self.integer),
            lambda: ex.Negate(self.integer()),
            lambda: self.call(("abs", "sign", "floor", "ceil"), self.integer()),
            lambda: self.rounded(self.integer),
            lambda: self.call(("length",), self.text()),
            lambda: self.call(PARTS, self.time()),
            lambda: self.call(("to_integer",), self.castable()),
            lambda: self.chosen(self.integer),
        )

    def double(self) -> ex.Expression:
        return self.grow(
            lambda: self.leaf(FLOATS, "x", "y", "place.pos.lat"),
            lambda: self.operation("+-*/%", self.double, self.number),
            lambda: self.operation("/", self.number, self.number),
            lambda: ex.Negate(self.pick((self.double, self.decimal))()),
            lambda: self.call(("abs", "sign", "floor", "ceil"), self.double()),
            lambda: self.call(("abs", "sign", "floor", "ceil"), self.decimal()),
            lambda: self.rounded(self.pick((self.double, self.decimal))),
            lambda: self.chosen(self.double),
        )

    def text(self) -> ex.Expression:
        return self.grow(
            lambda: self.leaf(TEXTS, "s", "t", "k", "place.city"),
            lambda: self.call(("lower", "upper", "trim"), self.text()),
            lambda: self.call(("substr",), self.text(), self.small()),
            lambda: self.call(("substr",), self.text(), self.small(), self.small()),
            lambda: self.call(("concat",), self.text(), self.text()),
            lambda: self.part_of_text(),
            lambda: self.call(("to_string",), self.integer()),
            lambda: self.call(("to_string",), self.boolean()),
            lambda: self.chosen(self.text),
        )

    def castable(self) -> ex.Expression:
        made: ex.Expression = self.pick(
            (self.number, self.boolean, lambda: ex.Literal(self.pick(CASTABLE)), self.text)
        )()
        return made

    def part_of_text(self) -> ex.Expression:
        match self.pick(("replace", "split_part", "regexp_extract")):
            case "replace":
                old, new = self.pick(TEXTS), self.pick(TEXTS)
                return ex.Call("replace", (self.text(), ex.Literal(old), ex.Literal(new)))
            case "split_part":
                sign, number = self.pick(("a", "b", "%", "")), self.pick((1, 2, 3, -1, -2))
                literals = (ex.Literal(sign), ex.Literal(number))
                return ex.Call("split_part", (self.text(), *literals))
        return ex.Call("regexp_extract", (self.text(), ex.Literal(self.pick(REGEXES))))

    def small(self) -> ex.Expression:
        return ex.Literal(self.pick(range(-4, 5)))

    def time(self) -> ex.Expression:
        return self.grow(
            lambda: self.leaf(TIMES, "ts", "tz", "day"),
            lambda: self.operation("+-", self.time, self.interval),
            lambda: self.operation("+", self.interval, self.time),
            lambda: self.call(("date_trunc",), ex.Literal(self.pick(UNITS)), self.time()),
            lambda: self.call(("to_date", "to_timestamp"), self.time()),
            lambda: self.call(("to_date", "to_timestamp"), ex.Literal(self.pick(CASTABLE))),
            lambda: self.chosen(self.time),
        )

    def interval(self) -> ex.Expression:
        return self.grow(
            lambda: self.leaf(INTERVALS, "gap"),
            lambda: self.operation("-", self.time, self.time),
            lambda: self.operation("+-", self.interval, self.interval),
            lambda: ex.Negate(self.interval()),
            lambda: self.chosen(self.interval),
        )

    def boolean(self) -> ex.Expression:
        return self.grow(
            lambda: self.leaf(BOOLEANS, "b"),
            *[lambda: self.compared()] * 4,
            lambda: self.member(),
            lambda: ex.And((self.boolean(), self.boolean(), self.boolean())),
            lambda: ex.Or((self.boolean(), self.boolean())),
            lambda: ex.Not(self.boolean()),
            lambda: ex.Like(self.text(), self.pick(LIKES)),
            lambda: self.call(("to_boolean",), self.castable()),
            lambda: ex.Regexp(self.text(), self.pick(REGEXES)),
            lambda: self.call(
                ("starts_with", "ends_with", "contains"), self.text(), ex.Literal(self.pick(TEXTS))
            ),
            lambda: self.chosen(self.boolean),
        )

    def compared(self) -> ex.Expression:
        of = self.pick(
            (self.number, self.number, self.text, self.time, self.interval, self.boolean)
        )
        match self.pick(("op", "op", "op", "between", "null")):
            case "op":
                return ex.Comparison(self.pick(COMPARISONS), of(), of())
            case "between":
                low = of() if self.pick(BOOLEANS) else None
                return ex.Between(of(), low, of() if low is None or self.pick(BOOLEANS) else None)
        return ex.IsNull(of())

    def member(self) -> ex.Expression:
        of, pool = self.pick(
            (
                (self.integer, INTEGERS),
                (self.double, FLOATS),
                (self.decimal, INTEGERS),
                (self.text, TEXTS),
                (self.time, TIMES),
            )
        )
        return ex.In(of(), tuple(ex.Literal(self.pick((None, *pool))) for _ in range(3)))

    def mathematics(self) -> ex.Expression:
        return self.grow(
            lambda: self.call(("sqrt", "exp", "ln", "log10"), self.number()),
            lambda: self.call(("epoch",), self.time()),
            lambda: self.call(("to_double",), self.castable()),
            lambda: self.call(("power",), self.number(), self.number()),
            lambda: self.call(("distance",), *(self.degrees() for _ in range(4))),
        )

    def degrees(self) -> ex.Expression:
        return self.leaf(DEGREES, "place.pos.lat")

    def anything(self) -> ex.Expression:
        numbers = (self.integer, self.double, self.mathematics)
        sorts = (self.boolean, self.boolean, self.text, self.time, self.interval, *numbers)
        made: ex.Expression = self.pick(sorts)()
        return made


@st.composite
def booleans(draw: Any) -> ex.Expression:
    return Growth(draw, 3).boolean()


@st.composite
def expressions(draw: Any) -> ex.Expression:
    return Growth(draw, 3).anything()
