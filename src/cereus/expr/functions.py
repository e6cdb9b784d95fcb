"""The registry of scalar functions: every evaluator implements what is listed here.

An entry says how a function is called, what it takes and gives, which arguments have to be
literals (evaluators prepare them once per query), and what it does, in a line for the docs. An
entry with `means` is written with other forms: the parser replaces the call by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cereus.expr import tree as ex
from cereus.expr.types import Kind, computed, joined

Arguments = tuple[ex.Expression, ...]
Result = Callable[[Sequence[Kind]], Kind | None]
"""The kind of the result, given those of the arguments; None where these do not fit together."""


@dataclass(frozen=True)
class Function:
    """`signature` is how it is written, `parameters` the kinds of its arguments; the last
    `optional` of them may be left out; with `variadic` the last one may repeat."""

    signature: str
    parameters: tuple[Kind, ...]
    result: Kind | Result
    about: str
    literals: tuple[int, ...] = ()
    optional: int = 0
    variadic: bool = False
    means: Callable[[Arguments], ex.Expression] | None = None

    def result_kind(self, arguments: Sequence[Kind]) -> Kind | None:
        return self.result if isinstance(self.result, Kind) else self.result(arguments)


def _as_first(arguments: Sequence[Kind]) -> Kind:
    return computed(arguments[:1])


N, S, B, T, A = Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.TIMESTAMP, Kind.ANY
FLOAT, INTEGER = Kind.FLOAT, Kind.INTEGER

NUMBERS: dict[str, Function] = {
    "abs": Function("abs(x)", (N,), _as_first, "the size of a number"),
    "sign": Function("sign(x)", (N,), _as_first, "-1, 0 or 1"),
    "sqrt": Function("sqrt(x)", (N,), FLOAT, "the square root"),
    "exp": Function("exp(x)", (N,), FLOAT, "e to the power of x"),
    "ln": Function("ln(x)", (N,), FLOAT, "the natural logarithm"),
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
    "concat": Function("concat(s, t, …)", (S, S), S, "one after the other", variadic=True),
    "starts_with": Function(
        "starts_with(s, t)", (S, S), B, "whether s begins with t", literals=(1,)
    ),
    "ends_with": Function("ends_with(s, t)", (S, S), B, "whether s ends with t", literals=(1,)),
    "contains": Function("contains(s, t)", (S, S), B, "whether t is in s", literals=(1,)),
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
OTHERS: dict[str, Function] = {
    "distance": Function(
        "distance(lat1, lon1, lat2, lon2)",
        (N, N, N, N),
        FLOAT,
        "along a great circle, in metres",
    ),
    "coalesce": Function(
        "coalesce(x, y, …)", (A, A), joined, "the first that is not null", variadic=True
    ),
}
FUNCTIONS: dict[str, Function] = NUMBERS | TEXTS | TIMES | OTHERS
AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last")
EARTH_RADIUS_METRES = 6_371_008.8
