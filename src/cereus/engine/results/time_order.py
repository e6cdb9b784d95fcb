"""Puts matches in the order of time; otherwise those of one key come together."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.interrupts import interruptible
from cereus.errors import CereusError

TIME = "time"
BY_TIME = ("deadline", "end_time", "end", "start_time", "start")
"""The columns that matches are ordered by, as far as they have them."""


def in_order(rows: list[pa.RecordBatch], schema: pa.Schema, order: str) -> list[pa.RecordBatch]:
    """The rows of a result in a given order. `time` is the order of their ends, then of their
    starts; rows that agree in both stay as they came."""
    if order != TIME:
        raise CereusError(f"there is no order {order!r}", hint="there is one: time")
    table = pa.Table.from_batches(rows, schema)
    by = time_columns(schema.names)
    if not table.num_rows:
        return rows
    return interruptible(table.num_rows, lambda: _sorted(table, by))


def _sorted(table: pa.Table, by: list[str]) -> list[pa.RecordBatch]:
    places = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in by])
    batches: list[pa.RecordBatch] = table.take(places).combine_chunks().to_batches()
    return batches


def time_columns(names: list[str]) -> list[str]:
    """The columns of a result that give its order in time."""
    by = [name for name in BY_TIME if name in names]
    if not by:
        raise CereusError(
            "these results have no times to be ordered by",
            hint="order them by a column of their own: matches.table.sort_by(…)",
        )
    return by
