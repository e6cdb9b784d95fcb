"""`+ - * / %` on plain Python values, None being NULL; the rules are in `conditions`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

MICROSECOND = timedelta(microseconds=1)
CALCULATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def negate(value: Any) -> Any:
    zero = timedelta() if isinstance(value, timedelta) else 0
    return -value if isinstance(value, float) else arithmetic("-", zero, value)


def arithmetic(op: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if isinstance(left, datetime | timedelta) or isinstance(right, datetime | timedelta):
        return temporal(op, left, right)
    if isinstance(left, int) and isinstance(right, int) and op != "/":
        return integer(op, left, right)
    return real(op, float(left), float(right))


def integer(op: str, left: int, right: int) -> int | None:
    if op == "%":
        result = None if right == 0 else abs(left) % abs(right) * (-1 if left < 0 else 1)
    else:
        result = CALCULATE[op](left, right)
    return result if result is not None and fits(left) and fits(right) and fits(result) else None


def real(op: str, left: float, right: float) -> float | None:
    if op in CALCULATE:
        return float(CALCULATE[op](left, right))
    if right == 0:
        return None
    if op == "/":
        return left / right
    return math.nan if math.isinf(left) or math.isnan(right) else math.fmod(left, right)


def temporal(op: str, left: Any, right: Any) -> Any:
    """Times and intervals; an interval is a 64-bit count of microseconds."""
    try:
        result = CALCULATE[op](left, right)
    except OverflowError:
        return None
    too_long = isinstance(result, timedelta) and not fits(result // MICROSECOND)
    return None if too_long else result


def fits(number: int) -> bool:
    return -(2**63) <= number < 2**63
