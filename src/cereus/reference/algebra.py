"""The event algebra by Definitions 3–13 of the paper (Carlson and Lisper 2010).

`meaning` is the full semantics, word for word: sets of instances, quadratic per operator and worse.
`restriction_faults` checks Definition 13. Both instance frameworks are one here: an instance is its
interval and the rows it was made of (Example 5); with no rows it is the simple framework (Example
4), because every operator looks at intervals only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from cereus.errors import DataError
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
    tau_length,
)


class Instance(NamedTuple):
    """One occurrence: start(e), end(e), and the row numbers of its constituents."""

    start: int
    end: int
    rows: frozenset[int] = frozenset()


EventStream = frozenset[Instance]
Interpretation = Mapping[Primitive, EventStream]


def join(e: Instance, f: Instance) -> Instance:
    """e ⊕ f (Definition 3): commutative and associative."""
    return Instance(min(e.start, f.start), max(e.end, f.end), e.rows | f.rows)


# ---------------------------------------------------------------- Definition 9


def dis(s: EventStream, t: EventStream) -> EventStream:
    return s | t


def con(s: EventStream, t: EventStream) -> EventStream:
    return frozenset(join(e, f) for e in s for f in t)


def neg(s: EventStream, t: EventStream) -> EventStream:
    return frozenset(e for e in s if not any(e.start <= f.start and f.end <= e.end for f in t))


def seq(s: EventStream, t: EventStream) -> EventStream:
    return frozenset(join(e, f) for e in s for f in t if e.end < f.start)


def tim(s: EventStream, tau: int) -> EventStream:
    return frozenset(e for e in s if e.end - e.start <= tau)


# ---------------------------------------------------------------- Definition 10


def meaning(expression: EventExpression, interpretation: Interpretation) -> EventStream:
    """⟦E⟧ for an interpretation."""
    match expression:
        case Primitive():
            return interpretation.get(expression, frozenset())
        case Empty():
            return frozenset()
        case TemporalRestriction(body, tau):
            return tim(meaning(body, interpretation), tau_length(tau))
        case (
            Disjunction(left, right)
            | Conjunction(left, right)
            | Negation(left, right)
            | Sequence(left, right)
        ):
            function = OPERATORS[type(expression)]
            return function(meaning(left, interpretation), meaning(right, interpretation))
    raise TypeError(f"not an event expression: {expression!r}")


OPERATORS = {Disjunction: dis, Conjunction: con, Negation: neg, Sequence: seq}


def interpret(
    events: Iterable[tuple[int, Collection[Primitive]]], *, values: bool = True
) -> dict[Primitive, EventStream]:
    """The interpretation of a stream of rows: each a time and the primitives that occur there.

    With `values` an instance carries its row number, else only its interval.
    """
    streams: dict[Primitive, dict[int, Instance]] = {}
    for row, (time, occurring) in enumerate(events):
        rows = frozenset((row,)) if values else frozenset()
        for primitive in occurring:
            if time in streams.setdefault(primitive, {}):
                raise DataError(  # Definition 6, second clause
                    f"{primitive} occurs twice at time {time}",
                    hint="instances of one primitive are separated in time",
                )
            streams[primitive][time] = Instance(time, time, rows)
    return {primitive: frozenset(of.values()) for primitive, of in streams.items()}


def intervals(stream: Iterable[Instance]) -> frozenset[tuple[int, int]]:
    """The part of a stream that the simple framework sees."""
    return frozenset((e.start, e.end) for e in stream)


# ---------------------------------------------------------------- Definition 13


def restriction_faults(full: Iterable[Instance], detected: Iterable[Instance]) -> list[str]:
    """Why `detected` is not a valid restriction of `full`: empty if rem holds."""
    instances, chosen = frozenset(full), frozenset(detected)
    faults = [f"{e} is no instance of the full semantics" for e in sorted_(chosen - instances)]
    latest: dict[int, int] = {}
    for e in sorted_(chosen):
        if e.end in latest:
            faults.append(f"more than one instance ends at {e.end}")
        latest[e.end] = max(e.start, latest.get(e.end, e.start))
    for e in sorted_(instances):
        if e.end not in latest:
            faults.append(f"nothing detected at {e.end}, where {e} ends")
        elif latest[e.end] < e.start:
            faults.append(f"detected at {e.end} from {latest[e.end]}, but {e} starts later")
    return faults


def is_valid_restriction(full: Iterable[Instance], detected: Iterable[Instance]) -> bool:
    """rem(full, detected)."""
    return not restriction_faults(full, detected)


def detections(expression: EventExpression, interpretation: Interpretation) -> list[Instance]:
    """One valid restriction of ⟦E⟧, in order of time: the answer of Cereus, computed slowly."""
    latest: dict[int, Instance] = {}
    for e in sorted_(meaning(expression, interpretation)):
        latest[e.end] = e
    return [latest[end] for end in sorted(latest)]


def sorted_(stream: Iterable[Instance]) -> list[Instance]:
    return sorted(stream, key=lambda e: (e.start, e.end, sorted(e.rows)))
