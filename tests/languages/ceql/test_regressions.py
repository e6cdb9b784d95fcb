"""What once went wrong, each by name: the smallest query and stream that showed it."""

from __future__ import annotations

import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import cereus
from cereus import CereusError, Stream

from . import strategies
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


def test_a_window_over_numbers_below_zero_keeps_its_matches() -> None:
    events = spelled("A B C", w="-9 -8 -7")
    assert positions("SELECT * WHERE A ; B ; NOT(A) WITHIN 3 [w]", events) == [[0, 1]]


def test_a_window_longer_than_all_numbers_keeps_everything() -> None:
    events = spelled("A B", x="-5 -4")
    assert positions(f"SELECT * WHERE A ; B WITHIN {2**63 - 1} [x]", events) == [[0, 1]]


def test_moves_with_and_without_a_remembered_value_have_an_order() -> None:
    inner = "(A AS b FILTER A.x = b.x FILTER b[s IN ('u', 'w')] OR A[x = 0] FILTER b.s != A.s)"
    events = spelled("A A A", x="0 0 1", s="u w u")
    assert positions(f"SELECT * WHERE A+ ; {inner} FILTER A.x = b.x", events) == []


def test_what_can_be_read_once_is_counted_like_a_table() -> None:
    text = (
        "SELECT * FROM S WHERE (A AS a ; B AS b FILTER a.x < b.x)"
        " OR (A AS a ; B AS b FILTER a.y < b.y)"
    )
    query = cereus.compile(text, stream=Stream(type="type"))
    events = pa.table({"type": ["A", "B"], "x": [1, 2], "y": [1, 2]})
    assert query.count(events) == query.count(events.to_reader()) == len(query.run(events)) == 1


@pytest.mark.parametrize(
    "values",
    [
        pa.array([datetime(2020, 1, 1), datetime(2020, 1, 2)]),
        pa.array([date(2020, 1, 1), date(2020, 1, 2)]),
        pa.array([Decimal("1.0"), Decimal("2.0")]),
    ],
)
@pytest.mark.parametrize("strategy", ["ALL", "MAX"])  # registers, and states that remember values
def test_a_snapshot_takes_up_times_and_decimals(values: pa.Array, strategy: str) -> None:
    text = f"SELECT {strategy} * FROM S WHERE A AS a ; B AS b FILTER a.v < b.v WITHIN 9 EVENTS"
    query = cereus.compile(text, stream=Stream(type="type"))
    events = pa.table({"type": ["A", "B"], "v": values})
    recognizer = query.recognizer()
    recognizer.push(events.slice(0, 1))
    assert len(query.restore(recognizer.snapshot()).push(events.slice(1))) == 1


def test_runs_of_one_query_in_several_threads_do_not_mix() -> None:
    text = "SELECT * FROM S WHERE (A ALL (B UNLESS D)) ; (C ALL (E UNLESS H)) WITHIN 12 EVENTS"
    drawn = random.Random(1).choices("ABCDEFGH", k=900)
    parts = [pa.table({"type": drawn[at : at + 150]}) for at in range(0, 900, 150)]
    alone = [len(cereus.compile(text, stream=Stream(type="type")).run(part)) for part in parts]
    query, interval = cereus.compile(text, stream=Stream(type="type")), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(len(parts)) as pool:
            assert list(pool.map(lambda part: len(query.run(part)), parts)) == alone
    finally:
        sys.setswitchinterval(interval)


def test_a_heap_is_never_hung_below_an_older_node() -> None:
    """A node made while an event was read, added to a heap melded a moment later, pointed to a
    younger node; the next sweep then mistook a mark for a place, and a match came twice."""
    text = "SELECT * WHERE START(C ; NOT(A)) ALL * WITHIN 2 EVENTS"
    letters = "C A B C A A C C A C B B B B D A B A C D C A D"
    events = strategies.table(
        [dict.fromkeys(strategies.SCHEMA.names) | event for event in spelled(letters)]
    )
    query = cereus.compile(text, stream=cereus.Stream(time="t", unit="s"))
    whole = Counter(tuple(row["positions"]) for row in query.run(events))
    recognizer = query.recognizer()
    swept: Counter[tuple[int, ...]] = Counter()
    for at in range(events.num_rows):
        swept.update(tuple(row["positions"]) for row in recognizer.push(events.slice(at, 1)))
        recognizer = query.restore(recognizer.snapshot())
    assert swept == whole


def test_a_refused_batch_leaves_no_trace() -> None:
    """Time went backwards in a batch; what came before it still counts, the batch does not."""
    query = cereus.compile("SELECT * WHERE A ; B", stream=Stream(time="t", unit="s"))
    recognizer = query.recognizer()
    recognizer.push(pa.table({"type": ["A"], "t": [10]}))
    for late in (["A"], [5]), (["B"], [7]):
        with pytest.raises(CereusError, match="goes backwards at row 1"):
            recognizer.push(pa.table(dict(zip(("type", "t"), late, strict=True))))
    (match,) = recognizer.push(pa.table({"type": ["B"], "t": [11]}))
    assert match["positions"] == [0, 1]


def test_after_a_limit_a_recognizer_goes_no_further() -> None:
    query = cereus.compile("SELECT * WHERE A ; B", limits=cereus.Limits(matches_per_event=1))
    recognizer = query.recognizer()
    with pytest.raises(CereusError, match="more than 1 matches end at row 2"):
        recognizer.push(pa.table({"type": ["A", "A", "B"]}))
    with pytest.raises(CereusError, match="finished"):
        recognizer.push(pa.table({"type": ["B"]}))


def test_a_window_on_negative_numbers() -> None:
    """As integers they lie below what once stood for "no bound"."""
    events = spelled("A B C", w="-640 -639 -638")
    assert positions("SELECT * WHERE A ; B WITHIN 1 [w]", events) == [[0, 1]]
    assert positions("SELECT * WHERE A ; B ; NOT(A) WITHIN 1 [w]", events) == [[0, 1]]


@pytest.mark.parametrize("condition", ["a.d < b.t", "b.t - a.d > 12 hours", "a.t < b.d"])
def test_a_date_beside_nanoseconds_is_compared_as_beside_microseconds(condition: str) -> None:
    """There are dates that no nanoseconds reach."""
    hours = [0, 6, 12, 20, 24, 30, 47, 50]
    days = [date(2024, 1, 1 + n % 3) for n in range(6)] + [date(1500, 1, 1), date(2500, 1, 1)]
    times = [datetime(2024, 1, 1 + hour // 24, hour % 24) for hour in hours]
    found = []
    for unit in ("us", "ns"):
        columns = {"type": [*"AB"] * 4, "d": days, "t": pa.array(times, pa.timestamp(unit))}
        query = cereus.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {condition}")
        found.append([row["positions"] for row in query.run(pa.table(columns))])
    assert found[0] == found[1]
    assert 0 < len(found[0]) < 10


def test_alternatives_inside_not_are_one_test_however_many_they_are() -> None:
    """Outside of NOT, these are 2**15 patterns, and refused."""
    ways = " AND ".join(f"(B[x = {n}] OR B[x > {n}])" for n in range(15))
    query = f"SELECT * WHERE A : NOT(B FILTER {ways}) : C"
    assert positions(query, spelled("A B C A B C", x="0 20 0 0 3 0")) == [[3, 5]]
    with pytest.raises(CereusError, match=r"more than 15,000 parts"):
        cereus.compile(f"SELECT * WHERE A : B : C FILTER {ways}")
