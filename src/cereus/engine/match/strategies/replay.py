"""Decides MAX under a window: it chooses among the matches that the window has kept.

Which matches there are to choose from changes as the window moves, so no automaton can decide it
from the past alone. The kernel finds the events where some match ends (one match is enough), and
notes before every event the state of the runs that have marked nothing yet. For each event where a
match ends, the automaton of the strategy reads the events of the window once more. It begins in the
state noted before the first of them. The matches that it accepts at the last event are the choice.

Windows that begin at the same event are read as one, up to the end of the last window. The matches
accepted where each of them ends are its choice. Nothing is accepted at the events in between: their
windows begin at the same event too, and no match ends there.

One call of a kernel reads many of these, each as a key of its own: first the events before the
first end of each, then the others, from which on matches are reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.automata.selection import Begun
from cereus.automata.strategies import select
from cereus.clauses.tree import Consume
from cereus.engine.ingest.clock import RowNumbers
from cereus.engine.ingest.codes import repeated
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.kernel.kernel import Kernel
from cereus.engine.kernel.layout import STAY
from cereus.engine.match.kernel_input import KernelInput
from cereus.engine.match.runner import Runner
from cereus.engine.match.table import TransitionTable
from cereus.engine.memory import NO_INTS
from cereus.engine.ranges import ranges
from cereus.engine.results.match_chunks import MatchChunk
from cereus.plan.plan import Plan
from cereus.state import checked

NUMBERS = ("positions", "measures", "floors")
CODES = ("classes", "keys", "waiting")
"""The arrays that are kept of the events of a batch: of int64, and of int32."""
NO_LETTERS = np.zeros(0, object)
NO_STATES = np.zeros(0, np.int32)
MOST_TOGETHER = 1 << 14
"""About this many events of windows are read together."""
NODES_TOGETHER = 1 << 24
"""With a lower limit on nodes, windows are read one by one: the limit is about one window."""


@dataclass(frozen=True)
class ReplayStretch:
    """The remembered events of some keys: key after key, and of each key in order.

    waiting  the state noted before each
    letters  what their letters carry, where letters carry values
    """

    ordinals: Ints
    classes: npt.NDArray[np.int32]
    positions: Ints
    measures: Ints
    floors: Ints
    waiting: Codes
    letters: npt.NDArray[np.object_]


class ReplayWindows(NamedTuple):
    """Windows that begin at the same event are one row: the place of that event in the stretch, and
    of the events where the first and the last of these windows end."""

    stretch: ReplayStretch
    begin: Ints
    first_end: Ints
    last_end: Ints

    def __len__(self) -> int:
        return len(self.begin)

    def part(self, rows: slice) -> ReplayWindows:
        return ReplayWindows(
            self.stretch, self.begin[rows], self.first_end[rows], self.last_end[rows]
        )

    @property
    def sizes(self) -> Ints:
        return self.last_end + 1 - self.begin

    @property
    def waiting(self) -> Codes:
        """The states noted before the first events."""
        return self.stretch.waiting[self.begin]

    def places(self) -> Ints:
        """The places of all events: up to the first end of every row, then the others."""
        tails = self.last_end + 1 - self.first_end
        return np.concatenate(
            [ranges(self.begin, self.first_end - self.begin), ranges(self.first_end, tails)]
        )


def numbered(ends: Ints) -> Codes:
    """For each number up to the last end, which of the ends is the first above it."""
    return repeated(np.arange(len(ends), dtype=np.int32), ends)


class ReplayRunner(Runner):
    """A runner that decides its strategy again for every event where some match ends."""

    def __init__(self, plan: Plan, schema: pa.Schema, **options: Any) -> None:
        super().__init__(plan, schema, **options)
        self.chooser_options = replace(
            self.options, windowed=False, consuming=False, consuming_all=False
        )
        self._choosers: dict[int, tuple[TransitionTable, Kernel]] = {}
        self.batches: list[Events] = []
        self.consumed: dict[int, int] = {}

    def _new_kernel(self) -> Kernel:
        """A kernel that finds one match, which is enough to know that the strategy has something to
        choose."""
        limit = 1 if self.plan.query.limit is None else min(1, self.plan.query.limit)
        options = replace(self.options, limit=limit, with_labels=False, watching=True)
        return Kernel(self.table, options)

    def forget(self) -> None:
        super().forget()
        self.batches, self.consumed = [], {}

    def _remember(self, events: Events, batch: pa.RecordBatch) -> Events:
        noted = np.zeros(len(events), np.int32)  # the kernel writes to it
        events = replace(super()._remember(events, batch), waiting=noted)
        self.batches.append(events)
        return events

    def run(self, events: Events) -> Iterator[MatchChunk]:
        ends = [chunk.at.copy() for chunk in super().run(events)]
        if ends:
            windows = self._windows(np.concatenate(ends))
            for rows in self._together(windows):
                yield from self._choose(windows.part(rows))

    def _windows(self, ends: Ints) -> ReplayWindows:
        """The windows that end at these events."""
        keys = self.history.keys[ends - self.history.first]
        turns = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(ends)]
        stretch, bounds = self._stretch(np.unique(keys[turns[:-1]]).tolist())
        begin, last = np.empty_like(ends), np.empty_like(ends)
        for turn in map(slice, turns, turns[1:]):
            key = int(keys[turn.start])
            begin[turn], last[turn] = self._ends_of(key, ends[turn], stretch, bounds[key])
        begin = np.minimum(self._next_begun(stretch)[begin], last)
        firsts = np.flatnonzero(np.append(True, np.diff(begin) != 0))
        return ReplayWindows(
            stretch, begin[firsts], last[firsts], last[np.append(firsts[1:], len(last)) - 1]
        )

    def _next_begun(self, stretch: ReplayStretch) -> Ints:
        """For each place, the next one, or itself, where a run may begin. The state that is noted
        before all others does not change there."""
        places = np.arange(len(stretch.classes))
        if not self.letters.lasting:
            return places
        noted = np.maximum(stretch.waiting, 0)
        stays = (stretch.waiting >= 0) & (self.table.head[stretch.classes, noted] == STAY)
        places[stays] = len(places)
        return np.minimum.accumulate(places[::-1])[::-1]

    def _ends_of(
        self, key: int, ends: Ints, stretch: ReplayStretch, inside: slice
    ) -> tuple[Ints, Ints]:
        """The places where the windows of some events of a key begin and end."""
        ordinals, measures = stretch.ordinals[inside], stretch.measures[inside]
        last = ordinals.searchsorted(ends)
        after = np.full(len(ends), self.consumed.get(self._scope(key), -1))
        if self.plan.query.consume is not Consume.NONE and not self.plan.traits.consumes_late:
            after[1:] = ends[:-1]
            self.consumed[self._scope(key)] = int(ends[-1])
        after = np.maximum(after, self.history.first - 1)
        begin = np.minimum(measures.searchsorted(stretch.floors[inside][last]), last)
        begin = np.maximum(begin, ordinals.searchsorted(after, "right"))
        return inside.start + begin, inside.start + last

    def _together(self, windows: ReplayWindows) -> Iterator[slice]:
        """The rows that one kernel can read, in their order; one by one where letters have values,
        as those of a row have tables of their own."""
        if not self.letters.lasting or self.limits.nodes < NODES_TOGETHER:
            yield from (slice(row, row + 1) for row in range(len(windows)))
            return
        waiting, ends = windows.waiting, np.cumsum(windows.sizes)
        changes = np.append(np.flatnonzero(np.diff(waiting)) + 1, len(windows))
        row = 0
        while row < len(windows):
            before = ends[row - 1] if row else 0
            fits = int(ends.searchsorted(before + MOST_TOGETHER, "right"))
            changed = int(changes[changes.searchsorted(row, "right")])
            yield slice(row, min(max(fits, row + 1), changed))
            row = min(max(fits, row + 1), changed)

    def _stretch(self, keys: list[int]) -> tuple[ReplayStretch, dict[int, slice]]:
        """The remembered events of some keys, and where those of each are."""
        parts = [[(batch, batch.places_of(key)) for batch in self.batches] for key in keys]
        names = ("classes", "positions", "measures", "floors", "waiting")
        flat = [part for of_key in parts for part in of_key]
        columns = {name: np.concatenate([getattr(b, name)[p] for b, p in flat]) for name in names}
        of_keys = [[b.first_ordinal + np.arange(len(b))[p] for b, p in each] for each in parts]
        ordinals = np.concatenate([np.concatenate(each) for each in of_keys])
        letters = [np.array(b.letters, object)[p] for b, p in flat if b.letters]
        joined = np.concatenate(letters) if letters else NO_LETTERS
        ends = np.cumsum([sum(map(len, each)) for each in of_keys]).tolist()
        bounds = dict(zip(keys, map(slice, [0, *ends], ends), strict=True))
        return ReplayStretch(ordinals, letters=joined, **columns), bounds

    def _choose(self, windows: ReplayWindows) -> Iterator[MatchChunk]:
        kernel_input, letters, ordinals = self._replayed(windows)
        kernel = self._chooser(int(windows.waiting[0]), letters)
        kernel.start_over(int((windows.first_end - windows.begin).sum()))
        kernel.feed(kernel_input, len(windows))
        yield from self._turns(kernel, ordinals)

    def consume(self, key: int, ordinal: int) -> None:
        super().consume(key, ordinal)
        self.consumed[self._scope(key)] = ordinal

    def _scope(self, key: int) -> int:
        """The key whose events are consumed together; -1 stands for all keys."""
        return -1 if self.plan.query.consume is Consume.ANY else key

    def _replayed(self, windows: ReplayWindows) -> tuple[KernelInput, list[Any], Ints]:
        """The events of windows, numbered from 0, each row of them as a key of its own; the letters
        of their classes, and their ordinals. Positions count from just before a window."""
        stretch, places = windows.stretch, windows.places()
        ordinals = shown = stretch.ordinals[places]
        given = list(stretch.letters[places]) if len(stretch.letters) else []
        classes, known = self.letters.numbered(stretch.classes[places], given, self.reader.known)
        heads = windows.first_end - windows.begin
        sizes = np.concatenate([heads[heads > 0], windows.last_end + 1 - windows.first_end])
        ends = np.cumsum(sizes)
        rows = np.concatenate([np.flatnonzero(heads), np.arange(len(windows))])
        positions = stretch.positions[places]
        if self.plan.traits.position_sensitive:
            positions = positions - stretch.positions[windows.begin[rows]][numbered(ends)]
        if not self.uses_ordinals:
            shown = self.history.rows[shown - self.history.first]
        events = KernelInput(
            classes=classes,
            positions=positions,
            measures=np.arange(len(places)),
            floors=np.arange(len(places)),
            key_of=rows.astype(np.int32),
            group_ends=ends,
            shown=shown,
        )
        return events, known, ordinals

    def _chooser(self, waiting: int, letters: list[Any]) -> Kernel:
        """A kernel for the strategy that begins in the noted state."""
        if not self.letters.lasting:
            table = self._new_chooser(waiting)
            table.know(letters)
            kernel = Kernel(table, self.chooser_options)
        else:
            table, kernel = self._kept_chooser(waiting)
            with self.lock:
                table.know(list(self.reader.known))  # other runs may have added to the tables
        kernel.load_table()
        return kernel

    def _kept_chooser(self, waiting: int) -> tuple[TransitionTable, Kernel]:
        """The tables and the kernel of a strategy. Tables are kept from earlier runs; a kernel
        belongs to one run."""
        if waiting not in self._choosers:
            with self.lock:
                if waiting not in self.chooser_tables:
                    self.chooser_tables[waiting] = self._new_chooser(waiting)
                table = self.chooser_tables[waiting]
            self._choosers[waiting] = table, Kernel(table, self.chooser_options)
        return self._choosers[waiting]

    def _new_chooser(self, waiting: int) -> TransitionTable:
        begun = Begun(self.plan.automaton, self.table.subsets[waiting])
        automaton = self.plan.shown(select(self.plan.query.strategy, begun))
        table = self._new_table(automaton)
        table.most_slots = self.table.most_slots  # a state from a snapshot may be anything
        return table

    def _states_in_use(self) -> list[int]:
        """The states that configurations are in, and those in which a replay may begin."""
        noted = [np.unique(batch.waiting) for batch in self.batches]
        states = np.unique(np.concatenate(noted)) if noted else NO_STATES
        return [*super()._states_in_use(), *states[states >= 0].tolist()]

    def _renumber_states(self, numbers: Codes) -> None:
        for batch in self.batches:
            known = batch.waiting >= 0
            batch.waiting[known] = numbers[batch.waiting[known]]

    def save(self) -> dict[str, object]:
        return {
            **super().save(),
            "batches": [saved_batch(batch) for batch in self.batches],
            "consumed": np.array(list(self.consumed.items()), np.int64).reshape(-1, 2),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore(saved)
        batches = checked.of_type(saved["batches"], list, "the batches to be replayed")
        self.batches = [restored_batch(self._checked_batch(batch)) for batch in batches]
        self._check_order()
        consumed = checked.array(saved["consumed"], "what was consumed", np.int64, None, 2)
        checked.within(consumed[:, 0], -1, self.key_count, "the key of what was consumed")
        checked.within(consumed[:, 1], -1, self.history.next_ordinal, "what was consumed")
        self.consumed, self._choosers = dict(consumed.tolist()), {}

    def _checked_batch(self, saved: dict[str, Any]) -> dict[str, Any]:
        """A saved batch after a check that its numbers refer to something."""
        size = len(checked.codes(saved["keys"], "the keys of a batch"))
        for name in NUMBERS:
            checked.integers(saved[name], f"the {name} of a batch", size)
        for name in CODES:
            checked.codes(saved[name], f"the {name} of a batch", size)
        checked.within(saved["keys"], 0, self.key_count, "the key of a batch")
        checked.within(saved["classes"], 0, len(self.reader.known), "the class of an event")
        checked.within(saved["waiting"], -1, self.table.n_states, "the state before an event")
        if checked.flag(saved["grouped"], "the grouping of a batch"):
            checked.ascending(saved["keys"], "the keys of a batch")
        self.letters.check(saved["letters"], size, self.reader.known)
        return saved

    def _check_order(self) -> None:
        """Check that the batches follow one another and end where the history does."""
        end = self.history.next_ordinal
        for batch in reversed(self.batches):
            end -= len(batch)
            follows = len(batch) and batch.first_ordinal == end >= 0
            checked.refuse_unless(follows, "batches do not follow")

    def _forget_events(self, oldest: int) -> None:
        super()._forget_events(oldest)
        self.batches = [b for b in self.batches if b.first_ordinal + len(b) > oldest]

    def _mentioned_keys(self) -> Codes:
        """The keys of all events of the kept batches."""
        keys = [batch.keys for batch in self.batches]
        return np.unique(np.concatenate(keys)) if keys else super()._mentioned_keys()

    def _renumber_keys(self, numbers: Codes) -> None:
        self.batches = [
            replace(batch, keys=numbers[batch.keys], key_of=numbers[batch.key_of])
            for batch in self.batches
        ]
        renumbered = ((int(numbers[key]), at) for key, at in self.consumed.items())
        self.consumed = {key: at for key, at in renumbered if key >= 0 or self._scope(0) < 0}

    def _oldest_needed(self) -> int:
        """The first ordinal that is still needed: events stay as long as a window can begin at
        them."""
        for batch in self.batches:
            last = self.kernel.floors_of_keys[batch.keys]
            alive = np.flatnonzero(batch.measures >= last)
            if len(alive):
                return min(self.pinned, int(batch.first_ordinal + alive[0]))
        return min(self.pinned, self.history.next_ordinal)


def saved_batch(events: Events) -> dict[str, Any]:
    """The part of a batch of events that a replay needs."""
    arrays = {name: getattr(events, name) for name in (*NUMBERS, *CODES)}
    letters, first = list(events.letters), events.first_ordinal
    return {**arrays, "letters": letters, "base": first, "grouped": events.grouped}


def restored_batch(saved: dict[str, Any]) -> Events:
    keys = saved["keys"]
    ends = np.append(np.flatnonzero(np.diff(keys)) + 1, len(keys))
    return Events(
        row_numbers=RowNumbers(),
        places=NO_INTS,
        times=NO_INTS,
        key_of=keys[ends - 1],
        group_ends=ends,
        grouped=saved["grouped"],
        first_ordinal=saved["base"],
        letters=saved["letters"],
        **{name: saved[name] for name in (*NUMBERS, *CODES)},
    )
