"""Windows of a part of a pattern, and gaps: `(A ; B) WITHIN 5 s ; C`, `A ;[5 s] B`, `A+[5 s]`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.errors import RefusedError
from tests.languages.ceql.harness import Events, positions, spelled


def at(types: str, times: str) -> Events:
    return [
        event | {"t": int(time)} for event, time in zip(spelled(types), times.split(), strict=True)
    ]


def test_a_part_of_a_pattern_has_a_window_of_its_own() -> None:
    events = at("A A B C", "0 4 6 90")
    assert positions("SELECT * WHERE (A ; B) WITHIN 3 seconds ; C", events) == [[1, 2, 3]]


def test_within_at_the_end_is_about_the_whole_pattern() -> None:
    events = at("A B C", "0 8 9")
    assert positions("SELECT * WHERE A ; (B ; C) WITHIN 3 seconds", events) == []
    assert positions("SELECT * WHERE A ; ((B ; C) WITHIN 3 seconds)", events) == [[0, 1, 2]]


def test_a_part_may_be_measured_in_events_or_by_a_column() -> None:
    events = spelled("A X B A B C", w="0 0 5 6 7 9")
    assert positions("SELECT * WHERE (A ; B) WITHIN 2 EVENTS ; C", events) == [[3, 4, 5]]
    assert positions("SELECT * WHERE (A ; B) WITHIN 1 [w] ; C", events) == [[3, 4, 5]]


def test_a_gap_is_counted_from_the_event_before() -> None:
    events = at("A B B C", "0 2 5 6")
    assert positions("SELECT * WHERE A ;[3 seconds] B ; C", events) == [[0, 1, 3]]
    assert positions("SELECT * WHERE A ; B ;[1 second] C", events) == [[0, 2, 3]]
    assert positions("SELECT * WHERE A ;[3 seconds..] B", events) == [[0, 2]]
    assert positions("SELECT * WHERE A ;[1 second..3 seconds] B", events) == [[0, 1]]


def test_rounds_follow_one_another_in_time() -> None:
    events = at("A A A A", "0 2 4 9")
    assert positions("SELECT * WHERE A{3,}[2 seconds]", events) == [[0, 1, 2]]
    assert positions("SELECT * WHERE A:+[2 seconds]", events) == [
        [0],
        [0, 1],
        [0, 1, 2],
        [1],
        [1, 2],
        [2],
        [3],
    ]
    assert positions("SELECT * WHERE A{2}[3 seconds..5 seconds]", events) == [[0, 2], [2, 3]]


def test_the_gap_before_a_round_is_that_of_its_first_event() -> None:
    events = at("A B A B", "0 5 6 12")
    assert positions("SELECT * WHERE (A ; B){2}[1 second]", events) == [[0, 1, 2, 3]]


def test_a_gap_goes_with_what_is_left_out() -> None:
    events = at("A B", "0 9")
    assert positions("SELECT * WHERE A? ;[3 seconds] B", events) == [[1]]


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        (pa.timestamp("s"), None),
        (pa.timestamp("ms"), None),
        (pa.timestamp("us", "UTC"), None),
        (pa.timestamp("ns"), None),
        (pa.int64(), "ms"),
        (pa.float64(), "s"),
    ],
)
def test_times_of_every_type(kind: pa.DataType, unit: str | None) -> None:
    begin = datetime(2025, 3, 3)
    seconds = [0, 2, 7]
    times: list[Any] = [begin + timedelta(seconds=s) for s in seconds]
    if unit is not None:
        times = [s * (1000 if unit == "ms" else 1) for s in seconds]
    events = pa.table({"type": ["A", "B", "B"], "t": pa.array(times).cast(kind)})
    query = cereus.compile("SELECT * WHERE A ;[3 seconds] B", stream=Stream(time="t", unit=unit))
    assert [row["positions"] for row in query.run(events)] == [[0, 1]]


def test_registers_decide_gaps_and_inner_windows() -> None:
    schema = pa.schema({"type": pa.string(), "t": pa.timestamp("us")})
    for pattern in ("A ;[3 seconds] B", "A+[3 seconds]", "(A ; B) WITHIN 3 seconds ; C"):
        query = cereus.compile(f"SELECT * WHERE {pattern}", stream=Stream(time="t"))
        assert "by registers, checked when the next event is marked" in query.explain(schema)


def test_a_gap_needs_a_time() -> None:
    with pytest.raises(RefusedError, match="need a time column"):
        cereus.compile("SELECT * WHERE A ;[3 seconds] B").run(pa.table({"type": ["A"]}))
    with pytest.raises(RefusedError, match="seconds or milliseconds"):
        cereus.compile("SELECT * WHERE A ;[3 s] B", stream=Stream(time="t")).run(
            pa.table({"type": ["A"], "t": [1]})
        )


def test_gaps_that_bound_a_match_bound_the_state() -> None:
    """`explain` shows the window that follows from them."""
    bounded = cereus.compile(
        "SELECT * WHERE A ;[3 seconds] B ;[1 minute] C", stream=Stream(time="t")
    )
    assert "WITHIN 63 seconds" in bounded.explain() and bounded.warnings == []
    for pattern in ("A ;[3 seconds] B ; C", "A+[3 seconds]", "A ;[3 seconds..] B"):
        query = cereus.compile(f"SELECT * WHERE {pattern}", stream=Stream(time="t"))
        assert "no WITHIN" in query.warnings[0]
