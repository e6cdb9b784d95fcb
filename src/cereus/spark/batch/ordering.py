"""Sorts events as Spark does, wherever they are read: live, and by several queries in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.ingest.clock import ordered
from cereus.expr.paths import column_at

Path = tuple[str, ...]
LARGEST = np.iinfo(np.int64).max


def in_order(events: pa.Table, order: tuple[Path, ...], first: str | None = None) -> pa.Table:
    """The events by the columns in `order`, as Spark compares them: nulls first, NaN last.

    `first` names an integer column that orders events as the first of these does: where it has
    no ties, no other column is looked at.
    """
    if events.num_rows < 2:
        return events
    if first is not None:
        times = events.column(first).to_numpy()
        steps = np.diff(times)
        if (steps > 0).all():
            return events
        by_time = np.argsort(times, kind="stable")
        if (np.diff(times[by_time]) > 0).all():
            return events.take(pa.array(by_time))
    return events.take(places_in_order(events, order))


def places_in_order(events: pa.Table, order: Iterable[Path]) -> pa.Array:
    """The places of the events that come first, second, … by these columns."""
    columns = [each for path in order for each in comparable(_read(events, path))]
    table = pa.table({str(place): column for place, column in enumerate(columns)})
    return pc.sort_indices(table, sort_keys=[(name, "ascending") for name in table.column_names])


def comparable(column: pa.Array) -> Iterator[pa.Array]:
    """Columns that Arrow sorts as Spark sorts this one."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_null(kind):
        return
    if column.null_count:
        yield column.is_valid()
    if pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from comparable(pc.struct_field(column, [place]))
    elif pa.types.is_floating(kind):
        yield _numbers(column)
    elif pa.types.is_nested(kind):
        yield _ranks(column)
    else:
        yield column


def _numbers(column: pa.Array) -> pa.Array:
    """Floats as integers in their order; Arrow would put NaN next to the nulls."""
    values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    return pa.array(np.where(np.isnan(values), LARGEST, ordered(values)))


def _ranks(column: pa.Array) -> pa.Array:
    """The place of each value among all; for lists, which Arrow does not sort."""
    keys = [_key(value) for value in column.to_pylist()]
    place = {key: number for number, key in enumerate(sorted(set(keys)))}
    return pa.array([place[key] for key in keys], pa.int64())


def _key(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return (1, *map(_key, value))
    return (2,) if value != value else (1, value)


def _read(events: pa.Table, path: Path) -> pa.Array:
    return column_at(events, path).combine_chunks()
