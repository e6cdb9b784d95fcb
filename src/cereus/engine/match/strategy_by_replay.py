"""MAX under a window: it chooses among what the window has kept.

Which matches there are to choose from changes as the window moves, so no automaton can decide it
from the past alone. The kernel finds the events where some match ends (one match is enough), and
notes before every event the state of the runs that have marked nothing yet. For each event where a
match ends, the strategy's own automaton reads the events of the window once more, begun in the
state noted before the first of them. What it accepts at the last event is the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.automata.selection import Begun
from cereus.clauses.tree import Consume
from cereus.engine.ingest.batch_reader import Codes, Events, Ints
from cereus.engine.match.kernel import Kernel
from cereus.engine.match.runner import Options, Runner
from cereus.engine.match.table import TransitionTable
from cereus.engine.results.match_chunks import Found
from cereus.languages.ceql.lower import select
from cereus.plan.plan import Plan


@dataclass(frozen=True)
class Stretch:
    """The remembered events of one key, in order; `waiting` is the state noted before each."""

    ordinals: Ints
    classes: npt.NDArray[np.int32]
    positions: Ints
    measures: Ints
    floors: Ints
    waiting: Codes

    def window(self, last: int, after: int) -> slice:
        """The places of the events inside the window that ends at place `last`."""
        first = int(np.searchsorted(self.measures[: last + 1], self.floors[last]))
        return slice(max(first, int(np.searchsorted(self.ordinals, after, "right"))), last + 1)


class ReplayRunner(Runner):
    """A runner whose strategy is decided anew for every event that some match ends at."""

    def __init__(self, plan: Plan, schema: pa.Schema, **options: Any) -> None:
        super().__init__(plan, schema, **options)
        told = Options.of(plan, self.limits)
        self.chooser_options = replace(told, windowed=False, consuming=False)
        self._choosers: dict[int, tuple[TransitionTable, Kernel]] = {}
        self.batches: list[Events] = []
        self.consumed: dict[int, int] = {}

    def _new_kernel(self) -> Kernel:
        """One match is enough to know that the strategy has something to choose from."""
        asked = self.plan.query.limit
        limit = 1 if asked is None else min(1, asked)
        options = Options.of(self.plan, self.limits)
        return Kernel(self.table, replace(options, limit=limit, with_labels=False, watching=True))

    def forget(self) -> None:
        super().forget()
        self.batches, self.consumed = [], {}

    def _remember(self, events: Events, batch: pa.RecordBatch) -> None:
        super()._remember(events, batch)
        events.waiting = np.zeros(len(events), np.int32)
        self.batches.append(events)

    def run(self, events: Events) -> Iterator[Found]:
        ends: list[int] = []
        for found in super().run(events):
            ends.extend(found.at.tolist())
        stretches: dict[int, Stretch] = {}
        for end in ends:
            key = int(self.history.keys[end - self.history.first])
            if key not in stretches:
                stretches[key] = self._stretch(key)
            yield from self._choose(stretches[key], key, end)

    def _stretch(self, key: int) -> Stretch:
        parts = [(batch, batch.places_of(key)) for batch in self.batches]
        names = ("classes", "positions", "measures", "floors", "waiting")
        columns = [np.concatenate([getattr(b, name)[p] for b, p in parts]) for name in names]
        ordinals = np.concatenate([b.base + np.arange(len(b))[p] for b, p in parts])
        return Stretch(ordinals, *columns)

    def _choose(self, stretch: Stretch, key: int, end: int) -> Iterator[Found]:
        last = int(np.searchsorted(stretch.ordinals, end))
        inside = stretch.window(last, self.consumed.get(self._scope(key), -1))
        if self.plan.query.consume is not Consume.NONE and not self.plan.consumes_late:
            self.consumed[self._scope(key)] = end
        events = self._events(stretch, inside)
        kernel = self._chooser(int(stretch.waiting[inside.start]), events)
        kernel.start_over(len(events) - 1)
        kernel.feed(events, 1)
        yield from self._turns(kernel, stretch.ordinals[inside])

    def consume(self, key: int, ordinal: int) -> None:
        super().consume(key, ordinal)
        self.consumed[self._scope(key)] = ordinal

    def _scope(self, key: int) -> int:
        """What is consumed together."""
        return -1 if self.plan.query.consume is Consume.ANY else key

    def _events(self, stretch: Stretch, inside: slice) -> Events:
        """The events of a window, numbered from 0; positions count from just before it."""
        size = inside.stop - inside.start
        positions = stretch.positions[inside]
        if self.plan.position_sensitive:
            positions = positions - positions[0]
        own = stretch.ordinals[inside]
        events = Events(
            own, own, stretch.classes[inside], positions, np.arange(size), np.arange(size),
            own, np.zeros(size, np.int32), np.zeros(1, np.int32), np.array([size]),
        )  # fmt: skip
        events.shown = own if self.uses_ordinals else self.history.rows[own - self.history.first]
        return events

    def _chooser(self, waiting: int, events: Events) -> Kernel:
        """A kernel for the strategy, begun where the noted state says."""
        if waiting not in self._choosers:
            self._choosers[waiting] = self._new_chooser(waiting)
        table, kernel = self._choosers[waiting]
        table.know(self.table.letters)
        kernel.load_table()
        return kernel

    def _new_chooser(self, waiting: int) -> tuple[TransitionTable, Kernel]:
        begun = Begun(self.plan.automaton, self.table.subsets[waiting])
        automaton = self.plan.shown(select(self.plan.query.strategy, begun))
        table = TransitionTable(automaton, self.labels, max_states=self.limits.states)
        return table, Kernel(table, self.chooser_options)

    def save(self) -> dict[str, object]:
        return {**super().save(), "batches": self.batches, "consumed": self.consumed}

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore(saved)
        self.batches, self.consumed = saved["batches"], saved["consumed"]

    def _forget_events(self, oldest: int) -> None:
        super()._forget_events(oldest)
        self.batches = [b for b in self.batches if b.base + len(b) > oldest]

    def _mentioned_keys(self) -> Codes:
        """A batch that is kept is kept whole."""
        keys = [batch.keys for batch in self.batches]
        return np.unique(np.concatenate(keys)) if keys else super()._mentioned_keys()

    def _renumber_keys(self, numbers: Codes) -> None:
        for batch in self.batches:
            batch.keys, batch.key_of = numbers[batch.keys], numbers[batch.key_of]
        renumbered = ((int(numbers[key]), at) for key, at in self.consumed.items())
        self.consumed = {key: at for key, at in renumbered if key >= 0 or self._scope(0) < 0}

    def _oldest_needed(self) -> int:
        """Events stay as long as a window can begin at them."""
        for batch in self.batches:
            last = self.kernel.floors_of_keys[batch.keys]
            alive = np.flatnonzero(batch.measures >= last)
            if len(alive):
                return int(batch.base + alive[0])
        return self.history.next_ordinal
