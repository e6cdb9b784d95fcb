"""Turns conditions into Spark columns; the values are those of `expr.python`.

It uses `pyspark.sql.functions` only, so it works on Spark Connect too. Guards are added only where
Spark differs: NaN (Spark takes it as equal to itself and above all numbers), overflow and division
by zero (errors under ANSI), and time zones (parts of a timestamp are taken in UTC whatever the
session's zone). Plain comparisons stay plain, so that Catalyst pushes them into the scan.

Regular expressions run on Java's engine: see `expr.text_patterns` for what it shares with RE2.
Decimals and integers compare exactly as far as Spark does, which is 38 digits for both together.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from cereus.errors import ConditionTypeError
from cereus.expr import tree as ex
from cereus.expr.text_patterns import escaped_like, with_text_end
from cereus.expr.types import NUMBERS, Kind
from cereus.spark.expr import functions as scalar_functions
from cereus.spark.expr.typed import (
    NULL,
    YEAR_1,
    YEAR_10000,
    TypedColumn,
    as_bigint,
    as_float,
    attribute,
    big,
    instant,
    interval,
    literal,
    micros,
    name,
    one_of,
    same_times,
    truth,
    unify,
)

Recurse = Callable[[ex.Expression], TypedColumn]
FLIPPED = {"<": ">", "<=": ">="}


def column(expression: ex.Expression, schema: StructType, *, prefix: str | None = None) -> Column:
    """The condition as a column of a DataFrame whose events have this schema.

    `prefix` is the struct column or table alias that holds the events, if one does; attributes
    of a variable are read from the struct or alias of that name.
    """

    def typed(node: ex.Expression) -> TypedColumn:
        if isinstance(node, ex.Attribute):
            return attribute(node, schema, prefix)
        return NODES[type(node)](node, typed)

    return typed(expression).column


def _boolean(condition: Column) -> TypedColumn:
    return TypedColumn(condition, Kind.BOOLEAN)


def compare(op: str, left: TypedColumn, right: TypedColumn) -> TypedColumn:
    if Kind.NULL in (left.kind, right.kind):
        return _boolean(F.lit(None).cast("boolean"))
    kinds = {left.kind, right.kind}
    if kinds <= NUMBERS:
        if Kind.FLOAT in kinds:
            return _boolean(_guarded(op, as_float(left), as_float(right)))
    elif kinds == {Kind.TIMESTAMP}:
        return _boolean(_compare_times(op, left, right))
    elif len(kinds) > 1:
        raise ConditionTypeError(f"cannot compare {name(left)} with {name(right)}")
    return _boolean(_plain(op, left.column, right.column))


def _plain(op: str, left: Column, right: Column) -> Column:
    comparisons: dict[str, Column] = {
        "=": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }
    return comparisons[op]


def _compare_times(op: str, left: TypedColumn, right: TypedColumn) -> Column:
    same = same_times([left, right])
    if same is not None:
        return _plain(op, same[0].column, same[1].column)
    return _plain(op, micros(left), micros(right))


def _guarded(op: str, left: TypedColumn, right: TypedColumn) -> Column:
    """A comparison of doubles in which NaN is unequal to, and not above, anything.

    A guard must leave NULL alone: `isnan` of NULL is false in Spark, and a NaN beside a NULL
    still compares as NULL.
    """
    if op in FLIPPED:
        return _guarded(FLIPPED[op], right, left)
    plain = _plain(op, left.column, right.column)
    if op in ("=", "!="):
        if not (left.may_be_nan and right.may_be_nan):
            return plain
        both = F.isnan(left.column) & F.isnan(right.column)
        return plain & ~both if op == "=" else plain | both
    if not left.may_be_nan:
        return plain
    number = ~F.isnan(left.column)
    return plain & (number if right.value is not None else number | right.column.isNull())


def _in(node: ex.In, typed: Recurse) -> TypedColumn:
    operand = typed(node.operand)
    items = [typed(item) for item in node.items]
    everything = [operand, *items]
    if Kind.TIMESTAMP in {each.kind for each in everything}:
        everything = same_times(everything) or everything
    kept = {(each.kind, each.stored) for each in everything[1:] if each.kind is not Kind.NULL}
    same = kept == {(everything[0].kind, everything[0].stored)}
    plain = same and not any(item.may_be_nan for item in items)
    if plain:
        return _boolean(everything[0].column.isin(*(item.column for item in everything[1:])))
    return _boolean(reduce(operator.or_, [compare("=", operand, item).column for item in items]))


def _between(node: ex.Between, typed: Recurse) -> TypedColumn:
    operand = typed(node.operand)
    bounds = ((">=", node.low), ("<=", node.high))
    tests = [compare(op, operand, typed(end)).column for op, end in bounds if end is not None]
    return _boolean(reduce(operator.and_, tests))


def _connective(
    combine: Callable[[Column, Column], Column],
) -> Callable[[Any, Recurse], TypedColumn]:
    def build(node: ex.And | ex.Or, typed: Recurse) -> TypedColumn:
        return _boolean(reduce(combine, [truth(typed(each)) for each in node.operands]))

    return build


def _negate(node: ex.Negate, typed: Recurse) -> TypedColumn:
    operand = typed(node.operand)
    if operand.kind in (Kind.FLOAT, Kind.DECIMAL):
        return TypedColumn(-as_float(operand).column, Kind.FLOAT)
    if operand.kind is Kind.INTERVAL:
        return _shift("-", literal(timedelta()), operand)
    return arithmetic("-", literal(0), operand)


def arithmetic(op: str, left: TypedColumn, right: TypedColumn) -> TypedColumn:
    kinds = {left.kind, right.kind}
    if Kind.NULL in kinds:
        return NULL()
    if kinds & {Kind.TIMESTAMP, Kind.INTERVAL}:
        return _shift(op, left, right)
    if kinds == {Kind.INTEGER} and op != "/":
        function = INTEGER_ARITHMETIC[op]
        return TypedColumn(function(as_bigint(left).column, as_bigint(right).column), Kind.INTEGER)
    return TypedColumn(
        FLOAT_ARITHMETIC[op](as_float(left).column, as_float(right).column), Kind.FLOAT
    )


INTEGER_ARITHMETIC: dict[str, Callable[[Column, Column], Column]] = {
    "+": F.try_add,
    "-": F.try_subtract,
    "*": F.try_multiply,
    "%": F.try_mod,
}
FLOAT_ARITHMETIC: dict[str, Callable[[Column, Column], Column]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": F.try_divide,
    "%": F.try_mod,
}


def _shift(op: str, left: TypedColumn, right: TypedColumn) -> TypedColumn:
    """Arithmetic of times and intervals. It does not use Spark's own operators, which add days in
    the session's zone."""
    if left.kind is right.kind is Kind.INTERVAL:
        return TypedColumn(INTEGER_ARITHMETIC[op](left.column, right.column), Kind.INTERVAL)
    count = INTEGER_ARITHMETIC[op](micros(left), micros(right))
    if op == "-" and right.kind is Kind.TIMESTAMP:
        return interval(count)
    return instant(F.when((count >= big(YEAR_1)) & (count < big(YEAR_10000)), count))


def _like(node: ex.Like, typed: Recurse) -> TypedColumn:
    return _boolean(_text(typed(node.operand)).like(escaped_like(node.pattern)))


def _regexp(node: ex.Regexp, typed: Recurse) -> TypedColumn:
    pattern = with_text_end(node.pattern, r"\z")
    # (?d): only \n ends a line, so that `.` takes all that RE2's does.
    return _boolean(_text(typed(node.operand)).rlike(f"(?d){pattern}"))


def _text(operand: TypedColumn) -> Column:
    return operand.column.cast("string") if operand.kind is Kind.NULL else operand.column


def _case(node: ex.Case, typed: Recurse) -> TypedColumn:
    conditions = [truth(typed(when)) for when, _ in node.branches]
    default = NULL() if node.default is None else typed(node.default)
    outcomes = unify([*(typed(then) for _, then in node.branches), default])
    chosen = outcomes[-1].column
    for condition, outcome in zip(reversed(conditions), reversed(outcomes[:-1]), strict=True):
        chosen = F.when(condition, outcome.column).otherwise(chosen)
    return one_of(outcomes, chosen)


def _call(node: ex.Call, typed: Recurse) -> TypedColumn:
    match node:
        case ex.Call(function="regexp", arguments=(operand, ex.Literal(value=str(pattern)))):
            return _regexp(ex.Regexp(operand, pattern), typed)
        case ex.Call(function="least" | "greatest", arguments=arguments):
            return _extreme(node.function, unify([typed(each) for each in arguments]))
    return scalar_functions.call(node.function, [typed(each) for each in node.arguments])


def _extreme(function: str, operands: Sequence[TypedColumn]) -> TypedColumn:
    """NULL if any operand is (Spark skips those), else NaN if any is."""
    if any(operand.kind is Kind.NULL for operand in operands):
        return NULL()
    columns = [operand.column for operand in operands]
    picked = (F.least if function == "least" else F.greatest)(*columns)
    known = reduce(operator.and_, [each.isNotNull() for each in columns])
    result = F.when(known, picked)
    if function == "least" and operands[0].kind is Kind.FLOAT:
        nan = reduce(operator.or_, [F.isnan(each) for each in columns])
        result = F.when(known & nan, F.lit(float("nan"))).when(known, picked)
    return one_of(operands, result)


NODES: dict[type[ex.Expression], Callable[[Any, Recurse], TypedColumn]] = {
    ex.Literal: lambda node, typed: literal(node.value),
    ex.Negate: _negate,
    ex.Arithmetic: lambda node, typed: arithmetic(node.op, typed(node.left), typed(node.right)),
    ex.Comparison: lambda node, typed: compare(node.op, typed(node.left), typed(node.right)),
    ex.And: _connective(operator.and_),
    ex.Or: _connective(operator.or_),
    ex.Not: lambda node, typed: _boolean(~truth(typed(node.operand))),
    ex.In: _in,
    ex.Between: _between,
    ex.Like: _like,
    ex.Regexp: _regexp,
    ex.IsNull: lambda node, typed: _boolean(typed(node.operand).column.isNull()),
    ex.Case: _case,
    ex.Call: _call,
}
