"""The meaning of a condition (docs/conditions.md): its value on one event, straight from the rules.

It is written separately from the evaluators of `expr` and Spark, so that they can be compared with
it. It shares only the tree with them.

- SQL's three truth values are ordered: false < unknown < true. AND is the least, OR the greatest.
- NULL (`None`) and what cannot be computed (`x / 0`, an integer outside 64 bits, a time outside
  the years 1 to 9999) give NULL.
- Integers are exact, other numbers are doubles; a decimal is exact only in comparisons without
  doubles. NaN compares as IEEE 754 says. Times are instants, in UTC unless they say otherwise.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import ConditionTypeError
from cereus.expr import tree as ex
from cereus.reference import functions

Event = Mapping[str, Any]
Given = Callable[[ex.Expression], Any]
"""The values of the nodes that are given; NotImplemented for those that have to be computed."""

SIGNS = {"=": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}
"""For each comparison, the signs of `left - right` that make it true."""
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def holds(
    condition: ex.Expression, event: Event, bindings: Mapping[str, Event] | None = None
) -> bool:
    """Whether the condition is true; NULL is not true."""
    return evaluate(condition, event, bindings) is True


def evaluate(
    expression: ex.Expression, event: Event, bindings: Mapping[str, Event] | None = None
) -> Any:
    """The value of `expression`; attributes of a variable are read from `bindings`."""

    def attribute(node: ex.Expression) -> Any:
        if not isinstance(node, ex.Attribute):
            return NotImplemented
        return read(event if node.variable is None else (bindings or {})[node.variable], node.path)

    return meaning(expression, attribute)


def meaning(node: ex.Expression, given: Given) -> Any:
    """The value of a node by its rule, or the given one."""
    value = given(node)
    if value is not NotImplemented:
        return value
    if type(node) not in RULES:
        raise ConditionTypeError("this has no value on a single event", span=node.span)
    return RULES[type(node)](node, lambda child: meaning(child, given))


def read(event: Event | None, path: tuple[str, ...]) -> Any:
    """An attribute, inside structs by its path; a missing one is NULL."""
    if not path:
        return normal(event)
    return None if event is None else read(event.get(path[0]), path[1:])


def normal(value: Any) -> Any:
    """Times and dates as datetimes in UTC; everything else as it is."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if isinstance(value, datetime):
        return value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)
    return value


@dataclass(frozen=True)
class Known(ex.Expression):
    """A value that was read from an event; a large integer stays one, unlike a literal."""

    value: Any


# ---------------------------------------------------------------- logic


def _rank(truth: bool | None) -> int:
    return [False, None, True].index(truth)


def every(truths: Iterable[bool | None]) -> bool | None:
    """AND"""
    return min(truths, key=_rank, default=True)


def some(truths: Iterable[bool | None]) -> bool | None:
    """OR"""
    return max(truths, key=_rank, default=False)


def opposite(truth: bool | None) -> bool | None:
    return [True, None, False][_rank(truth)]


# ---------------------------------------------------------------- comparisons


def compare(op: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if float in (type(left), type(right)):
        left, right = float(left), float(right)
    if left != left or right != right:  # NaN is not ordered
        return op == "!="
    return (left > right) - (left < right) in SIGNS[op]


def _between(node: ex.Between, value: Callable[[ex.Expression], Any]) -> bool | None:
    low = True if node.low is None else compare(">=", value(node.operand), value(node.low))
    high = True if node.high is None else compare("<=", value(node.operand), value(node.high))
    return every((low, high))


def _like(text: str | None, pattern: str) -> bool | None:
    """Whether a text matches a LIKE pattern: follows the places in the text that the pattern may
    have reached, part by part."""
    if text is None:
        return None
    places = {0}
    rest = pattern
    while rest:
        escaped = rest[0] == "\\" and rest[1:2] in ("%", "_", "\\")
        sign, rest = (rest[1], rest[2:]) if escaped else (rest[0], rest[1:])
        if sign == "%" and not escaped:
            places = set(range(min(places, default=len(text) + 1), len(text) + 1))
        else:
            any_sign = sign == "_" and not escaped
            places = {p + 1 for p in places if p < len(text) and (any_sign or text[p] == sign)}
    return len(text) in places


def matches(text: str | None, pattern: str) -> bool | None:
    """Whether a regular expression matches. RE2, which Arrow has, is the definition."""
    result: bool | None = pc.match_substring_regex(pa.scalar(text, pa.string()), pattern).as_py()
    return result


# ---------------------------------------------------------------- arithmetic


def calculate(op: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if any(isinstance(side, datetime | timedelta) for side in (left, right)):
        return _time(op, left, right)
    if isinstance(left, int) and isinstance(right, int) and op != "/":
        return _exactly(op, left, right)
    return _double(op, float(left), float(right))


def _exactly(op: str, left: int, right: int) -> int | None:
    if op == "%":
        if right == 0:
            return None
        result = left - right * math.trunc(Fraction(left, right))
    else:
        result = OPERATORS[op](left, right)
    return result if all(map(functions.is_int64, (left, right, result))) else None


def _double(op: str, left: float, right: float) -> float | None:
    if op in "/%" and right == 0:
        return None
    if op != "%":
        return float(OPERATORS[op](left, right))
    return math.nan if math.isinf(left) else math.fmod(left, right)


def _time(op: str, left: Any, right: Any) -> Any:
    try:
        result = OPERATORS[op](left, right)
    except OverflowError:
        return None
    length = isinstance(result, timedelta)
    return None if length and not functions.is_int64(functions.micros(result)) else result


def _negative(value: Any) -> Any:
    if isinstance(value, float):
        return -value
    return calculate("-", timedelta() if isinstance(value, timedelta) else 0, value)


# ---------------------------------------------------------------- the rules


def _literal(node: ex.Literal, value: Given) -> Any:
    """The value of a literal; an integer that does not fit 64 bits becomes a double."""
    number = type(node.value) is int and not functions.is_int64(node.value)
    return float(node.value) if number else normal(node.value)  # type: ignore[arg-type]


def _case(node: ex.Case, value: Given) -> Any:
    for condition, result in node.branches:
        if value(condition) is True:
            return value(result)
    return None if node.default is None else value(node.default)


def _call(node: ex.Call, value: Given) -> Any:
    values = [value(argument) for argument in node.arguments]
    if node.function == "coalesce":
        return next(filter(lambda each: each is not None, values), None)
    if any(each is None for each in values):
        return None
    if node.function == "regexp":
        return matches(*values)
    if node.function in ("least", "greatest"):
        return _extreme(values, "<" if node.function == "least" else ">")
    return functions.call(node.function, values)


def _extreme(values: list[Any], op: str) -> Any:
    """The extreme: NaN if there is one, else the least or greatest value."""
    if any(value != value for value in values):
        return math.nan
    return next(v for v in values if not any(compare(op, other, v) for other in values))


RULES: dict[type[ex.Expression], Callable[[Any, Given], Any]] = {
    ex.Literal: _literal,
    Known: lambda node, value: normal(node.value),
    ex.Negate: lambda node, value: _negative(value(node.operand)),
    ex.Arithmetic: lambda node, value: calculate(node.op, value(node.left), value(node.right)),
    ex.Comparison: lambda node, value: compare(node.op, value(node.left), value(node.right)),
    ex.And: lambda node, value: every(map(value, node.operands)),
    ex.Or: lambda node, value: some(map(value, node.operands)),
    ex.Not: lambda node, value: opposite(value(node.operand)),
    ex.In: lambda node, value: some(
        compare("=", value(node.operand), value(item)) for item in node.items
    ),
    ex.Between: _between,
    ex.Like: lambda node, value: _like(value(node.operand), node.pattern),
    ex.Regexp: lambda node, value: matches(value(node.operand), node.pattern),
    ex.IsNull: lambda node, value: value(node.operand) is None,
    ex.Case: _case,
    ex.Call: _call,
}
