"""Random expressions and streams for the tests of the event algebra."""

from __future__ import annotations

import random

import numpy as np

from cereus.languages.algebra.detect.program import DetectorProgram
from cereus.languages.algebra.detect.run import Instances
from cereus.languages.algebra.detect.ticks import Ticks, group
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
)
from cereus.reference import algebra as reference

A, B, C, D = PRIMITIVES = tuple(Primitive(name) for name in "ABCD")
TAUS = (0, 1, 2, 4, 8)
Events = list[tuple[int, list[Primitive]]]
"""Rows of a stream: a time, and the primitives that the row is an instance of."""


def expression(
    draw: random.Random, size: int, primitives: tuple[Primitive, ...] = PRIMITIVES
) -> EventExpression:
    """An expression of `size` subexpressions, rich in what is hard to detect: sequences of
    sequences and conjunctions."""
    if size == 1:
        return draw.choice(primitives)
    kind = draw.choices(
        (None, Disjunction, Conjunction, Negation, Sequence), weights=(1, 2, 2, 1, 4)
    )[0]
    if kind is None or size == 2:
        return expression(draw, size - 1, primitives).within(draw.choice(TAUS))
    left = draw.randint(1, size - 2)
    return kind(expression(draw, left, primitives), expression(draw, size - 1 - left, primitives))


def events(draw: random.Random, ticks: int) -> Events:
    """A stream in which primitives share ticks, in one row or in several."""
    present = PRIMITIVES[: draw.randint(2, len(PRIMITIVES))]
    time = draw.randint(-5, 5)
    found: Events = []
    for _ in range(ticks):
        time += draw.choice((1, 1, 1, 2, 5))
        chosen = [p for p in present if draw.random() < 0.5]
        cut = draw.randint(0, len(chosen))
        found += [(time, part) for part in (chosen[:cut], chosen[cut:]) if part]
    return found


def masks(program: DetectorProgram, stream: Events) -> list[int]:
    numbers = {p: number for number, p in enumerate(program.primitives)}
    return [sum(1 << numbers[p] for p in part if p in numbers) for _, part in stream]


def ticks(program: DetectorProgram, stream: Events, *, first_row: int = 0) -> Ticks:
    """The ticks of a stream of one key; rows of no concern are left in."""
    words = np.array(
        [[m >> 64 * w & (2**64 - 1) for w in range(program.words)] for m in masks(program, stream)],
        np.uint64,
    ).reshape(-1, program.words)
    rows = range(first_row, first_row + len(stream))
    return group([time for time, _ in stream], words, rows=rows)


def as_instances(found: Instances) -> list[reference.Instance]:
    pairs, rows = found.pairs(), found.constituents()
    assert all(each == sorted(set(each)) for each in rows)
    return [reference.Instance(s, e, frozenset(r)) for (s, e), r in zip(pairs, rows, strict=True)]
