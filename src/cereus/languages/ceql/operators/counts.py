"""Counts: the numbers in `φ{2,5}`, and which patterns may be empty.

A match of CEL has at least one event, so `φ?` alone has no meaning. An optional part is left out of
the pattern around it: `φ? ; ψ` is `ψ OR (φ ; ψ)`. The sign in front of it goes with it: `χ ; φ? :
ψ` is `χ : ψ` or `χ ; φ : ψ`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from cereus.clauses import build as clauses
from cereus.clauses.tree import Strategy
from cereus.errors import QuerySyntaxError, RefusedError, Span
from cereus.languages.ceql import tree as cel

MOST_ROUNDS = 1_000
"""The most rounds that may be counted, over nested counts: each is a state."""

MOST_NESTED = 12
"""The most iterations inside each other. The work for an event grows with the cube of it, and a
translation doubles with each."""

MOST_EXCEPTIONS = 6
"""The most UNLESS inside the exception of another UNLESS. The states of each are sets of states of
the one inside, so an event costs ten times as much with each."""

FEW_ROUNDS = 16
"""The most rounds where an automaton compares whole runs, as a strategy inside a pattern does: its
states are sets of such states."""


class Counts(NamedTuple):
    """The fewest rounds, and the most (None: any number)."""

    least: int
    most: int | None


def rounds(least: str | timedelta, most: str | timedelta | None, span: Span) -> Counts:
    """The numbers between the braces."""
    fewest = _number(least, span)
    if most is None:
        return Counts(fewest, None)
    highest = _number(most, span)
    if highest < fewest:
        raise QuerySyntaxError(
            f"{{{fewest},{highest}}} counts down",
            span=span,
            hint=f"write {{{highest},{fewest}}}: the fewest first",
        )
    if highest == 0:
        raise QuerySyntaxError(
            "a pattern needs at least one round",
            span=span,
            hint="leave it out, or write {0,1} or ?",
        )
    return Counts(fewest, highest)


def _number(given: str | timedelta, span: Span) -> int:
    return clauses.whole_number(clauses.amount(given, span), 0, "a count of rounds", span)


def may_be_nothing(formula: cel.Formula) -> bool:
    """Whether a pattern may be left out of the pattern around it."""
    match formula:
        case cel.Optional():
            return True
        case cel.Repeated(body, least):
            return least == 0 or may_be_nothing(body)
        case cel.Type() | cel.Not():
            return False
        case cel.Or(operands):
            return any(map(may_be_nothing, operands))
        case cel.Unless(left, _):
            return may_be_nothing(left)
    return all(map(may_be_nothing, formula.children()))


def most_rounds(formula: cel.Formula) -> int:
    """The most rounds that are counted, over nested counts."""
    inside = max(map(most_rounds, formula.children()), default=1)
    if isinstance(formula, cel.Repeated):
        return inside * max(formula.least, formula.most or 1)
    return inside


def check_depth(formula: cel.Formula) -> None:
    """Refuse iterations and exceptions that are nested deeper than anyone writes them."""
    todo: list[tuple[cel.Formula, int, int]] = [(formula, 0, 0)]
    while todo:
        node, iterations, exceptions = todo.pop()
        iterations += _iterates(node)
        if iterations > MOST_NESTED:
            raise RefusedError(
                f"iterations are nested more than {MOST_NESTED} deep",
                span=node.span,
                hint="A+ repeats as often as it can: (A+)+ is the same",
            )
        if exceptions > MOST_EXCEPTIONS:
            raise RefusedError(
                f"UNLESS is nested more than {MOST_EXCEPTIONS} deep",
                span=node.span,
                hint="write exceptions side by side: (φ UNLESS ψ) UNLESS χ",
            )
        for child in node.children():
            excepted = isinstance(node, cel.Unless) and child is node.right
            todo.append((child, iterations, exceptions + excepted))


def _iterates(node: cel.Formula) -> bool:
    if isinstance(node, cel.Repeated):
        return node.most is None
    return isinstance(node, cel.Iteration | cel.ContiguousIteration)


def check_counts(formula: cel.Formula) -> None:
    """Refuse counts that are too high to be states, and absence of something that may be empty."""
    for node in formula.walk():
        match node:
            case cel.Unless(_, right) if may_be_nothing(right):
                raise RefusedError(
                    "the pattern after UNLESS may be empty, and an empty pattern always matches",
                    span=right.span,
                    hint="leave out ? and {0,…} there",
                )
            case cel.Repeated():
                _check_rounds(node, MOST_ROUNDS, "")
            case cel.Select(strategy, body) if strategy is not Strategy.STRICT:
                _check_rounds(body, FEW_ROUNDS, f"inside {strategy}(…) ")


def _check_rounds(node: cel.Formula, most: int, where: str) -> None:
    count = most_rounds(node)
    if count > most:
        raise RefusedError(
            f"this counts {count:,} rounds, and {where}at most {most:,} are counted",
            span=node.span,
            hint="write A+ AS a … FILTER count(a) >= n",
        )
