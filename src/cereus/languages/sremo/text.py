"""Reads SREMO: a text becomes the tree of `sremo.tree`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lark import Token
from lark.tree import Meta

from cereus.clauses import build as clauses
from cereus.clauses.text import ClauseTexts
from cereus.clauses.tree import ParsedQuery, Window
from cereus.errors import QuerySyntaxError, RefusedError
from cereus.expr import tree as ex
from cereus.expr.text import Conditions, span_of, token_span
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.hints import HINTS, expected
from cereus.languages.sremo.print import expression_text, to_text
from cereus.syntax import literals
from cereus.syntax.parsing import errors_in, read
from cereus.syntax.tree import bottom_up

__all__ = ["expression_text", "named", "parse", "parse_expression", "to_text"]


def parse(text: str, params: Mapping[str, Any] | None = None) -> sremo.SremoTree:
    """Read a query: an expression, `DETECT` before it, clauses after it.

    >>> parse("any({BUY:} -> r, {SELL: id = r.id}) WITHIN 10 EVENTS").window
    EventWindow(size=10)
    """
    query: sremo.SremoTree = read(
        "languages/sremo/grammar.lark", "query", text, _Texts(Conditions()), HINTS, params, expected
    )
    with errors_in(text):
        expression = named(query.formula.expression)
        return replace(query, formula=replace(query.formula, expression=expression), text=text)


def parse_expression(text: str, params: Mapping[str, Any] | None = None) -> sremo.Sremo:
    """Read an expression alone. Registers and columns are not yet distinguished (see `named`)."""
    result: sremo.Sremo = read(
        "languages/sremo/grammar.lark", "part", text, _Texts(Conditions()), HINTS, params, expected
    )
    return result


class _Texts(ClauseTexts):
    """One method per rule of `grammar.lark`; those of conditions are inherited."""

    def query(self, meta: Meta, *parts: Any) -> sremo.SremoTree:
        detect = isinstance(parts[0], Token)
        expression, *rest = parts[1:] if detect else parts
        pattern = sremo.Pattern(expression, detect, span=expression.span)
        return ParsedQuery(pattern, span=span_of(meta), **clauses.merged(rest))

    # ------------------------------------------------------------ operators

    def disjunction(self, meta: Meta, left: sremo.Sremo, right: sremo.Sremo) -> sremo.Sremo:
        return sremo.Disjunction(left, right, span=span_of(meta))

    def intersection(self, meta: Meta, left: sremo.Sremo, right: sremo.Sremo) -> sremo.Sremo:
        return sremo.Intersection(left, right, span=span_of(meta))

    def concatenation(self, meta: Meta, left: sremo.Sremo, right: sremo.Sremo) -> sremo.Sremo:
        return sremo.Concatenation(left, right, span=span_of(meta))

    def complement(self, meta: Meta, body: sremo.Sremo) -> sremo.Sremo:
        return sremo.Complement(body, span=span_of(meta))

    def star(self, meta: Meta, body: sremo.Sremo) -> sremo.Sremo:
        return sremo.Star(body, span=span_of(meta))

    def plus(self, meta: Meta, body: sremo.Sremo) -> sremo.Sremo:
        return sremo.Plus(body, span=span_of(meta))

    def optional(self, meta: Meta, body: sremo.Sremo) -> sremo.Sremo:
        return sremo.Optional(body, span=span_of(meta))

    def events_window(
        self, meta: Meta, body: sremo.Sremo, first: Token, dots: Token, last: str
    ) -> sremo.Sremo:
        if first != "1":
            raise QuerySyntaxError(
                "a window counts from 1", span=token_span(first), hint=f"write [1..{last}]"
            )
        place = (token_span(dots)[1], span_of(meta)[1] - 1)
        window = clauses.window([(clauses.amount(last, place), "EVENTS")], place)
        return sremo.Windowed(body, window, span=span_of(meta))

    def windowed(self, meta: Meta, body: sremo.Sremo, window: Window) -> sremo.Sremo:
        return sremo.Windowed(body, window, span=span_of(meta))

    def any_(self, meta: Meta, *parts: sremo.Sremo) -> sremo.Sremo:
        return sremo.Any(parts, span=span_of(meta))

    def next_(self, meta: Meta, *parts: sremo.Sremo) -> sremo.Sremo:
        return sremo.Next(parts, span=span_of(meta))

    # ------------------------------------------------------------ terminals

    def epsilon(self, meta: Meta) -> sremo.Sremo:
        return sremo.Epsilon(span=span_of(meta))

    def nothing(self, meta: Meta) -> sremo.Sremo:
        return sremo.Nothing(span=span_of(meta))

    def marked(self, meta: Meta, *parts: Any) -> sremo.Sremo:
        return _terminal(meta, True, parts)

    def skipped(self, meta: Meta, word: Token, *parts: Any) -> sremo.Sremo:
        return _terminal(meta, False, parts)

    def untyped(self, meta: Meta, condition: ex.Expression) -> dict[str, Any]:
        return {"condition": condition}

    def typed(self, meta: Meta, name: str, condition: ex.Expression | None = None) -> Any:
        conditions = {} if condition is None else {"condition": condition}
        return {"type": name, **conditions}

    def store(self, meta: Meta, name: str) -> dict[str, Any]:
        return {"register": name}


def _terminal(meta: Meta, marks: bool, parts: tuple[dict[str, Any], ...]) -> sremo.Sremo:
    fields = {key: value for part in parts for key, value in part.items()}
    for node in fields.get("condition", ex.Literal(True)).walk():
        if isinstance(node, ex.Aggregate):
            raise QuerySyntaxError(
                f"{node.function} is taken over several events, and a register holds one",
                span=node.span,
                hint="least(x, y) and greatest(x, y) compare values of the event and of registers",
            )
    return sremo.Terminal(marks=marks, span=span_of(meta), **fields)


# ---------------------------------------------------------------- names


def named(expression: sremo.Sremo) -> sremo.Sremo:
    """The expression with `r.x` read from the register r, where some `-> r` writes it; any other
    `r.x` is a column. Both sides of a `&` writing one register is refused (Thm 34 has R1 ∩ R2 = ∅).
    """
    registers = frozenset(
        node.register
        for node in expression.walk()
        if isinstance(node, sremo.Terminal) and node.register is not None
    )
    for node in expression.walk():
        if isinstance(node, sremo.Intersection):
            both = sremo.written(node.left) & sremo.written(node.right)
            if both:
                name = literals.quote_name(min(both))
                raise RefusedError(
                    f"both sides of & store into {name}",
                    span=node.span,
                    hint="give the register another name on one side",
                )

    def read_from(node: sremo.Sremo) -> sremo.Sremo:
        if isinstance(node, sremo.Terminal):
            return replace(node, condition=_resolved(node.condition, registers))
        return node

    return bottom_up(expression, read_from)


def _resolved(condition: ex.Expression, registers: frozenset[str]) -> ex.Expression:
    if isinstance(condition, ex.Attribute):
        first, *path = condition.path
        if condition.variable is None and path and first in registers:
            return replace(condition, path=tuple(path), variable=first)
        return condition
    return ex.rebuild(condition, lambda child: _resolved(child, registers))
