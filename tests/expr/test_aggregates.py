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


DEVIATIONS = [
    ("stddev(a.x) = 2", [1e15, 1e15 + 2, 1e15 + 4]),
    ("stddev(a.x) = 0", [0.1, 0.1, 0.1, 0.1, 0.1, 0.1]),
    ("stddev(a.x) = 0", [-0.0, 0.0]),
    ("stddev(a.x) = 1", [1.0, 1.0, 3.0, 3.0, 2.0]),
    ("stddev(a.x) IS NULL", [5.0]),
    ("stddev(a.x) IS NULL", [None, 5.0, None]),
    ("stddev(a.x) IS NULL", [None]),
    ("stddev(a.x) = 2", [None, 4.0, None, 6.0, 8.0]),
    ("NOT (stddev(a.x) >= 0) AND stddev(a.x) IS NOT NULL", [1.0, math.inf]),
    ("NOT (stddev(a.x) >= 0) AND stddev(a.x) IS NOT NULL", [math.inf, 1.0, 2.0]),
    ("NOT (stddev(a.x) >= 0) AND stddev(a.x) IS NOT NULL", [1.0, math.nan, 2.0]),
]


@pytest.mark.parametrize(("condition", "values"), DEVIATIONS)
def test_registers_have_the_deviation(condition: str, values: list[float | None]) -> None:
    """Sums of distances from the first value: exact where these are, and zero where all are
    equal."""
    n = len(values)
    table = pa.table(
        {"type": ["A"] * n + ["B"], "x": pa.array([*values, 0.0], pa.float64()), "t": range(n + 1)}
    )
    ceql = cereus.compile(
        f"SELECT * WHERE A:{{{n}}} AS a : B FILTER {condition}", schema=table.schema
    )
    sase_text = condition.replace("a.x", "a[].x")
    sase = cereus.compile(
        f"PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity(a[], b) {{ count(a[]) = {n} AND "
        f"({sase_text}) }}",
        dialect="sase", schema=table.schema,
    )  # fmt: skip
    for query in (ceql, sase):
        assert not any("this is slow" in warning for warning in query.warnings)
        assert [row["positions"] for row in query.run(table)] == [list(range(n + 1))], query.dialect


def test_deviations_of_long_runs_are_close() -> None:
    """The first value is far from the others, which costs the most digits."""
    values = [1e6, *(19 + 0.01 * (n * n % 7) for n in range(500))]
    table = pa.table({"type": ["A"] * len(values) + ["B"], "x": [*values, 0.0]})
    exact = deviation(values)
    assert exact is not None
    for bound, expected in ((exact * (1 - 1e-10), 1), (exact * (1 + 1e-10), 0)):
        text = f"SELECT * WHERE START(A:+ AS a : B) FILTER stddev(a.x) > {bound!r}"
        query = cereus.compile(text, schema=table.schema)
        assert len(query.run(table)) == expected


def test_in_a_filter_and_in_return() -> None:
    ceql = "SELECT * WHERE A+ AS a ; B FILTER stddev(a.x) > 3 AND percentile(a.x, 0.5) = 4"
    found = cereus.compile(ceql).run(events())
    assert sorted(row["positions"] for row in found) == [[0, 1, 2, 3, 4], [0, 1, 3, 4]]
    sase = """PATTERN SEQ(A+ a[], B b) WHERE stddev(a[].x) > 3
    RETURN stddev(a[].x), percentile(a[].x, 0.5) AS R(deviation, middle)"""
    rows = cereus.compile(sase, dialect="sase").run(events()).table.to_pylist()
    longest = max(rows, key=lambda row: len(row["positions"]))
    assert (longest["deviation"], longest["middle"]) == (pytest.approx(3.605551275), 4.0)
