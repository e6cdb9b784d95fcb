"""Reads CEQL: a text becomes the tree of `ceql.tree`.

CEQL is the language of CORE with the rest of CEL: `AND ALL UNLESS START(φ) PROJECT[a, b](φ)`,
strategies anywhere, comparisons between variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lark import Token
from lark.tree import Meta

from cereus.clauses import build as clauses
from cereus.clauses.text import ClauseTexts
from cereus.clauses.tree import TOTALS, Output, ParsedQuery, Returned, Strategy, Window
from cereus.errors import QuerySyntaxError, did_you_mean
from cereus.expr import tree as ex
from cereus.expr.text import Conditions, span_of, token_span
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.filters import Boxed, predicate, returned_value
from cereus.languages.ceql.hints import HINTS
from cereus.languages.ceql.operators import counts, gaps
from cereus.languages.ceql.operators.absence import excluded, unfollowed_by
from cereus.languages.ceql.operators.counts import Counts, check_depth
from cereus.languages.ceql.operators.previous import PREV, previous
from cereus.languages.ceql.print import to_text
from cereus.languages.ceql.scope import check_names
from cereus.syntax.parsing import errors_in, read

__all__ = ["parse", "to_text"]

OPERATORS = (
    "NOT",
    "START",
    "PROJECT",
    *(s.value for s in Strategy if s is not Strategy.ALL),
)


def parse(text: str, params: Mapping[str, Any] | None = None) -> cel.CeqlTree:
    """Read a CEQL query; `params` are the values of its parameters, `:limit`.

    >>> parse("SELECT * FROM Stock WHERE SELL AS a ; BUY AS b FILTER a.price < b.price").streams
    ('Stock',)
    """
    grammar = "languages/ceql/grammar.lark"
    query: cel.CeqlTree = read(grammar, "query", text, _Ceql(_CeqlConditions()), HINTS, params)
    with errors_in(text):
        check_depth(query.formula)
        check_names(query)
    return replace(query, text=text)


class _CeqlConditions(Conditions):
    """Conditions, with `prev(b.price)`."""

    def call(self, meta: Meta, function: Token, *parts: Any) -> ex.Expression:
        if function.lower() == PREV:
            return previous(parts, span_of(meta))
        return super().call(meta, function, *parts)


class _Ceql(ClauseTexts):
    """One method per rule of `grammar.lark`."""

    # ------------------------------------------------------------ query

    def query(self, meta: Meta, selection: dict[str, Any], *parts: Any) -> cel.CeqlTree:
        streams = parts[0] if isinstance(parts[0], tuple) else ()
        formula, *rest = parts[1:] if streams else parts
        return ParsedQuery(
            formula, streams=streams, span=span_of(meta), **selection, **clauses.merged(rest)
        )

    def selection(self, meta: Meta, *parts: dict[str, Any]) -> dict[str, Any]:
        return {key: value for part in parts for key, value in part.items()}

    def strategy(self, meta: Meta, word: Token) -> dict[str, Any]:
        if word.upper() not in Strategy.__members__:
            raise QuerySyntaxError(
                f"unknown strategy {str(word)!r}",
                span=span_of(meta),
                hint=did_you_mean(word, Strategy.__members__),
            )
        return {"strategy": Strategy(word.upper())}

    def everything(self, meta: Meta) -> dict[str, Any]:
        return {"select": None}

    def counted(self, meta: Meta, word: Token) -> None:
        if word.upper() != "COUNT":
            raise QuerySyntaxError(
                f"{word}(*) cannot be selected", span=span_of(meta), hint="write COUNT(*)"
            )

    def totalled(self, meta: Meta, word: Token, path: tuple[str, ...]) -> ex.Aggregate:
        if word.lower() not in TOTALS or len(path) < 2:
            raise QuerySyntaxError(
                f"{word}({'.'.join(path)}) cannot be selected",
                span=span_of(meta),
                hint="over all matches there are COUNT(*), SUM(b.x), MIN(b.x), MAX(b.x), AVG(b.x)",
            )
        return ex.Aggregate(word.lower(), path[0], path[1:], span=span_of(meta))

    def totals(self, meta: Meta, *parts: ex.Aggregate | None) -> dict[str, Any]:
        return {"count": True, "totals": tuple(part for part in parts if part is not None)}

    def listed(self, meta: Meta, *outputs: Output) -> dict[str, Any]:
        return {"select": outputs}

    def output(self, meta: Meta, variable: str, *attributes: tuple[str, ...]) -> Output:
        return Output(variable, attributes, span=span_of(meta))

    def variable(self, meta: Meta, *names: str) -> str:
        return ">".join(names)

    def streams(self, meta: Meta, *names: str) -> tuple[str, ...]:
        return names

    def unfollowed(self, meta: Meta, event: cel.Formula, window: Window) -> clauses.ParsedClause:
        return clauses.ParsedClause("unfollowed", unfollowed_by(event, window), span_of(meta))

    def returns(self, meta: Meta, *values: Returned) -> clauses.ParsedClause:
        return clauses.ParsedClause("returned", values, span_of(meta))

    def returned(self, meta: Meta, value: ex.Expression, name: str | None = None) -> Returned:
        return Returned(returned_value(value), name, span=span_of(meta))

    # ------------------------------------------------------------ formulas

    def filter(self, meta: Meta, body: cel.Formula, condition: ex.Expression) -> cel.Formula:
        return cel.Filter(body, predicate(condition), span=span_of(meta))

    def unless(self, meta: Meta, left: cel.Formula, right: cel.Formula) -> cel.Formula:
        return cel.Unless(left, right, span=span_of(meta))

    def without(self, meta: Meta, left: cel.Formula, right: cel.Formula) -> cel.Formula:
        return cel.Without(left, excluded(right), span=span_of(meta))

    def until(self, meta: Meta, left: cel.Formula, right: cel.Formula) -> cel.Formula:
        return cel.Without(left, excluded(right), through=True, span=span_of(meta))

    def either(self, meta: Meta, *formulas: cel.Formula) -> cel.Formula:
        return cel.Or(formulas, span=span_of(meta))

    def both(self, meta: Meta, left: cel.Formula, right: cel.Formula) -> cel.Formula:
        return cel.And(left, right, span=span_of(meta))

    def all_(self, meta: Meta, left: cel.Formula, right: cel.Formula) -> cel.Formula:
        return cel.All(left, right, span=span_of(meta))

    def then(self, meta: Meta, left: cel.Formula, right: cel.Formula) -> cel.Formula:
        return cel.Sequence(left, right, span=span_of(meta))

    def then_next(self, meta: Meta, left: cel.Formula, right: cel.Formula) -> cel.Formula:
        return cel.ContiguousSequence(left, right, span=span_of(meta))

    def iteration(self, meta: Meta, body: cel.Formula) -> cel.Formula:
        return cel.Iteration(body, span=span_of(meta))

    def contiguous_iteration(self, meta: Meta, body: cel.Formula) -> cel.Formula:
        return cel.ContiguousIteration(body, span=span_of(meta))

    def optional(self, meta: Meta, body: cel.Formula) -> cel.Formula:
        return cel.Optional(body, span=span_of(meta))

    def repeated(
        self, meta: Meta, body: cel.Formula, counts: Counts, gap: cel.GapLength | None = None
    ) -> cel.Formula:
        return cel.Repeated(body, *counts, False, gap, span=span_of(meta))

    def contiguously_repeated(
        self, meta: Meta, body: cel.Formula, counts: Counts, gap: cel.GapLength | None = None
    ) -> cel.Formula:
        return cel.Repeated(body, *counts, True, gap, span=span_of(meta))

    def spaced(self, meta: Meta, body: cel.Formula, *parts: Any) -> cel.Formula:
        return cel.Repeated(body, 1, None, False, parts[-1], span=span_of(meta))

    def contiguously_spaced(self, meta: Meta, body: cel.Formula, *parts: Any) -> cel.Formula:
        return cel.Repeated(body, 1, None, True, parts[-1], span=span_of(meta))

    def then_after(
        self, meta: Meta, left: cel.Formula, gap: cel.GapLength, right: cel.Formula
    ) -> cel.Formula:
        return cel.Gapped(left, right, gap, span=span_of(meta))

    def then_next_after(
        self, meta: Meta, left: cel.Formula, gap: cel.GapLength, right: cel.Formula
    ) -> cel.Formula:
        return cel.Gapped(left, right, gap, True, span=span_of(meta))

    def longest_gap(self, meta: Meta, *parts: Any) -> cel.GapLength:
        return gaps.gap(None, parts[-1], span_of(meta))

    def shortest_gap(self, meta: Meta, least: Window, *dots: Token) -> cel.GapLength:
        return gaps.gap(least, None, span_of(meta))

    def bounded_gap(self, meta: Meta, *parts: Any) -> cel.GapLength:
        return gaps.gap(parts[0], parts[-1], span_of(meta))

    def inner_window(self, meta: Meta, body: cel.Formula, window: Window) -> cel.Formula:
        return cel.Within(body, gaps.checked_window(window), span=span_of(meta))

    def exactly(self, meta: Meta, amount: str) -> Counts:
        return counts.rounds(amount, amount, span_of(meta))

    def at_least(self, meta: Meta, least: str) -> Counts:
        return counts.rounds(least, None, span_of(meta))

    def at_most(self, meta: Meta, most: str) -> Counts:
        return counts.rounds("0", most, span_of(meta))

    def between_counts(self, meta: Meta, least: str, most: str) -> Counts:
        return counts.rounds(least, most, span_of(meta))

    def named(self, meta: Meta, body: cel.Formula, variable: str) -> cel.Formula:
        return cel.As(body, variable, span=span_of(meta))

    def event(self, meta: Meta, name: str) -> cel.Formula:
        return cel.Type(name, span=span_of(meta))

    def stream_event(self, meta: Meta, stream: str, name: str) -> cel.Formula:
        return cel.Type(name, stream, span=span_of(meta))

    def any_stream_event(self, meta: Meta, stream: str) -> cel.Formula:
        return cel.Type("*", stream, span=span_of(meta))

    def any_event(self, meta: Meta) -> cel.Formula:
        return cel.Type("*", span=span_of(meta))

    def applied(self, meta: Meta, word: Token, body: cel.Formula) -> cel.Formula:
        """`START(φ)`, `NEXT(φ)` …"""
        operator, span = word.upper(), span_of(meta)
        if operator == "START":
            return cel.Start(body, span=span)
        if operator in Strategy.__members__ and operator != Strategy.ALL:
            return cel.Select(Strategy(operator), body, span=span)
        raise _unknown_operator(word)

    def not_event(self, meta: Meta, body: cel.Formula) -> cel.Formula:
        return cel.Not(body, span=span_of(meta))

    def projected(self, meta: Meta, word: Token, *parts: Any) -> cel.Formula:
        *names, body = parts
        if word.upper() != "PROJECT":
            raise _unknown_operator(word)
        return cel.Project(frozenset(names), body, span=span_of(meta))

    def boxed(self, meta: Meta, variable: str, condition: ex.Expression) -> ex.Expression:
        return Boxed(variable, condition, span=span_of(meta))


def _unknown_operator(word: Token) -> QuerySyntaxError:
    return QuerySyntaxError(
        f"{str(word)!r} is not an operator on patterns",
        span=token_span(word),
        hint=did_you_mean(word, OPERATORS),
    )
