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
