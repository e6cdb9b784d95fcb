"""The worked examples of the paper."""

from __future__ import annotations

import pytest

from cereus.languages.algebra.detect.program import build
from cereus.languages.algebra.detect.run import detect
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import Primitive
from cereus.reference import algebra as reference

from .drawing import Events, as_instances, ticks

B, P, T = (Primitive(name) for name in "BPT")
EXAMPLE_8: Events = [(1, [T]), (4, [P]), (6, [B, T])]
"""I(B) = {⟨6,6⟩}, I(P) = {⟨4,4⟩}, I(T) = {⟨1,1⟩, ⟨6,6⟩}"""


def stream(text: str) -> Events:
    """`B1 P2 B3`: primitives and their times."""
    return [(int(word[1:]), [Primitive(word[0])]) for word in text.split()]


def detected(text: str, rows: Events, *, values: bool = False) -> list[reference.Instance]:
    program = build(parse(text), values=values)
    return as_instances(detect(program, ticks(program, rows)))


def pairs(text: str, rows: Events) -> list[tuple[int, int]]:
    return [(e.start, e.end) for e in detected(text, rows)]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("B1 B3", [(1, 3)]),
        ("B1 B4", []),
        ("B1 P2 B3", []),
        ("B1 T2 B3", []),
        ("B1 T2 B3 B4", [(3, 4)]),
        ("B1 B2 B3", [(1, 2), (2, 3)]),
        ("P0 B1 B3 T4", [(1, 3)]),
    ],
)
def test_example_2_a_button_pressed_twice_within_two_seconds_without_an_alarm(
    rows: str, found: list[tuple[int, int]]
) -> None:
    assert pairs("(B ; B)_2 - (P | T)", stream(rows)) == found


def test_example_2_an_alarm_in_the_same_tick_as_the_button_is_in_between() -> None:
    assert pairs("(B ; B)_2 - (P | T)", [(1, [B]), (2, [B, P])]) == []


EXAMPLE_11 = {
    "B | P": {(4, 4): [{1}], (6, 6): [{2}]},
    "P + T": {(1, 4): [{0, 1}], (4, 6): [{1, 2}]},
    "T ; B": {(1, 6): [{0, 2}]},
    "(P + T) - B": {(1, 4): [{0, 1}]},
    "(P + T)_2": {(4, 6): [{1, 2}]},
}
"""Intervals and rows. The paper prints B | P in the value framework as one instance of two
primitives; a disjunction is a union of streams (Definition 9), so there are two."""


@pytest.mark.parametrize("text", EXAMPLE_11)
def test_example_11_full_semantics(text: str) -> None:
    expected = {(*pair, frozenset(r)) for pair, each in EXAMPLE_11[text].items() for r in each}
    values = reference.meaning(parse(text), reference.interpret(EXAMPLE_8))
    assert values == expected
    simple = reference.meaning(parse(text), reference.interpret(EXAMPLE_8, values=False))
    assert simple == {(*pair, frozenset()) for pair in EXAMPLE_11[text]}


@pytest.mark.parametrize("text", EXAMPLE_11)
def test_example_11_detection(text: str) -> None:
    assert pairs(text, EXAMPLE_8) == list(EXAMPLE_11[text])
    rows = [set(e.rows) for e in detected(text, EXAMPLE_8, values=True)]
    assert rows == [each for group in EXAMPLE_11[text].values() for each in group]


EXAMPLE_14 = stream("T1 P2 T3 B4 T5 B6")
"""A scenario as Example 14 describes Fig. 3: of (T+P);B two instances end at 4, one of them from
2; three end at 6, two of them from 2."""


def test_example_14_the_choice_that_restriction_leaves() -> None:
    full = reference.meaning(parse("(T + P) ; B"), reference.interpret(EXAMPLE_14))
    at_4 = [e for e in full if e.end == 4]
    at_6 = [e for e in full if e.end == 6]
    assert sorted(e.start for e in at_4) == [1, 2]
    assert sorted(e.start for e in at_6) == [1, 2, 2]
    latest = [e for e in at_4 if e.start == 2]
    for choice in (e for e in at_6 if e.start == 2):
        assert reference.is_valid_restriction(full, [*latest, choice])
    assert not reference.is_valid_restriction(full, latest)
    assert not reference.is_valid_restriction(full, [*latest, *(e for e in at_6 if e.start == 1)])
    assert not reference.is_valid_restriction(full, [*latest, *at_6])


def test_example_14_detection_makes_a_valid_choice() -> None:
    full = reference.meaning(parse("(T + P) ; B"), reference.interpret(EXAMPLE_14))
    found = detected("(T + P) ; B", EXAMPLE_14, values=True)
    assert reference.restriction_faults(full, found) == []
    assert [(e.start, e.end) for e in found] == [(2, 4), (2, 6)]


def test_introduction_a_sequence_does_not_see_single_points() -> None:
    """With instants instead of intervals, A B C would be an occurrence of B;(A;C)."""
    assert pairs("B ; (A ; C)", stream("A1 B2 C3")) == []
    assert pairs("A ; (B ; C)", stream("A1 B2 C3")) == [(1, 3)]


def test_related_work_overlapping_occurrences_are_detected() -> None:
    """§5: two detections, where PAR's repetition has one."""
    assert pairs("A ; (B ; C)", stream("A1 B2 A3 C4 B5 C6")) == [(1, 4), (3, 6)]


def test_restriction_is_at_most_tau() -> None:
    """§2 says «shorter than τ» in passing; Definition 9 says end - start ≤ τ."""
    assert pairs("(A ; B)_2", stream("A1 B3")) == [(1, 3)]
