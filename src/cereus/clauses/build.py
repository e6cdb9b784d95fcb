"""The clauses at the end of a CEQL query: WITHIN, PARTITION BY, CONSUME BY, LIMIT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cereus.clauses.tree import AttributeWindow, Consume, EventWindow, Skip, TimeWindow, Window
from cereus.errors import QuerySyntaxError, Span, did_you_mean
from cereus.syntax import literals

TITLES = {
    "partition_by": "PARTITION BY",
    "window": "WITHIN",
    "consume": "CONSUME BY",
    "limit": "LIMIT",
    "returned": "RETURN",
    "unfollowed": "NOT FOLLOWED BY",
    "skip": "AFTER MATCH SKIP",
    "timeouts": "WITH TIMEOUTS",
}


@dataclass(frozen=True)
class ParsedClause:
    """One clause: the field of `ParsedQuery` that it sets, and its value."""

    field: str
    value: Any
    span: Span


def merged(clauses: Iterable[ParsedClause]) -> dict[str, Any]:
    """The fields that the clauses set, each at most once."""
    fields: dict[str, Any] = {}
    for clause in clauses:
        if clause.field in fields:
            raise QuerySyntaxError(
                f"a second {TITLES[clause.field]}", span=clause.span, hint="keep one of the two"
            )
        fields[clause.field] = clause.value
    return fields


def consume(word: str, place: Span, span: Span) -> ParsedClause:
    if word.upper() not in Consume.__members__:
        raise QuerySyntaxError(
            f"unknown consumption policy {str(word)!r}",
            span=place,
            hint=did_you_mean(word, Consume.__members__),
        )
    return ParsedClause("consume", Consume(word.upper()), span)


SKIPS = {
    ("MATCH", "SKIP", *skip.value.split()[:2], event): skip
    for skip in Skip
    for event in ("EVENT", "ROW")
}
"""The words after AFTER; SQL says ROW."""


def skip(words: Sequence[str], span: Span) -> ParsedClause:
    chosen = SKIPS.get(tuple(word.upper() for word in words))
    if chosen is None:
        raise QuerySyntaxError(
            f"unknown skip mode {' '.join(('AFTER', *words))!r}",
            span=span,
            hint="write AFTER MATCH SKIP PAST LAST EVENT, or AFTER MATCH SKIP TO NEXT EVENT",
        )
    return ParsedClause("skip", chosen, span)


def limit(amount: str, span: Span) -> ParsedClause:
    return ParsedClause("limit", whole_number(amount, 0, "LIMIT", span), span)


def amount(given: str | timedelta, span: Span) -> str:
    """A number; a length of time is refused, since it would have a unit twice."""
    if isinstance(given, timedelta):
        raise QuerySyntaxError(
            "a timedelta has its unit, and a number is needed here",
            span=span,
            hint="leave out what follows it, or give a number",
        )
    return given


def time_window(length: timedelta, span: Span) -> Window:
    if length < timedelta():
        raise _negative(span)
    return TimeWindow(length // timedelta(microseconds=1), span=span)


def missing_unit(amount: str, span: Span) -> QuerySyntaxError:
    return QuerySyntaxError(
        f"WITHIN {amount} needs a unit",
        span=span,
        hint=f"write {amount} seconds, {amount} EVENTS or {amount} [attribute]",
    )


def window(amounts: list[tuple[str, str]], span: Span) -> Window:
    """`100 EVENTS`, or a length of time in one or more units."""
    if any(unit.lower() in ("event", "events") for _, unit in amounts):
        return _event_window(amounts, span)
    if any(amount.startswith("-") for amount, _ in amounts):
        raise _negative(span)
    return TimeWindow(literals.microseconds(amounts, span), span=span)


def _event_window(amounts: list[tuple[str, str]], span: Span) -> Window:
    if len(amounts) > 1:
        raise QuerySyntaxError(
            "a window counts either events or time", span=span, hint="keep one of the two"
        )
    return EventWindow(whole_number(amounts[0][0], 1, "WITHIN … EVENTS", span), span=span)


def attribute_window(amount: str, path: tuple[str, ...], span: Span) -> Window:
    if amount.startswith("-"):
        raise _negative(span)
    return AttributeWindow(literals.number(amount, span), path, span=span)


def _negative(span: Span) -> QuerySyntaxError:
    return QuerySyntaxError(
        "a window cannot be negative", span=span, hint="write a size of 0 or more"
    )


def whole_number(amount: str, least: int, title: str, span: Span) -> int:
    value = None if amount.startswith("-") else literals.number(amount, span)
    if not isinstance(value, int) or value < least:
        raise QuerySyntaxError(
            f"{title} takes a whole number of at least {least}",
            span=span,
            hint=f"write {max(least, 1)} or more" if least else "write 0 or more",
        )
    return value
