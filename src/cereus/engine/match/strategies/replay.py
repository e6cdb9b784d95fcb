"""MAX under a window: it chooses among what the window has kept.

Which matches there are to choose from changes as the window moves, so no automaton can decide it
from the past alone. The kernel finds the events where some match ends (one match is enough), and
notes before every event the state of the runs that have marked nothing yet. For each event where a
match ends, the automaton of the strategy reads the events of the window once more, begun in the
state noted before the first of them. What it accepts at the last event is the choice.

Many windows are read in one call of a kernel, each as a key of its own: first all but the last
event of each window, then their last events, from which on matches are reported.
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
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.kernel.kernel import Kernel
from cereus.engine.match.kernel_input import KernelInput
from cereus.engine.match.runner import Runner
from cereus.engine.match.table import TransitionTable
from cereus.engine.memory import NO_INTS
from cereus.engine.results.match_chunks import MatchChunk
from cereus.plan.plan import Plan
from cereus.state import checked

NUMBERS = ("positions", "measures", "floors")
CODES = ("classes", "keys", "waiting")
"""What is kept of the events of a batch: arrays of int64, and of int32."""
NO_LETTERS = np.zeros(0, object)
NO_STATES = np.zeros(0, np.int32)
MOST_TOGETHER = 1 << 14
"""So many events of windows are read together."""
NODES_TOGETHER = 1 << 24
"""Where fewer nodes are allowed, windows are read one by one: the limit is about one window."""


@dataclass(frozen=True)
class ReplayStretch:
    """The remembered events of one key, in order.

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

    def window(self, last: int, after: int) -> slice:
        """The places of the events inside the window that ends at place `last`."""
        first = int(self.measures[: last + 1].searchsorted(self.floors[last]))
        return slice(max(first, int(self.ordinals.searchsorted(after, "right"))), last + 1)


class ReplayWindow(NamedTuple):
    """The events of a window, as places in a stretch, and the state noted before the first."""

    stretch: ReplayStretch
    first: int
    last: int
    waiting: int

    @property
    def size(self) -> int:
        return self.last + 1 - self.first

    def part(self, name: str) -> npt.NDArray[Any]:
        """An array of the stretch, of these events."""
        array: npt.NDArray[Any] = getattr(self.stretch, name)
        return array[self.first : self.last + 1]


class ReplayRunner(Runner):
    """A runner whose strategy is decided anew for every event that some match ends at."""

    def __init__(self, plan: Plan, schema: pa.Schema, **options: Any) -> None:
        super().__init__(plan, schema, **options)
        self.chooser_options = replace(
            self.options, windowed=False, consuming=False, consuming_all=False
        )
        self._choosers: dict[int, tuple[TransitionTable, Kernel]] = {}
        self.batches: list[Events] = []
        self.consumed: dict[int, int] = {}

    def _new_kernel(self) -> Kernel:
        """One match is enough to know that the strategy has something to choose from."""
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
        ends: list[int] = []
        for chunk in super().run(events):
            ends.extend(chunk.at.tolist())
        for windows in self._together(self._windows(ends)):
            yield from self._choose(windows)

    def _windows(self, ends: list[int]) -> Iterator[ReplayWindow]:
        """The windows that end at these events."""
        stretches: dict[int, ReplayStretch] = {}
        for end in ends:
            key = int(self.history.keys[end - self.history.first])
            if key not in stretches:
                stretches[key] = self._stretch(key)
            yield self._window(stretches[key], key, end)

    def _together(self, windows: Iterator[ReplayWindow]) -> Iterator[list[ReplayWindow]]:
        """Windows that one kernel can read, in their order; one by one where letters have values,
        as those of a window have tables of their own."""
        alone = not self.letters.lasting or self.limits.nodes < NODES_TOGETHER
        together: list[ReplayWindow] = []
        size = 0
        for window in windows:
            fits = not alone and size + window.size <= MOST_TOGETHER
            if together and not (fits and window.waiting == together[0].waiting):
                yield together
                together, size = [], 0
            together.append(window)
            size += window.size
        if together:
            yield together

    def _stretch(self, key: int) -> ReplayStretch:
        parts = [(batch, batch.places_of(key)) for batch in self.batches]
        names = ("classes", "positions", "measures", "floors", "waiting")
        columns = {name: np.concatenate([getattr(b, name)[p] for b, p in parts]) for name in names}
        ordinals = np.concatenate([b.first_ordinal + np.arange(len(b))[p] for b, p in parts])
        letters = [np.array(b.letters, object)[p] for b, p in parts if b.letters]
        joined = np.concatenate(letters) if letters else NO_LETTERS
        return ReplayStretch(ordinals, letters=joined, **columns)

    def _window(self, stretch: ReplayStretch, key: int, end: int) -> ReplayWindow:
        last = int(stretch.ordinals.searchsorted(end))
        consumed = self.consumed.get(self._scope(key), -1)
        inside = stretch.window(last, max(consumed, self.history.first - 1))
        if self.plan.query.consume is not Consume.NONE and not self.plan.traits.consumes_late:
            self.consumed[self._scope(key)] = end
        return ReplayWindow(stretch, inside.start, last, int(stretch.waiting[inside.start]))

    def _choose(self, windows: list[ReplayWindow]) -> Iterator[MatchChunk]:
        kernel_input, letters, ordinals = self._replayed(windows)
        kernel = self._chooser(windows[0].waiting, letters)
        kernel.start_over(len(ordinals) - len(windows))
        kernel.feed(kernel_input, len(windows))
        yield from self._turns(kernel, ordinals)

    def consume(self, key: int, ordinal: int) -> None:
        super().consume(key, ordinal)
        self.consumed[self._scope(key)] = ordinal

    def _scope(self, key: int) -> int:
        """What is consumed together."""
        return -1 if self.plan.query.consume is Consume.ANY else key

    def _replayed(self, windows: list[ReplayWindow]) -> tuple[KernelInput, list[Any], Ints]:
        """The events of windows, numbered from 0, the last of each behind all others; the letters
        of their classes, and their ordinals. Positions count from just before a window."""
        sizes = np.array([window.size for window in windows])
        ends = np.cumsum(sizes)
        is_last = np.zeros(ends[-1], bool)
        is_last[ends - 1] = True
        order = np.concatenate([np.flatnonzero(~is_last), ends - 1])

        def part(name: str) -> npt.NDArray[Any]:
            return np.concatenate([window.part(name) for window in windows])

        ordinals = shown = part("ordinals")[order]
        letters = [window.part("letters") for window in windows if len(window.stretch.letters)]
        given = list(np.concatenate(letters)[order]) if letters else []
        classes, known = self.letters.numbered(part("classes")[order], given, self.reader.known)
        positions = part("positions")
        if self.plan.traits.position_sensitive:
            positions = positions - np.repeat(positions[ends - sizes], sizes)
        if not self.uses_ordinals:
            shown = self.history.rows[shown - self.history.first]
        keys = np.arange(len(windows), dtype=np.int32)
        several = sizes > 1
        bodies = np.cumsum(sizes[several] - 1)
        events = KernelInput(
            classes=classes,
            positions=positions[order],
            measures=np.arange(len(order)),
            floors=np.arange(len(order)),
            key_of=np.concatenate([keys[several], keys]),
            group_ends=np.concatenate([bodies, len(order) - len(keys) + keys + 1]),
            shown=shown,
        )
        return events, known, ordinals

    def _chooser(self, waiting: int, letters: list[Any]) -> Kernel:
        """A kernel for the strategy, begun where the noted state says."""
        if not self.letters.lasting:
            table = self._new_chooser(waiting)
            table.know(letters)
            kernel = Kernel(table, self.chooser_options)
        else:
            table, kernel = self._kept_chooser(waiting)
            with self.lock:
                table.know(list(self.reader.known))  # other runs may know more of them by now
        kernel.load_table()
        return kernel

    def _kept_chooser(self, waiting: int) -> tuple[TransitionTable, Kernel]:
        """The tables are those of earlier runs; a kernel is of one run."""
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
        """Those that configurations are in, and those that a replay may begin in."""
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
        """A saved batch, whose numbers refer to what there is."""
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
        """The batches end where the history does, one after the other."""
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
        """Events stay as long as a window can begin at them."""
        for batch in self.batches:
            last = self.kernel.floors_of_keys[batch.keys]
            alive = np.flatnonzero(batch.measures >= last)
            if len(alive):
                return min(self.pinned, int(batch.first_ordinal + alive[0]))
        return min(self.pinned, self.history.next_ordinal)


def saved_batch(events: Events) -> dict[str, Any]:
    """What a replay needs of the events of a batch."""
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
