"""The registry of scalar functions: every evaluator implements the functions listed here.

An entry says how a function is called, its arguments and its result, which arguments have to be
literals (evaluators prepare them once per query), and what it does, in a line for the docs. An
entry with `means` is short for other forms: the parser replaces the call by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cereus.expr import tree as ex
from cereus.expr.types import Kind, computed, joined

Arguments = tuple[ex.Expression, ...]
Result = Callable[[Sequence[Kind]], Kind | None]
"""The kind of the result, given those of the arguments; None if these do not fit together."""


@dataclass(frozen=True)
class Function:
    """A function of conditions. `signature` is how it is written, `parameters` the kinds of its
    arguments; the last `optional` of them may be left out; with `variadic` the last one may
    repeat."""

    signature: str
    parameters: tuple[Kind, ...]
    result: Kind | Result
    about: str
    literals: tuple[int, ...] = ()
    optional: int = 0
    variadic: bool = False
    means: Callable[[Arguments], ex.Expression] | None = None
    takes: frozenset[Kind] | None = None
    """The kinds that the first argument may have, if `parameters` say too little."""

    def takes_count(self, given: int) -> bool:
        most = len(self.parameters)
        return most - self.optional <= given and (self.variadic or given <= most)

    def takes_literals(self, arguments: Arguments) -> bool:
        return all(
            isinstance(arguments[place], ex.Literal)
            for place in self.literals
            if place < len(arguments)
        )

    def result_kind(self, arguments: Sequence[Kind]) -> Kind | None:
        return self.result if isinstance(self.result, Kind) else self.result(arguments)


def _as_first(arguments: Sequence[Kind]) -> Kind:
    return computed(arguments[:1])


def _right(arguments: Arguments) -> ex.Expression:
    text, count = arguments
    size = count.value if isinstance(count, ex.Literal) else None
    if isinstance(size, int) and size > 0:
        return ex.Call("substr", (text, ex.Literal(-size)))
    return ex.Call("substr", (text, ex.Literal(1), ex.Literal(0)))


def _nullif(arguments: Arguments) -> ex.Expression:
    first, second = arguments
    same = ex.Comparison("=", first, second)
    return ex.Case(((same, ex.Literal(None)),), first)


MOST_LITERALS = 1000
"""More arguments than any call has."""
N, S, B, T, A = Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.TIMESTAMP, Kind.ANY
FLOAT, INTEGER = Kind.FLOAT, Kind.INTEGER

NUMBERS: dict[str, Function] = {
    "abs": Function("abs(x)", (N,), _as_first, "the size of a number"),
    "sign": Function("sign(x)", (N,), _as_first, "-1, 0 or 1"),
    "sqrt": Function("sqrt(x)", (N,), FLOAT, "the square root"),
    "exp": Function("exp(x)", (N,), FLOAT, "e to the power of x"),
    "ln": Function("ln(x)", (N,), FLOAT, "the natural logarithm"),
    "log10": Function("log10(x)", (N,), FLOAT, "the logarithm to the base of 10"),
    "mod": Function(
        "mod(x, y)",
        (N, N),
        computed,
        "x % y",
        means=lambda given: ex.Arithmetic("%", *given),
    ),
    "power": Function("power(x, y)", (N, N), FLOAT, "x to the power of y"),
    "round": Function(
        "round(x[, digits])",
        (N, N),
        _as_first,
        "the nearest number with so many digits after the point, halves away from zero",
        literals=(1,),
        optional=1,
    ),
    "floor": Function("floor(x)", (N,), _as_first, "the next whole number below"),
    "ceil": Function("ceil(x)", (N,), _as_first, "the next whole number above"),
    "least": Function(
        "least(x, y, …)", (A, A), joined, "the least; null if one is null", variadic=True
    ),
    "greatest": Function(
        "greatest(x, y, …)", (A, A), joined, "the greatest; null if one is null", variadic=True
    ),
}
TEXTS: dict[str, Function] = {
    "lower": Function("lower(s)", (S,), S, "in small letters"),
    "upper": Function("upper(s)", (S,), S, "in capital letters"),
    "trim": Function("trim(s)", (S,), S, "without spaces at both ends"),
    "length": Function("length(s)", (S,), INTEGER, "how many characters"),
    "substr": Function(
        "substr(s, start[, length])",
        (S, N, N),
        S,
        "a part; the first character is number 1, a negative start counts from the end",
        literals=(1, 2),
        optional=1,
    ),
    "left": Function(
        "left(s, n)",
        (S, N),
        S,
        "the first n characters",
        literals=(1,),
        means=lambda given: ex.Call("substr", (given[0], ex.Literal(1), given[1])),
    ),
    "right": Function(
        "right(s, n)", (S, N), S, "the last n characters", literals=(1,), means=_right
    ),
    "replace": Function(
        "replace(s, old, new)",
        (S, S, S),
        S,
        "with every old text replaced by the new one",
        literals=(1, 2),
    ),
    "split_part": Function(
        "split_part(s, separator, n)",
        (S, S, N),
        S,
        "the n-th part between separators, from the end if n is negative; '' if there is none",
        literals=(1, 2),
    ),
    "regexp_extract": Function(
        "regexp_extract(s, pattern[, group])",
        (S, S, N),
        S,
        "what the regular expression, or a group of it, matches first; null if nothing matches",
        literals=(1, 2),
        optional=1,
    ),
    "concat": Function("concat(s, t, …)", (S, S), S, "one after the other", variadic=True),
    "starts_with": Function(
        "starts_with(s, t)", (S, S), B, "whether s begins with t", literals=(1,)
    ),
    "ends_with": Function("ends_with(s, t)", (S, S), B, "whether s ends with t", literals=(1,)),
    "contains": Function("contains(s, t)", (S, S), B, "whether t is in s", literals=(1,)),
    "cidr_match": Function(
        "cidr_match(ip, block, …)",
        (S, S),
        B,
        "whether the address, IPv4 or IPv6, is in one of the blocks ('10.0.0.0/8'); null if it is"
        " no address",
        literals=tuple(range(1, MOST_LITERALS)),
        variadic=True,
    ),
    "regexp": Function(
        "regexp(s, pattern)",
        (S, S),
        B,
        "whether the regular expression matches somewhere",
        literals=(1,),
    ),
}
TIMES: dict[str, Function] = {
    "year": Function("year(t)", (T,), INTEGER, "the year, in UTC"),
    "month": Function("month(t)", (T,), INTEGER, "1 to 12"),
    "day": Function("day(t)", (T,), INTEGER, "the day of the month"),
    "hour": Function("hour(t)", (T,), INTEGER, "0 to 23"),
    "minute": Function("minute(t)", (T,), INTEGER, "0 to 59"),
    "second": Function("second(t)", (T,), INTEGER, "0 to 59, whole seconds"),
    "weekday": Function("weekday(t)", (T,), INTEGER, "Monday is 0"),
}
TIMES |= {
    "date_trunc": Function(
        "date_trunc(unit, t)",
        (S, T),
        T,
        "the start of the year, quarter, month, week, day, hour, minute, second, in UTC",
        literals=(0,),
    ),
    "epoch": Function("epoch(t)", (T,), FLOAT, "seconds since 1970, in UTC"),
}
TRUNCATIONS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")

_PLAIN = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.STRING, B, Kind.NULL})
_WRITTEN = frozenset({Kind.INTEGER, Kind.STRING, B, Kind.NULL})
_DATED = frozenset({T, S, Kind.NULL})
CASTS: dict[str, Function] = {
    "to_integer": Function(
        "CAST(x AS integer)",
        (A,),
        INTEGER,
        "a number without what is after its point, the number that a text is, 1 for true",
        takes=_PLAIN,
    ),
    "to_double": Function("CAST(x AS double)", (A,), FLOAT, "as a double", takes=_PLAIN),
    "to_string": Function(
        "CAST(x AS string)", (A,), S, "whole numbers and booleans as a text", takes=_WRITTEN
    ),
    "to_boolean": Function(
        "CAST(x AS boolean)",
        (A,),
        B,
        "true, t, yes, y, 1, and numbers but 0 are true; false, f, no, n, 0 are false",
        takes=_PLAIN,
    ),
    "to_timestamp": Function(
        "CAST(x AS timestamp)", (A,), T, "a text in ISO 8601, 2024-01-31 10:00:00Z", takes=_DATED
    ),
    "to_date": Function("CAST(x AS date)", (A,), T, "the start of the day", takes=_DATED),
}
"""The functions behind `CAST`; a value that has no such form is null."""
TYPES = {
    name: function
    for function, names in {
        "to_integer": "integer int bigint long",
        "to_double": "double float real",
        "to_string": "string varchar text",
        "to_boolean": "boolean bool",
        "to_timestamp": "timestamp",
        "to_date": "date",
    }.items()
    for name in names.split()
}
"""The names of types, and the functions that cast to them."""
OTHERS: dict[str, Function] = {
    "distance": Function(
        "distance(lat1, lon1, lat2, lon2)",
        (N, N, N, N),
        FLOAT,
        "along a great circle, in metres",
    ),
    "haversine": Function(
        "haversine(lat1, lon1, lat2, lon2)",
        (N, N, N, N),
        FLOAT,
        "another name of distance",
        means=lambda given: ex.Call("distance", given),
    ),
    "if": Function(
        "if(condition, x, y)",
        (B, A, A),
        lambda kinds: joined(kinds[1:]),
        "x where the condition is true, else y",
        means=lambda given: ex.Case(((given[0], given[1]),), given[2]),
    ),
    "nullif": Function(
        "nullif(x, y)",
        (A, A),
        lambda kinds: kinds[0],
        "null if they are equal, else x",
        means=_nullif,
    ),
    "is_in": Function(
        "is_in(x, :values)",
        (A, A),
        B,
        "x IN :values, or is_in(x, 1, 2)",
        variadic=True,
        means=lambda given: ex.In(given[0], given[1:]),
    ),
    "coalesce": Function(
        "coalesce(x, y, …)", (A, A), joined, "the first that is not null", variadic=True
    ),
}
FUNCTIONS: dict[str, Function] = NUMBERS | TEXTS | TIMES | CASTS | OTHERS
AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "stddev", "percentile")
EARTH_RADIUS_METRES = 6_371_008.8
