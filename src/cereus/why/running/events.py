"""The events that `why` looks at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.clauses.tree import TimeWindow, Window
from cereus.engine.ingest.clock import earlier, in_units_of, later
from cereus.expr.arrow.evaluate import mask
from cereus.expr.check import coerce
from cereus.language.anatomy import ROW
from cereus.plan.tests import EventTest
from cereus.sources import Source
from cereus.stream import Stream
from cereus.why.running.tested import Mask, TestedEvents

Rows = npt.NDArray[np.int64]
LOOKED_AT, STRETCHES, SELDOM = 1_024, 4, 8
"""Samples of a column decide whether it has few texts: this many rows, in this many ranges; it has
few if a text occurs this often on average."""
SHARE_CODED = 8
"""A run that reads fewer than one in this many events codes only the texts that it reads."""
MOST_KEPT = 1 << 15
"""The most events of one run whose columns are kept for others that read the same."""


@dataclass(frozen=True)
class EventTable:
    """Events in memory, in the order in which they are read. `rows` are their numbers in the
    input. Queries call them by their places, which they have in the column `ROW`.

    `given` are the same events with all columns, as they were given. Of the columns `coded`,
    queries read the codes of their texts.
    """

    table: pa.Table
    rows: Rows
    stream: Stream
    given: pa.Table
    coded: tuple[str, ...] = ()

    @staticmethod
    def of(
        source: Source, stream: Stream, read: Iterable[str] = (), keys: Collection[str] = ()
    ) -> EventTable:
        """All events of the stream: those that its condition lets pass. `read` are columns that
        many queries will read; `keys` are those of them that are keys."""
        table = source.table
        if table is None:
            table = pa.Table.from_batches(source.batches(), source.schema)
        places = np.arange(table.num_rows)
        rows = places if source.row_numbers is None else source.row_numbers
        if stream.condition is not None:
            passed = np.flatnonzero(mask(coerce(stream.condition, table.schema), table))
            table, rows, places = table.take(pa.array(passed)), rows[passed], places[: len(passed)]
        quick = _in_one_piece(table, read)
        coded = tuple(name for name in read if name in keys and _repeats(quick, name))
        return EventTable(_numbered(quick, places), rows, stream, table, coded)

    def part(self, places: Rows) -> EventTable:
        """The events at some places."""
        given = self.given.take(pa.array(places))
        numbered = _numbered(given, np.arange(len(places)))
        return EventTable(numbered, self.rows[places], self.stream, given)

    def in_order(self) -> EventTable:
        """The events in the order of their times. Those of several keys may be in that order within
        each key only."""
        if self.stream.time is None or self._times is not None:
            return self
        return self.part(pc.sort_indices(self.given.column(self.stream.time)).to_numpy())

    def __len__(self) -> int:
        return len(self.rows)

    # ------------------------------------------------------------ what queries read

    @cached_property
    def schema(self) -> pa.Schema:
        """The schema of what queries read."""
        return _coded(self.table.slice(0, 0), self.coded).schema

    @cached_property
    def _coded(self) -> pa.Table:
        return _coded(self.table, self.coded)

    def read(self, names: Iterable[str], places: Rows | None) -> pa.Table:
        """Some columns of the events at some places, numbered from 0 on, or of all, as queries read
        them. Small results are kept: the next query may read the same."""
        chosen = tuple(names)
        if places is None:
            return self._coded.select(chosen)
        if len(places) > MOST_KEPT:
            return self.read_part(chosen, places, 0)
        key = (id(places), chosen)
        if key not in self._kept:
            self._kept[key] = places, self.read_part(chosen, places, 0)
        return self._kept[key][1]

    def first(self, count: int) -> Rows:
        """The places of the first events; the same array for the same count."""
        return self._first.setdefault(count, np.arange(count))

    @cached_property
    def _first(self) -> dict[int, Rows]:
        return {}

    def shelf(self, places: Rows | None) -> dict[Any, Any]:
        """The shelf on which queries that read the events at some places share what they find
        out."""
        return self._shelves.setdefault(id(places), (places, {}))[1]

    @cached_property
    def _shelves(self) -> dict[int, tuple[Rows | None, dict[Any, Any]]]:
        return {}

    @cached_property
    def _kept(self) -> dict[tuple[int, tuple[str, ...]], tuple[Rows, pa.Table]]:
        return {}

    def read_part(self, chosen: Sequence[str], places: Rows, first: int) -> pa.Table:
        """Like `read`, for a part of the places, numbered from `first` on. Texts that many runs
        would code are coded once, if that is not much more than one of them reads."""
        if "_coded" in self.__dict__ or len(places) * SHARE_CODED >= len(self):
            taken = _taken(self._coded.select(chosen), places)
        else:
            taken = _taken(self.table.select(chosen), places)
            taken = _coded(taken, [name for name in self.coded if name in chosen])
        if ROW not in taken.column_names:
            return taken
        numbers = pa.array(np.arange(first, first + len(places)))
        return taken.set_column(taken.column_names.index(ROW), ROW, numbers)

    # ------------------------------------------------------------ rows

    @cached_property
    def _order(self) -> Rows | None:
        """The places in the order of the row numbers; None if they are in that order."""
        if np.all(self.rows[1:] > self.rows[:-1]):
            return None
        return np.argsort(self.rows, kind="stable")

    def places(self, rows: Rows) -> Rows:
        """The places of events with these row numbers."""
        at = np.searchsorted(self.rows, rows, sorter=self._order)
        return at if self._order is None else self._order[at]

    def spans(self, matches: Sequence[Sequence[int]]) -> tuple[Rows, Rows]:
        """The places of the first and the last event of each match, given their rows."""
        if not matches:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = self.places(np.array([row for rows in matches for row in rows]))
        begins = np.cumsum([0, *(len(rows) for rows in matches[:-1])])
        return np.minimum.reduceat(places, begins), np.maximum.reduceat(places, begins)

    def have(self, rows: Rows) -> Mask:
        """Which of these row numbers are those of events here."""
        return np.isin(rows, self.rows)

    def of_rows(self, rows: Rows) -> pa.Table:
        """The events of a few row numbers, as they were given. Taking them from all columns at once
        would join the texts of the whole table."""
        one_by_one = [self.given.slice(place, 1) for place in self.places(rows).tolist()]
        return pa.concat_tables([self.given.slice(0, 0), *one_by_one])

    def at(self, places: Rows, names: Iterable[str]) -> pa.Table:
        """Some columns of the events at some places, as they were given."""
        return self.given.select(list(names)).take(pa.array(places))

    # ------------------------------------------------------------ tests

    @cached_property
    def tested(self) -> TestedEvents:
        return TestedEvents(self.table, self.stream, ())

    def test(self, tests: Iterable[EventTest]) -> None:
        """Evaluate some tests, all at once."""
        self.__dict__["tested"] = TestedEvents(self.table, self.stream, tests)

    def passing(self, test: EventTest) -> Mask:
        """The events that pass a test."""
        return self.tested.events(self.tested.passing(test))

    # ------------------------------------------------------------ time

    @cached_property
    def _times(self) -> Rows | None:
        """The times of all events, if they are counted and never go back."""
        name = self.stream.time
        if name is None or name not in self.table.column_names:
            return None
        column = self.table.column(name)
        exact = pa.types.is_signed_integer(column.type) or pa.types.is_timestamp(column.type)
        if not exact or column.null_count:
            return None
        times = column.cast(pa.int64()).to_numpy()
        return times if np.all(times[1:] >= times[:-1]) else None

    def around(self, places: Rows, window: Window | None) -> tuple[Rows, Rows] | None:
        """The ranges of events within a window of some events, in their order: where they begin and
        end. None if that is not known."""
        times = self._times
        if times is None or not isinstance(window, TimeWindow):
            return None
        kind = self.table.schema.field(self.stream.time).type
        length = int(in_units_of(kind, window.microseconds, self.stream)) + 1
        begins = np.searchsorted(times, earlier(times[places], length))
        ends = np.searchsorted(times, later(times[places], length), side="right")
        if not len(places):
            return begins, ends
        apart = np.flatnonzero(begins[1:] > ends[:-1])
        return begins[np.append(0, apart + 1)], ends[np.append(apart, len(places) - 1)]


def _in_one_piece(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The same table with some columns in one piece, as every run would make them."""
    for name in names:
        at = table.schema.get_field_index(name)
        if at >= 0 and table.column(at).num_chunks > 1:
            table = table.set_column(at, name, table.column(at).combine_chunks())
    return table


def _taken(table: pa.Table, places: Rows) -> pa.Table:
    """The rows at some places, in their order; neighbours are not copied."""
    size = len(places)
    if size and places[-1] - places[0] == size - 1:
        return table.slice(int(places[0]), size)
    return table.take(pa.array(places))


def _repeats(table: pa.Table, name: str) -> bool:
    """Whether a column has few texts, as some of its rows show. This is for keys only: texts that
    are only compared with constants are quicker as they are."""
    if name not in table.column_names:
        return False
    column = table.column(name)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    begins = [len(column) * part // STRETCHES for part in range(STRETCHES)]
    looked_at = [column.slice(begin, LOOKED_AT) for begin in begins]
    texts = pa.chunked_array([chunk for each in looked_at for chunk in each.chunks], column.type)
    return len(texts) > 0 and len(pc.unique(texts)) * SELDOM <= len(texts)


def _coded(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """The same table with codes of texts in some columns."""
    for name in names:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(at).dictionary_encode())
    return table


def _numbered(table: pa.Table, places: Rows) -> pa.Table:
    return table.append_column(ROW, pa.array(places))
