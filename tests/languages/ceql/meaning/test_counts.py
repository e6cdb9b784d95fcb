"""Counts and options: `A{3}`, `A{2,}`, `A{2,5}`, `A:{2}`, `A?`. They are abbreviations."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.errors import RefusedError
from tests.languages.ceql.harness import positions, spelled

EVENTS = spelled("A A B A C A B C", x="1 2 0 3 0 4 0 0")


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("A{1}", "A"),
        ("A{3}", "A ; A ; A"),
        ("A{2,3}", "(A ; A) OR (A ; A ; A)"),
        ("A{2,}", "A ; A+"),
        ("A{1,}", "A+"),
        ("A:{2}", "A : A"),
        ("A:{1,}", "A:+"),
        ("A:{2,} : B", "A : A:+ : B"),
        ("(A ; B){2}", "(A ; B) ; (A ; B)"),
        ("A? ; B", "B OR (A ; B)"),
        ("B ; A?", "B OR (B ; A)"),
        ("A{0,2} ; B", "B OR (A ; B) OR (A ; A ; B)"),
        ("A? : B? : C", "C OR (A : C) OR (B : C) OR (A : B : C)"),
        ("A ; B? : C", "(A : C) OR (A ; B : C)"),
        ("(A? ; B?) ; C", "C OR (A ; C) OR (B ; C) OR (A ; B ; C)"),
        ("A? ALL B", "B OR (A ALL B)"),
        ("A{0,1}", "A"),
        ("(A?)+ ; B", "B OR (A+ ; B)"),
        ("(A?){3} ; B", "B OR (A{1,3} ; B)"),
    ],
)
def test_a_count_is_short_for_the_pattern_written_out(short: str, long: str) -> None:
    assert positions(f"SELECT * WHERE {short}", EVENTS) == positions(
        f"SELECT * WHERE {long}", EVENTS
    )


def test_three_failures_and_then_a_success() -> None:
    events = spelled("F F S F F F S")
    query = "SELECT * WHERE F:{3} : S"
    assert positions(query, events) == [[3, 4, 5, 6]]


def test_a_variable_holds_the_events_of_all_rounds() -> None:
    events = pa.table({"type": ["A", "A", "B"], "x": [1, 2, 3]})
    rows = cereus.compile("SELECT a, b WHERE A{2} AS a ; B? AS b ; B").run(events)
    assert [(row["a"], row["b"]) for row in rows] == [([0, 1], [])]


def test_every_round_is_filtered_by_its_own_events() -> None:
    events = spelled("A B A B", x="1 1 2 2")
    assert positions("SELECT * WHERE (A ; B FILTER A.x = B.x){2}", events) == [[0, 1, 2, 3]]
    assert positions("SELECT * WHERE (A ; B){2} FILTER A.x = B.x", events) == []


def test_a_filter_on_what_is_left_out_holds() -> None:
    """As every filter on a variable without events does."""
    events = spelled("A B", x="5 1")
    assert positions("SELECT * WHERE A? ; B FILTER A[x < 3]", events) == [[1]]


def test_a_match_has_at_least_one_event() -> None:
    assert positions("SELECT * WHERE A? ; B?", spelled("A B")) == [[0], [0, 1], [1]]


def test_many_rounds_cost_what_the_stream_visits() -> None:
    events = pa.table({"type": ["A"] * 360})
    found = cereus.compile("SELECT * WHERE A:{300} WITHIN 300 EVENTS").run(events)
    assert len(found) == 61


def test_a_strategy_chooses_among_many_rounds_in_the_kernel() -> None:
    """Its automaton would need a state for each set of rounds."""
    events = pa.table({"type": ["A"] * 500 + ["B"]})
    (row,) = cereus.compile("SELECT NEXT * WHERE A{200} ; B").run(events)
    assert row["positions"] == [*range(200), 500]


def test_a_strategy_inside_a_pattern_counts_few_rounds() -> None:
    with pytest.raises(RefusedError, match="inside NEXT"):
        cereus.compile("SELECT * WHERE NEXT(A{17}) ; B")
