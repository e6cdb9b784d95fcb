"""Conditions that are linear in sums, drawn as lines: never other matches than without lines."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.errors import LimitError
from cereus.languages.match_recognize.match.runs import find

ROWS = 900
CLAUSE = """MATCH_RECOGNIZE ({partition}ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
    AFTER MATCH SKIP TO NEXT ROW PATTERN (a+ b) DEFINE b AS {condition})"""


def events() -> pa.Table:
    random = Random(1)
    begin = [1_700_000_000_000_000_000 + 1000 * n + random.randrange(50) for n in range(ROWS)]
    return pa.table(
        {
            "ts": range(ROWS),
            "k": [n % 3 for n in range(ROWS)],
            "x": [95 if n % 140 == 139 else random.randrange(60) for n in range(ROWS)],
            "s": begin,
            "e": [each + random.randrange(100) for each in begin],
            "z": [float("inf") if n % 300 == 200 else 1.0 for n in range(ROWS)],
            "y": [float("inf") if n % 300 == 200 else 1000.0 for n in range(ROWS)],
            "p": [10.0 ** random.randrange(150, 161) for _ in range(ROWS)],
            "v": [random.randrange(1, 9) for _ in range(ROWS)],
        }
    )


CONDITIONS = {
    # Where no row lies so far back there is a value all the same.
    "CASE without a row": "x > CASE WHEN LAST(a.x, 10) IS NULL THEN 90 ELSE 200 END",
    "coalesce without a row": "x > 80 + coalesce(LAST(a.x, 20), 0) + 0.001 * count(a.*)",
    "coalesce in a partition": "x > 80 + coalesce(LAST(x, 20), 0)",
    # Of a difference of large numbers little is left.
    "nanoseconds": "e - count(a.*) > s + 90",
    "large floats": "x + 1e17 - 0.01 * count(a.*) >= 1e17 + 94",
    # Infinity less infinity is no number, and no reason to leave a row out.
    "infinities": "z >= y + count(a.*)",
    "equal infinities": "z = y + count(a.*)",
    # Products of differences overflow.
    "weighted mean of large numbers": "p > 2.5 * sum(a.p * a.v) / sum(a.v)",
    "products of large numbers": "p * sum(a.v) > 1e160 + 1.5 * sum(a.p)",
}


def found(condition: str, partition: str) -> list[dict[str, Any]]:
    text = CLAUSE.format(condition=condition, partition=partition)
    rows: list[dict[str, Any]] = (
        cereus.compile(text, dialect="match_recognize").run(events()).table.to_pylist()
    )
    return rows


@pytest.mark.parametrize("partition", ["", "PARTITION BY k "], ids=["all", "by key"])
@pytest.mark.parametrize("name", CONDITIONS)
def test_lines_change_no_answer(name: str, partition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in ("FREE_WORK", "WORK_PER_ROW"):
        monkeypatch.setattr(find, setting, 0)
    drawn = found(CONDITIONS[name], partition)
    monkeypatch.setattr(find, "row_lines", lambda *_: None)
    assert drawn == found(CONDITIONS[name], partition)
    assert drawn


@pytest.mark.parametrize(
    ("values", "condition"),
    [
        ([1e301, 3e301, 2.0], "percentile(a.z, 0.5) > 1.5e301"),
        ([-1.7e308, -1e308, 1e308, 1.7e308, 2.0], "percentile(a.z, 0.3) < 0"),
        ([-1.7e308, 1.7e308, 2.0], "median(a.z) = 0"),
    ],
)
def test_percentiles_of_very_large_numbers(values: list[float], condition: str) -> None:
    clause = (
        "MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (^ a+ b) "
        f"DEFINE b AS z = 2 AND {condition})"
    )
    table = pa.table({"ts": range(len(values)), "z": values})
    matches = cereus.compile(clause, dialect="match_recognize").run(table).table
    assert matches.column("n").to_pylist() == [len(values)]


def test_a_small_limit_on_steps_ends_a_long_run() -> None:
    """It was reached while lines were about to be drawn, and asked for again and again."""
    rows = 200_000
    table = pa.table({"ts": range(rows), "x": [n % 97 for n in range(rows)]})
    clause = (
        "MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a+ b) "
        "DEFINE b AS x = stddev(a.x))"
    )
    limits = cereus.Limits(steps_per_event=1)
    query = cereus.compile(clause, dialect="match_recognize", limits=limits)
    with pytest.raises(LimitError, match="steps_per_event"):
        query.run(table)
