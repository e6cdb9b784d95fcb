"""Static bounds: worked values, and what the paper's model says of them."""

from __future__ import annotations

import random

import pytest

from cereus.languages.algebra.bounds import bounds
from cereus.languages.algebra.detect.program import build
from cereus.languages.algebra.sizes import sized
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import size

from .drawing import expression


def test_fig_7() -> None:
    """(T+P)-B keeps l₃, r₃ and t₅, and five instances aᵢ."""
    limits = bounds(parse("(T + P) - B"))
    assert limits.memory == 5 * 2 + (2 + 2) + 1
    assert limits.state_bytes == 3 * 8


def test_the_value_framework_counts_constituents() -> None:
    """Three units for each of one, one, two, one and two primitives; l₃, r₃; t₅."""
    assert bounds(parse("(T + P) - B"), values=True).memory == 3 * 7 + 3 * 2 + 1


@pytest.mark.parametrize(
    ("text", "sets", "queue"),
    [
        ("A", 0, 0),
        ("A ; B", 1, 0),
        ("A + B", 2, 0),
        ("A ; (B ; C)", 2, 1),
        ("A ; (B + C)", 3, 2),
        ("A ; ((B + C) | (B ; C))_2", 4, 3),
        ("A ; ((B + C) - (A + D))", 3, 2),
        ("(A ; B ; C) ; D", 3, 0),
    ],
)
def test_sizes_of_sets(text: str, sets: int, queue: int) -> None:
    part = sized(parse(text))
    assert (part.set_size, part.queue_size) == (sets, queue)


def test_proposition_38_is_coarser() -> None:
    draw = random.Random(70)
    for _ in range(500):
        each = expression(draw, draw.randint(1, 30))
        assert sized(each).set_size < size(each)


def test_a_sequence_of_instants_needs_one_cell() -> None:
    """The right side of each `;` is instantaneous: nothing but l can have ended before it."""
    assert bounds(parse("A ; B ; C ; D")).state_bytes == 3 * 8


def test_equal_subexpressions_share_their_state() -> None:
    once, twice = bounds(parse("A ; B")), bounds(parse("(A ; B) | ((A ; B) - C)"))
    assert twice.state_bytes == once.state_bytes + 8
    assert twice.memory > 2 * once.memory - 10  # the paper's model shares nothing


@pytest.mark.parametrize("values", [False, True])
def test_the_state_is_exactly_as_large_as_announced(values: bool) -> None:
    draw = random.Random(71)
    for _ in range(100):
        each = expression(draw, draw.randint(1, 21))
        states = build(each, values=values).new_states(7)
        assert states.nbytes == 7 * bounds(each, values=values).state_bytes


def test_this_implementation_needs_less_than_the_model() -> None:
    """A cell for each unit of the model would be enough."""
    draw = random.Random(72)
    for _ in range(200):
        limits = bounds(expression(draw, draw.randint(1, 30)))
        assert limits.state_bytes <= 8 * limits.memory


def test_what_it_says() -> None:
    assert str(bounds(parse("(B ; B)_2 - (P | T)"))) == (
        "8 subexpressions: 24 memory units, at most 36 steps a tick, 16 bytes of state per key"
    )
