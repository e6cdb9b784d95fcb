"""What once went wrong, each by name: the smallest query and stream that showed it."""

from __future__ import annotations

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
