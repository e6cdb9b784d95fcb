"""Sums of integers that 64 bits cannot hold are NULL, also while runs leap over rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.languages.match_recognize.text import parse
from cereus.reference import match_recognize as reference

ROWS = 60
LARGE = 3 * 10**18


@pytest.mark.parametrize(
    "condition",
    ["avg(b.x) > 0", "sum(b.x) > 0", "sum(b.x) IS NULL OR sum(b.x) > 0", "sum(b.x) < 5 * a.x"],
)
@pytest.mark.parametrize("large", [LARGE, -LARGE, 10**15])
def test_a_sum_beyond_64_bits_is_null(condition: str, large: int) -> None:
    marks = [0] * (ROWS - 1) + [1]
    table = pa.table({"ts": list(range(ROWS)), "x": [large] * ROWS, "m": marks})
    text = f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN (a b* c) DEFINE b AS {condition}, c AS m = 1)"""
    expected = reference.run(parse(text), table.to_pylist(), table.column_names)
    query = cereus.compile(text, dialect="match_recognize")
    assert query.run(table, threads=1).table.to_pylist() == expected
    recognizer = query.recognizer(schema=table.schema)
    parts = [
        *(recognizer.push(table.slice(at, 7)) for at in range(0, ROWS, 7)),
        recognizer.finish(),
    ]
    assert [row for part in parts for row in part.table.to_pylist()] == expected
