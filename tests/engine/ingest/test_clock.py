"""Time and windows: what is measured, and what is said when it cannot be."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cereus
from cereus import CereusError, Stream
from cereus.engine.ingest.clock import RowNumbers, float_floors, sortable
from tests.volume import volume

TWO = "SELECT * WHERE A ; B"


def events(types: str, **columns: Any) -> pa.Table:
    return pa.table({"type": types.split(), **columns})


def run(text: str, table: pa.Table, *, sort: bool = False, **stream: Any) -> list[list[int]]:
    found = cereus.compile(text, stream=Stream(**stream)).run(table, sort=sort)
    return sorted(row["positions"] for row in found)


# ---------------------------------------------------------------- what is refused


def test_a_null_time_is_named_by_its_row() -> None:
    table = events("A B C", t=[1, None, 3])
    with pytest.raises(CereusError, match="the time column 't' is null in row 1"):
        run(TWO, table, time="t")


def test_a_null_time_is_named_by_its_row_among_all_streams() -> None:
    table = events("A A B", t=[1, 2, None], src=["S2", "S1", "S1"])
    with pytest.raises(CereusError, match="null in row 2"):
        run("SELECT * FROM S1 WHERE A ; B", table, time="t", stream="src")


def test_a_null_time_in_a_later_batch() -> None:
    recognizer = cereus.compile(TWO, stream=Stream(time="t")).recognizer()
    recognizer.push(events("A B", t=[1, 2]))
    with pytest.raises(CereusError, match="null in row 3"):
        recognizer.push(events("A B", t=pa.array([3, None], pa.int64())))


def test_time_going_backwards_is_named_by_its_row() -> None:
    """The row counts all events, also those that no test lets through."""
    with pytest.raises(CereusError, match="'t' goes backwards at row 2"):
        run(TWO, events("A C C B", t=[1, 5, 4, 6]), time="t")
    with pytest.raises(CereusError, match="'t' goes backwards at row 3"):
        run(TWO, events("C C A C B", t=[1, 5, 6, 4, 6]), time="t")


@pytest.mark.parametrize(
    ("times", "what"),
    [
        (pa.array([1, 5, 4]), "4 after 5"),
        (pa.array([1.0, 5.5, 4.25]), "4.25 after 5.5"),
        (pa.array([0, 5500, 4000], pa.timestamp("ms")), "1970-01-01 00:00:04 after .* 00:00:05.5"),
        (pa.array([0, 9, 8], pa.timestamp("ns", "UTC")), ".*00:00:00.000000008Z after .*0000009Z"),
        (pa.array([0, 2, 1], pa.date32()), "1970-01-02 after 1970-01-03"),
    ],
)
def test_time_going_backwards_says_from_when_to_when(times: pa.Array, what: str) -> None:
    table = events("A A B", k=["u"] * 3).append_column("t", times)
    for keys in ((), "k"):
        with pytest.raises(CereusError, match=f"goes backwards at row 2.*: {what}"):
            run(TWO, table, time="t", keys=keys)


def test_time_going_backwards_inside_a_key() -> None:
    table = events("A A C B B", t=[5, 1, 1, 4, 2], k=["u", "v", "v", "u", "v"])
    with pytest.raises(CereusError, match="'t' goes backwards at row 3 in k='u'"):
        run(TWO, table, time="t", keys="k")


def test_keys_may_be_out_of_step_with_each_other() -> None:
    table = events("A A B B", t=[5, 1, 2, 6], k=["u", "v", "v", "u"])
    assert run(TWO, table, time="t", keys="k") == [[0, 3], [1, 2]]


def test_time_going_backwards_across_batches() -> None:
    for stream in (Stream(time="t"), Stream(time="t", keys="k")):
        recognizer = cereus.compile(TWO, stream=stream).recognizer()
        recognizer.push(events("A", t=[5], k=["u"]))
        with pytest.raises(CereusError, match="'t' goes backwards at row 2"):
            recognizer.push(events("C B", t=[5, 4], k=["u", "u"]))


def test_backwards_after_a_snapshot() -> None:
    query = cereus.compile(TWO, stream=Stream(time="t"))
    recognizer = query.recognizer()
    recognizer.push(events("A", t=[5]))
    with pytest.raises(CereusError, match="backwards at row 1"):
        query.restore(recognizer.snapshot()).push(events("B", t=[4]))


def test_sorted_events_are_read_in_order_and_named_as_they_were() -> None:
    table = events("B A C", t=[7, 5, 6])
    assert run(TWO, table, time="t", sort=True) == [[1, 0]]
    with pytest.raises(CereusError, match="null in row 1"):
        run(TWO, events("B A C", t=[7, None, 6]), time="t", sort=True)


def test_a_window_column_going_backwards() -> None:
    table = events("C A C B", w=[9, 5, 1, 4])
    with pytest.raises(CereusError, match="'w' goes backwards at row 3"):
        run(f"{TWO} WITHIN 3 [w]", table)


def test_a_null_window_column_matters_where_the_event_does() -> None:
    query = f"{TWO} WITHIN 3 [w]"
    assert run(query, events("A C B", w=[1, None, 4])) == [[0, 2]]
    for kind in (pa.int64(), pa.float64()):
        with pytest.raises(CereusError, match="the window's column 'w' is null in row 2"):
            run(query, events("A C B", w=pa.array([1, 2, None], kind)))
    with pytest.raises(CereusError, match=r"not a number \(NaN\) in row 2"):
        run(query, events("A C B", w=[1.0, float("nan"), float("nan")]))


def test_a_number_without_a_unit_is_not_a_length_of_time() -> None:
    with pytest.raises(CereusError, match=r'unit="ms"'):
        run(f"{TWO} WITHIN 1 second", events("A B", t=[1, 2]), time="t")
    with pytest.raises(CereusError, match="needs a time column"):
        run(f"{TWO} WITHIN 1 second", events("A B", t=[1, 2]))


def test_text_is_no_time() -> None:
    with pytest.raises(CereusError, match="has the type string"):
        run(TWO, events("A B", t=["1", "2"]), time="t")
    with pytest.raises(CereusError):
        run(f"{TWO} WITHIN 2 [t]", events("A B", t=["1", "2"]))


@pytest.mark.parametrize("role", ["time", "keys", "stream", "type"])
def test_a_column_that_is_not_there_is_named_with_the_nearest(role: str) -> None:
    with pytest.raises(CereusError, match="price"):
        run(TWO, events("A B", price=[1, 2]), **{role: "prise"})


# ---------------------------------------------------------------- what is measured

BEGIN = datetime(2024, 1, 1)
SECONDS = [0, 1, 3]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_of_every_unit(unit: str) -> None:
    times = pa.array([BEGIN + timedelta(seconds=s) for s in SECONDS], pa.timestamp(unit))
    table = events("A A B", t=times)
    assert run(f"{TWO} WITHIN 2 seconds", table, time="t") == [[1, 2]]
    assert run(f"{TWO} WITHIN 3 seconds", table, time="t") == [[0, 2], [1, 2]]


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
@pytest.mark.parametrize("kind", [pa.int64(), pa.int32(), pa.float64()])
def test_numbers_of_every_unit(unit: str, scale: int, kind: pa.DataType) -> None:
    if pa.types.is_int32(kind) and scale == 10**9:
        return
    table = events("A A B", t=pa.array([s * scale for s in SECONDS]).cast(kind))
    assert run(f"{TWO} WITHIN 2 seconds", table, time="t", unit=unit) == [[1, 2]]


def test_dates() -> None:
    days = pa.array([BEGIN.date() + timedelta(days=d) for d in SECONDS], pa.date32())
    assert run(f"{TWO} WITHIN 2 days", events("A A B", t=days), time="t") == [[1, 2]]


def test_negative_numbers_are_in_order() -> None:
    table = events("A A B", t=[-3.0, -1.5, 0.0])
    assert run(f"{TWO} WITHIN 2 [t]", table, time="t") == [[1, 2]]


def test_times_are_shown_as_they_came() -> None:
    times = pa.array([BEGIN, BEGIN + timedelta(seconds=1)], pa.timestamp("ms"))
    found = cereus.compile(TWO, stream=Stream(time="t")).run(events("A B", t=times))
    assert found.table.column("start_time").to_pylist() == [BEGIN]
    assert found.table.schema.field("end_time").type == pa.timestamp("ms")


# ---------------------------------------------------------------- floats

finite = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(0, 300).map(lambda n: n / 10)


def ordered(value: float) -> int:
    return int(sortable(np.array([value]), "", RowNumbers())[0])


@settings(max_examples=volume(100, 300), deadline=None)
@given(finite, finite)
def test_floats_keep_their_order_as_integers(first: float, second: float) -> None:
    assert (ordered(first) < ordered(second)) == (first < second)
    assert (ordered(first) == ordered(second)) == (first == second)


@settings(max_examples=volume(100, 300), deadline=None)
@given(finite, st.integers(0, 100).map(lambda n: n / 10) | st.floats(0, 1e6), st.data())
def test_a_float_window_is_what_the_subtraction_says(
    end: float, span: float, data: st.DataObject
) -> None:
    """Not what `start >= end - span` says, which rounds differently."""
    near = [end - span, np.nextafter(end - span, -np.inf), np.nextafter(end - span, np.inf)]
    start = data.draw(st.sampled_from([float(n) for n in near]) | finite)
    floor = float_floors(np.array([end]), span)[0]
    if start <= end:
        assert (ordered(start) >= floor) == (end - start <= span)


def test_the_window_asks_for_the_difference() -> None:
    """0.8 − 0.5 is more than 0.3, as computers and the reference subtract; 0.8 − 0.3 is 0.5."""
    assert run(f"{TWO} WITHIN 0.3 [w]", events("A B", w=[0.5, 0.8])) == []
    assert run(f"{TWO} WITHIN 0.25 [w]", events("A B", w=[0.5, 0.75])) == [[0, 1]]
