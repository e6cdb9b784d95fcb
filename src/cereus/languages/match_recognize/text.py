"""Reads MATCH_RECOGNIZE: a text becomes the clause of `match_recognize.tree`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from lark import Token
from lark.tree import Meta

from cereus.errors import QuerySyntaxError, RefusedError, Span
from cereus.expr import tree as ex
from cereus.expr.text import (
    Conditions,
    Items,
    member,
    span_of,
    spliced,
    token_span,
)
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.parsing.calls import MOST, bracketed, called, counted
from cereus.languages.match_recognize.parsing.check import check
from cereus.languages.match_recognize.parsing.hints import HINTS
from cereus.languages.match_recognize.parsing.names import Name, canonical, resolved
from cereus.languages.match_recognize.print import to_text
from cereus.syntax import literals
from cereus.syntax.parsing import errors_in, read

__all__ = ["parse", "parse_only", "to_text"]

GRAMMAR = "languages/match_recognize/grammar.lark"


def parse(text: str, params: Mapping[str, Any] | None = None) -> tree.Clause:
    """Read a clause, and check what can be checked without knowing the table.

    >>> parse("MATCH_RECOGNIZE (PARTITION BY k PATTERN (a b+))").variables()
    ('A', 'B')
    """
    clause = parse_only(text, params)
    with errors_in(text):
        check(clause)
    return clause


def parse_only(text: str, params: Mapping[str, Any] | None = None) -> tree.Clause:
    """Read a clause; only its grammar is checked."""
    clause: tree.Clause = read(GRAMMAR, "clause", text, _Texts(), HINTS, params)
    with errors_in(text):
        return replace(resolved(clause), text=text)


Part = tuple[str, Any]
"""A field of the clause, and its value."""
Test = Callable[[ex.Expression], ex.Expression]
"""A function that adds what stands after an operand."""


class _Texts(Conditions):
    """One method per rule of `grammar.lark`; those of conditions are inherited."""

    def clause(self, meta: Meta, body: tree.Clause, *alias: object) -> tree.Clause:
        return body

    def body(self, meta: Meta, *parts: Part | None) -> tree.Clause:
        return tree.Clause(span=span_of(meta), **dict(part for part in parts if part))

    def alias(self, meta: Meta, *names: str) -> None:
        return None

    def partition(self, meta: Meta, *columns: ex.Expression) -> Part:
        return "partition", tuple(_column(each, "PARTITION BY") for each in columns)

    def order(self, meta: Meta, *items: tree.Order) -> Part:
        return "order", items

    def order_item(self, meta: Meta, column: ex.Expression, *words: Token) -> tree.Order:
        given = {word.upper() for word in words}
        nulls = None if not given & {"FIRST", "LAST"} else "FIRST" in given
        return tree.Order(_column(column, "ORDER BY"), "DESC" in given, nulls, span=span_of(meta))

    def measures(self, meta: Meta, *measures: tree.Measure) -> Part:
        return "measures", measures

    def measure(self, meta: Meta, value: ex.Expression, name: str) -> tree.Measure:
        return tree.Measure(value, str(name), span=span_of(meta))

    # ------------------------------------------------------------ rows and skipping

    def one_row(self, meta: Meta) -> Part:
        return "rows", tree.Rows.ONE

    def show_empty(self, meta: Meta) -> Part:
        return "rows", tree.Rows.SHOW

    def omit_empty(self, meta: Meta) -> Part:
        return "rows", tree.Rows.OMIT

    def unmatched_rows(self, meta: Meta) -> Part:
        return "rows", tree.Rows.UNMATCHED

    def skip_past(self, meta: Meta) -> Part:
        return "skip", tree.Skip(span=span_of(meta))

    def skip_next(self, meta: Meta) -> Part:
        return "skip", tree.Skip(tree.SkipTo.NEXT_ROW, span=span_of(meta))

    def skip_first(self, meta: Meta, name: Name) -> Part:
        return "skip", tree.Skip(tree.SkipTo.FIRST, canonical(name), span=span_of(meta))

    def skip_last(self, meta: Meta, name: Name) -> Part:
        return "skip", tree.Skip(tree.SkipTo.LAST, canonical(name), span=span_of(meta))

    def search(self, meta: Meta, word: Token) -> None:
        raise RefusedError(
            f"{word.upper()} belongs to row patterns in windows, not to MATCH_RECOGNIZE",
            span=token_span(word),
            hint="leave it out: the search begins at every row; ^ ties a match to the first one",
        )

    # ------------------------------------------------------------ patterns

    def pattern_clause(self, meta: Meta, pattern: tree.Pattern) -> Part:
        return "pattern", pattern

    def alternation(self, meta: Meta, *parts: tree.Pattern) -> tree.Pattern:
        return tree.Alternation(parts, span=span_of(meta))

    def concatenation(self, meta: Meta, *parts: tree.Pattern) -> tree.Pattern:
        return tree.Concatenation(parts, span=span_of(meta))

    def quantified(self, meta: Meta, part: tree.Pattern, quantifier: Token) -> tree.Pattern:
        low, high, reluctant = _bounds(quantifier)
        return tree.Quantified(part, low, high, reluctant, span=span_of(meta))

    def variable(self, meta: Meta, name: Name) -> tree.Pattern:
        return tree.Variable(canonical(name), span=span_of(meta))

    def empty(self, meta: Meta) -> tree.Pattern:
        return tree.Empty(span=span_of(meta))

    def exclusion(self, meta: Meta, part: tree.Pattern) -> tree.Pattern:
        return tree.Exclusion(part, span=span_of(meta))

    def permutation(self, meta: Meta, *parts: tree.Pattern) -> tree.Pattern:
        return tree.Permutation(parts, span=span_of(meta))

    def partition_start(self, meta: Meta) -> tree.Pattern:
        return tree.PartitionStart(span=span_of(meta))

    def partition_end(self, meta: Meta) -> tree.Pattern:
        return tree.PartitionEnd(span=span_of(meta))

    # ------------------------------------------------------------ the clauses behind it

    def within(self, meta: Meta, length: ex.Expression, *timeouts: bool) -> Part:
        value = length.value if isinstance(length, ex.Literal) else None
        if not isinstance(value, timedelta):
            raise RefusedError(
                "WITHIN takes an interval", span=length.span, hint="write INTERVAL '1' HOUR"
            )
        return "within", tree.Within(value, bool(timeouts), span=span_of(meta))

    def timeouts(self, meta: Meta) -> bool:
        return True

    def subsets(self, meta: Meta, *subsets: tree.Subset) -> Part:
        return "subsets", subsets

    def subset(self, meta: Meta, name: Name, equals: Token, *members: Name) -> tree.Subset:
        names = tuple(canonical(member) for member in members)
        return tree.Subset(canonical(name), names, span=span_of(meta))

    def define(self, meta: Meta, *definitions: tree.Definition) -> Part:
        return "define", definitions

    def definition(self, meta: Meta, name: Name, condition: ex.Expression) -> tree.Definition:
        return tree.Definition(canonical(name), condition, span=span_of(meta))

    # ------------------------------------------------------------ expressions

    def name(self, meta: Meta, token: Token) -> str:
        return Name(literals.name_of(token), quoted=token[0] in '"`')

    def label(self, meta: Meta, token: Token) -> str:
        return self.name(meta, token)

    def in_(self, meta: Meta, *parts: Any) -> Callable[[ex.Expression], ex.Expression]:
        items = spliced(parts)
        return lambda operand: member(operand, items)

    def is_truth(self, meta: Meta, truth: Token) -> Test:
        return _truth(truth, negated=False)

    def is_not_truth(self, meta: Meta, truth: Token) -> Test:
        return _truth(truth, negated=True)

    def is_distinct(self, meta: Meta, other: ex.Expression) -> Test:
        return lambda operand: _distinct(operand, other)

    def is_not_distinct(self, meta: Meta, other: ex.Expression) -> Test:
        return lambda operand: ex.Not(_distinct(operand, other))

    def sized(self, meta: Meta, type_: Token, *sizes: Token) -> tuple[Token, tuple[Token, ...]]:
        return type_, sizes

    def cast(self, meta: Meta, operand: ex.Expression, type_: Any) -> ex.Expression:
        """A cast. Decimals are computed as doubles, rounded to their digits; other sizes mean
        nothing."""
        name, sizes = type_ if isinstance(type_, tuple) else (type_, ())
        if name.lower() not in ("decimal", "numeric"):
            return super().cast(meta, operand, name)
        digits = ex.Literal(int(sizes[1]) if len(sizes) > 1 else 0)
        double = ex.Call("to_double", (operand,), span=span_of(meta))
        return ex.Call("round", (double, digits), span=span_of(meta))

    def extract(self, meta: Meta, unit: Token, operand: ex.Expression) -> ex.Expression:
        return ex.Call(unit.lower(), (operand,), span=span_of(meta))

    def range_literal(self, meta: Meta, word: Token, value: Token, *units: Token) -> ex.Expression:
        return _interval_range(word, value, *units, span=span_of(meta))

    def call(self, meta: Meta, function: Token, *parts: ex.Expression | Items) -> ex.Expression:
        return called(function, spliced(parts), None, span_of(meta))

    def call_with_semantics(
        self, meta: Meta, word: Token, function: Token, *arguments: ex.Expression
    ) -> ex.Expression:
        return called(function, arguments, tree.Semantics(word.upper()), span_of(meta))

    def call_star(self, meta: Meta, function: Token, *parts: Any) -> ex.Expression:
        return counted(function, parts[:-1], None, span_of(meta))

    def call_star_with_semantics(
        self, meta: Meta, word: Token, function: Token, *parts: Any
    ) -> ex.Expression:
        return counted(function, parts[:-1], tree.Semantics(word.upper()), span_of(meta))

    def bracketed(self, meta: Meta, before: ex.Expression, *inside: ex.Expression) -> ex.Expression:
        return bracketed(before, inside, span_of(meta))

    def distinct_call(self, meta: Meta, *parts: Any) -> ex.Expression:
        raise RefusedError(
            "DISTINCT is not allowed in the aggregates of a row pattern",
            span=span_of(meta),
            hint="aggregate what the clause emits, in the query around it",
        )

    def subquery(self, meta: Meta, word: Token, *parts: Any) -> ex.Expression:
        raise RefusedError(
            "subqueries are not supported in MATCH_RECOGNIZE",
            span=token_span(word),
            hint="join the value to the input table first",
        )


def _truth(truth: Token, *, negated: bool) -> Test:
    """`IS [NOT] TRUE`, `FALSE`, `UNKNOWN`: true or false, never null."""

    def tested(operand: ex.Expression) -> ex.Expression:
        if truth.upper() == "UNKNOWN":
            test: ex.Expression = ex.IsNull(operand)
        else:
            holds = operand if truth.upper() == "TRUE" else ex.Not(operand)
            test = ex.Call("coalesce", (holds, ex.Literal(False)))
        return ex.Not(test) if negated else test

    return tested


def _distinct(left: ex.Expression, right: ex.Expression) -> ex.Expression:
    """Whether two values differ; null is a value that equals itself."""
    one = ex.And((ex.IsNull(left), ex.Not(ex.IsNull(right))))
    other = ex.And((ex.Not(ex.IsNull(left)), ex.IsNull(right)))
    differ = ex.Call("coalesce", (ex.Comparison("!=", left, right), ex.Literal(False)))
    return ex.Or((one, other, differ))


def _column(column: ex.Expression, where: str) -> tuple[str, ...]:
    if not isinstance(column, ex.Attribute):
        raise RefusedError(
            f"{where} takes columns, not expressions",
            span=column.span,
            hint="compute it in a subquery before MATCH_RECOGNIZE",
        )
    return tuple(map(str, column.path))


def _bounds(quantifier: Token) -> tuple[int, int | None, bool]:
    """The least and most rounds of a quantifier, and whether it is reluctant."""
    text = re.sub(r"\s", "", quantifier)
    simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if text[0] in simple:
        return *simple[text[0]], len(text) > 1
    inside = text[1 : text.index("}")]
    first, comma, last = inside.partition(",")
    if not inside:
        raise QuerySyntaxError(
            "a quantifier needs a bound",
            span=token_span(quantifier),
            hint="write {2}, {2,}, {,5} or {2,5}",
        )
    low = int(first or 0)
    high = low if not comma else int(last) if last else None
    _check_bounds(low, high, token_span(quantifier))
    return low, high, text.endswith("?")


def _check_bounds(low: int, high: int | None, span: Span) -> None:
    if high == 0:
        raise RefusedError(
            "the upper bound of a quantifier is at least 1",
            span=span,
            hint="() is the pattern of no row",
        )
    if max(low, high or 0) > MOST:
        raise RefusedError(
            f"a bound of a quantifier is at most {MOST}",
            span=span,
            hint="leave the upper bound out: {2,}",
        )
    if high is not None and low > high:
        raise RefusedError(
            "the lower bound of a quantifier exceeds the upper one",
            span=span,
            hint="write the smaller one first: {2,5}",
        )


def _interval_range(word: Token, value: Token, *units: Token, span: Span) -> ex.Expression:
    """`INTERVAL '3:10' MINUTE TO SECOND`: the parts in units of falling size."""
    if word.upper() != "INTERVAL":
        raise QuerySyntaxError(
            f"{word} is no literal of this form", span=span, hint="a range of units is for INTERVAL"
        )
    names = ("DAY", "HOUR", "MINUTE", "SECOND")
    ends = [unit.upper().removesuffix("S") for unit in units]
    text = literals.unquote(value)
    amounts = re.split(r"[\s:]+", text.strip())
    if not all(end in names for end in ends):
        raise QuerySyntaxError(
            "an interval has days, hours, minutes and seconds",
            span=span,
            hint="write INTERVAL '3:10' MINUTE TO SECOND, from the larger unit to the smaller",
        )
    between = names[names.index(ends[0]) : names.index(ends[1]) + 1]
    if len(between) != len(amounts):
        raise QuerySyntaxError(
            f"{text!r} is not {ends[0]} TO {ends[1]}",
            span=token_span(value),
            hint="write INTERVAL '3:10' MINUTE TO SECOND",
        )
    pairs = zip(amounts, between, strict=True)
    return ex.Literal(literals.interval(pairs, token_span(value)), span=span)
