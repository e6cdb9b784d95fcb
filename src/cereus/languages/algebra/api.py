"""The event algebra from Python: expressions as objects, their bounds, laws and equivalence.

    from cereus.languages.algebra.api import event

    button, pressure, heat = event("B"), event("P"), event("T", "value > 38")
    twice = (button >> button).within(2) - (pressure | heat)

`A | B` is either, `A + B` both, `A >> B` first A then B, `A - B` an A during which no B lies, and
`A.within(τ)` an A that takes no longer than τ: whole ticks, or a `timedelta`. Every function here
takes an expression or its text.
"""

from __future__ import annotations

from cereus.expr.text import parse_condition
from cereus.languages.algebra import bounds as _bounds
from cereus.languages.algebra import equivalence as _equivalence
from cereus.languages.algebra import optimise as _optimise
from cereus.languages.algebra.bounds import Bounds
from cereus.languages.algebra.equivalence import Proved, Refuted, Undecided, Verdict
from cereus.languages.algebra.laws import LAWS, Law
from cereus.languages.algebra.optimise import Optimised
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
)

__all__ = [
    "LAWS",
    "Bounds",
    "Conjunction",
    "Disjunction",
    "Empty",
    "EventExpression",
    "Law",
    "Negation",
    "Optimised",
    "Primitive",
    "Proved",
    "Refuted",
    "Sequence",
    "TemporalRestriction",
    "Undecided",
    "Verdict",
    "bounds",
    "equivalent",
    "event",
    "never",
    "optimise",
    "parse",
]

never = Empty()
"""`0`, the event that never occurs."""


def event(name: str, condition: str | None = None) -> Primitive:
    """The events of a type (`*`: of any type), or those that satisfy a condition."""
    return Primitive(name, None if condition is None else parse_condition(condition))


def bounds(expression: EventExpression | str, *, values: bool = False) -> Bounds:
    """What detecting the expression costs at most, known before the first event.

    `values` chooses instances that carry their constituents over bare intervals.
    """
    return _bounds.bounds(_read(expression), values=values)


def optimise(
    expression: EventExpression | str,
    *,
    values: bool = False,
    patience: int = _optimise.PATIENCE,
) -> Optimised:
    """An equivalent expression with lower bounds, and the laws that lead to it."""
    return _optimise.optimise(_read(expression), values=values, patience=patience)


def equivalent(
    first: EventExpression | str,
    second: EventExpression | str,
    *,
    streams: int = _equivalence.STREAMS,
) -> Verdict:
    """Proved by laws, refuted by a stream, or not decided: `.equivalent` is True, False, None."""
    return _equivalence.equivalent(_read(first), _read(second), streams=streams)


def _read(expression: EventExpression | str) -> EventExpression:
    return parse(expression) if isinstance(expression, str) else expression
