"""Every kind of clause that is measured (`bench.kinds.row_patterns`) means what the reference
says."""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from bench.kinds.row_patterns import CLAUSES, MORE, text
from cereus.errors import DataError
from cereus.languages.match_recognize.match.rows import two_passes
from cereus.languages.match_recognize.match.runs import find
from cereus.languages.match_recognize.text import parse
from cereus.reference import match_recognize as reference
from tests.volume import volume

PRICES = (25.0, 25.01, 25.05, 25.3, 25.6, 26.0, 24.5, None)
VOLUMES = (90, 100, 200, 300, 500, 900, 6000, 10_000, None)


def drawn_table(draw: Random, rows: int, timed: bool) -> pa.Table:
    times = pa.array(sorted(draw.randrange(4_000) for _ in range(rows)), pa.int64())
    return pa.table(
        {
            "type": [draw.choice(["BUY", "SELL"]) for _ in range(rows)],
            "name": [draw.choice("pq") for _ in range(rows)],
            "volume": [draw.choice(VOLUMES) for _ in range(rows)],
            "price": [draw.choice(PRICES) for _ in range(rows)],
            "stock_time": times.cast(pa.timestamp("ms")) if timed else times,
        }
    )


def plain(value: Any) -> Any:
    """Times without zones; sums may be added in another order."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return round(value, 9) if isinstance(value, float) else value


def comparable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The order of partitions is not fixed; that inside them is."""
    return sorted(
        ({name: plain(value) for name, value in row.items()} for row in rows),
        key=lambda row: row["name"],
    )


def emitted(clause: str, table: pa.Table) -> Any:
    query = cereus.compile(clause, dialect="match_recognize", stream=cereus.Stream(type=None))
    try:
        return comparable(query.run(table, threads=1).table.to_pylist())
    except DataError:
        return None


def expected(clause: str, table: pa.Table) -> Any:
    try:
        return comparable(reference.run(parse(clause), table.to_pylist(), table.column_names))
    except DataError:
        return None


EVERY = {**CLAUSES, **MORE}


@pytest.mark.parametrize("name", EVERY)
def test_clauses_that_are_measured_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    labelled = text(EVERY[name]).replace("MEASURES ", "MEASURES CLASSIFIER() AS label, ")
    for seed in range(volume(1, 20)):
        draw = Random(f"{name} {seed}")
        if seed % 2 == 0:  # leaps, and bits instead of numbered sets, from the first row on
            monkeypatch.setattr(find, "FREE_WORK", 0)
            monkeypatch.setattr(find, "WORK_PER_ROW", 0)
            monkeypatch.setattr(two_passes, "FEW_SETS", 0)
        table = drawn_table(draw, 13, "WITHIN" in labelled)
        assert emitted(labelled, table) == expected(labelled, table), seed
        monkeypatch.undo()
