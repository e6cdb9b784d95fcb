"""The event algebra from Python: expressions as objects, their bounds, laws and equivalence.

    from cereus import algebra

    button, pressure = algebra.event("B"), algebra.event("P")
    heat = algebra.event("T", where="value > 38")
    twice = (button >> button).within(2) - (pressure | heat)
    instances = algebra.compile(twice).run(table)

`A | B` is either, `A + B` both, `A >> B` first A then B, `A - B` an A during which no B lies, and
`A.within(τ)` an A that takes no longer than τ: whole ticks, or a `timedelta`. Every function here
takes an expression or its text.
"""

from __future__ import annotations

import pyarrow as pa

from cereus import query
from cereus.expr.text import parse_condition
from cereus.language.protocol import Params
from cereus.languages.algebra import bounds as _bounds
from cereus.languages.algebra import equivalence as _equivalence
from cereus.languages.algebra import optimise as _optimise
from cereus.languages.algebra.bounds import Bounds
from cereus.languages.algebra.equivalence import Proved, Refuted, Undecided, Verdict
from cereus.languages.algebra.language import Algebra
from cereus.languages.algebra.laws import LAWS, Law
from cereus.languages.algebra.optimise import Optimised
from cereus.languages.algebra.tree import (
    ANY_TYPE,
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
)
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream

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
    "compile",
    "equivalent",
    "event",
    "never",
    "optimise",
    "parse",
]

never = Empty()
"""`0`, the event that never occurs."""


def parse(text: str, *, params: Params | None = None) -> EventExpression:
    """Read an expression. `params` are the values of the parameters that it names."""
    return Algebra().parse(text, params=params)


def event(type: str | None = None, *, where: str | None = None) -> Primitive:
    """The events of a type, or of any type, that satisfy a condition."""
    condition = None if where is None else parse_condition(where)
    return Primitive(ANY_TYPE if type is None else type, condition)


def compile(
    source: EventExpression | str,
    *,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
    values: bool = False,
    merge_ties: bool = False,
    optimise: bool = True,
) -> Query:
    """The query of a text or an expression. The memory of one is known before it runs: there is
    no limit to be set.

    values      instances carry the row numbers of their constituents
    merge_ties  of several instances of one primitive in a tick the first counts
    optimise    detect an equivalent expression with lower bounds, if the laws lead to one
    """
    return query.compile(
        source,
        dialect="algebra",
        stream=stream,
        schema=schema,
        limits=limits,
        params=params,
        values=values,
        merge_ties=merge_ties,
        optimise=optimise,
    )


def bounds(expression: EventExpression | str, *, values: bool = False) -> Bounds:
    """The greatest cost of detecting the expression, known before the first event.

    With `values`, instances carry their constituents; otherwise they are bare intervals.
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
