"""How often: the numbers in `φ{2,5}`, and which patterns may be nothing at all.

A match of CEL has at least one event, so `φ?` has no meaning of its own. What may be left out is
left out of what it stands in: `φ? ; ψ` is `ψ OR (φ ; ψ)`. The sign in front of it goes with it:
`χ ; φ? : ψ` is `χ : ψ` or `χ ; φ : ψ`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from cereus.clauses import build as clauses
from cereus.errors import QuerySyntaxError, RefusedError, Span
from cereus.languages.ceql import tree as cel

MOST_ROUNDS = 1_000
"""As many rounds may be counted, over all counts inside each other: each is a state."""


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
            "no round at all is no pattern", span=span, hint="leave it out, or write {0,1} or ?"
        )
    return Counts(fewest, highest)


def _number(given: str | timedelta, span: Span) -> int:
    return clauses.whole_number(clauses.amount(given, span), 0, "a count of rounds", span)


def may_be_nothing(formula: cel.Formula) -> bool:
    """Whether a pattern may be left out of what it stands in."""
    match formula:
        case cel.Optional():
            return True
        case cel.Repeated(body, least):
            return least == 0 or may_be_nothing(body)
        case cel.Type() | cel.Not():
            return False
        case cel.Or(left, right):
            return may_be_nothing(left) or may_be_nothing(right)
        case cel.Unless(left, _):
            return may_be_nothing(left)
    return all(map(may_be_nothing, formula.children()))


def check_counts(formula: cel.Formula, around: int = 1) -> None:
    """Refuse counts that are too high to be states, and absence of what may be nothing."""
    if isinstance(formula, cel.Unless) and may_be_nothing(formula.right):
        raise RefusedError(
            "what stands after UNLESS may be nothing at all, and that is always there",
            span=formula.right.span,
            hint="leave out ? and {0,…} there",
        )
    if isinstance(formula, cel.Repeated):
        around *= max(formula.least, formula.most or 1)
        if around > MOST_ROUNDS:
            raise RefusedError(
                f"this counts {around:,} rounds, and at most {MOST_ROUNDS:,} are counted",
                span=formula.span,
                hint="write A+ AS a … FILTER count(a) >= n",
            )
    for child in formula.children():
        check_counts(child, around)
