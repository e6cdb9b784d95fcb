"""The events that `why` looks at, and how queries are run over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.letters import conditions_of
from cereus.expr.arrow.evaluate import mask
from cereus.expr.check import coerce
from cereus.expr.tree import Expression
from cereus.language.anatomy import ROW
from cereus.language.compiled import CompiledQuery
from cereus.plan.tests import EventTest
from cereus.sources import BATCH_ROWS, Source
from cereus.stream import Stream

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class EventTable:
    """EventTable in memory, in the order in which they are read. `rows` are their numbers in the
    input. Queries call them by their places, which they have in the column `ROW`.

    `origin` are the places that they have among the events they were chosen from.

    Which events satisfy a condition is computed once, however many queries ask for it, and so are
    the events that matter to queries with the same tests."""

    table: pa.Table
    rows: Rows
    origin: Rows | None = None
    _masks: dict[Expression, Mask] = field(default_factory=dict)
    _parts: dict[tuple[bytes, tuple[str, ...]], EventTable] = field(default_factory=dict)

    @staticmethod
    def of(source: Source, stream: Stream) -> EventTable:
        """All events of the stream: those that its condition lets pass."""
        table = source.table
        if table is None:
            table = pa.Table.from_batches(source.batches(), source.schema)
        rows = source.row_numbers
        rows = np.arange(table.num_rows, dtype=np.int64) if rows is None else rows
        if stream.condition is not None:
            passed = np.flatnonzero(mask(coerce(stream.condition, table.schema), table))
            table, rows = table.take(pa.array(passed)), rows[passed]
        return EventTable.numbered(table, rows)

    @staticmethod
    def numbered(table: pa.Table, rows: Rows) -> EventTable:
        return EventTable(table.append_column(ROW, pa.array(np.arange(len(rows)))), rows)

    def part(self, places: Rows, columns: list[str] | None = None) -> EventTable:
        """The events at some places."""
        names = self.table.column_names if columns is None else columns
        kept = self.table.select([name for name in names if name != ROW])
        part = EventTable.numbered(kept.take(pa.array(places)), self.rows[places])
        return replace(part, origin=places)

    @cached_property
    def _order(self) -> Rows | None:
        """The places in the order of the rows' numbers; None if that is the order they are in."""
        if np.all(self.rows[1:] > self.rows[:-1]):
            return None
        return np.argsort(self.rows, kind="stable")

    def places(self, rows: Rows) -> Rows:
        """Where events of these numbers stand."""
        at = np.searchsorted(self.rows, rows, sorter=self._order)
        return at if self._order is None else self._order[at]

    def of_rows(self, rows: Rows) -> pa.Table:
        """The events of some numbers, as they were given."""
        return self.table.take(pa.array(self.places(rows))).drop_columns([ROW])

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        chosen = self.table.select(columns)
        for at in range(0, chosen.num_rows, BATCH_ROWS):
            yield chosen.slice(at, BATCH_ROWS).combine_chunks().to_batches()[0]

    # ------------------------------------------------------------ tests

    def satisfying(self, condition: Expression) -> Mask:
        if condition not in self._masks:
            self._masks[condition] = mask(condition, self.table)
        return self._masks[condition]

    def passing(self, test: EventTest, stream: Stream) -> Mask:
        """The events that pass a test."""
        paths = [None if name is None else (name,) for name in (stream.type, stream.stream)]
        passed = np.ones(len(self.rows), bool)
        for condition in conditions_of(test, *paths):
            passed &= self.satisfying(condition)
        return ~passed if test.negated else passed

    def relevant(self, query: CompiledQuery) -> EventTable:
        """The events that can matter to a query, with the columns that it reads."""
        schema = self.table.schema
        needed = {path[0] for path in query.columns(schema)}
        columns = [name for name in schema.names if name in needed] or schema.names[:1]
        tests = query.tests(schema)
        if query.counts_events or not tests:
            return self
        passed = np.zeros(len(self.rows), bool)
        for test in tests:
            passed |= self.passing(test, query.stream)
        key = (np.packbits(passed).tobytes(), tuple(columns))
        if key not in self._parts:
            self._parts[key] = self.part(np.flatnonzero(passed), columns)
        return self._parts[key]


@dataclass(frozen=True)
class Run:
    """A query on its way over the events that matter to it. Its results call events by their
    places among these."""

    query: CompiledQuery
    events: EventTable
    of_all: EventTable

    @staticmethod
    def of(query: CompiledQuery, events: EventTable) -> Run:
        return Run(query, events.relevant(query), events)

    @property
    def schema(self) -> pa.Schema:
        return self.of_all.table.schema

    def results(self) -> Iterator[pa.RecordBatch]:
        """As they come: whoever has seen enough stops."""
        executor = self.query.executor(self.schema)
        executor.defer()
        needed = {path[0] for path in self.query.columns(self.schema)}
        columns = [name for name in self.schema.names if name in needed] or [ROW]
        for batch in self.events.batches(columns):
            yield from executor.push(batch)
        yield from executor.finish()

    def mask(self, places: list[Rows]) -> Mask:
        """Which of all events are those at some places."""
        chosen = np.concatenate(places)
        origin = self.events.origin
        mask = np.zeros(len(self.of_all.rows), bool)
        mask[chosen if origin is None else origin[chosen]] = True
        return mask

    def rows_at(self, places: Iterable[int]) -> list[int]:
        numbers: list[int] = self.events.rows[list(places)].tolist()
        return numbers


@dataclass(frozen=True)
class FoundMatch:
    """A match: its rows in the order of their numbers, and those of each variable."""

    rows: tuple[int, ...]
    variables: Mapping[str, list[int]]


def matched(
    query: CompiledQuery, events: EventTable, names: Iterable[str] = ()
) -> Iterator[FoundMatch]:
    """Every match, with the rows of the variables that are named."""
    run = Run.of(query, events)
    for batch in run.results():
        rows = query.rows_of(batch).to_pylist()
        columns = {n: batch.column(n).to_pylist() for n in names if n in batch.schema.names}
        for place, each in enumerate(rows):
            if each:
                held = {n: run.rows_at(column[place] or ()) for n, column in columns.items()}
                yield FoundMatch(tuple(sorted(set(run.rows_at(each)))), held)
