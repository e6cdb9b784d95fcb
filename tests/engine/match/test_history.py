"""What is remembered of events."""

from __future__ import annotations

import pyarrow as pa

from cereus.engine.match.history import GrowingTable
from cereus.state import checked


def test_rows_whose_columns_promise_no_nulls_stand_beside_others() -> None:
    """A damaged snapshot may promise it of what it holds."""
    promised = pa.schema([pa.field("x", pa.int64(), nullable=False)])
    table = GrowingTable()
    table.replace(pa.table({"x": [1, 2, 3]}, schema=promised))
    table.append(pa.table({"x": [None]}, schema=pa.schema({"x": pa.int64()})))
    assert table.table is not None
    assert table.table.column("x").to_pylist() == [1, 2, 3, None]


def test_saved_rows_take_the_promises_of_the_query() -> None:
    """Only of types is asked whether they are those of the query."""
    promised = pa.schema([pa.field("x", pa.int64(), nullable=False)])
    asked = pa.schema({"x": pa.int64()})
    assert checked.table(pa.table({"x": [1]}, schema=promised), "it", asked).schema == asked
