"""Equivalence: proved by laws, refuted by a stream, or not decided."""

from __future__ import annotations

import random

import pytest

from cereus import algebra as ea
from cereus.errors import RefusedError
from cereus.languages.algebra.equivalence import Proved, Refuted, Undecided, equivalent
from cereus.languages.algebra.meaning import detected, meaning
from cereus.languages.algebra.text import parse
from cereus.reference import algebra as reference

from .drawing import PRIMITIVES, expression


@pytest.mark.parametrize(
    ("first", "second", "laws"),
    [
        ("A ; (B ; C)", "(A ; B) ; C", (6,)),
        ("(A ; B)_2 - C", "((A ; B) - C)_2", (22,)),
        ("0", "A - A", (33,)),
        ("A - B", "A - B", ()),
        ("(A | B) + C", "(C + B) | (C + A)", (2, 3, 7)),
    ],
)
def test_proved(first: str, second: str, laws: tuple[int, ...]) -> None:
    verdict = equivalent(parse(first), parse(second))
    assert verdict == Proved(laws)
    assert verdict.equivalent is True


def test_refuted_by_the_smallest_stream() -> None:
    verdict = equivalent(parse("B ; (A ; C)"), parse("A ; (B ; C)"))
    assert isinstance(verdict, Refuted)
    assert str(verdict).splitlines() == [
        "not equivalent: refuted by the stream B at 0, A at 1, C at 2",
        "  only the first has (0, 2)",
        "  what is detected differs",
    ]


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ("(A ; B)_2", "(A ; B)_3", "detections"),
        ("(A ; B)_2s", "(A ; B)_3s", "detections"),
        ("A", "A + A", "intervals"),
        ("A ; C", "(A ; C) | (A ; B ; C)", "constituents"),
    ],
)
def test_how_much_differs(first: str, second: str, difference: str) -> None:
    verdict = equivalent(parse(first), parse(second))
    assert isinstance(verdict, Refuted)
    assert verdict.difference == difference
    assert verdict.equivalent is False


def test_not_decided_says_how_far_it_looked() -> None:
    """True, but no law says so: what a restriction keeps was there before."""
    verdict = equivalent(parse("A ; B"), parse("(A ; B) | (A ; B)_2"), streams=500)
    assert verdict == Undecided(500, 7)
    assert str(verdict) == (
        "not decided: no difference on 500 streams of up to 7 ticks, and no proof by the laws"
    )


def test_an_event_with_a_condition_is_an_event_of_its_type() -> None:
    """No stream has a T(v > 1) without a T, so this is not refuted."""
    assert isinstance(equivalent(parse("T(v > 1) | T"), parse("T")), Undecided)
    assert isinstance(equivalent(parse("T(v > 1)"), parse("T")), Refuted)


def test_ticks_and_durations_cannot_be_compared() -> None:
    with pytest.raises(RefusedError, match="in ticks or in durations"):
        equivalent(parse("(A ; B)_2"), parse("(A ; B)_2s"))


def test_verdicts_are_right() -> None:
    draw = random.Random(50)
    seen = set()
    for _ in range(60):
        first, second = (expression(draw, draw.randint(1, 5), PRIMITIVES[:2]) for _ in range(2))
        verdict = equivalent(first, second, streams=200)
        seen.add(type(verdict))
        if isinstance(verdict, Refuted):
            interpretation = reference.interpret(verdict.stream)
            left, right = (reference.meaning(e, interpretation) for e in (first, second))
            assert left != right
    assert {Refuted} <= seen


def test_the_meaning_used_here_is_the_reference() -> None:
    draw = random.Random(51)
    for _ in range(300):
        each = expression(draw, draw.randint(1, 9))
        stream = tuple(
            (time, tuple(p for p in PRIMITIVES if draw.random() < 0.4)) for time in range(5)
        )
        expected = reference.meaning(each, reference.interpret(stream, values=False))
        found = meaning(each, stream, values=False)
        assert {(s, e) for s, e, _ in found} == reference.intervals(expected)
        with_rows = reference.meaning(each, reference.interpret(stream))
        assert meaning(each, stream, values=True) == {
            (s, e, tuple(sorted(r))) for s, e, r in with_rows
        }
        latest = reference.detections(each, reference.interpret(stream, values=False))
        assert detected(found) == {e.end: e.start for e in latest}


def test_the_public_module_takes_texts_and_objects() -> None:
    a, b, c = (ea.event(name) for name in "ABC")
    assert ea.equivalent(a >> (b >> c), "A ; B ; C").equivalent
    assert ea.bounds("A ; B") == ea.bounds(a >> b)
    assert ea.optimise("A | A").after == a
    assert ea.parse("T(value > 38) - 0") == ea.event("T", where="value > 38") - ea.never
