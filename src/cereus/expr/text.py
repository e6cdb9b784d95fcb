"""Conditions: text → `expr.tree`.

`Conditions` turns the parse tree of `grammar.lark` into expressions; languages whose
grammar imports those rules merge it into a transformer of their own (see `parsing.build`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from lark import Token
from lark.tree import Meta

from cereus.errors import QuerySyntaxError, Span, did_you_mean
from cereus.expr import tree as ex
from cereus.expr.functions import AGGREGATES, FUNCTIONS, TYPES
from cereus.expr.text_patterns import with_escape
from cereus.syntax import literals
from cereus.syntax.building import TreeBuilder
from cereus.syntax.parsing import read

Test = Callable[[ex.Expression], ex.Expression]
"""A test such as `IN (1, 2)` or `IS NULL`, as a function of the operand before it."""


class Items(tuple[ex.Expression, ...]):
    """The values of a list that was given as a parameter."""


COMPARISONS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}


def parse_condition(text: str, params: Mapping[str, Any] | None = None) -> ex.Expression:
    """Read a condition on one event: `price > 100 AND name LIKE 'MS%'`.

    Keywords are read in any case. Single quotes make strings, double quotes and backticks make
    names. `LIKE` is SQL's: `%` stands for any text and `_` for one character. `params` are the
    values of parameters, `price > :limit`.
    """
    result: ex.Expression = read(
        "expr/grammar.lark", "condition", text, Conditions(), params=params
    )
    return result


def span_of(meta: Meta) -> Span:
    return (meta.start_pos, meta.end_pos)


def token_span(token: Token) -> Span:
    start = token.start_pos or 0
    return (start, start + len(token))


class Conditions(TreeBuilder):
    """One method per rule of `grammar.lark`."""

    def or_(self, meta: Meta, *operands: ex.Expression) -> ex.Expression:
        return ex.Or(operands, span=span_of(meta))

    def and_(self, meta: Meta, *operands: ex.Expression) -> ex.Expression:
        return ex.And(operands, span=span_of(meta))

    def not_(self, meta: Meta, operand: ex.Expression) -> ex.Expression:
        return ex.Not(operand, span=span_of(meta))

    def compare(
        self, meta: Meta, left: ex.Expression, op: Token, right: ex.Expression
    ) -> ex.Expression:
        return ex.Comparison(COMPARISONS.get(op, str(op)), left, right, span=span_of(meta))

    # ------------------------------------------------------------ tests

    def tested(self, meta: Meta, operand: ex.Expression, test: Test) -> ex.Expression:
        return replace(test(operand), span=span_of(meta))

    def not_tested(self, meta: Meta, operand: ex.Expression, test: Test) -> ex.Expression:
        span = span_of(meta)
        inner = replace(test(operand), span=span)
        if isinstance(inner, ex.IsNull | ex.Not):
            raise QuerySyntaxError("NOT before IS", span=span, hint="write IS NOT NULL")
        return ex.Not(inner, span=span)

    def in_(self, meta: Meta, *parts: ex.Expression | Items) -> Test:
        items = spliced(parts)
        for item in items:
            if not isinstance(item, ex.Literal):
                raise QuerySyntaxError(
                    "IN takes a list of values",
                    span=item.span,
                    hint="write literal numbers or 'strings'; compare with = for anything else",
                )
        return lambda operand: member(operand, items)

    def in_one(self, meta: Meta, parameter: Token) -> Test:
        raise QuerySyntaxError(
            f"{parameter} is one value, and IN takes a list",
            span=token_span(parameter),
            hint=f"give a list, or write = {parameter}",
        )

    def given_list(self, meta: Meta, parameter: Token) -> Items:
        span = span_of(meta)
        return Items(ex.Literal(value, span=span) for value in parameter.value)

    def within_bounds(self, meta: Meta, *parts: ex.Expression | Token) -> Test:
        low = parts[0] if isinstance(parts[0], ex.Expression) else None
        high = parts[-1] if isinstance(parts[-1], ex.Expression) else None
        return lambda operand: ex.Between(operand, low, high)

    def within_range(self, meta: Meta, low: ex.Expression, high: ex.Expression) -> Test:
        return lambda operand: ex.Between(operand, low, high)

    def text(self, meta: Meta, token: Token) -> str:
        value: object = token.value
        if value is not token and not isinstance(value, str):
            raise QuerySyntaxError(
                f"{token} is no text", span=span_of(meta), hint="give the parameter a text"
            )
        return literals.unquote(token) if token[0] == "'" else str(value)

    def like(self, meta: Meta, pattern: str, escape: str | None = None) -> Test:
        spelled = _like_pattern(pattern, escape, span_of(meta))
        return lambda operand: ex.Like(operand, spelled)

    def ilike(self, meta: Meta, pattern: str, escape: str | None = None) -> Test:
        """LIKE with both sides in lower case."""
        spelled = _like_pattern(pattern, escape, span_of(meta)).lower()
        return lambda operand: ex.Like(ex.Call("lower", (operand,), span=operand.span), spelled)

    def regexp(self, meta: Meta, pattern: str) -> Test:
        return lambda operand: ex.Regexp(operand, pattern)

    def is_null(self, meta: Meta) -> Test:
        return lambda operand: ex.IsNull(operand)

    def is_not_null(self, meta: Meta) -> Test:
        span = span_of(meta)
        return lambda operand: ex.Not(ex.IsNull(operand, span=span))

    # ------------------------------------------------------------ arithmetic

    def arithmetic(
        self, meta: Meta, left: ex.Expression, op: Token, right: ex.Expression
    ) -> ex.Expression:
        return ex.Arithmetic(str(op), left, right, span=span_of(meta))

    def concatenated(
        self, meta: Meta, left: ex.Expression, sign: Token, right: ex.Expression
    ) -> ex.Expression:
        """`s || t`; conditions are joined by OR."""
        if isinstance(left, ex.CONDITIONS) or isinstance(right, ex.CONDITIONS):
            raise QuerySyntaxError(
                "|| joins texts, and this is a condition",
                span=token_span(sign),
                hint="between conditions write OR",
            )
        return ex.Call("concat", (left, right), span=span_of(meta))

    def negate(self, meta: Meta, operand: ex.Expression) -> ex.Expression:
        span = span_of(meta)
        value = operand.value if isinstance(operand, ex.Literal) else None
        if _is_unsigned(value):
            return ex.Literal(-value, span=span)  # type: ignore[operator]
        return ex.Negate(operand, span=span)

    def affirm(self, meta: Meta, operand: ex.Expression) -> ex.Expression:
        return operand

    # ------------------------------------------------------------ primaries

    def number(self, meta: Meta, token: Token) -> ex.Expression:
        span = span_of(meta)
        return ex.Literal(literals.number(token, span), span=span)

    def string(self, meta: Meta, token: Token) -> ex.Expression:
        return ex.Literal(literals.unquote(token), span=span_of(meta))

    def true(self, meta: Meta) -> ex.Expression:
        return ex.Literal(True, span=span_of(meta))

    def false(self, meta: Meta) -> ex.Expression:
        return ex.Literal(False, span=span_of(meta))

    def null(self, meta: Meta) -> ex.Expression:
        return ex.Literal(None, span=span_of(meta))

    def quoted_literal(
        self, meta: Meta, word: Token, value: Token, unit: Token | None = None
    ) -> ex.Expression:
        """`TIMESTAMP '…'`, `DATE '…'`, `INTERVAL '5' minutes`, `INTERVAL '5 minutes'`."""
        span = span_of(meta)
        text = literals.unquote(value)
        kind = word.upper()
        if kind in ("TIMESTAMP", "DATE") and unit is None:
            return _timestamp(text, token_span(value), span)
        if kind == "INTERVAL":
            amounts = [(text, str(unit))] if unit else literals.split_duration(text)
            return _interval(amounts, token_span(value), span)
        raise _missing_operator(word, value)

    def amount_literal(self, meta: Meta, word: Token, *parts: Token) -> ex.Expression:
        """`INTERVAL 5 minutes`, `INTERVAL 1 hour 30 minutes`."""
        if word.upper() != "INTERVAL":
            raise _missing_operator(word, parts[0])
        amounts = [(str(n), str(u)) for n, u in zip(parts[::2], parts[1::2], strict=True)]
        return _interval(amounts, span_of(meta), span_of(meta))

    def amount(self, meta: Meta, *parts: Token) -> ex.Expression:
        """`5 minutes`, `1 hour 30 minutes`."""
        amounts = [(str(n), str(u)) for n, u in zip(parts[::2], parts[1::2], strict=True)]
        return _interval(amounts, span_of(meta), span_of(meta))

    def parameter(self, meta: Meta, token: Token) -> ex.Expression:
        value: Any = token.value
        return ex.Literal(value, span=span_of(meta))

    def attribute(self, meta: Meta, path: tuple[str, ...]) -> ex.Expression:
        return ex.Attribute(path, span=span_of(meta))

    def path(self, meta: Meta, *names: str) -> tuple[str, ...]:
        return names

    def name(self, meta: Meta, token: Token) -> str:
        return literals.name_of(token)

    def call(self, meta: Meta, function: Token, *parts: ex.Expression | Items) -> ex.Expression:
        if function.lower() in AGGREGATES:
            return _aggregate(function.lower(), _single(function, parts), span_of(meta))
        return scalar_call(function, parts, span_of(meta))

    def cast(self, meta: Meta, operand: ex.Expression, type_: Token) -> ex.Expression:
        function = TYPES.get(type_.lower())
        if function is None:
            exact = type_.lower() in ("decimal", "numeric")
            raise QuerySyntaxError(
                f"there is no cast to {type_}",
                span=token_span(type_),
                hint="conditions compute with doubles: CAST(x AS double)"
                if exact
                else did_you_mean(type_.lower(), TYPES) or f"there are {', '.join(TYPES)}",
            )
        return ex.Call(function, (operand,), span=span_of(meta))

    def simple_case(self, meta: Meta, operand: ex.Expression, *parts: Any) -> ex.Expression:
        """`CASE x WHEN 1 THEN …`"""
        tests = [ex.Comparison("=", operand, each, span=each.span) for each in parts[0:-1:2]]
        default = parts[-1] if len(parts) % 2 else None
        branches = tuple(zip(tests, parts[1::2], strict=True))
        return ex.Case(branches, default, span=span_of(meta))

    def case(self, meta: Meta, *parts: ex.Expression) -> ex.Expression:
        default = parts[-1] if len(parts) % 2 else None
        branches = tuple(zip(parts[0::2], parts[1::2], strict=False))
        return ex.Case(branches, default, span=span_of(meta))


def scalar_call(
    function: Token, parts: tuple[ex.Expression | Items, ...], span: Span
) -> ex.Expression:
    """The call of a function that is not an aggregate."""
    if function.lower() == "is_in":
        return _is_in(parts, span)
    arguments = _single(function, parts)
    known = FUNCTIONS.get(function.lower())
    if known is None or known.means is None:
        return ex.Call(function.lower(), arguments, span=span)
    # a wrong call stays a call, and the checker reports what is wrong
    if known.takes_count(len(arguments)) and known.takes_literals(arguments):
        return replace(known.means(arguments), span=span)
    return ex.Call(function.lower(), arguments, span=span)


def spliced(parts: tuple[ex.Expression | Items, ...]) -> tuple[ex.Expression, ...]:
    """The items of a list, with those of the lists in it."""
    return tuple(item for part in parts for item in (part if isinstance(part, Items) else (part,)))


def member(operand: ex.Expression, items: tuple[ex.Expression, ...]) -> ex.Expression:
    """`x IN (…)`. Nothing is in an empty list, not even NULL: the result is false, and still
    depends on x."""
    if items:
        return ex.In(operand, items)
    null = ex.IsNull(operand)
    return ex.And((null, ex.Not(null)))


def _is_in(parts: tuple[ex.Expression | Items, ...], span: Span) -> ex.Expression:
    """`is_in(x, :names)` and `is_in(x, 1, 2)`: x IN …"""
    if len(parts) < 2 or isinstance(parts[0], Items):
        raise QuerySyntaxError(
            "is_in takes a value and what it may be", span=span, hint="write is_in(x, :values)"
        )
    items = spliced(parts[1:])
    if not all(isinstance(item, ex.Literal) for item in items):
        raise QuerySyntaxError(
            "is_in takes a list of values", span=span, hint="write is_in(x, :values)"
        )
    return replace(member(parts[0], items), span=span)


def _single(function: Token, parts: tuple[ex.Expression | Items, ...]) -> tuple[ex.Expression, ...]:
    for part in parts:
        if isinstance(part, Items):
            raise QuerySyntaxError(
                f"{function} takes single values, and this is a list",
                span=token_span(function),
                hint="lists are for IN and is_in",
            )
    return tuple(part for part in parts if isinstance(part, ex.Expression))


def _is_unsigned(value: ex.LiteralValue) -> bool:
    if isinstance(value, timedelta):
        return value >= timedelta(0)
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _timestamp(text: str, place: Span, span: Span) -> ex.Expression:
    value = literals.timestamp(text)
    if value is None:
        raise QuerySyntaxError(
            f"{text!r} is not a timestamp", span=place, hint="write '2024-01-31 10:00:00'"
        )
    return ex.Literal(value, span=span)


def _interval(amounts: list[tuple[str, str]] | None, place: Span, span: Span) -> ex.Expression:
    if amounts is None:
        raise QuerySyntaxError("this is not an interval", span=place, hint="write '5 minutes'")
    return ex.Literal(literals.interval(amounts, place), span=span)


def _like_pattern(pattern: str, escape: str | None, span: Span) -> str:
    """The pattern with a backslash as its escape."""
    if escape is None:
        return pattern
    if len(escape) > 1:
        raise QuerySyntaxError("ESCAPE takes one character", span=span, hint="write ESCAPE '!'")
    spelled = with_escape(pattern, escape)
    if spelled is None:
        raise QuerySyntaxError(
            f"{escape} stands before something else than %, _ or {escape}",
            span=span,
            hint=f"write {escape}{escape} for the sign itself",
        )
    return spelled


def _missing_operator(left: Token, right: Token) -> QuerySyntaxError:
    return QuerySyntaxError(
        f"an operator is missing between {left} and {right}",
        span=(token_span(left)[0], token_span(right)[1]),
        hint=f"write {left} = {right}",
    )


def percentile_part(
    function: str, arguments: tuple[ex.Expression, ...], span: Span
) -> tuple[float | None, tuple[ex.Expression, ...]]:
    """The second argument of percentile, and the others."""
    if function != "percentile":
        return None, arguments
    part = (
        arguments[1].value if len(arguments) == 2 and isinstance(arguments[1], ex.Literal) else None
    )
    if isinstance(part, bool) or not isinstance(part, int | float) or not 0 <= part <= 1:
        raise QuerySyntaxError(
            "percentile takes values and a part from 0 to 1",
            span=span,
            hint="write percentile(b.price, 0.95)",
        )
    return float(part), arguments[:1]


def _aggregate(function: str, arguments: tuple[ex.Expression, ...], span: Span) -> ex.Expression:
    part, arguments = percentile_part(function, arguments, span)
    argument = arguments[0] if len(arguments) == 1 else None
    if not isinstance(argument, ex.Attribute):
        extreme = {"min": "least", "max": "greatest"}.get(function)
        instead = f"; for the {function} of several values write {extreme}(x, y)" if extreme else ""
        raise QuerySyntaxError(
            f"{function} takes one attribute of a variable",
            span=span,
            hint=f"write {function}(b.price){instead}",
        )
    variable, *path = argument.path
    if not path and function != "count":
        raise QuerySyntaxError(
            f"{function} needs a variable and its attribute",
            span=span,
            hint=f"write {function}(b.{variable}) for a variable b",
        )
    return ex.Aggregate(function, variable, tuple(path) or None, parameter=part, span=span)
