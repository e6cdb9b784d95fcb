"""The front of the engine: a batch as it comes → the events that matter, ready for the kernel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.clauses.tree import Consume
from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import Clock, Rows, as_integers, ordered, read
from cereus.engine.ingest.compared import ComparedColumns
from cereus.engine.ingest.idle_keys import Waking
from cereus.engine.ingest.keys import KeyIndex
from cereus.engine.ingest.letters import Letters, letters_of
from cereus.engine.ingest.lookahead import Prospects
from cereus.engine.ingest.shared_letters import LettersView
from cereus.engine.ingest.substreams import Codes, Ints, Substreams, longer, moved
from cereus.engine.match.forgetting import NEVER
from cereus.engine.match.memory import taken
from cereus.errors import CereusError
from cereus.plan.plan import Plan

__all__ = ["NO_INTS", "Codes", "Events", "Front", "Ints"]

NO_INTS: Ints = np.zeros(0, np.int64)
MOST_KEPT = 7 / 8
"""Where more of the events of a batch would be kept, it is not worth the work to leave some out."""


@dataclass
class Events:
    """Events that passed the tests, grouped by key, as parallel arrays.

    rows       row numbers in the input; `places` the same within the batch
    classes    what each event looks like to the automaton
    positions  its position within its key, where the pattern can tell (else 0)
    measures, floors  see `Clock`
    key_of, group_ends  the key of each group, and where the group ends
    """

    rows: Ints
    places: Ints
    classes: npt.NDArray[np.int32]
    positions: Ints
    measures: Ints
    floors: Ints
    times: Ints
    keys: Codes
    key_of: Codes
    group_ends: Ints
    grouped: bool = True
    # where the history stood when the batch came, filled in by the runner
    base: int = 0
    shown: Ints = field(default_factory=lambda: NO_INTS)
    known_from: int = 0
    known_floors: Ints = field(default_factory=lambda: NO_INTS)
    waiting: Codes = field(default_factory=lambda: np.zeros(0, np.int32))
    letters: list[int] = field(default_factory=list)
    columns: Ints = field(default_factory=lambda: np.zeros((1, 0), np.int64))
    amounts: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.rows)

    def keep(self, chosen: Ints) -> None:
        """Forget all events but these, before they are put in order, if it is worth the work."""
        if len(chosen) < MOST_KEPT * len(self):
            self._change(lambda values: taken(values, chosen))
            self.keys, self.group_ends = taken(self.keys, chosen), np.array([len(chosen)])

    def put_in_order(self, to: Codes) -> None:
        """Put the events into the order of their groups, each where `to` says; their columns are
        read in that order."""
        self._change(lambda values: moved(values, to))
        self.keys = np.repeat(self.key_of, np.diff(self.group_ends, prepend=0))

    def _change(self, change: Callable[[Ints], Ints]) -> None:
        """Moving arrays about is most of what keys cost, so what is known without it is not moved,
        and what is one array is moved once."""
        counted = bool(self.positions.any())
        names = ["rows", "places", "classes", "measures", "floors"]
        names += ["positions"] if counted else []
        names += ["times"] if len(self.times) else []
        apart = {id(getattr(self, name)): getattr(self, name) for name in names}
        changed = {which: change(values) for which, values in apart.items()}
        for name in names:
            setattr(self, name, changed[id(getattr(self, name))])
        if not counted:
            self.positions = zeros(len(self))

    def places_of(self, key: int) -> slice | Ints:
        """Where the events of one key stand."""
        if not self.grouped:
            return np.flatnonzero(self.keys == key)
        group = int(np.searchsorted(self.key_of, key))
        if group == len(self.key_of) or self.key_of[group] != key:
            return slice(0, 0)
        begin = self.group_ends[group - 1] if group else 0
        return slice(int(begin), int(self.group_ends[group]))

    def runs(self) -> Iterator[Events]:
        """The same events in stretches of one key, in the order they came."""
        ends = np.flatnonzero(np.diff(self.keys)) + 1
        for begin, end in zip([0, *ends], [*ends, len(self.keys)], strict=True):
            yield self.part(int(begin), int(end))

    def part(self, begin: int, end: int) -> Events:
        """Some of the events, with the groups that they are in."""
        part = slice(begin, end)
        keys = self.keys[part]
        ends = np.append(np.flatnonzero(np.diff(keys)) + 1, end - begin)
        return Events(
            self.rows[part],
            self.places[part],
            self.classes[part],
            self.positions[part],
            self.measures[part],
            self.floors[part],
            self.times[part],
            keys,
            keys[ends - 1],
            ends,
            base=self.base + begin,
            waiting=self.waiting[part],
            letters=self.letters[part],
            columns=np.ascontiguousarray(self.columns[:, part]),
            amounts=self.amounts[part],
        )


_ZEROS: list[Ints] = [np.zeros(1 << 10, np.int64)]


def zeros(size: int) -> Ints:
    """Zeros that are nobody's to write to: fresh memory costs more than reading from it."""
    made = _ZEROS[0]
    if size > len(made):
        made = _ZEROS[0] = np.zeros(2 * size, np.int64)
    return made[:size]


class Front:
    """Reads batches of one schema for one plan; counts positions and watches the order of time."""

    def __init__(self, plan: Plan, schema: pa.Schema, row_numbers: Ints | None = None) -> None:
        stream = plan.stream
        self.row_numbers = row_numbers
        self.plan = plan
        self.clock = Clock(plan.query.window, stream, schema)
        self.letters: Letters | LettersView = letters_of(
            plan.tests,
            (stream.type,) if stream.type else None,
            (stream.stream,) if stream.stream else None,
            schema,
        )
        self.compared = ComparedColumns(plan.columns_compared)
        self.known: dict[int, int] = {}
        self.lock = threading.Lock()
        self.substreams = Substreams(plan.keys, schema, ("time", "window"))
        self.row = 0
        self.seen: Ints = np.zeros(1, np.int64)
        self.waking: Waking | None = None
        """What wakes a key, where events that come while it is asleep may be left out."""
        self.prospects: Prospects | None = None
        """Where it can be seen that no match will have an event, so that it is left out."""
        self.woken: Ints = np.full(1, NEVER)
        """The measure of the last event that woke each key."""
        self.grouped = not (plan.keys and plan.query.consume is Consume.ANY)

    def forget(self) -> None:
        """No key has been seen; the numbers of the letters stay."""
        self.substreams.forget()
        self.compared.strings.clear()
        self.seen, self.woken = np.zeros(1, np.int64), np.full(1, NEVER)
        if self.prospects is not None:
            self.prospects.begin()

    def keep(self, codes: Ints) -> None:
        """Forget all keys but these; they are numbered anew, in their order."""
        self.seen = longer(self.seen, len(self.keys), 0)[codes]
        self.woken = longer(self.woken, len(self.keys), NEVER)[codes]
        self.substreams.keep(codes)

    def promise(self, time: float) -> None:
        """No event before `time`, in the units of the time column, will come."""
        progress = self.substreams.progress
        measure = int(ordered(np.array([time], np.float64))[0]) if self.clock.real else int(time)
        progress.promised = max(progress.promised, measure)

    def horizon(self, *, forgets: bool) -> int | None:
        """The time before which no event comes any more, if it is known and tells how old a
        partial match may be; `forgets` takes the order of time so far for that to come."""
        progress = self.substreams.progress
        if self.clock.path != (self.plan.stream.time,) or not self.plan.keys:
            return None
        known = progress.promised
        if forgets and progress.in_order and progress.latest > NEVER:
            known = max(known, self.clock.floor_at(progress.latest))
        return known if known > NEVER else None

    def floors_of_keys(self) -> Ints:
        """How far back a window reaches from the last event of every key."""
        by_time = self.clock.path == (self.plan.stream.time,)
        latest = self.substreams.latest["time" if by_time else "window"]
        if not self.clock.real:
            return self.clock.floors(latest)
        floors, seen = np.full(len(latest), NEVER), latest > NEVER
        floors[seen] = self.clock.floors(latest[seen])
        return floors

    @property
    def keys(self) -> KeyIndex:
        return self.substreams.index

    def read(self, batch: pa.RecordBatch) -> Events | None:
        """The events of a batch that can matter, or None when there are none.

        A batch that is refused leaves no trace: the next one is read as if it had not come.
        """
        row, progress = self.row, replace(self.substreams.progress)
        seen, woken = self.seen.copy(), self.woken.copy()
        latest = {name: values.copy() for name, values in self.substreams.latest.items()}
        try:
            return self._read(batch)
        except CereusError:
            self.row, self.seen, self.woken = row, seen, woken
            self.substreams.progress = progress
            for name, values in latest.items():
                self.substreams.latest[name][: len(values)] = values
                self.substreams.latest[name][len(values) :] = NEVER
            raise

    def _read(self, batch: pa.RecordBatch) -> Events | None:
        first_row = self.row
        self.row += batch.num_rows
        own = self._own_rows(batch)
        if own is not None:
            batch = batch.take(pa.array(own))
        names = Rows(first_row, own, self.row_numbers)
        times = self._times(batch, names)
        everyone = self.plan.position_sensitive
        # consumption across keys must know how far each key has come, so no event is dropped
        keep_all = everyone and not self.grouped
        with self.lock:
            places, classes = self.letters.classify(batch, self.known, keep_all=keep_all)
            wakes = None if self.waking is None else self.waking.of(self.known)
        keys = self._keys(batch, None if everyone else places)
        order = self.substreams.check_order
        order("time", self.plan.stream.time, times, keys, places, names)
        positions = self._positions(keys, places, everyone, first_row)
        if everyone:
            keys = keys[places]
        if not len(places):
            return None
        kept = taken(times, places) if len(times) else times
        measures, floors = self.clock.read(batch, places, positions, kept, names)
        if self.clock.path not in (None, (self.plan.stream.time,)):
            column = ".".join(self.clock.path or ())
            order("window", column, measures, keys, None, names.at(places))
        shown = positions if everyone else zeros(len(places))
        events = Events(
            places, places, classes, shown, measures, floors, kept, keys,
            np.zeros(1, np.int32), np.array([len(places)]), self.grouped,
        )  # fmt: skip
        if self.prospects is not None:
            with self.lock:
                hopeful = self.prospects.rows(self.known, classes, measures, floors)
            if hopeful is not None:
                events.keep(hopeful)
        if wakes is not None:
            events.keep(codes.awake_rows(keys, classes, wakes, measures, floors, self.woken))
        return self._finished(events, batch, names) if len(events) else None

    def _finished(self, events: Events, batch: pa.RecordBatch, names: Rows) -> Events:
        """Put events in order, and read what the kernel needs of them alone."""
        to, places = None, events.places
        if self.plan.keys and self.grouped:
            to, events.key_of, events.group_ends = codes.group_rows(events.keys, len(self.keys))
            events.put_in_order(to)
        events.columns = self.compared.read(batch, places, to)
        if names.own is not None:
            events.places = names.own[events.places]
        events.rows = names.names(events.places)
        return events

    def save(self) -> dict[str, Any]:
        return {
            "letters": list(self.known),
            "strings": self.compared.save(),
            "substreams": self.substreams.save(),
            "row": self.row,
            "seen": self.seen[: max(1, len(self.keys))],
            "woken": self.woken[: max(1, len(self.keys))],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.known.update((letter, place) for place, letter in enumerate(saved["letters"]))
        self.substreams.restore(saved["substreams"])
        self.compared.restore(saved["strings"])
        self.row = saved["row"]
        self.seen, self.woken = saved["seen"].copy(), saved["woken"].copy()

    # ------------------------------------------------------------ columns

    def _own_rows(self, batch: pa.RecordBatch) -> Ints | None:
        """The rows of the streams in FROM; None for all."""
        name = self.plan.stream.stream
        if name is None or not self.plan.query.streams:
            return None
        column = read(batch, (name,), "the stream column")
        wanted = pc.is_in(column, pa.array(self.plan.query.streams, pa.string()))
        return np.flatnonzero(wanted.to_numpy(zero_copy_only=False))

    def _times(self, batch: pa.RecordBatch, names: Rows) -> Ints:
        name = self.plan.stream.time
        if name is None:
            return NO_INTS
        what = f"the time column {name!r}"
        return as_integers(read(batch, (name,), "the time column"), what, names)

    def _keys(self, batch: pa.RecordBatch, places: Ints | None) -> Codes:
        """Key codes of the given rows, or of all."""
        found = self.substreams.codes(batch, places)
        self.seen = longer(self.seen, len(self.keys), 0)
        self.woken = longer(self.woken, len(self.keys), NEVER)
        return found

    def _positions(self, keys: Codes, places: Ints, everyone: bool, first_row: int) -> Ints:
        """Positions within the key; where the pattern cannot tell, row numbers do for order."""
        if not everyone:
            return places + first_row if first_row else places
        if self.plan.keys:
            counted: Ints = codes.count_positions(keys, self.seen)[places]
            return counted
        positions = places + int(self.seen[0])
        self.seen[0] += len(keys)
        return positions
