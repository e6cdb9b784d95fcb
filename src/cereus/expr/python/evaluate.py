"""The value of a condition on one event, in plain Python.

All evaluators compute the same values; these are the rules that they share.

- Logic is three-valued (SQL): NULL is `None`; operators and functions of NULL are NULL, except
  AND, OR, IS NULL, CASE and coalesce. What cannot be computed (`x / 0`, `sqrt(-1)`, an integer
  outside 64 bits, a time outside the years 1 to 9999) is NULL, so it is never true.
- Integers have 64 bits, other numbers are doubles. A decimal is compared exactly with decimals
  and integers; anywhere else it is read as a double, and so is an integer beside a double.
- NaN is a value, not NULL, and compares as IEEE 754 says: `!=` is true, all else false.
- `%` has the sign of the dividend.
- A timestamp is an instant; one without a time zone, and a date, is read as UTC.
- Strings compare by code point.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from cereus.expr import tree as ex
from cereus.expr.paths import value_at
from cereus.expr.python import functions as scalar_functions
from cereus.expr.python.arithmetic import arithmetic, fits, negate
from cereus.expr.python.text_matching import has_match, is_like

Event = Mapping[str, object]
Bindings = Mapping[str, Event]
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Known(ex.Expression):
    """A value that was read from an event. Unlike a literal it may be an unsigned integer of 64
    bits, and stays exact."""

    value: Any


def holds(expression: ex.Expression, event: Event, bindings: Bindings | None = None) -> bool:
    """Whether the condition is true; NULL is not true."""
    return evaluate(expression, event, bindings) is True


def evaluate(expression: ex.Expression, event: Event, bindings: Bindings | None = None) -> Any:
    """The value of `expression`; attributes of a variable are read from `bindings`."""

    def value(child: ex.Expression | None) -> Any:
        return None if child is None else evaluate(child, event, bindings)

    def values(children: Iterable[ex.Expression]) -> list[Any]:
        return [value(child) for child in children]

    match expression:
        case ex.Literal(value=constant):
            return literal(constant)
        case Known(value=constant):
            return normal(constant)
        case ex.Attribute(path=path, variable=None):
            return read(event, path)
        case ex.Attribute(path=path, variable=str(variable)):
            return read((bindings or {})[variable], path)
        case ex.Negate(operand=operand):
            return negate(value(operand))
        case ex.Arithmetic(op=op, left=left, right=right):
            return arithmetic(op, value(left), value(right))
        case ex.Comparison(op=op, left=left, right=right):
            return compare(op, value(left), value(right))
        case ex.And(operands=operands):
            return conjunction(values(operands))
        case ex.Or(operands=operands):
            return disjunction(values(operands))
        case ex.Not(operand=operand):
            return complement(value(operand))
        case ex.In(operand=operand, items=items):
            return disjunction(compare("=", value(operand), item) for item in values(items))
        case ex.Between():
            return between(expression, value)
        case ex.Like(operand=operand, pattern=pattern):
            return matches(is_like, pattern, value(operand))
        case ex.Regexp(operand=operand, pattern=pattern):
            return matches(has_match, pattern, value(operand))
        case ex.IsNull(operand=operand):
            return value(operand) is None
        case ex.Case(branches=branches, default=default):
            chosen = (then for condition, then in branches if value(condition) is True)
            return value(next(chosen, default))
        case ex.Call(function="regexp", arguments=(operand, ex.Literal(value=str(pattern)))):
            return value(ex.Regexp(operand, pattern))
        case ex.Call(function="least", arguments=arguments):
            return extreme("<", values(arguments))
        case ex.Call(function="greatest", arguments=arguments):
            return extreme(">", values(arguments))
        case ex.Call(function=function, arguments=arguments):
            return scalar_functions.call(function, values(arguments))
    raise AssertionError(f"no value on a single event: {expression}")


def literal(constant: Any) -> Any:
    """The value of a literal; an integer that does not fit 64 bits becomes a double."""
    if type(constant) is int and not fits(constant):
        return float(constant)
    return normal(constant)


def read(event: Event, path: tuple[str, ...]) -> Any:
    """An attribute, inside structs by its path; a missing one is NULL."""
    return normal(value_at(event, path))


def normal(value: Any) -> Any:
    """Times and dates as datetimes in UTC; everything else as it is."""
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    return value


def compare(op: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    return COMPARE[op](left, right)


def conjunction(values: Iterable[bool | None]) -> bool | None:
    known = set(values)
    return False if False in known else None if None in known else True


def disjunction(values: Iterable[bool | None]) -> bool | None:
    return complement(conjunction(complement(value) for value in values))


def complement(value: bool | None) -> bool | None:
    return None if value is None else not value


def between(node: ex.Between, value: Callable[[ex.Expression | None], Any]) -> bool | None:
    bounds = (("<=", node.high), (">=", node.low))
    operand = value(node.operand)
    return conjunction(compare(op, operand, value(end)) for op, end in bounds if end is not None)


def matches(how: Callable[[str, str], bool], pattern: str, text: str | None) -> bool | None:
    return None if text is None else how(pattern, text)


def extreme(op: str, values: list[Any]) -> Any:
    """The least or greatest; NULL if any value is, else NaN if any value is."""
    if None in values:
        return None
    best = values[0]
    for value in values:
        if value != value or compare(op, value, best):
            best = value
    return best
