"""Events that can be read in batches and fetched by row number, whatever their form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.interrupts import interruptible
from cereus.errors import DataError, switch
from cereus.sources.files import Files
from cereus.sources.reading.columnar import BATCH_ROWS
from cereus.sources.scan import Scan, scan
from cereus.sources.tables import UNREADABLE, is_path, to_table
from cereus.stream import Stream, refuse_repeated


@dataclass(frozen=True)
class Source:
    """A table, or files that are read as they are needed.

    `row_numbers` is set if the rows were sorted: the number of each row in the input.
    """

    schema: pa.Schema
    table: pa.Table | None = None
    scan: Scan | None = None
    row_numbers: npt.NDArray[np.int64] | None = None
    original: pa.Table | None = None

    @property
    def num_rows(self) -> int:
        if self.table is not None:
            return int(self.table.num_rows)
        assert self.scan is not None
        return self.scan.count()

    def quick_count(self) -> int | None:
        """The number of rows, if it is known without reading them."""
        if self.scan is not None and not self.scan.knows_count:
            return None
        return self.num_rows

    def batches(
        self, columns: list[str] | None = None, coded: frozenset[str] = frozenset()
    ) -> Iterator[pa.RecordBatch]:
        """The rows; the texts of the `coded` columns may come as dictionaries."""
        if self.scan is not None:
            yield from self.scan.batches(columns, coded)
            return
        assert self.table is not None
        table = self.table if columns is None else self.table.select(columns)
        for at in range(0, table.num_rows, BATCH_ROWS):
            part = table.slice(at, BATCH_ROWS).combine_chunks().to_batches()
            yield part[0]

    def possible_batches(
        self,
        columns: list[str],
        where: Callable[[pa.Schema], Any] | None,
        coded: frozenset[str] = frozenset(),
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows that may matter, each batch with the number of its first row; all of them, if
        that is not known."""
        if self.scan is not None and where is not None:
            yield from self.scan.possible_batches(columns, where, coded)
            return
        row = 0
        for batch in self.batches(columns, coded):
            yield row, batch
            row += batch.num_rows

    def first(self, rows: int) -> Source:
        """The first rows of a table."""
        assert self.table is not None
        return replace(self, table=self.table.slice(0, rows))

    def take(self, rows: pa.Array) -> pa.Table:
        """Rows by their numbers in the input."""
        if self.original is not None:
            return self.original.take(rows)
        if self.table is not None:
            return self.table.take(rows)
        assert self.scan is not None
        return self.scan.take(rows)


def source(data: Any, stream: Stream, *, sort: bool = False) -> Source:
    """Events from anything: Arrow, pandas, polars, DuckDB, files, or {stream: events}."""
    if isinstance(data, Source):
        return data
    if isinstance(data, Mapping) and stream.stream is not None:
        data = _merged({str(name): to_table(part) for name, part in data.items()}, stream)
    sort = switch("sort", sort)
    if is_path(data) and not sort:
        described = scan(data if isinstance(data, Files) else Files(data))
        return Source(described.schema, scan=described)
    table = to_table(data)
    if not sort:
        return Source(table.schema, table)
    if stream.time is None:
        raise DataError("sorting needs a time column", hint='say Stream(time="…")')
    _need_time(table, stream)
    order = _order(table, stream)
    return Source(
        table.schema,
        _in_order(table, order),
        row_numbers=order.to_numpy().astype(np.int64),
        original=table,
    )


def _merged(parts: dict[str, pa.Table], stream: Stream) -> pa.Table:
    """Several streams as one, by time (in the given order if times are equal)."""
    assert stream.stream is not None
    named = [
        part.append_column(stream.stream, pa.array([name] * part.num_rows, pa.string()))
        for name, part in parts.items()
    ]
    try:
        table = pa.concat_tables(named, promote_options="default")
    except UNREADABLE as error:
        raise DataError(
            f"the streams cannot be put together: {error}",
            hint="give the column one type in all of them",
        ) from None
    if stream.time is None:
        return table
    _need_time(table, stream)
    return _in_order(table, _order(table, stream))


def _order(table: pa.Table, stream: Stream) -> pa.Array:
    """The rows in the order of time. It is stable, so events of one time keep their order."""
    times = table.column(stream.time)
    return interruptible(len(times), lambda: pc.sort_indices(times))


def _in_order(table: pa.Table, order: pa.Array) -> pa.Table:
    return interruptible(len(order), lambda: table.take(order))


def _need_time(table: pa.Table, stream: Stream) -> None:
    """Check that there is a column of times that can be sorted."""
    refuse_repeated(table.column_names, "the events have")
    stream.need_time(table.column_names)
    stream.check_time(table.schema)
