"""Which tests one event can pass together."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from cereus.expr.text import parse_condition
from cereus.expr.tree import conjuncts
from cereus.plan.alphabet import alphabet
from cereus.plan.tests import EventTest
from cereus.stream import Stream


def test(text: str, type_: str | None = None, *, negated: bool = False) -> EventTest:
    conditions = conjuncts(parse_condition(text)) if text else ()
    return EventTest(type_, None, conditions, negated)


test.__test__ = False  # type: ignore[attr-defined]


def letters(*tests: EventTest, stream: Stream | None = None) -> set[tuple[int, ...]]:
    """Every letter as the numbers of the tests that it passes."""
    found = alphabet(tests, stream or Stream())
    assert found.complete
    return {tuple(b for b in range(len(tests)) if x >> b & 1) for x in found.letters}


def test_an_event_has_one_type() -> None:
    assert letters(test("", "A"), test("", "B")) == {(), (0,), (1,)}


def test_without_a_type_column_all_events_are_of_one_type() -> None:
    found = letters(test("", "A"), test("", "EVENT"), stream=Stream(type=None))
    assert found == {(), (1,)}


def test_an_event_has_one_stream() -> None:
    assert letters(EventTest("A", "s"), EventTest("A", "t")) == {(), (0,), (1,)}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("x = 'a'", "x = 'b'", {(), (0,), (1,)}),
        ("x = 1", "x > 0", {(), (0, 1), (1,)}),
        ("x < 1", "x > 2", {(), (0,), (1,)}),
        ("x < 2", "x > 1", {(), (0,), (1,), (0, 1)}),
        ("x IN (1, 2)", "x BETWEEN 2 AND 3", {(), (0,), (1,), (0, 1)}),
        ("x >= 'b'", "x < 'b'", {(), (0,), (1,)}),
        ("x IS NULL", "x = 1", {(), (0,), (1,)}),
        ("NOT (x = 1)", "x != 1", {(), (0, 1)}),
        ("1 < x", "x <= 1", {(), (0,), (1,)}),
        ("x = 1 OR x = 2", "x = 2", {(), (0,), (0, 1)}),
        ("x = 1", "y = 1", {(), (0,), (1,), (0, 1)}),
        ("x + 1 = 2", "x = 7", {(), (0,), (1,), (0, 1)}),
        ("x LIKE 'a%'", "x = 'b'", {(), (0,), (1,), (0, 1)}),
        ("x = TIMESTAMP '2024-01-01'", "x > TIMESTAMP '2024-01-01'", {(), (0,), (1,)}),
    ],
)
def test_conditions_on_one_column(first: str, second: str, expected: set[tuple[int, ...]]) -> None:
    assert letters(test(first), test(second)) == expected


@pytest.mark.parametrize("condition", ["x > 3 AND x < 2", "x = 'a' AND x = 'b'", "x = NULL"])
def test_contradictions_never_hold(condition: str) -> None:
    assert letters(test(condition)) == {()}


def test_a_negated_test_holds_where_the_other_fails() -> None:
    found = letters(test("x > 3", "A"), test("x > 3", "A", negated=True))
    assert found == {(), (0,), (1,)}


def test_too_many_letters_are_given_up() -> None:
    tests = tuple(test(f"x{i} > 0") for i in range(20))
    found = alphabet(tests, Stream())
    assert not found.complete
    assert len(found.letters) <= 1024


def test_the_letters_of_many_types_are_found_in_steps_in_proportion_to_them() -> None:
    def steps(types: int) -> int:
        tests = tuple(EventTest(f"T{i}", "s") for i in range(types))
        calls = 0

        def count(frame: FrameType, event: str, argument: Any) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            found = alphabet(tests, Stream(), most=10**6)
        finally:
            sys.setprofile(None)
        assert len(found.letters) == types + 1
        return calls

    assert steps(400) < 3 * steps(200)
