"""Reads the event algebra: a text becomes the tree of `algebra.tree`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from lark import Token
from lark.tree import Meta

from cereus.errors import QueryError, QuerySyntaxError, RefusedError, Span
from cereus.expr.print import condition_text
from cereus.expr.text import Conditions, span_of, token_span
from cereus.expr.tree import Aggregate, Expression
from cereus.languages.algebra import tree as algebra
from cereus.languages.algebra.hints import HINTS, expected
from cereus.syntax import literals
from cereus.syntax.parsing import located, read


def parse(text: str, params: Mapping[str, Any] | None = None) -> algebra.EventExpression:
    """Read an event expression: `(B ; B)_2 - (P | T)`, `(A + T(value > 38))_5s`.

    `_2` allows two ticks, `_5s` and `_{1 hour 30 minutes}` a duration. `0` is the event that
    never occurs, `*` an event of any type. A name in double quotes may contain anything.
    """
    result: algebra.EventExpression = read(
        "languages/algebra/grammar.lark",
        "expression",
        text,
        Expressions(Conditions()),
        HINTS,
        params,
        expected,
    )
    try:
        algebra.check(result)
    except QueryError as error:
        raise located(error, text) from None
    return result


class Expressions(Conditions):
    """One method per rule of `grammar.lark`; those of conditions are inherited."""

    def typed(
        self, meta: Meta, name: str, condition: Expression | None = None
    ) -> algebra.EventExpression:
        return algebra.Primitive(name, on_one_event(condition), span=span_of(meta))

    def untyped(
        self, meta: Meta, star: Token, condition: Expression | None = None
    ) -> algebra.EventExpression:
        return algebra.Primitive(algebra.ANY_TYPE, on_one_event(condition), span=span_of(meta))

    def empty(self, meta: Meta, zero: Token) -> algebra.EventExpression:
        return algebra.Empty(span=span_of(meta))

    def disjunction(
        self, meta: Meta, left: algebra.EventExpression, right: algebra.EventExpression
    ) -> algebra.EventExpression:
        return algebra.Disjunction(left, right, span=span_of(meta))

    def conjunction(
        self,
        meta: Meta,
        left: algebra.EventExpression,
        plus: Token,
        right: algebra.EventExpression,
    ) -> algebra.EventExpression:
        return algebra.Conjunction(left, right, span=span_of(meta))

    def negation(
        self,
        meta: Meta,
        left: algebra.EventExpression,
        minus: Token,
        right: algebra.EventExpression,
    ) -> algebra.EventExpression:
        return algebra.Negation(left, right, span=span_of(meta))

    def sequence(
        self, meta: Meta, left: algebra.EventExpression, right: algebra.EventExpression
    ) -> algebra.EventExpression:
        return algebra.Sequence(left, right, span=span_of(meta))

    def restriction(
        self, meta: Meta, body: algebra.EventExpression, token: Token
    ) -> algebra.EventExpression:
        return algebra.TemporalRestriction(
            body, tau_of(token, token_span(token)), span=span_of(meta)
        )

    def given_restriction(
        self, meta: Meta, body: algebra.EventExpression, parameter: Token
    ) -> algebra.EventExpression:
        """`(A ; B)_:tau`"""
        tau: Any = parameter.value
        ticks = isinstance(tau, int) and not isinstance(tau, bool) and tau >= 0
        if not ticks and not (isinstance(tau, timedelta) and tau >= timedelta()):
            raise QuerySyntaxError(
                f"{parameter} is {tau!r}, which is not a time restriction",
                span=token_span(parameter),
                hint="give whole ticks or a timedelta",
            )
        return algebra.TemporalRestriction(body, tau, span=span_of(meta))


def tau_of(token: str, span: Span) -> algebra.Tau:
    """`_2`, `_{2}`: ticks. `_5s`, `_{1 hour 30 minutes}`: a duration."""
    text = token[1:].strip("{}").strip()
    if text.isdecimal():
        return int(literals.number(text, span))
    amounts = literals.split_duration(text)
    if amounts is None or any(amount.startswith("-") for amount, _ in amounts):
        raise QuerySyntaxError(
            f"{str(token)!r} is not a time restriction",
            span=span,
            hint="write whole ticks, _2, or a duration, _5s or _{1 hour 30 minutes}",
        )
    return literals.interval(amounts, span)


def on_one_event(condition: Expression | None) -> Expression | None:
    for node in condition.walk() if condition is not None else ():
        if isinstance(node, Aggregate):
            raise RefusedError(
                f"{node.function} is taken over several events, and a primitive is one",
                span=node.span,
                hint="least(x, y) and greatest(x, y) compare attributes of one event",
            )
    return condition


# ---------------------------------------------------------------- tree → text


def to_text(expression: algebra.EventExpression) -> str:
    """The text of an expression, with parentheses around every operand that has an operator, except
    the left one of an equal operator: `(A ; B)_2 - (P | T)`, `A | B | C`."""
    match expression:
        case algebra.Primitive(name, condition):
            written = name if name == algebra.ANY_TYPE else literals.quote_name(name)
            return written if condition is None else f"{written}({condition_text(condition)})"
        case algebra.Empty():
            return "0"
        case algebra.TemporalRestriction(body, tau):
            return f"{_restrictable(body)}_{tau_text(tau)}"
        case (
            algebra.Disjunction(left, right)
            | algebra.Conjunction(left, right)
            | algebra.Negation(left, right)
            | algebra.Sequence(left, right)
        ):
            same = type(left) is type(expression)
            first = to_text(left) if same else _operand(left)
            return f"{first} {SIGNS[type(expression)]} {_operand(right)}"
    return repr(expression)


SIGNS: dict[type[algebra.EventExpression], str] = {
    algebra.Disjunction: "|",
    algebra.Conjunction: "+",
    algebra.Negation: "-",
    algebra.Sequence: ";",
}


def tau_text(tau: algebra.Tau) -> str:
    """A duration in the longest unit that divides it."""
    if not isinstance(tau, timedelta):
        return str(tau)
    length = algebra.tau_length(tau)
    if length == 0:
        return "0s"
    size, unit = next((size, a[0]) for _, size, a in literals.UNITS if length % size == 0)
    return f"{length // size}{unit}"


def _operand(expression: algebra.EventExpression) -> str:
    text = to_text(expression)
    return f"({text})" if type(expression) in SIGNS else text


def _restrictable(body: algebra.EventExpression) -> str:
    text = to_text(body)
    has_parentheses = isinstance(body, algebra.Primitive) and body.condition is not None
    return text if has_parentheses else f"({text})"
