"""The scalar functions of the condition language: names, arity, kinds.

A *kind* is what the checker knows of a type: number, string, boolean, timestamp, interval,
or `any`. How each function is computed lives with each evaluator.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    NUMBER = "number"
    STRING = "string"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"
    INTERVAL = "interval"
    ANY = "any"


@dataclass(frozen=True)
class Function:
    """`parameters` are the kinds of the arguments; the last `optional` of them may be left out;
    with `variadic` the last one may repeat. `result` ANY means: the kind of the arguments."""

    parameters: tuple[Kind, ...]
    result: Kind
    optional: int = 0
    variadic: bool = False


N, S, B, T, A = Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.TIMESTAMP, Kind.ANY

FUNCTIONS: dict[str, Function] = {
    "abs": Function((N,), N),
    "sign": Function((N,), N),
    "sqrt": Function((N,), N),
    "exp": Function((N,), N),
    "ln": Function((N,), N),
    "power": Function((N, N), N),
    "round": Function((N, N), N, optional=1),  # half away from zero; second: decimals (literal)
    "floor": Function((N,), N),
    "ceil": Function((N,), N),
    "least": Function((A, A), A, variadic=True),  # NULL when any argument is NULL
    "greatest": Function((A, A), A, variadic=True),
    "lower": Function((S,), S),
    "upper": Function((S,), S),
    "trim": Function((S,), S),
    "length": Function((S,), N),  # in characters
    "substr": Function((S, N, N), S, optional=1),  # from 1, as in SQL; start and length literals
    "concat": Function((S, S), S, variadic=True),
    "starts_with": Function((S, S), B),  # second argument a literal
    "ends_with": Function((S, S), B),
    "contains": Function((S, S), B),
    "regexp": Function((S, S), B),  # RE2, matches anywhere; second argument a literal
    "coalesce": Function((A, A), A, variadic=True),
    "year": Function((T,), N),
    "month": Function((T,), N),
    "day": Function((T,), N),
    "hour": Function((T,), N),
    "minute": Function((T,), N),
    "second": Function((T,), N),  # whole seconds
    "weekday": Function((T,), N),  # Monday is 0
    "distance": Function((N, N, N, N), N),  # great circle, metres: lat1, lon1, lat2, lon2
}
AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last")
EARTH_RADIUS_METRES = 6_371_008.8
