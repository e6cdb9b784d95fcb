"""Snapshots: what they refuse."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cereus
from cereus import CereusError
from cereus.engine import snapshot
from cereus.errors import SnapshotError

EVENTS = pa.table({"type": ["A", "B"], "x": [1, 2]})


def taken(text: str = "SELECT * WHERE A ; B") -> bytes:
    recognizer = cereus.compile(text).recognizer()
    recognizer.push(EVENTS)
    return recognizer.snapshot()


def test_a_snapshot_of_another_query_is_refused() -> None:
    for other in (
        "SELECT * WHERE A ; A",
        "SELECT a WHERE A AS a ; B",
        "SELECT * WHERE A ; B WITHIN 5 EVENTS",
        "SELECT NEXT * WHERE A ; B",
        "SELECT * WHERE A ; B FILTER A[x > 1]",
        "SELECT * WHERE A ; B LIMIT 1",
    ):
        with pytest.raises(SnapshotError, match="another query fingerprint"):
            cereus.compile(other).restore(taken())


def test_the_same_query_written_otherwise_is_the_same() -> None:
    other = cereus.compile("select *  where (A ; B)").restore(taken())
    assert sorted(row["positions"] for row in other.push(EVENTS)) == [[0, 3], [2, 3]]


def test_a_snapshot_of_another_stream_is_refused() -> None:
    query = cereus.compile("SELECT * WHERE A ; B", stream=cereus.Stream(time="x", unit="s"))
    with pytest.raises(SnapshotError):
        query.restore(taken())


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=80) | st.integers(0, 400).map(lambda cut: taken()[:cut]))
def test_any_other_bytes_are_refused(garbage: bytes) -> None:
    with pytest.raises(SnapshotError):
        cereus.compile("SELECT * WHERE A ; B").restore(garbage)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 5000), st.integers(1, 255))
def test_a_damaged_snapshot_is_refused(place: int, change: int) -> None:
    damaged = bytearray(taken())
    damaged[place % len(damaged)] ^= change
    with pytest.raises(SnapshotError, match="damaged"):
        cereus.compile("SELECT * WHERE A ; B").restore(bytes(damaged))


def test_a_snapshot_runs_no_code_of_others() -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return eval, ("1 + 1",)

    hostile = snapshot.MAGIC + snapshot.sealed(pickle.dumps(({}, Evil())))
    with pytest.raises(SnapshotError, match="unexpected"):
        snapshot.load(hostile, {})


def test_nothing_to_save_yet() -> None:
    with pytest.raises(CereusError, match="push a batch first"):
        cereus.compile("SELECT * WHERE A").recognizer().snapshot()


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("us", "Europe/Berlin"),
        pa.timestamp("us", "+02:00"),
        pa.timestamp("ns"),
        pa.timestamp("ns", "Asia/Tokyo"),
        pa.duration("ns"),
        pa.decimal128(22, 2),
    ],
)
def test_remembered_values_of_every_kind_are_taken_up_again(kind: pa.DataType) -> None:
    query = cereus.compile("SELECT * FROM S WHERE (A AS a ; B AS b) FILTER max(a.v) < max(b.v)")
    values = pa.array([1_001, 2_002, 1_003, 1_002]).cast(kind)
    events = pa.table({"type": ["A", "B", "A", "B"], "v": values})
    first = query.recognizer()
    before = list(first.push(events[:1]))
    found = before + list(query.restore(first.snapshot()).push(events[1:]))
    assert found == list(query.run(events))
    assert [match["positions"] for match in found] == [[0, 1], [0, 3]]
