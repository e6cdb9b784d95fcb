"""Matches of more rows than there is room for at first."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.languages.match_recognize.output import batch


def test_a_match_that_needs_more_room_than_those_before_it() -> None:
    """Room for rows is made while earlier starts have left their traces in the room for runs."""
    prices = [5.0] * 300 + [9.0] + [7.0] * 20_000 + [10.0]
    table = pa.table({"ts": list(range(len(prices))), "price": prices})
    clause = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a b+ c)
        DEFINE b AS price < FIRST(a.price), c AS price > a.price)"""
    found = cereus.compile(clause, dialect="match_recognize").run(table)
    assert found.table.to_pylist() == [{"n": 20_002}]


SHOWN = "MEASURES MATCH_NUMBER() AS n, CLASSIFIER() AS v, count(*) AS c, FIRST(x) AS f"
IN_PARTS = [
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (a b*) DEFINE b AS x >= PREV(x)",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (a b* c) DEFINE b AS x < 4, c AS x > a.x",
    "PATTERN (a (b | c)+ d) DEFINE b AS x < 2, c AS x > 2, d AS x > a.x",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (a {- b* -} c?) DEFINE b AS x < 4, c AS x > a.x",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (b*) DEFINE b AS x < 4",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (a b* c) WITHIN 5 seconds WITH TIMEOUTS "
    "DEFINE b AS x < 4, c AS x > a.x",
]


@pytest.mark.parametrize("pattern", IN_PARTS)
def test_rows_of_many_matches_are_emitted_some_at_a_time(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = Random(pattern)
    xs = [draw.randrange(6) for _ in range(80)]
    table = pa.table({"k": [n % 2 for n in range(80)], "ts": list(range(80)), "x": xs})
    clause = f"MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts {SHOWN} ALL ROWS PER MATCH {pattern})"
    stream = cereus.Stream(time="ts", unit="s")
    query = cereus.compile(clause, dialect="match_recognize", stream=stream)
    whole = query.run(table).table.to_pylist()
    monkeypatch.setattr(batch, "MOST_ROWS", 7)
    parts = list(query.batches(table))
    assert [row for part in parts for row in part.to_pylist()] == whole
    assert max(part.num_rows for part in parts) < 40 < len(whole)
