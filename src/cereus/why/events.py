"""The events that `why` looks at."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.clauses.tree import TimeWindow, Window
from cereus.engine.ingest.clock import in_units_of
from cereus.expr.arrow.evaluate import mask
from cereus.expr.check import coerce
from cereus.language.anatomy import ROW
from cereus.plan.tests import EventTest
from cereus.sources import Source
from cereus.stream import Stream
from cereus.why.tested import Mask, TestedEvents

Rows = npt.NDArray[np.int64]
FIRST_TEXTS, SELDOM = 4_096, 8
"""A column has few texts if one comes so many times on average, in its first rows and in all."""


@dataclass(frozen=True)
class EventTable:
    """Events in memory, in the order in which they are read. `rows` are their numbers in the
    input. Queries call them by their places, which they have in the column `ROW`.

    `given` are the same events with all columns, as they were given.
    """

    table: pa.Table
    rows: Rows
    stream: Stream
    given: pa.Table

    @staticmethod
    def of(
        source: Source, stream: Stream, read: Iterable[str] = (), keys: Collection[str] = ()
    ) -> EventTable:
        """All events of the stream: those that its condition lets pass. `read` are columns that
        many queries will read, `keys` those among them that tell events apart."""
        table = source.table
        if table is None:
            table = pa.Table.from_batches(source.batches(), source.schema)
        rows = source.row_numbers
        rows = np.arange(table.num_rows, dtype=np.int64) if rows is None else rows
        if stream.condition is not None:
            passed = np.flatnonzero(mask(coerce(stream.condition, table.schema), table))
            table, rows = table.take(pa.array(passed)), rows[passed]
        return EventTable(_numbered(_quick_to_read(table, read, keys)), rows, stream, table)

    def part(self, places: Rows) -> EventTable:
        """The events at some places."""
        given = self.given.take(pa.array(places))
        return EventTable(_numbered(given), self.rows[places], self.stream, given)

    def __len__(self) -> int:
        return len(self.rows)

    # ------------------------------------------------------------ rows

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

    def have(self, rows: Rows) -> Mask:
        """Which of some numbers are those of events here."""
        return np.isin(rows, self.rows)

    def of_rows(self, rows: Rows) -> pa.Table:
        """The events of some numbers, as they were given."""
        return self.given.take(pa.array(self.places(rows)))

    def at(self, places: Rows, names: Iterable[str]) -> pa.Table:
        """Some columns of the events at some places, as they were given."""
        return self.given.select(list(names)).take(pa.array(places))

    # ------------------------------------------------------------ tests

    @cached_property
    def tested(self) -> TestedEvents:
        return TestedEvents(self.table, self.stream, ())

    def test(self, tests: Iterable[EventTest]) -> None:
        """Compute what some tests ask, all at once."""
        self.__dict__["tested"] = TestedEvents(self.table, self.stream, tests)

    def passing(self, test: EventTest) -> Mask:
        """The events that pass a test."""
        return self.tested.events(self.tested.passing(test))

    # ------------------------------------------------------------ time

    @cached_property
    def _times(self) -> Rows | None:
        """The times of all events, where they are counted and never go back."""
        name = self.stream.time
        if name is None or name not in self.table.column_names:
            return None
        column = self.table.column(name)
        whole = pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type)
        if not whole or column.null_count:
            return None
        times = column.cast(pa.int64()).to_numpy()
        return times if np.all(times[1:] >= times[:-1]) else None

    def around(self, places: Rows, window: Window | None) -> list[tuple[int, int]] | None:
        """The stretches of events that lie within a window of some events, in their order, each
        with the place where it begins and the one behind it; None if that cannot be told."""
        times = self._times
        if times is None or not isinstance(window, TimeWindow):
            return None
        kind = self.table.schema.field(self.stream.time).type
        length = int(in_units_of(kind, window.microseconds, self.stream)) + 1
        begins = np.searchsorted(times, times[places] - length)
        ends = np.searchsorted(times, times[places] + length, side="right")
        apart = np.flatnonzero(begins[1:] > ends[:-1])
        return list(
            zip(
                begins[np.r_[0, apart + 1]].tolist() if len(places) else [],
                ends[np.r_[apart, len(places) - 1]].tolist() if len(places) else [],
                strict=True,
            )
        )


def _quick_to_read(table: pa.Table, names: Iterable[str], keys: Collection[str]) -> pa.Table:
    """The same with some columns in one piece, and of keys, where texts repeat, their codes: what
    would be done in every run is done once. Texts that are only compared with constants are
    quicker as they are."""
    for name in names:
        at = table.schema.get_field_index(name)
        if at >= 0 and table.num_rows:
            column = table.column(at)
            whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
            coded = name in keys and _repeats(whole)
            table = table.set_column(at, name, _coded(whole) if coded else whole)
    return table


def _repeats(column: pa.Array) -> bool:
    """Whether it is a column of few texts, as its first rows tell."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    first = column.slice(0, FIRST_TEXTS)
    return len(pc.unique(first)) * SELDOM <= len(first)


def _coded(column: pa.Array) -> pa.Array:
    coded = column.dictionary_encode()
    return coded if len(coded.dictionary) * SELDOM <= len(column) else column


def _numbered(table: pa.Table) -> pa.Table:
    return table.append_column(ROW, pa.array(np.arange(table.num_rows)))
