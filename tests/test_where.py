"""`Stream(where=…)`: what does not satisfy it is not there at all, in every language."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import cereus
from cereus import Stream
from cereus.errors import CereusError, SnapshotError, UnknownNameError

EVENTS = pa.table(
    {
        "type": ["A", "HEARTBEAT", "A", "HEARTBEAT", "B", "A", "HEARTBEAT", "B"],
        "ts": [1, 9, 3, 4, 5, 6, 7, 8],
        "k": [1, 1, 1, 2, 1, 2, 1, 2],
    }
)
"""The first heartbeat goes backwards: it is not there, so nobody minds."""
WHERE = "type != 'HEARTBEAT' AND k >= 1"
QUERIES = {
    "ceql": "SELECT * WHERE A : A : B : A : B",
    "sremo": "{A:} . {A:} . {B:}",
    "par": "A ; A ; B[X]",
    "algebra": "A ; B",
    "sase": "PATTERN SEQ(A a, A b, B c) WHERE strict_contiguity(a, b, c) { a.k = 1 } "
    "WITHIN 5 EVENTS",
    "match_recognize": "MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(X.ts) AS f, LAST(Y.ts) AS l "
    "ONE ROW PER MATCH PATTERN (X Y) DEFINE X AS type = 'A', Y AS type = 'B')",
}
ROWS = ("start", "end", "position", "positions", "constituents", "a", "b", "c")
"""Columns with numbers of rows, which count all rows of the input."""


def stream(**more: Any) -> Stream:
    return Stream(time="ts", unit="s", **more)


def without_rows(matches: Any) -> list[dict[str, Any]]:
    return [{name: v for name, v in row.items() if name not in ROWS} for row in matches]


@pytest.mark.parametrize("dialect", QUERIES)
def test_events_that_do_not_pass_are_not_there(dialect: str) -> None:
    text = QUERIES[dialect]
    passing = EVENTS.filter(pc.field("type") != "HEARTBEAT")
    wanted = cereus.compile(text, dialect=dialect, stream=stream()).run(passing)
    query = cereus.compile(text, dialect=dialect, stream=stream(where=WHERE))
    matches = query.run(EVENTS)
    assert len(wanted) > 0
    assert without_rows(matches) == without_rows(wanted)


@pytest.mark.parametrize("dialect", QUERIES)
@pytest.mark.parametrize("cut", [1, 3])
def test_how_the_stream_is_cut_makes_no_difference(dialect: str, cut: int) -> None:
    query = cereus.compile(QUERIES[dialect], dialect=dialect, stream=stream(where=WHERE))
    recognizer = query.recognizer()
    rows = list(recognizer.push(EVENTS.slice(0, cut)))
    recognizer = query.restore(recognizer.snapshot())
    rows += [*recognizer.push(EVENTS.slice(cut)), *recognizer.finish()]
    assert rows == list(query.run(EVENTS))


def test_five_in_a_row_ignores_heartbeats() -> None:
    rows = [t for each in range(5) for t in ("FAIL", "HEARTBEAT")]
    events = pa.table({"type": rows})
    text = "SELECT * WHERE FAIL : FAIL : FAIL : FAIL : FAIL"
    assert len(cereus.compile(text).run(events)) == 0
    (match,) = cereus.compile(text, stream=Stream(where="type <> 'HEARTBEAT'")).run(events)
    assert match["positions"] == [0, 2, 4, 6, 8]


def test_several_queries_share_a_condition() -> None:
    texts = {"one": "SELECT * WHERE A : A", "two": "SELECT * WHERE A : B"}
    several = cereus.compile_many(texts, stream=stream(where=WHERE)).run(EVENTS)
    assert {name: [m["positions"] for m in each] for name, each in several.items()} == {
        "one": [[0, 2]],
        "two": [[2, 4], [5, 7]],
    }


def test_a_condition_that_does_not_fit_is_refused() -> None:
    with pytest.raises(CereusError, match="type !"):
        Stream(where="type !")
    with pytest.raises(CereusError, match="where= is a condition as text"):
        Stream(where=3)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="tpye"):
        query = cereus.compile("SELECT * WHERE A ; B", stream=Stream(where="tpye = 'A'"))
        query.run(EVENTS)


def test_a_snapshot_under_another_condition_is_refused() -> None:
    text = "SELECT * WHERE A ; B"
    recognizer = cereus.compile(text, stream=stream(where=WHERE)).recognizer()
    recognizer.push(EVENTS)
    with pytest.raises(SnapshotError):
        cereus.compile(text, stream=stream(where="k = 1")).restore(recognizer.snapshot())
