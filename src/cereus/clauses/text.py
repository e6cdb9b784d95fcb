"""The common rules of grammars for windows, and for clauses at the end of a query."""

from __future__ import annotations

from datetime import timedelta

from lark import Token
from lark.tree import Meta

from cereus.clauses import build as clauses
from cereus.clauses.tree import Window
from cereus.errors import QuerySyntaxError
from cereus.expr import tree as ex
from cereus.expr.text import Conditions, span_of, token_span


class WindowTexts(Conditions):
    """Reads conditions, and the window of a WITHIN."""

    def unitless_window(self, meta: Meta, amount: str | timedelta) -> Window:
        if isinstance(amount, timedelta):
            return clauses.time_window(amount, span_of(meta))
        raise clauses.missing_unit(amount, span_of(meta))

    def window(self, meta: Meta, *parts: str) -> Window:
        numbers = [clauses.amount(part, span_of(meta)) for part in parts[::2]]
        amounts = list(zip(numbers, map(str, parts[1::2]), strict=True))
        return clauses.window(amounts, span_of(meta))

    def attribute_window(self, meta: Meta, amount: str, path: tuple[str, ...]) -> Window:
        amount = clauses.amount(amount, span_of(meta))
        return clauses.attribute_window(amount, path, span_of(meta))

    def quoted_window(self, meta: Meta, *tokens: Token) -> Window:
        """`WITHIN INTERVAL '5' MINUTE`, as in SQL."""
        return _interval_window(self.quoted_literal(meta, *tokens), tokens[0], meta)

    def amount_window(self, meta: Meta, *tokens: Token) -> Window:
        return _interval_window(self.amount_literal(meta, *tokens), tokens[0], meta)

    def signed(self, meta: Meta, *tokens: Token) -> str | timedelta:
        """The text of a number, or a parameter: a number or a length of time."""
        value: object = tokens[-1].value
        if value == str(tokens[-1]):
            return "".join(tokens)
        if isinstance(value, timedelta):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise QuerySyntaxError(
                f"{tokens[-1]} is {value!r}, and a number is needed here",
                span=span_of(meta),
                hint="give the parameter a number, or a timedelta",
            )
        return repr(value)


def _interval_window(literal: ex.Expression, word: Token, meta: Meta) -> Window:
    if isinstance(literal, ex.Literal) and isinstance(literal.value, timedelta):
        return clauses.time_window(literal.value, span_of(meta))
    raise QuerySyntaxError(
        f"a {word} is no length of time", span=span_of(meta), hint="write INTERVAL '5' MINUTE"
    )


class ClauseTexts(WindowTexts):
    """Reads the clauses of a query as well: PARTITION BY, WITHIN, CONSUME BY, LIMIT."""

    def partition_by(self, meta: Meta, *paths: tuple[str, ...]) -> clauses.ParsedClause:
        return clauses.ParsedClause("partition_by", paths, span_of(meta))

    def within(self, meta: Meta, window: Window) -> clauses.ParsedClause:
        return clauses.ParsedClause("window", window, span_of(meta))

    def consume(self, meta: Meta, word: Token) -> clauses.ParsedClause:
        return clauses.consume(word, token_span(word), span_of(meta))

    def skip(self, meta: Meta, *words: Token) -> clauses.ParsedClause:
        return clauses.skip(words, span_of(meta))

    def timeouts(self, meta: Meta) -> clauses.ParsedClause:
        return clauses.ParsedClause("timeouts", True, span_of(meta))

    def limit(self, meta: Meta, amount: str) -> clauses.ParsedClause:
        return clauses.limit(clauses.amount(amount, span_of(meta)), span_of(meta))
