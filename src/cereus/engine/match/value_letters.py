"""Conditions between events in full generality: the automaton's states remember values.

Such an automaton (`automata.correlate`) has no end of states and letters, so neither is numbered
for good: classes are numbered per piece of the stream, and states that no configuration is in are
forgotten when there are many. Everything else is the ordinary kernel. It is slower than the
registers of `automata.registers`, and takes whatever they cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.automata.memory.values import Seen
from cereus.engine.ingest.batch_reader import Events
from cereus.engine.ingest.clock import python_values, read
from cereus.engine.match.kernel import Kernel
from cereus.engine.match.runner import Runner
from cereus.engine.match.strategy_by_listing import ListingRunner
from cereus.engine.match.strategy_by_replay import ReplayRunner, Stretch
from cereus.engine.match.table import TransitionTable
from cereus.engine.results.counts import CountingRunner
from cereus.engine.results.match_chunks import Found

PIECE = 256
"""Events whose letters are numbered together."""
MANY_STATES = 4096


class GeneralRunner(Runner):
    """A runner whose letters carry the values that conditions between events read."""

    def _remember(self, events: Events, batch: pa.RecordBatch) -> None:
        super()._remember(events, batch)
        masks = list(self.front.known)
        rows = pa.array(events.places)
        paths = sorted(self.plan.compared)
        columns = [
            python_values(read(batch, path, "the attribute").take(rows), path) for path in paths
        ]
        events.letters = [
            Seen.of(masks[number], dict(zip(paths, values, strict=True)))
            for number, *values in zip(events.classes.tolist(), *columns, strict=True)
        ]

    def _run(self, events: Events) -> Iterator[Found]:
        for at in range(0, len(events), PIECE):
            piece = events.part(at, min(at + PIECE, len(events)))
            yield from super()._run(piece)

    def _know_letters(self, events: Events) -> None:
        letters, events.classes = numbered(events.letters)
        self._forget_states()
        self.table.forget_classes(letters)

    def _forget_states(self) -> None:
        """Keep the states that configurations are in, and those that a replay may begin in."""
        if self.table.n_states < MANY_STATES:
            return
        live = [self.table.initial, *self.kernel.carried_states().tolist(), *self._noted_states()]
        table = TransitionTable(self.plan.automaton, self.labels, max_states=self.limits.states)
        table.preload([self.table.subsets[s] for s in live])
        numbers = np.zeros(self.table.n_states, np.int32)
        numbers[live] = [table.number(self.table.subsets[s]) for s in live]
        self.table = table
        self.kernel.renumber(table, numbers)
        self._renumbered(numbers)

    def _noted_states(self) -> list[int]:
        return []

    def _renumbered(self, numbers: Any) -> None:
        """State s has the number numbers[s] now."""


class GeneralCountingRunner(GeneralRunner, CountingRunner):
    """The same, counting."""


class GeneralListingRunner(GeneralRunner, ListingRunner):
    """The same where a strategy chooses by listing."""


class GeneralReplayRunner(GeneralRunner, ReplayRunner):
    """The same under a windowed strategy."""

    def _stretch(self, key: int) -> Stretch:
        stretch = super()._stretch(key)
        letters = [np.array(batch.letters, object)[batch.places_of(key)] for batch in self.batches]
        self._letters = np.concatenate(letters)
        return stretch

    def _events(self, stretch: Stretch, inside: slice) -> Events:
        events = super()._events(stretch, inside)
        events.letters, events.classes = numbered(list(self._letters[inside]))
        return events

    def _chooser(self, waiting: int, events: Events) -> Kernel:
        table, kernel = self._new_chooser(waiting)
        table.know(events.letters)
        kernel.load_table()
        return kernel

    def _noted_states(self) -> list[int]:
        noted = [np.unique(batch.waiting) for batch in self.batches]
        return [int(s) for s in np.unique(np.concatenate(noted)) if s >= 0] if noted else []

    def _renumbered(self, numbers: Any) -> None:
        for batch in self.batches:
            known = batch.waiting >= 0
            batch.waiting[known] = numbers[batch.waiting[known]]


def numbered(letters: list[Any]) -> tuple[list[Any], Any]:
    """Distinct letters, and the place among them of every given one."""
    places: dict[Any, int] = {}
    distinct: list[Any] = []
    classes = np.empty(len(letters), np.int32)
    for i, letter in enumerate(letters):
        key = (int(letter), *map(repr, letter.values.values()))
        place = places.setdefault(key, len(distinct))
        if place == len(distinct):
            distinct.append(letter)
        classes[i] = place
    return distinct, classes
