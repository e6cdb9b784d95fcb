"""The runs of one `why` do not do the same work twice, and stop when enough was seen."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.executor import PatternExecutor
from cereus.languages.match_recognize.match import letters
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.run.executor import RecognizingExecutor
from cereus.stream import Stream
from cereus.why.running import runs
from cereus.why.running.events import EventTable
from cereus.why.steps import SURELY_READ, StepCounter

ROWS = 400


def zigzag(rows: int = ROWS) -> pa.Table:
    return pa.table(
        {
            "name": [f"k{n % 3}" for n in range(rows)],
            "ts": range(rows),
            "x": [(n * n) % 17 for n in range(rows)],
        }
    )


def w_shape(**conditions: str) -> cereus.Query:
    asked = {"d": "x < PREV(x)", "u": "x > PREV(x)", "e": "x > 90", **conditions}
    define = ", ".join(f"{name} AS {condition}" for name, condition in asked.items())
    clause = f"MEASURES 1 AS n PATTERN (s d+ u+ e) DEFINE {define}"
    text = f"MATCH_RECOGNIZE (PARTITION BY name ORDER BY ts {clause})"
    return cereus.compile(text, dialect="match_recognize")


def test_a_condition_is_put_to_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[tuple[str, int]] = Counter()
    usual = letters._truth

    def counted(columns: letters.RowColumns, conditions: Any, length: int) -> Any:
        asked[repr([(part.expression, dict(part.leaves)) for part in conditions]), length] += 1
        return usual(columns, conditions, length)

    monkeypatch.setattr(letters, "_truth", counted)
    answer = w_shape().why(zigzag())
    assert answer.matches == 0
    assert len(asked) >= 3
    assert {count for (_, length), count in asked.items() if length == ROWS} == {1}


@pytest.mark.parametrize("pattern", ["s d+ u+ e", "s d* u{1,2} e", "s (d | u)+ e", "d?? u+ e"])
def test_steps_that_are_counted_without_results_are_counted_the_same(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = w_shape().text.replace("s d+ u+ e", pattern)
    counted = cereus.compile(text, dialect="match_recognize").why(zigzag()).steps
    monkeypatch.setattr(RecognizingExecutor, "taken", lambda self, column: None)
    assert cereus.compile(text, dialect="match_recognize").why(zigzag()).steps == counted


def test_rows_are_sorted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    grouped, usual = [], SortedRows._group
    monkeypatch.setattr(
        SortedRows, "_group", lambda self, *of: grouped.append(len(of[0])) or usual(self, *of)
    )
    w_shape().why(zigzag())
    assert grouped.count(ROWS) == 1


@pytest.mark.parametrize("rows", [ROWS, SURELY_READ + ROWS])
def test_shared_rows_change_no_answer(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long stream the first rows are read, and the end of these decides nothing."""
    asked = [w_shape(), w_shape(e="x > 15"), w_shape(d="x < PREV(x) AND x > 3", e="x = 11")]
    shared = [each.why(zigzag(rows)).to_dict() for each in asked]
    monkeypatch.setattr(EventTable, "shelf", lambda self, places: {})
    assert [each.why(zigzag(rows)).to_dict() for each in asked] == shared


def test_where_enough_matches_are_seen_no_more_events_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: dict[int, int] = {}
    usual = PatternExecutor.push

    def counted(self: PatternExecutor, batch: pa.RecordBatch) -> Any:
        read[id(self)] = read.get(id(self), 0) + batch.num_rows
        kept.append(self)
        return usual(self, batch)

    kept: list[PatternExecutor] = []
    monkeypatch.setattr(PatternExecutor, "push", counted)
    size = 8 * runs.FEW_ROWS
    events = pa.table({"type": ["A", "B"] * (size // 2), "x": [0, 1] * (size // 2)})
    query = cereus.compile("SELECT * WHERE A AS a : B AS b FILTER a.x > b.x")
    effects = {effect.text: effect for effect in query.why(events).rules}
    assert (effects["a.x > b.x"].more, effects["a.x > b.x"].exact) == (100, False)
    assert runs.FEW_ROWS in read.values()
    assert size in read.values()  # the query itself


def test_queries_that_differ_in_one_rule_read_the_same_columns_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads, usual = [], EventTable.read_part
    monkeypatch.setattr(
        EventTable, "read_part", lambda self, *of: reads.append(of) or usual(self, *of)
    )
    size = SURELY_READ + ROWS
    times = pa.array(range(size), pa.timestamp("s"))
    numbers = [(n * n) % 101 for n in range(size)]
    events = pa.table({"type": ["A", "B", "C", "C"] * (size // 4), "x": numbers, "ts": times})
    compared = " AND ".join(f"a.x + {n} < b.x * {n + 1}" for n in range(6))
    text = f"SELECT * WHERE A AS a ; B AS b FILTER {compared} AND a.x > b.x WITHIN 5 seconds"
    answer = cereus.compile(text, stream=Stream(time="ts")).why(events)
    assert len(answer.rules) == 8
    assert len(reads) < len(answer.rules)


def test_a_last_step_that_is_known_to_have_nothing_is_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """MAX chooses among matches: where it has none without a rule, there are none at all."""
    looked, usual = [], StepCounter._none_without
    monkeypatch.setattr(
        StepCounter,
        "_none_without",
        lambda self, *of: looked.append(usual(self, *of)) or looked[-1],
    )
    times = pa.array([0, 1, 2000], pa.timestamp("s"))
    events = pa.table({"type": ["A", "B", "C"], "ts": times})
    query = cereus.compile(
        "SELECT MAX * WHERE A ; B+ ; C WITHIN 5 seconds", stream=Stream(time="ts")
    )
    answer = query.why(events)
    assert (answer.matches, answer.steps[-1].reached) == (0, 0)
    assert [tally.total for tally in looked if tally is not None] == [0]
