"""How the queries of an anatomy are run: over the events that can matter to them, and, where that
would be too many, over the first events of the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.language.anatomy import ROW
from cereus.language.compiled import CompiledQuery
from cereus.why.events import EventTable, Rows
from cereus.why.tested import Mask

FIRST_ROWS, MOST_ROWS = 1 << 15, 1 << 20
"""Events that are pushed at once: few at first, as whoever looks may soon have seen enough."""
MOST_CENTRES = 5_000
"""Events around which the stream is read, in place of all of it."""
MOST_LISTED = 1 << 10
"""Results that are turned into matches at once: whoever looks may soon have seen enough."""


@dataclass(frozen=True)
class Run:
    """A query on its way over some events. Its results number those that it reads.

    places  those of the events that are read; None for all
    cut     the stream goes on behind them, so nothing may be concluded from their end
    """

    query: CompiledQuery
    events: EventTable
    places: Rows | None = None
    cut: bool = False

    @staticmethod
    def of(
        query: CompiledQuery,
        events: EventTable,
        *,
        centres: Rows | None = None,
        most: int | None = None,
    ) -> Run:
        """Over all events that can matter.

        centres  the places of events that all results that are asked for have, if such are known:
                 where these are few, and a window says how far a result may reach, the rest is
                 not read
        most     no more events of the stream than the first so many, unless centres are few
        """
        stretches = _stretches(query, events, centres)
        size = len(events)
        if stretches is None:
            end = size if most is None else min(most, size)
            return Run(query, events, _relevant(query, events, slice(0, end)), cut=end < size)
        parts = [np.arange(begin, end) for begin, end in stretches]
        within = np.concatenate([np.zeros(0, np.int64), *parts])
        return Run(query, events, _relevant(query, events, within))

    def results(self) -> Iterator[pa.RecordBatch]:
        """As they come: whoever has seen enough stops. Where the stream is cut only what is
        decided at that point counts."""
        schema = self.events.table.schema
        executor = self.query.executor(schema)
        executor.defer()
        for batch in self._batches():
            yield from executor.push(batch)
        yield from executor.stop() if self.cut else executor.finish()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        table, places = self.events.table, self.places
        needed = {path[0] for path in self.query.columns(table.schema)}
        columns = [name for name in table.column_names if name in needed]
        chosen = table.select(columns or table.column_names[-1:])
        size, begin, step = table.num_rows if places is None else len(places), 0, FIRST_ROWS
        while begin < size:
            part = slice(begin, min(size, begin + step))
            if places is None:
                rows = chosen.slice(part.start, part.stop - part.start)
            else:
                rows = _numbered(chosen.take(pa.array(places[part])), part.start)
            yield rows.combine_chunks().to_batches()[0]
            begin, step = part.stop, MOST_ROWS

    def mask(self, numbers: list[Rows]) -> Mask:
        """Which of all events are those of some numbers."""
        mask = np.zeros(len(self.events), bool)
        for each in numbers:
            mask[each if self.places is None else self.places[each]] = True
        return mask

    @property
    def rows(self) -> Rows:
        """The rows of the events that are read."""
        return self.events.rows if self.places is None else self.events.rows[self.places]


def _numbered(events: pa.Table, first: int) -> pa.Table:
    """Events numbered as they are read, for queries that look at their numbers."""
    if ROW not in events.column_names:
        return events
    numbers = pa.array(np.arange(first, first + events.num_rows))
    return events.set_column(events.column_names.index(ROW), ROW, numbers)


def _stretches(
    query: CompiledQuery, events: EventTable, centres: Rows | None
) -> list[tuple[int, int]] | None:
    """Where to read, if that is less than half of the stream."""
    if centres is None or len(centres) > MOST_CENTRES:
        return None
    stretches = events.around(centres, query.span(events.table.schema))
    if stretches is None or 2 * sum(end - begin for begin, end in stretches) > len(events):
        return None
    return stretches


def _relevant(query: CompiledQuery, events: EventTable, within: slice | Rows) -> Rows | None:
    """The events that can matter to a query, of some; None if all do."""
    tests = query.tests(events.table.schema)
    if query.counts_events or not tests:
        if isinstance(within, slice):
            return None if within.stop == len(events) else np.arange(within.stop)
        return within
    tested = events.tested
    choice = tested.any_of(tests)
    places = np.flatnonzero(choice[tested.kinds[within]])
    return places if isinstance(within, slice) else within[places]


@dataclass(frozen=True)
class FoundMatch:
    """A match: its rows in the order of their numbers, and those of each variable."""

    rows: tuple[int, ...]
    variables: Mapping[str, list[int]]


def matched(run: Run, names: Iterable[str] = ()) -> Iterator[FoundMatch]:
    """Every match, with the rows of the variables that are named."""
    numbers = run.rows
    for batch in run.results():
        for begin in range(0, batch.num_rows, MOST_LISTED):
            yield from _matches(run.query, batch.slice(begin, MOST_LISTED), numbers, names)


def _matches(
    query: CompiledQuery, batch: pa.RecordBatch, numbers: Rows, names: Iterable[str]
) -> Iterator[FoundMatch]:
    found = _lists(query.rows_of(batch), numbers)
    columns = {n: _lists(batch.column(n), numbers) for n in names if n in batch.schema.names}
    for place, rows in enumerate(found):
        if rows:
            held = {name: column[place] for name, column in columns.items()}
            yield FoundMatch(tuple(sorted(set(rows))), held)


def _lists(of: pa.Array, numbers: Rows) -> list[list[int]]:
    """Lists of events as lists of their rows."""
    flat = numbers[of.flatten().to_numpy(zero_copy_only=False).astype(np.int64)].tolist()
    lengths = pc.fill_null(pc.list_value_length(of), 0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]
