"""Reads batches as they come: the tests, keys, times and positions of their events.

Every language reads its events here. The steps for a batch, with the modules whose state outlives
it:

1. the rows that the condition of the stream lets pass (`where`), and those of the streams in FROM,
   if there are several streams;
2. their times, and the letters of those that pass some test (`letters`);
3. their keys, and the check that time does not go backwards inside one (`substreams`); their
   positions;
4. the measures of windows (`clock`), for patterns;
5. the events that no match can have are left out (`lookahead`, `idle_keys`);
6. the order of their keys, and the columns that are compared between events (`compared`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.costs import Costs
from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import Clock, RowNumbers, as_integers, ordered, read
from cereus.engine.ingest.compared import ComparedColumns
from cereus.engine.ingest.events import Events, no_events, zeros
from cereus.engine.ingest.first_look import FirstLook, LookedAt, joined
from cereus.engine.ingest.idle_keys import IdleKeys
from cereus.engine.ingest.keys import KeyIndex
from cereus.engine.ingest.letters import Letters, letters_of
from cereus.engine.ingest.lookahead import LookAhead
from cereus.engine.ingest.shared_letters import Classifier
from cereus.engine.ingest.substreams import Codes, Ints, Substreams, per_key, room_for
from cereus.engine.ingest.where import EventFilter
from cereus.engine.match.forgetting import NEVER
from cereus.engine.memory import NO_INTS, taken
from cereus.errors import CereusError
from cereus.plan.tests import EventTest
from cereus.state import checked
from cereus.stream import Stream


@dataclass(frozen=True)
class Reading:
    """What a query reads of a stream.

    tests    those that every event is put to; the ones that it passes are its letter
    keys     the paths of the columns that split the stream
    streams  the streams whose events are read; all of them, if none is named
    counts_positions  every event is counted in its key, also where it passes no test
    watches_keys  time passes in a key with each of its events, also where it passes no test
    grouped  events are put in the order of their keys
    """

    tests: tuple[EventTest, ...]
    stream: Stream
    keys: tuple[tuple[str, ...], ...]
    streams: tuple[str, ...] = ()
    counts_positions: bool = False
    watches_keys: bool = False
    grouped: bool = True

    @property
    def keeps_all(self) -> bool:
        """Whether no event may be dropped: consumption across keys must know how far each key has
        come."""
        return self.counts_positions and not self.grouped

    @property
    def every_key(self) -> bool:
        """Whether the keys of all rows are read, not only those of rows that pass some test."""
        return self.counts_positions or self.watches_keys

    def letters(self, schema: pa.Schema) -> Letters:
        """The tests, prepared for batches of a schema."""
        return letters_of(self.tests, self.stream, schema)


class _Seen(NamedTuple):
    """The rows that pass some test: their letters, their keys, and their positions."""

    places: Ints
    classes: Codes
    keys: Codes
    positions: Ints


class BatchReader:
    """Reads batches of one schema; remembers keys, letters and how far time has come.

    known  the letters seen so far, numbered; with `lock` where other runs add to it too
    clock  measures windows; without it nothing is measured
    lookahead, idle_keys  leave out events that no match can have
    """

    def __init__(
        self,
        reading: Reading,
        schema: pa.Schema,
        *,
        row_numbers: Ints | None = None,
        clock: Clock | None = None,
        compared: ComparedColumns | None = None,
        letters: Classifier | None = None,
        known: dict[int, int] | None = None,
        lock: threading.Lock | None = None,
        lookahead: LookAhead | None = None,
        idle_keys: IdleKeys | None = None,
    ) -> None:
        self.reading, self.stream, self.row_numbers = reading, reading.stream, row_numbers
        self.clock, self.compared = clock, compared or ComparedColumns(())
        self.letters: Classifier = letters or reading.letters(schema)
        self.where = EventFilter(reading.stream, schema)
        self.known = {} if known is None else known
        self.lock = lock or threading.Lock()
        self.lookahead, self.idle_keys = lookahead, idle_keys
        watched = ("time",) if clock is None else ("time", "window")
        self.substreams = self._new_substreams(schema, watched)
        self.costs = Costs()
        self.row = 0
        self._first = 0
        self._expected: LookedAt | None = None
        self.seen: Ints = np.zeros(1, np.int64)
        """The number of events of each key so far, where positions are counted."""

    def _new_substreams(self, schema: pa.Schema, watched: tuple[str, ...]) -> Substreams:
        return Substreams(self.reading.keys, schema, watched)

    @property
    def key_index(self) -> KeyIndex:
        return self.substreams.index

    @property
    def sees_all_times(self) -> bool:
        """Whether the times of all rows are checked for order: no row is left out before the
        check."""
        every = self.where.condition is None and not self.reading.streams
        return every and self.stream.time is not None

    def number_rows(self, row: int) -> None:
        """Set the number of the next row in the input."""
        self.row = row

    def rows_read(self, places: Ints) -> Ints:
        """Rows of the last batch as rows of the input."""
        return places + self._first

    def look(self, batch: pa.RecordBatch) -> FirstLook:
        """Look at rows that are read later. It depends on nothing that was read before, so any
        thread may call it while this reader reads other rows."""
        size, selected = batch.num_rows, self._selected(batch)
        if selected is not None:
            batch = batch.take(pa.array(selected))
        letters: dict[int, int] = {}
        costs, counted = Costs(events=size), self.reading.counts_positions
        places, classes = self.letters.classify(
            batch, letters, costs, keep_all=self.reading.keeps_all
        )
        every = self.reading.every_key and bool(self.reading.keys)
        times = self._times(batch, RowNumbers(0, selected))
        keys, substreams = self.substreams.look(batch, None if every else places, times)
        positions = NO_INTS
        if counted and substreams.distinct is None:
            positions = places
        elif counted:
            before = np.zeros(len(substreams.counts), np.int64)
            positions = taken(codes.count_positions(keys, before), places)
        return FirstLook(
            size,
            selected,
            places,
            classes,
            tuple(letters),
            taken(keys, places) if every else keys,
            positions,
            substreams,
            costs,
        )

    def expect(self, pieces: Sequence[FirstLook]) -> None:
        """Announce that the next batch was already looked at, in these pieces."""
        self._expected = LookedAt(pieces)

    @property
    def counted_keys(self) -> int:
        """The number of keys that positions are counted in."""
        return len(self.key_index)

    def seen_by_key(self, keys: int) -> Ints:
        """The number of events of each of `keys` keys, where positions are counted."""
        return room_for(self.seen, keys, 0)[:keys]

    def share_letters(self, letters: Classifier) -> None:
        """From now on evaluate the tests together with other readers of the same batches."""
        self.letters = letters

    def read(self, batch: pa.RecordBatch) -> Events:
        """The events of a batch that can matter.

        A batch that is refused leaves no trace: the next one is read as if it had not come.
        """
        undo = self._undo()
        try:
            events = self._read(batch)
            if self._expected is None:
                self.costs.events += batch.num_rows
            else:
                self.costs += self._expected.costs
            self.costs.kept += len(events)
            return events
        except CereusError:
            undo()
            raise
        finally:
            self._expected = None

    def _undo(self) -> Callable[[], None]:
        """A function that takes back everything that is read from now on."""
        row, seen = self.row, self.seen.copy()
        woken = None if self.idle_keys is None else self.idle_keys.woken.copy()
        substreams = self.substreams.undo()

        def undo() -> None:
            self.row, self.seen = row, seen
            if self.idle_keys is not None and woken is not None:
                self.idle_keys.woken = woken
            substreams()

        return undo

    def _read(self, batch: pa.RecordBatch) -> Events:
        expected = self._expected
        selected = self._selected(batch) if expected is None else expected.selected
        rows = RowNumbers(self.row, selected, self.row_numbers)
        self._first = self.row
        self.row += batch.num_rows
        if selected is not None:
            batch = batch.take(pa.array(selected))
        times = self._times(batch, rows)
        if expected is None:
            places, classes, keys, positions = self._seen(batch, times, rows)
        else:
            places, classes, keys, positions = self._seen_ahead(expected)
        if not len(places):
            return no_events(rows)
        events = Events(
            row_numbers=rows,
            places=places,
            classes=classes,
            positions=positions,
            times=self._times_at(places, times),
            keys=keys,
            key_of=np.zeros(1, np.int32),
            group_ends=np.array([len(places)]),
            grouped=self.reading.grouped,
        )
        return self._in_order(self._without_useless(self._measured(events, batch)), batch)

    # ------------------------------------------------------------ columns

    def _selected(self, batch: pa.RecordBatch) -> Ints | None:
        """The rows that are in the stream and in the streams of FROM; None for all."""
        passing = self.where.places(batch)
        name = self.stream.stream
        if name is None or not self.reading.streams:
            return passing
        column = read(batch, (name,), "the stream column")
        wanted = pc.is_in(column, pa.array(self.reading.streams, pa.string()))
        places = np.flatnonzero(wanted.to_numpy(zero_copy_only=False))
        return places if passing is None else np.intersect1d(places, passing, assume_unique=True)

    def _times(self, batch: pa.RecordBatch, rows: RowNumbers) -> Ints:
        name = self.stream.time
        if name is None:
            return NO_INTS
        what = f"the time column {name!r}"
        return as_integers(read(batch, (name,), "the time column"), what, rows)

    def _times_at(self, places: Ints, times: Ints) -> Ints:
        """The times of these rows. They are copied if a clock passes them to the kernel, since the
        kernel must not use the memory of the batch."""
        every = len(places) == len(times) and self.clock is None
        return times if every or not len(times) else taken(times, places)

    def _seen(self, batch: pa.RecordBatch, times: Ints, rows: RowNumbers) -> _Seen:
        with self.lock:
            places, classes = self.letters.classify(
                batch, self.known, self.costs, keep_all=self.reading.keeps_all
            )
        every, counted = self.reading.every_key, self.reading.counts_positions
        keys = self.substreams.codes(batch, None if every else places)
        self.substreams.check_order("time", self.stream.time, times, keys, places, rows)
        positions = self._positions(keys, places) if counted else zeros(len(places))
        return _Seen(places, classes, taken(keys, places) if every else keys, positions)

    def _seen_ahead(self, looked: LookedAt) -> _Seen:
        """Like `_seen`, for rows that were looked at before."""
        with self.lock:
            classes = looked.classes(self.known)
        keys, positions = [], []
        for piece in looked.pieces:
            numbers = self.substreams.go_on(piece.substreams)
            same = np.array_equal(numbers, np.arange(len(numbers)))
            keys.append(piece.keys if same else codes.values_at(numbers, piece.keys))
            if self.reading.counts_positions:
                self._room_to_count()
                positions.append(piece.positions + self.seen[numbers][piece.keys])
                self.seen[numbers] += piece.substreams.counts
        places = looked.places
        counted = np.concatenate(positions) if positions else zeros(len(places))
        return _Seen(places, classes, joined(keys), counted)

    def _room_to_count(self) -> None:
        self.seen = room_for(self.seen, len(self.key_index), 0)

    def _positions(self, keys: Codes, places: Ints) -> Ints:
        """Positions within the key; `keys` are those of all rows."""
        if self.reading.keys:
            self._room_to_count()
            counted: Ints = codes.count_positions(keys, self.seen)[places]
            return counted
        positions = places + int(self.seen[0])
        self.seen[0] += len(keys)
        return positions

    def _measured(self, events: Events, batch: pa.RecordBatch) -> Events:
        """Events with their measures and floors. Where positions are not counted, row numbers
        order the events as well."""
        places = events.places
        if self.clock is None:
            return events
        order = events.positions
        if not self.reading.counts_positions:
            order = places + self._first if self._first else places
        measures, floors = self._measures(
            self.clock, batch, places, order, events.times, events.keys, events.row_numbers
        )
        return events.changed(measures=measures, floors=floors)

    def _measures(
        self,
        clock: Clock,
        batch: pa.RecordBatch,
        places: Ints,
        order: Ints,
        times: Ints,
        keys: Codes,
        rows: RowNumbers,
    ) -> tuple[Ints, Ints]:
        """The measures and floors of the rows at these places; `order`, `times` and `keys` are
        theirs."""
        measures, floors = clock.read(batch, places, order, times, rows)
        if clock.path is not None and not clock.follows_time:
            column, chosen = ".".join(clock.path), rows.at(places)
            self.substreams.check_order("window", column, measures, keys, None, chosen)
        return measures, floors

    # ------------------------------------------------------------ events

    def _without_useless(self, events: Events) -> Events:
        """The events without most of those that no match can have."""
        if self.lookahead is not None:
            with self.lock:
                chosen = self.lookahead.rows(
                    self.known, events.classes, events.measures, events.floors
                )
            events = events if chosen is None else events.only(chosen)
        if self.idle_keys is not None:
            with self.lock:
                wakes = self.idle_keys.wakes(self.known)
            events = events.only(self.idle_keys.rows(events, wakes, len(self.key_index)))
        return events

    def _in_order(self, events: Events, batch: pa.RecordBatch) -> Events:
        """The events sorted by key, with the columns that are compared."""
        to, places = None, events.places
        if not len(events):
            return events
        if self.reading.keys and self.reading.grouped:
            to, key_of, group_ends = codes.group_rows(events.keys, len(self.key_index))
            events = events.by_group(to, key_of, group_ends)
        selected = events.row_numbers.selected
        if selected is None and not self.compared.columns:
            return events
        return events.changed(
            columns=self._compared(batch, places, to),
            places=events.places if selected is None else selected[events.places],
        )

    def _compared(self, batch: pa.RecordBatch, places: Ints, to: Codes | None) -> Ints:
        """The compared columns of the rows at these places; `to` says where each row goes."""
        return self.compared.read(batch, places, to)

    def key_columns(self, keys: npt.NDArray[Any]) -> list[pa.Array]:
        """The key columns of results that belong to these keys."""
        return self.key_index.columns(keys.astype(np.int32))

    # ------------------------------------------------------------ how far time has come

    def promise(self, time: float) -> None:
        """Note that no event before `time`, in the units of the time column, will come."""
        progress = self.substreams.progress
        real = self.clock is not None and self.clock.real
        measure = int(ordered(np.array([time], np.float64))[0]) if real else int(time)
        progress.promised = max(progress.promised, measure)

    def horizon(self, *, forgets: bool) -> int | None:
        """The time before which no event comes any more; None if it is not known, or does not show
        how old a partial match may be. With `forgets`, the order of time so far is taken to go
        on."""
        if self.clock is None or not self.clock.follows_time or not self.reading.keys:
            return None
        progress = self.substreams.progress
        known = progress.promised
        if forgets and progress.in_order and progress.latest > NEVER:
            known = max(known, self.clock.floor_at(progress.latest))
        return known if known > NEVER else None

    def floors_of_keys(self) -> Ints:
        """How far back a window reaches from the last event of every key."""
        assert self.clock is not None
        latest = self.substreams.latest["time" if self.clock.follows_time else "window"]
        if not self.clock.real:
            return self.clock.floors(latest)
        floors, seen = np.full(len(latest), NEVER), latest > NEVER
        floors[seen] = self.clock.floors(latest[seen])
        return floors

    # ------------------------------------------------------------ state

    def forget(self) -> None:
        """Forget all keys. The numbers of the letters stay."""
        self.substreams.forget()
        self.compared.forget()
        self.seen = np.zeros(1, np.int64)
        if self.idle_keys is not None:
            self.idle_keys.forget()
        if self.lookahead is not None:
            self.lookahead.begin()

    def keep(self, codes: Ints) -> None:
        """Forget all keys except these, which are renumbered in their order."""
        if self.reading.counts_positions:
            self.seen = self.seen_by_key(len(self.key_index))[codes]
        if self.idle_keys is not None:
            self.idle_keys.keep(codes, len(self.key_index))
        self.substreams.keep(codes)

    def save(self) -> dict[str, Any]:
        """All state; None for the parts that this reader does not use."""
        keys, counts = max(1, len(self.key_index)), self.reading.counts_positions
        saved = {
            "row": self.row,
            "seen": room_for(self.seen, self.counted_keys, 0)[: max(1, self.counted_keys)]
            if counts
            else None,
            "substreams": self.substreams.save(),
        }
        return saved if self.clock is None else {**saved, **self._saved_for_patterns(keys)}

    def _saved_for_patterns(self, keys: int) -> dict[str, Any]:
        """The state that the state of a kernel refers to: the numbers of letters, the codes of
        strings."""
        return {
            "letters": list(self.known),
            "strings": self.compared.save(),
            "woken": None if self.idle_keys is None else self.idle_keys.of_keys(keys),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up saved state. State that no such reader has saved is refused."""
        self.substreams.restore(saved["substreams"])
        self.row, keys = checked.count(saved["row"], "the number of rows"), len(self.key_index)
        if self.reading.counts_positions:
            self.seen = per_key(saved["seen"], "the positions of keys", self.counted_keys)
            checked.within(self.seen, 0, self.row + 1, "the position of a key")
        if self.clock is None:
            return
        self._restore_letters(checked.of_type(saved["letters"], list, "the list of letters"))
        self.compared.restore(saved["strings"])
        if self.idle_keys is not None:
            self.idle_keys.woken = per_key(saved["woken"], "when keys woke", keys)
        if self.lookahead is not None:
            self.lookahead.resume()

    def _restore_letters(self, letters: list[int]) -> None:
        end = 1 << max(1, len(self.reading.tests))
        for number, letter in enumerate(letters):
            self.known[checked.integer(letter, "a letter", 0, end)] = number
        checked.refuse_unless(len(self.known) == len(letters), "a letter is there twice")
