"""Worked values of the aggregates that need every value, in CEQL and SASE+."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import cereus
from cereus.expr.python.aggregates import deviation, percentile

PERCENTILES = [
    ([1, 2, 3, 4], 0.5, 2.5),
    ([4, 1, 3, 2], 0, 1.0),
    ([1, 2, 3, 4], 1, 4.0),
    (list(range(21)), 0.95, 19.0),
    ([7], 0.3, 7.0),
    ([], 0.3, None),
    ([1.0, math.nan, 3.0], 0.5, 2.0),
    ([-math.inf, 0.0], 0.5, -math.inf),
]


@pytest.mark.parametrize(("values", "part", "expected"), PERCENTILES)
def test_percentile(values: list[float], part: float, expected: float | None) -> None:
    assert percentile(values, part) == expected


def test_deviation_is_that_of_a_sample() -> None:
    assert deviation([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(2.13808993529939)
    assert deviation([5]) is None
    assert deviation([]) is None
    assert deviation([1e16, 1e16 + 2, 1e16 + 4]) == 2.0
    assert math.isnan(deviation([1.0, math.inf]) or 0)


def events() -> pa.Table:
    values = [2, 4, None, 9]
    return pa.table({"type": ["A"] * 4 + ["B"], "x": [*values, 0], "ts": range(5)})


def test_in_a_filter_and_in_return() -> None:
    ceql = "SELECT * WHERE A+ AS a ; B FILTER stddev(a.x) > 3 AND percentile(a.x, 0.5) = 4"
    found = cereus.compile(ceql).run(events())
    assert sorted(row["positions"] for row in found) == [[0, 1, 2, 3, 4], [0, 1, 3, 4]]
    sase = """PATTERN SEQ(A+ a[], B b) WHERE stddev(a[].x) > 3
    RETURN stddev(a[].x), percentile(a[].x, 0.5) AS R(deviation, middle)"""
    rows = cereus.compile(sase, dialect="sase").run(events()).table.to_pylist()
    longest = max(rows, key=lambda row: len(row["positions"]))
    assert (longest["deviation"], longest["middle"]) == (pytest.approx(3.605551275), 4.0)
