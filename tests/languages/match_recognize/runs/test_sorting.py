"""Rows by partition and in order: as a plain sort gives them, moved only where they have to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cereus.languages.match_recognize.match import sorting
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.tree import Order

CELLS = st.tuples(
    st.integers(0, 2), st.integers(0, 3), st.sampled_from([0.5, 1.5, None]), st.sampled_from("pq")
)


def table_of(cells: list[tuple[Any, ...]]) -> pa.Table:
    key, time, number, text = ([row[place] for row in cells] for place in range(4))
    return pa.table(
        {
            "key": pa.array(key, pa.int64()),
            "time": pa.array(time, pa.int64()),
            "number": pa.array(number, pa.float64()),
            "text": pa.array(text, pa.string()),
        }
    )


def plainly(table: pa.Table, keys: tuple[str, ...], order: tuple[Order, ...]) -> list[int]:
    """The rows by key and in order, one stable sort after the other."""
    rows = list(range(table.num_rows))
    for each in reversed(order):
        cells = table.column(each.path[0]).to_pylist()
        known = [row for row in rows if cells[row] is not None]
        nulls = [row for row in rows if cells[row] is None]
        known.sort(key=lambda row: cells[row], reverse=each.descending)  # equal ones stay
        rows = nulls + known if each.nulls_first else known + nulls
    for name in reversed(keys):
        cells = table.column(name).to_pylist()
        rows.sort(key=lambda row: cells[row])
    return rows


ORDERS = st.lists(
    st.builds(
        lambda name, descending, nulls: Order((name,), descending, nulls),
        st.sampled_from(["time", "number", "text"]),
        st.booleans(),
        st.sampled_from([None, True, False]),
    ),
    max_size=2,
).map(tuple)


@given(cells=st.lists(CELLS, max_size=8), order=ORDERS, lie=st.sampled_from(["any", "key", "time"]))
def test_rows_stand_as_a_plain_sort_puts_them(
    cells: list[tuple[Any, ...]], order: tuple[Order, ...], lie: str
) -> None:
    if lie == "key":  # sorted by key, and then by time
        cells = sorted(cells, key=lambda row: row[:2])
    elif lie == "time":
        cells = sorted(cells, key=lambda row: row[1])
    table = table_of(cells)
    rows = SortedRows(table, ("key",), order)
    found = list(range(len(table))) if rows.rows is None else [int(row) for row in rows.rows]
    assert found == plainly(table, ("key",), order)
    sizes = np.unique(np.array([row[0] for row in cells], np.int64), return_counts=True)[1]
    assert np.diff(rows.bounds).tolist() == sizes.tolist()


def test_a_table_that_is_sorted_by_key_and_time_is_neither_sorted_nor_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*given: object, **named: object) -> None:
        raise AssertionError("sorted")

    monkeypatch.setattr(sorting.pc, "sort_indices", refuse)
    table = pa.table({"key": [1, 1, 2, 2, 3], "time": [5, 9, 1, 3, 0]})
    rows = SortedRows(table, ("key",), (Order(("time",)),))
    assert rows.rows is None
    assert rows.bounds.tolist() == [0, 2, 4, 5]


def test_rows_that_stand_in_order_in_each_partition_are_only_grouped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where the files of several days are read in another order."""

    def refuse(*given: object, **named: object) -> None:
        raise AssertionError("sorted")

    monkeypatch.setattr(sorting.pc, "sort_indices", refuse)
    table = pa.table({"key": [2, 1, 2, 1], "time": [7, 1, 8, 2]})
    rows = SortedRows(table, ("key",), (Order(("time",)),))
    assert rows.rows is not None and rows.rows.tolist() == [1, 3, 0, 2]
