"""Decides whether two expressions are equivalent (Definition 17), by laws and small streams.

Equal normal forms are a proof by the laws. A stream on which the full semantics differ is a
refutation. Between the two lie cases that are not decided: the paper does not claim that its laws
are complete, and they are not (`A | (A)_2`, where A is any expression, is A; no law says so).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Literal

from cereus.languages.algebra.meaning import Instance, Stream, detected, meaning
from cereus.languages.algebra.normal import TooManyTermsError, normal_form
from cereus.languages.algebra.rewriting import law_list
from cereus.languages.algebra.tree import (
    ANY_TYPE,
    EventExpression,
    Primitive,
    check,
    primitives,
    restrictions,
    tau_length,
)

STREAMS = 2_000
"""The default number of streams that are tried."""
MOST_OF_ONE_LENGTH = 500
"""All streams of one length are tried when they are no more than this."""
LONGEST_STREAM = 7
LONGEST_WITH_VALUES = 4
"""With values, only streams of at most this many ticks are tried: comparing constituents takes time
exponential in the ticks."""

Difference = Literal["detections", "intervals", "constituents"]


@dataclass(frozen=True)
class Proved:
    """Equivalent, by the laws with these numbers."""

    laws: tuple[int, ...]
    equivalent: Literal[True] = True

    def __str__(self) -> str:
        if not self.laws:
            return "equivalent: they are the same expression"
        return f"equivalent: proved by {law_list(self.laws)}"


@dataclass(frozen=True)
class Refuted:
    """Not equivalent: on this stream they mean different things.

    `difference` says how much differs: what is detected; or only intervals that a restriction may
    leave out; or only which ticks instances are made of.
    """

    stream: Stream
    left: tuple[Instance, ...]
    """The instances that only the first expression has."""
    right: tuple[Instance, ...]
    difference: Difference
    equivalent: Literal[False] = False

    def __str__(self) -> str:
        ticks = ", ".join(f"{_listed(occurring)} at {time}" for time, occurring in self.stream)
        lines = [f"not equivalent: refuted by the stream {ticks}"]
        for side, instances in (("first", self.left), ("second", self.right)):
            if instances:
                lines.append(f"  only the {side} has {', '.join(map(_shown, instances))}")
        lines.append(f"  {DIFFERENCES[self.difference]}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Undecided:
    """The normal forms differ, but the expressions agree on every stream that was tried."""

    streams: int
    ticks: int
    equivalent: None = None

    def __str__(self) -> str:
        return (
            f"not decided: no difference on {self.streams} streams of up to {self.ticks} ticks, "
            "and no proof by the laws"
        )


Verdict = Proved | Refuted | Undecided
DIFFERENCES: dict[Difference, str] = {
    "detections": "what is detected differs",
    "intervals": "what is detected agrees on every stream tried",
    "constituents": "all intervals agree on every stream tried; the ticks they are made of do not",
}


def equivalent(
    first: EventExpression, second: EventExpression, *, streams: int = STREAMS
) -> Verdict:
    """Prove by the laws, or refute by a stream, or report how far was searched."""
    check(first | second)
    if first == second:
        return Proved(())
    laws = proof(first, second)
    if laws is not None:
        return Proved(laws)
    tried = list(islice(candidates(first | second), streams))
    refuted = refutation(first, second, tried)
    if refuted is None:
        return Undecided(len(tried), max(map(len, tried)))
    return shrunk(first, second, refuted)


def proof(first: EventExpression, second: EventExpression) -> tuple[int, ...] | None:
    """The laws that bring both to one normal form, if they have one in common."""
    try:
        (left, left_laws), (right, right_laws) = normal_form(first), normal_form(second)
    except TooManyTermsError:
        return None
    return tuple(sorted(left_laws | right_laws)) if left == right else None


def refutation(
    first: EventExpression, second: EventExpression, streams: list[Stream]
) -> Refuted | None:
    """The first stream on which the detections differ; failing that, the intervals; failing
    that, the constituents."""
    weaker: Refuted | None = None
    for stream in streams:
        refuted = _compared(first, second, stream, values=False)
        if refuted is not None and refuted.difference == "detections":
            return refuted
        weaker = weaker or refuted
    if weaker is not None:
        return weaker
    short = (stream for stream in streams if len(stream) <= LONGEST_WITH_VALUES)
    return next(filter(None, (_compared(first, second, s, values=True) for s in short)), None)


def shrunk(first: EventExpression, second: EventExpression, refuted: Refuted) -> Refuted:
    """A refutation of the same kind by as little of its stream as will do."""
    for smaller in _smaller(refuted.stream):
        again = _compared(first, second, smaller, values=refuted.difference == "constituents")
        if again is not None and again.difference == refuted.difference:
            return shrunk(first, second, again)
    return refuted


def _smaller(stream: Stream) -> Iterator[Stream]:
    """The stream without one of its ticks, or without one primitive of a tick."""
    for at, (time, occurring) in enumerate(stream):
        yield stream[:at] + stream[at + 1 :]
        for primitive in occurring if len(occurring) > 1 else ():
            fewer = tuple(p for p in occurring if p != primitive)
            if not any(_implies(p, primitive) for p in fewer):
                yield (*stream[:at], (time, fewer), *stream[at + 1 :])


def _compared(
    first: EventExpression, second: EventExpression, stream: Stream, *, values: bool
) -> Refuted | None:
    left, right = (meaning(each, stream, values=values) for each in (first, second))
    if left == right:
        return None
    difference: Difference = "constituents" if values else "intervals"
    if not values and detected(left) != detected(right):
        difference = "detections"
    only_left, only_right = (tuple(sorted(s)) for s in (left - right, right - left))
    return Refuted(stream, only_left, only_right, difference)


# ---------------------------------------------------------------- streams


def candidates(expression: EventExpression) -> Iterator[Stream]:
    """Streams worth trying: all short ones first, then longer ones at random (always the same).

    Conditions are taken to be independent of each other, except that an event which satisfies a
    condition is also an event of its type.
    """
    ticks = list(_ticks(primitives(expression)))
    gaps = _gaps(expression)
    if ticks:
        for length in range(1, LONGEST_STREAM):
            if len(ticks) ** length * len(gaps) ** (length - 1) <= MOST_OF_ONE_LENGTH:
                yield from _all_streams(ticks, gaps, length)
        yield from _mixed(ticks, gaps)
    else:
        yield ()


def _ticks(occurring: tuple[Primitive, ...]) -> Iterator[tuple[Primitive, ...]]:
    """The sets of primitives that can occur in one tick, small ones first."""
    for size in range(1, len(occurring) + 1):
        for chosen in islice(combinations(occurring, size), 1_000):
            if all(p in chosen for p in occurring if any(_implies(q, p) for q in chosen)):
                yield chosen


def _implies(q: Primitive, p: Primitive) -> bool:
    return p.condition is None and p.name in (q.name, ANY_TYPE)


def _gaps(expression: EventExpression) -> list[int]:
    """Distances between ticks at which a restriction can make a difference."""
    lengths = {tau_length(tau) for tau in restrictions(expression)}
    return sorted({1, *(length for length in lengths if length), *(n + 1 for n in lengths)})


def _all_streams(
    ticks: list[tuple[Primitive, ...]], gaps: list[int], length: int
) -> Iterator[Stream]:
    for distances in product(gaps, repeat=length - 1):
        times = [sum(distances[:i]) for i in range(length)]
        for occurring in product(ticks, repeat=length):
            yield tuple(zip(times, occurring, strict=True))


def _mixed(ticks: list[tuple[Primitive, ...]], gaps: list[int]) -> Iterator[Stream]:
    chance = random.Random(17)
    while True:
        time, stream = 0, []
        for _ in range(chance.randint(3, LONGEST_STREAM)):
            stream.append((time, chance.choice(ticks)))
            time += chance.choice(gaps)
        yield tuple(stream)


def _listed(occurring: tuple[Primitive, ...]) -> str:
    return " and ".join(map(str, occurring))


def _shown(instance: Instance) -> str:
    start, end, ticks = instance
    return (
        f"({start}, {end}) made of ticks {', '.join(map(str, ticks))}"
        if ticks
        else f"({start}, {end})"
    )
