"""Absence: WITHOUT and UNTIL, and warnings where UNLESS and NOT are read otherwise."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.errors import RefusedError
from tests.languages.ceql.harness import positions, spelled

SESSION = spelled("LOGIN LOGOUT X DOWNLOAD LOGIN X DOWNLOAD")


def test_a_download_while_logged_in() -> None:
    """The example that NOT and UNLESS do not say."""
    assert positions("SELECT * WHERE LOGIN ; DOWNLOAD WITHOUT LOGOUT", SESSION) == [[4, 6]]
    assert positions("SELECT * WHERE LOGIN ; NOT(LOGOUT) ; DOWNLOAD", SESSION) == [
        [0, 3],
        [0, 6],
        [4, 6],
    ]
    assert positions("SELECT * WHERE LOGIN ; DOWNLOAD UNLESS LOGOUT", SESSION) == []


def test_the_first_and_the_last_event_may_be_what_must_not_come_between() -> None:
    assert positions("SELECT * WHERE A ; A WITHOUT A", spelled("A B A A")) == [[0, 2], [2, 3]]


def test_what_comes_before_and_after_does_not_matter() -> None:
    assert positions("SELECT * WHERE A ; C WITHOUT B", spelled("B A C B")) == [[1, 2]]


def test_an_event_of_the_match_may_be_what_must_not_come_between() -> None:
    assert positions("SELECT * WHERE A ; B ; C WITHOUT B", spelled("A B C")) == []
    assert positions("SELECT * WHERE A ; (B ; C WITHOUT B)", spelled("A B C")) == [[0, 1, 2]]


def test_a_part_of_a_match_has_its_own_first_and_last_event() -> None:
    events = spelled("A B C D B E")
    assert positions("SELECT * WHERE A ; (C ; D WITHOUT B) ; E", events) == [[0, 2, 3, 5]]
    assert positions("SELECT * WHERE A ; C ; D ; E WITHOUT B", events) == []


def test_conditions_and_alternatives_say_what_must_not_occur() -> None:
    events = spelled("A B C A B C", x="0 1 0 0 5 0")
    text = "SELECT * WHERE A ; C WITHOUT (B FILTER B[x > 3])"
    assert positions(text, events) == [[0, 2]]
    either = "SELECT * WHERE A ; C WITHOUT ((B FILTER B[x > 3]) OR A)"
    assert positions(either, events) == [[0, 2]]


def test_each_round_is_without_it() -> None:
    events = spelled("A C B A C A B C")
    assert positions("SELECT * WHERE (A ; C WITHOUT B){2}", events) == [[0, 1, 3, 4]]


@pytest.mark.parametrize("strategy", ["", "NEXT", "LAST", "MAX", "ANY", "STRICT"])
@pytest.mark.parametrize("window", ["", "WITHIN 3 EVENTS", "WITHIN 2 seconds"])
def test_strategies_choose_among_what_is_left(strategy: str, window: str) -> None:
    """`positions` compares with the reference."""
    events = spelled("A A C B C A C", k="1 1 1 1 2 2 2", x="1 2 1 1 2 1 1")
    positions(f"SELECT {strategy} * WHERE A ; C WITHOUT B {window}", events)
    positions(f"SELECT {strategy} * WHERE A ; C WITHOUT B PARTITION BY k {window}", events)
    positions(f"SELECT {strategy} * WHERE A ; C WITHOUT B {window} CONSUME BY ANY", events)


# ---------------------------------------------------------------- compared with the match

USERS = spelled("A B C A B C", x="1 2 1 1 1 1")


def test_what_must_not_occur_may_be_compared_with_the_first_event() -> None:
    text = "SELECT * WHERE (A AS a ; C) WITHOUT (B FILTER B.x = a.x)"
    assert positions(text, USERS) == [[0, 2]]
    explained = cereus.compile(text).explain(pa.schema({"type": pa.string(), "x": pa.int64()}))
    assert "by registers, checked when such an event comes" in explained


def test_what_must_not_occur_may_be_compared_with_a_later_event() -> None:
    """It is not known yet when it comes, so that it is looked for when the match is complete."""
    text = "SELECT * WHERE (A ; C AS c) WITHOUT (B FILTER B.x = c.x)"
    assert positions(text, USERS) == [[0, 2]]
    explained = cereus.compile(text).explain(pa.schema({"type": pa.string(), "x": pa.int64()}))
    assert "by registers, checked where the rest of its part of the pattern is comp" in explained
    assert "no such event after r" in explained


def test_a_condition_is_true_of_every_event_of_a_variable() -> None:
    events = spelled("A A B C", x="1 2 1 0")
    text = "SELECT * WHERE (A+ AS a ; C) WITHOUT (B FILTER B.x = a.x)"
    assert positions(text, events) == [[0, 1, 3], [1, 3]]


def test_its_own_name_is_the_event_that_must_not_occur() -> None:
    events = spelled("B B B", x="1 5 1")
    assert positions("SELECT * WHERE (B ; B) WITHOUT (B FILTER B[x > 3])", events) == [
        [0, 1],
        [1, 2],
    ]


# ---------------------------------------------------------------- UNTIL


def test_until_takes_events_as_long_as_none_comes() -> None:
    events = spelled("A A B A C")
    assert positions("SELECT * WHERE A+ UNTIL B", events) == [[0], [0, 1], [1], [3]]
    assert positions("SELECT * WHERE A:{2} UNTIL B ; C", events) == [[0, 1, 4]]


def test_until_takes_no_event_that_ends_it() -> None:
    events = spelled("A A A A", x="1 2 9 3")
    text = "SELECT * WHERE A+ UNTIL (A FILTER A[x > 5])"
    assert positions(text, events) == [[0], [0, 1], [1], [3]]


def test_only_single_events_can_be_kept_out() -> None:
    with pytest.raises(RefusedError, match="single events"):
        cereus.compile("SELECT * WHERE A ; C WITHOUT (B ; B)")


# ---------------------------------------------------------------- what people misread


def warnings(pattern: str) -> list[str]:
    query = cereus.compile(f"SELECT * WHERE {pattern} WITHIN 9 EVENTS")
    explained = query.explain()
    assert all(text in explained for text in query.warnings)
    return list(query.warnings)


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        ("A ; C UNLESS B", "write A ; C WITHOUT B"),
        ("(A ; C UNLESS B) ; D", "write A ; C WITHOUT B"),
        ("A UNLESS B", "X ; (A UNLESS B)"),
        ("A ; C UNLESS (B ; B)", "A ; (B UNLESS …)"),
    ],
)
def test_unless_at_the_left_end_warns(pattern: str, instead: str) -> None:
    (text,) = warnings(pattern)
    assert "from the beginning of the stream" in text and instead in text


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        ("LOGIN ; NOT(LOGOUT) ; DOWNLOAD", "write LOGIN ; DOWNLOAD WITHOUT LOGOUT"),
        ("A ; NOT(B)+ ; C", "write A ; C WITHOUT B"),
        ("A : NOT(B)+ : C", "write A ; C WITHOUT B"),
        ("A ; (NOT(B) ; C) ; D", "write A ; C WITHOUT B"),
        ("A ; NOT(B FILTER B[x > 3]) ; C", "write A ; C WITHOUT (B FILTER B[x > 3])"),
        ("NOT(B) ; A", "X ; (A UNLESS B)"),
        ("A ; NOT(B)", "(A ; C) WITHOUT B"),
    ],
)
def test_not_among_other_events_warns(pattern: str, instead: str) -> None:
    (text,) = warnings(pattern)
    assert "some event that is not" in text and instead in text


def test_nothing_lies_between_one_event() -> None:
    (text,) = warnings("A ; (C WITHOUT B)")
    assert "put the whole pattern before it in parentheses" in text


@pytest.mark.parametrize(
    "pattern",
    [
        "A ; (C UNLESS B)",
        "START(A ; C UNLESS B)",
        "A : NOT(B) : C",
        "A : NOT(B):+ : C",
        "A ; NOT(B) : C",
        "A : NOT(B) ; C",
        "A ; C WITHOUT B",
    ],
)
def test_absence_that_says_what_it_seems_to_does_not_warn(pattern: str) -> None:
    assert warnings(pattern) == []
