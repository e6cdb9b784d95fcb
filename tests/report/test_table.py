"""Values as the cells of a table, and what its rows are sorted by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from cereus.report.table import cells, ranks


@pytest.mark.parametrize(
    "ascending",
    [
        [9, 10, 2**60, None],
        [float("-inf"), -5.0, 9.5, 10.0, float("inf"), None],
        [Decimal("9.50"), Decimal("10.25"), None],
        [timedelta(hours=9), timedelta(hours=10), timedelta(days=1)],
        [datetime(2025, 1, 1, tzinfo=UTC) + timedelta(milliseconds=500 * i) for i in range(3)],
        [[3, 5], [10], [10, 2], [10, 12], None],
    ],
    ids=["whole", "floating", "decimal", "lengths", "times", "lists"],
)
def test_rows_are_sorted_by_values_not_by_texts(ascending: list[Any]) -> None:
    (found,) = ranks(pa.table({"x": pa.array(ascending[::-1])}))
    assert found is not None
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(ascending)


def test_texts_are_sorted_as_texts() -> None:
    assert ranks(pa.table({"x": ["b", None], "y": [True, False]})) == [None, None]


def test_equal_values_have_one_place() -> None:
    assert ranks(pa.table({"x": [2, 1, 2]})) == [[2, 1, 2]]


def test_a_number_that_a_browser_would_round_is_a_text() -> None:
    table = pa.table({"x": [2**53 - 1, 2**53 + 1, -(2**60)]})
    assert cells(table) == [[2**53 - 1], [str(2**53 + 1)], [str(-(2**60))]]


FAR = 2**60
MOMENTS = pa.array([FAR, None]).cast(pa.timestamp("us"))


@pytest.mark.parametrize(
    "column",
    [
        MOMENTS,
        MOMENTS.cast(pa.timestamp("us", tz="UTC")),
        MOMENTS.dictionary_encode(),
        pa.array([FAR, None]).cast(pa.duration("s")),
        pa.ListArray.from_arrays([0, 1, 2], MOMENTS),
    ],
    ids=lambda column: str(column.type),
)
def test_times_that_python_does_not_know_are_numbers(column: pa.Array) -> None:
    table = pa.table({"x": column})
    assert cells(table)[0] == [str(FAR)]
    assert len(ranks(table)) == 1


@pytest.mark.parametrize(
    "column",
    [
        pa.array([timedelta(hours=9), None]),
        pa.array([], pa.duration("ns")),
        pa.array([1.5, None], pa.float16()),
        pa.array([3_000_000, None], pa.int32()).cast(pa.date32()),
        pa.StructArray.from_arrays([MOMENTS], ["t"]),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_every_kind_are_shown(column: pa.Array) -> None:
    """Arrow has no least duration, and no order of small floats."""
    table = pa.table({"x": column})
    assert len(cells(table)) == len(column)
    assert len(ranks(table)) == 1
