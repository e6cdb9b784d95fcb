"""NaN has no place in the order: `min` and `max` pass it over, wherever it stands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pyarrow as pa
import pytest

import cereus
from cereus.expr.tree import Aggregate
from cereus.reference.cel import aggregate

ORDERS = list(itertools.permutations((1.0, 2.0, math.nan)))
NOTHING = [(math.nan, math.nan)]


def events(values: Sequence[float]) -> pa.Table:
    types = ["A"] * len(values) + ["B"]
    return pa.table({"type": types, "x": pa.array([*values, 0.0])})


def holds(condition: str, values: Sequence[float]) -> bool:
    """Whether a condition holds of a run of events with these values."""
    query = cereus.compile(f"SELECT * WHERE A:+ AS a : B AS b FILTER {condition}")
    found = query.run(events(values))
    return any(len(row["positions"]) == len(values) + 1 for row in found)


@pytest.mark.parametrize("values", ORDERS)
@pytest.mark.parametrize(
    "condition",
    [
        "min(a.x) = 1 AND max(a.x) = 2",
        "min(a.x) + b.x = 1 AND max(a.x) + b.x = 2",
        "power(min(a.x), 2) = 1 AND power(max(a.x), 2) = 4",  # no term of the kernel
    ],
)
def test_filters_pass_it_over(condition: str, values: Sequence[float]) -> None:
    assert holds(condition, values)


@pytest.mark.parametrize("values", NOTHING)
def test_of_nothing_else_there_is_no_smallest(values: Sequence[float]) -> None:
    assert holds("min(a.x) IS NULL AND max(a.x) IS NULL", values)
    assert holds("power(max(a.x), 2) IS NULL", values)
    assert returned(values) == (None, None)


@pytest.mark.parametrize("values", ORDERS + NOTHING)
def test_every_part_agrees(values: Sequence[float]) -> None:
    totals = cereus.compile("SELECT COUNT(*), MIN(a.x), MAX(a.x) WHERE A:+ AS a : B")
    row = totals.run(events(values))[-1]
    seen = [{"type": "A", "x": value} for value in values]
    expected = tuple(aggregate(Aggregate(f, "a", ("x",)), seen) for f in ("min", "max"))
    assert returned(values) == (row["min(a.x)"], row["max(a.x)"]) == expected


def test_what_is_infinite_has_its_place() -> None:
    totals = cereus.compile("SELECT COUNT(*), MIN(a.x), MAX(a.x) WHERE A:+ AS a : B")
    values = (math.inf, -math.inf, 1.0)
    row = totals.run(events(values))[-1]
    assert returned(values) == (row["min(a.x)"], row["max(a.x)"]) == (-math.inf, math.inf)
    assert holds("min(a.x) < 0 AND max(a.x) > 9", values)


def returned(values: Sequence[float]) -> tuple[float, float]:
    text = "PATTERN SEQ(A+ a[], B b) WITHIN 9 events RETURN min(a[].x), max(a[].x)"
    found = cereus.compile(text, dialect="sase").run(events(values))
    whole = max(found, key=lambda row: len(row["positions"]))
    return whole["min_x"], whole["max_x"]
