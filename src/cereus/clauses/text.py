"""The rules that grammars have in common for windows, and for clauses at the end of a query."""

from __future__ import annotations

from lark import Token, v_args
from lark.tree import Meta

from cereus.clauses import build as clauses
from cereus.clauses.tree import Window
from cereus.expr.text import Conditions, span_of, token_span


@v_args(meta=True, inline=True)
class WindowTexts(Conditions):
    """Conditions, and the window of a WITHIN."""

    def unitless_window(self, meta: Meta, amount: str) -> Window:
        raise clauses.missing_unit(amount, span_of(meta))

    def window(self, meta: Meta, *parts: str) -> Window:
        amounts = list(zip(parts[::2], map(str, parts[1::2]), strict=True))
        return clauses.window(amounts, span_of(meta))

    def attribute_window(self, meta: Meta, amount: str, path: tuple[str, ...]) -> Window:
        return clauses.attribute_window(amount, path, span_of(meta))

    def signed(self, meta: Meta, *tokens: Token) -> str:
        return "".join(tokens)


@v_args(meta=True, inline=True)
class ClauseTexts(WindowTexts):
    """The same, and clauses: PARTITION BY, WITHIN, CONSUME BY, LIMIT."""

    def partition_by(self, meta: Meta, *paths: tuple[str, ...]) -> clauses.Clause:
        return clauses.Clause("partition_by", paths, span_of(meta))

    def within(self, meta: Meta, window: Window) -> clauses.Clause:
        return clauses.Clause("window", window, span_of(meta))

    def consume(self, meta: Meta, word: Token) -> clauses.Clause:
        return clauses.consume(word, token_span(word), span_of(meta))

    def limit(self, meta: Meta, amount: str) -> clauses.Clause:
        return clauses.limit(amount, span_of(meta))
