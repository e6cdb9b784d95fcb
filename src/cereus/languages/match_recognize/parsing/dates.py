"""The functions of SQL engines on times: DATE_DIFF, TIMESTAMPADD and their like."""

from __future__ import annotations

from datetime import timedelta

from cereus.errors import RefusedError, Span
from cereus.expr import tree as ex

DATES = frozenset(("date_add", "date_diff", "timestampadd", "timestampdiff"))
SECONDS = {
    "millisecond": 0.001,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
}


def of_dates(function: str, arguments: tuple[ex.Expression, ...], span: Span) -> ex.Expression:
    """`date_diff('hour', t, u)`: whole hours from t to u; `date_add('hour', 2, t)`: t + 2 hours.
    TIMESTAMPDIFF and TIMESTAMPADD are the same, and take the unit without quotes."""
    if len(arguments) != 3:
        raise RefusedError(
            f"{function.upper()} takes 3 arguments",
            span=span,
            hint="the unit comes first: date_add('day', 1, ts)",
        )
    unit, second, third = arguments
    length = SECONDS[_unit(function, unit)]
    if function.endswith("diff"):
        seconds = ex.Arithmetic("-", ex.Call("epoch", (third,)), ex.Call("epoch", (second,)))
        units = ex.Arithmetic("/", seconds, ex.Literal(length))
        return ex.Call("to_integer", (units,), span=span)
    if not isinstance(second, ex.Literal) or type(second.value) is not int:
        raise RefusedError(
            f"the second argument of {function.upper()} is a whole number", span=second.span or span
        )
    return ex.Arithmetic(
        "+", third, ex.Literal(timedelta(seconds=length * second.value)), span=span
    )


def _unit(function: str, unit: ex.Expression) -> str:
    name = unit.name if isinstance(unit, ex.Attribute) else getattr(unit, "value", None)
    known = str(name).lower().removesuffix("s")
    if known not in SECONDS:
        raise RefusedError(
            f"the first argument of {function.upper()} is a unit: {', '.join(SECONDS)}",
            span=unit.span,
            hint="months and years have no one length",
        )
    return known
