"""The events that `why` looks at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
        return EventTable(_numbered(table), rows, stream, table)

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


def _numbered(table: pa.Table) -> pa.Table:
    return table.append_column(ROW, pa.array(np.arange(table.num_rows)))
