"""What once went wrong, each by name: the smallest query and stream that showed it."""

from __future__ import annotations

import pytest

import cereus
from cereus import CereusError, Stream

from .harness import answer, positions, spelled


def test_a_match_ends_where_its_last_event_is_even_if_that_is_not_selected() -> None:
    assert answer("SELECT a WHERE A AS a ; B", spelled("A C B")) == [(0, 2, [0])]


def test_a_type_without_a_stream_is_of_any_stream_when_there_is_no_from() -> None:
    events = spelled("A A A", src="S1 S2 -")
    assert positions("SELECT * WHERE A OR S1>A", events, stream="src") == [[0], [1], [2]]


def test_a_filter_on_the_events_of_one_stream_holds_without_from() -> None:
    events = spelled("A A A", src="S1 S1 S2", x="1 2 2")
    query = "SELECT * WHERE A FILTER S1>A[x = 1]"
    assert positions(query, events, stream="src") == [[0], [2]]


def test_a_filter_on_one_stream_inside_not_lets_other_streams_be_such_an_event() -> None:
    events = spelled("A B A B A B", src="S1 S1 S1 S1 S2 S1", x="1 - 2 - 2 -")
    query = "SELECT * WHERE NOT(A FILTER S1>A[x = 1]) : B"
    assert positions(query, events, stream="src") == [[3]]


def test_not_takes_a_filter_with_or() -> None:
    events = spelled("A B A B A B", x="1 - 2 - 3 -")
    query = "SELECT * WHERE NOT(A FILTER A[x = 1] OR A[x = 2]) : B"
    assert positions(query, events) == [[5]]


def test_consume_by_any_keeps_what_the_same_key_began_after_the_match() -> None:
    events = spelled("C B B", k="1 1 1")
    query = "SELECT * WHERE C OR (B ; B) PARTITION BY k CONSUME BY ANY"
    assert positions(query, events) == [[0], [1, 2]]


def test_consume_by_any_begins_every_key_at_its_next_event() -> None:
    events = spelled("D A A", k="1 2 1")
    query = "SELECT * WHERE START(A) PARTITION BY k CONSUME BY ANY"
    assert positions(query, events) == [[1], [2]]


def test_a_strategy_chooses_among_matches_that_end_at_different_events() -> None:
    """With a NOT at the end every match has a window of its own."""
    events = spelled("A C C", t="0 5 6")
    query = "SELECT LAST * WHERE A ; NOT(B) WITHIN 1 second"
    assert answer(query, events) == [(0, 0, [0]), (0, 0, [0])]


def test_limit_counts_rows_and_not_the_ways_they_were_found() -> None:
    events = spelled("A A B C")
    query = "SELECT b WHERE A ; B AS b ; NOT(B) LIMIT 2"
    assert answer(query, events) == [(1, 2, [2])]


def test_a_match_that_shows_nothing_consumes_nothing() -> None:
    events = spelled("A C C")
    query = "SELECT b WHERE (A OR (A AS b ; C)) ; NOT(B) CONSUME BY PARTITION"
    assert answer(query, events) == [(0, 1, [0])]


def test_a_strategy_that_lists_matches_goes_by_time_where_rows_were_sorted() -> None:
    text = "SELECT LAST * WHERE A ; NOT(B) WITHIN 1 second"
    events = cereus.compile(text, stream=Stream(time="t", unit="s"))
    found = events.run({"type": ["C", "A", "A"], "t": [9, 2, 1]}, sort=True)
    assert [row["positions"] for row in found] == [[2], [1]]


def test_a_choice_that_shows_nothing_consumes_nothing() -> None:
    for keys in ("", "PARTITION BY k"):
        for scope in ("ANY", "PARTITION"):
            query = f"SELECT LAST C WHERE START(C) OR B {keys} WITHIN 1 EVENTS CONSUME BY {scope}"
            assert answer(query, spelled("B C", k="1 1")) == []
            assert answer(query, spelled("C C", k="1 1")) == [(0, 0, [0]), (1, 1, [1])]


def test_a_list_of_dicts_is_a_list_of_events() -> None:
    query = cereus.compile("SELECT * WHERE A ; B", stream=Stream())
    assert [row["positions"] for row in query.run([{"type": "A"}, {"type": "B"}])] == [[0, 1]]
    with pytest.raises(CereusError, match="type"):
        query.run([])


def test_sorting_by_a_column_that_is_not_there_names_the_nearest() -> None:
    query = cereus.compile("SELECT * WHERE A", stream=Stream(time="tim"))
    with pytest.raises(CereusError, match="time"):
        query.run({"type": ["A"], "time": [1]}, sort=True)
