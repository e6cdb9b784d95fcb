"""The events that `why` looks at, and how queries are run over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.language.anatomy import ROW
from cereus.language.compiled import CompiledQuery
from cereus.sources import BATCH_ROWS, Source

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Events:
    """Events in memory, in the order in which they are read. `rows` are their numbers in the
    input. Queries call them by their places, which they have in the column `ROW`."""

    table: pa.Table
    rows: Rows

    @staticmethod
    def of(source: Source) -> Events:
        table = source.table
        if table is None:
            table = pa.Table.from_batches(source.batches(), source.schema)
        rows = source.row_numbers
        rows = np.arange(table.num_rows, dtype=np.int64) if rows is None else rows
        return Events._numbered(table, rows)

    @staticmethod
    def _numbered(table: pa.Table, rows: Rows) -> Events:
        return Events(table.append_column(ROW, pa.array(np.arange(len(rows)))), rows)

    def part(self, places: Rows) -> Events:
        """The events at some places."""
        taken = self.table.drop_columns([ROW]).take(pa.array(places))
        return Events._numbered(taken, self.rows[places])

    def places(self, rows: Rows) -> Rows:
        """Where events of these numbers stand."""
        order = np.argsort(self.rows, kind="stable")
        found: Rows = order[np.searchsorted(self.rows, rows, sorter=order)]
        return found

    def of_rows(self, rows: Rows) -> pa.Table:
        """The events of some numbers, as they were given."""
        return self.table.take(pa.array(self.places(rows))).drop_columns([ROW])

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        chosen = self.table.select(columns)
        for at in range(0, chosen.num_rows, BATCH_ROWS):
            yield chosen.slice(at, BATCH_ROWS).combine_chunks().to_batches()[0]


def results(query: CompiledQuery, events: Events) -> Iterator[pa.RecordBatch]:
    """The results of a query, with places for rows, as they come: whoever has seen enough
    stops."""
    schema = events.table.schema
    executor = query.executor(schema)
    needed = {path[0] for path in query.columns(schema)}
    columns = [name for name in schema.names if name in needed] or [ROW]
    for batch in events.batches(columns):
        yield from executor.push(batch)
    yield from executor.finish()


@dataclass(frozen=True)
class Found:
    """A match: its rows in the order of their numbers, and those of each variable."""

    rows: tuple[int, ...]
    variables: Mapping[str, list[int]]


def matched(query: CompiledQuery, events: Events, names: Iterable[str] = ()) -> Iterator[Found]:
    """Every match, with the rows of the variables that are named."""
    for batch in results(query, events):
        rows = query.rows_of(batch).to_pylist()
        known = [name for name in names if name in batch.schema.names]
        columns = [batch.column(name).to_pylist() for name in known]
        for place, each in enumerate(rows):
            if each:
                yield Found(
                    tuple(sorted(set(events.rows[each].tolist()))),
                    {
                        name: events.rows[column[place] or []].tolist()
                        for name, column in zip(known, columns, strict=True)
                    },
                )
