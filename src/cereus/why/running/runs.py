"""Runs the queries of an anatomy over the events that can matter to them; if these are too many,
over the first events of the stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.clauses.tree import Window
from cereus.engine.executor import Executor
from cereus.engine.ranges import ranges
from cereus.language.anatomy import ROWS_OF
from cereus.language.compiled import CompiledQuery
from cereus.why.running.events import EventTable, Rows
from cereus.why.running.letters import known_letters
from cereus.why.running.tested import Mask

FIRST_ROWS, MOST_ROWS = 1 << 15, 1 << 20
"""The number of events that are pushed at once: few at first, as the reader may soon have seen
enough."""
FEW_ROWS, MORE_ROWS = 1 << 10, 8
"""The first of these numbers if not all matches are looked at, and the factor by which it grows."""
MOST_SHARED = 1 << 22
"""With more events, runs share nothing: it would take too much memory."""
MOST_CENTRES = 5_000
"""The most events around which the stream is read, instead of all of it."""
WORD = 64
"""How many choices of kinds are looked for at once."""
MOST_LISTED = 1 << 10
"""The number of results that are turned into matches at once: the reader may soon have seen
enough."""

Around = tuple[Rows, int | None]


@dataclass(frozen=True)
class Centres:
    """Events of which every result that is asked for has one: their places. Beside them it has an
    event of each of some choices of kinds (`tested`)."""

    places: Rows
    beside: tuple[Mask, ...] = ()
    _around: dict[tuple[Window | None, int | None], Around | None] = field(default_factory=dict)

    def around(self, span: Window | None, most: int | None, events: EventTable) -> Around | None:
        """The places to read around the centres, at most `most`, and the place before which that is
        all; None if that is no less than reading everything. It is cached, since queries that
        differ in one rule need the same."""
        key = (span, most)
        if key not in self._around:
            self._around[key] = _around(span, events, self, most)
        return self._around[key]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def begin(self) -> float:
        """The place of the first of them."""
        return int(self.places[0]) if len(self.places) else np.inf


@dataclass(frozen=True)
class Run:
    """A query on its way over some events. Its results number those that it reads.

    places  those of the events that are read; None for all
    until   the place before which all that can matter is read: behind it nothing is known, and
            nothing may be concluded from the end of what was read; None for the end of the stream
    centred  every result has one of the events that are read
    few     not all results are looked at
    """

    query: CompiledQuery
    events: EventTable
    places: Rows | None = None
    until: int | None = None
    centred: bool = False
    few: bool = False

    @staticmethod
    def of(
        query: CompiledQuery,
        events: EventTable,
        *,
        centres: Centres | None = None,
        most: int | None = None,
        few: bool = False,
    ) -> Run:
        """Over all events that can matter.

        centres  what is known of the events that results have: where a window says how far a
                 result may reach, the rest is not read
        most     no more events than so many
        """
        span = query.span(events.schema)
        within = None if centres is None else centres.around(span, most, events)
        if within is not None:
            places, until = within
            return Run(query, events, relevant_at(query, events, places), until, True, few)
        until = None if most is None or most >= len(events) else most
        if until is not None and centres is not None and centres.begin >= until:
            return Run(query, events, np.zeros(0, np.int64), until, centred=True)
        relevant = relevant_at(query, events, slice(0, until or len(events)))
        return Run(query, events, relevant, until, few=few)

    def results(self) -> Iterator[pa.RecordBatch]:
        """The results as they come: a reader that has seen enough stops. If the stream is cut, only
        results that are decided at that point count."""
        if self._is_empty:
            return
        executor = self._executor()
        yield from self._pushed(executor)
        yield from executor.finish() if self.until is None else executor.stop()

    def taken(self, column: str | None) -> Iterator[tuple[int, Rows]] | None:
        """How many matches there are, some at a time, and which of the events the variable of a
        column takes in them, or (None) the last event of each. None if only the results tell."""
        if self.until is not None or self._is_empty:
            return None
        executor = self._executor()
        taken = executor.taken(column)
        if taken is not None:
            deque(self._pushed(executor), maxlen=0)
        return taken

    @property
    def _is_empty(self) -> bool:
        """Whether there is no result: every result has one of the events that are read, and none
        is read."""
        return self.places is not None and not len(self.places) and self.centred

    def _executor(self) -> Executor:
        executor = self.query.executor(self.events.schema)
        executor.defer()
        if len(self.events) <= MOST_SHARED:
            executor.share(self.events.shelf(self.places))
        return executor

    def _pushed(self, executor: Executor) -> Iterator[pa.RecordBatch]:
        letters = known_letters(executor, self.events.tested)
        for places, batch in self._batches(FEW_ROWS if self.few and letters else FIRST_ROWS):
            for each in letters:
                each.expect(batch, places)
            yield from executor.push(batch)

    def _batches(self, step: int) -> Iterator[tuple[Rows | slice, pa.RecordBatch]]:
        """The events that are read, with their places; `step` events at first."""
        events, places = self.events, self.places
        names = events.schema.names
        needed = self.query.columns_beside_tests(events.schema)
        columns = [name for name in names if name in needed] or names[-1:]
        size, begin = len(events) if places is None else len(places), 0
        at_once = places is None or size <= FIRST_ROWS
        every = events.read(columns, places) if at_once else None
        while begin < size:
            part = slice(begin, min(size, begin + step))
            if every is not None:
                rows = every.slice(part.start, part.stop - part.start)
            else:
                assert places is not None
                rows = events.read_part(columns, places[part], begin)
            yield part if places is None else places[part], rows.combine_chunks().to_batches()[0]
            begin, step = part.stop, MORE_ROWS * step if step < FIRST_ROWS else MOST_ROWS

    def mask(self, numbers: list[Rows]) -> Mask:
        """Which of all events have these numbers."""
        mask = np.zeros(len(self.events), bool)
        for each in numbers:
            mask[each if self.places is None else self.places[each]] = True
        return mask

    @property
    def rows(self) -> Rows:
        """The rows of the events that are read."""
        return self.events.rows if self.places is None else self.events.rows[self.places]


def _around(
    span: Window | None, events: EventTable, centres: Centres, most: int | None
) -> Around | None:
    if most is None and len(centres) > MOST_CENTRES:
        return None
    near = centres.places[: MOST_CENTRES + 1]  # the last of so many is not read
    stretches = events.around(near, span)
    if stretches is None:
        return None
    begins, ends = stretches
    behind = np.cumsum(ends - begins)
    few = int(np.searchsorted(behind, len(events) // 2 if most is None else most, side="right"))
    few = min(few, len(begins) - (len(near) > MOST_CENTRES))
    until = int(begins[few]) if few < len(begins) else None
    if until is not None and (most is None or not few):
        return None
    return _hopeful(begins[:few], (ends - begins)[:few], events, centres), until


def _hopeful(begins: Rows, lengths: Rows, events: EventTable, centres: Centres) -> Rows:
    """The places of ranges that have all events which a result has beside its centre."""
    places = ranges(begins, lengths)
    if not len(places) or not centres.beside:
        return places
    beside = [events.tested.grown(choice) for choice in centres.beside[:WORD]]
    bits = np.bitwise_or.reduce([each * np.uint64(1 << n) for n, each in enumerate(beside)])
    of_events = bits[events.tested.kinds[places]]
    present = np.bitwise_or.reduceat(of_events, np.cumsum(lengths) - lengths)
    hopeful = present == np.uint64((1 << len(beside)) - 1)
    return places if hopeful.all() else ranges(begins[hopeful], lengths[hopeful])


def relevant_at(query: CompiledQuery, events: EventTable, within: slice | Rows) -> Rows | None:
    """The events among these that can matter to a query; None if all do."""
    tests = query.tests(events.schema)
    if query.counts_events or not tests:
        if isinstance(within, slice):
            return None if within.stop == len(events) else events.first(within.stop)
        return within
    tested = events.tested
    choice = tested.any_of(tests)
    if isinstance(within, slice):
        return tested.places(choice, within.stop)
    return tested.among(within, choice)


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
    row_lists = _lists(query.rows_of(batch), numbers)
    columns = {name: ROWS_OF.format(name) for name in names}
    bound = {
        name: _lists(batch.column(column), numbers)
        for name, column in columns.items()
        if column in batch.schema.names
    }
    for place, rows in enumerate(row_lists):
        if rows:
            variables = {name: lists[place] for name, lists in bound.items()}
            yield FoundMatch(tuple(sorted(set(rows))), variables)


def _lists(of: pa.Array, numbers: Rows) -> list[list[int]]:
    """Lists of events as lists of their rows."""
    flat = numbers[of.flatten().to_numpy(zero_copy_only=False).astype(np.int64)].tolist()
    lengths = pc.fill_null(pc.list_value_length(of), 0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]
