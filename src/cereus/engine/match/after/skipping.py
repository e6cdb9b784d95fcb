"""AFTER MATCH SKIP: after a match, only matches that begin later are taken.

PAST LAST EVENT: later than its last event. Matches are looked at in the order of their ends; of
those with the same end, in the order that NEXT prefers. A match that overlaps a taken one is left
out.

TO NEXT EVENT: later than its first event. Of the matches that end at an event, each first event has
one, the one that NEXT prefers; it is taken if it begins after every match of the same key that was
taken before. So a match is left out where another of its key, complete at an earlier event, begins
at its first event or later: a running maximum decides it for a whole batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cereus.automata.selection import NamedAutomaton
from cereus.automata.strategies import FirstEventsAutomaton
from cereus.clauses.tree import Skip
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.match.runner import Runner
from cereus.engine.memory import longer
from cereus.engine.results.match_chunks import Mask, MatchChunk, joined
from cereus.state import checked

PIECE = 1 << 9
"""The number of events that are read at once. Between two pieces, partial matches go that may no
longer begin a match."""
NOTHING = -1


def preferred(chunk: MatchChunk, keys: Ints, *groups: Ints) -> Mask:
    """Of the matches of each group, those whose events NEXT prefers: where two matches first
    differ, the one that has the event."""
    columns = [keys, *groups]
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), bool)
    for column in columns:
        new[1:] |= np.diff(column[order]) != 0
    kept = np.ones(len(order), bool)
    for matches in np.split(order, np.flatnonzero(new)):
        if len(matches) > 1:
            events = [
                (*chunk.cells[chunk.offsets[m] : chunk.offsets[m + 1]].tolist(), float("inf"))
                for m in matches
            ]
            best = min(events)
            kept[matches] = [each == best for each in events]
    return kept


def moving_on(at: Ints, first: Ints, keys: Ints, passed: Ints) -> Mask:
    """The matches that begin after all matches of their key that were complete at earlier events.
    `passed` has, by key, the first events of the matches taken before; it is updated."""
    order = np.lexsort((first, at, keys))
    at, first, keys = at[order], first[order], keys[order]
    new_key = np.ones(len(order), bool)
    new_key[1:] = np.diff(keys) != 0
    new_event = new_key.copy()
    new_event[1:] |= np.diff(at) != 0
    begins = np.flatnonzero(new_event)
    ends = np.append(begins[1:], len(order)) - 1
    # the largest first event up to the event before, within the key: one maximum over all keys,
    # where each key is lifted above those before it
    span = int(max(first.max(), passed.max())) + 2
    group = np.cumsum(new_key) - 1
    lifted = np.maximum(first[ends], passed[keys[ends]]) + 1 + group[ends] * span
    highest = np.maximum.accumulate(lifted)
    before = np.empty(len(begins), np.int64)
    before[1:] = highest[:-1]
    at_key = new_key[begins]
    before[at_key] = passed[keys[begins[at_key]]] + 1 + group[begins[at_key]] * span
    event = np.cumsum(new_event) - 1
    taken = first + 1 + group * span > before[event]
    np.maximum.at(passed, keys, first)
    kept = np.zeros(len(order), bool)
    kept[order] = taken
    return kept


def apart(chunk: MatchChunk, keys: Ints, passed: Ints) -> Mask:
    """Matches that do not overlap, in the order of their ends; of those with the same end, the one
    that NEXT prefers. `passed` has, by key, the last events of the matches taken before; it is
    updated."""
    kept = np.zeros(len(chunk), bool)
    fresh = np.flatnonzero(chunk.first > passed[keys])
    order = fresh[np.lexsort((chunk.first[fresh], chunk.last[fresh], keys[fresh]))]
    best: tuple[int, list[int]] | None = None
    for match in order.tolist():
        key, last = int(keys[match]), int(chunk.last[match])
        cells = chunk.cells[chunk.offsets[match] : chunk.offsets[match + 1]].tolist()
        if best is not None and (key, last, cells) == (int(keys[best[0]]), passed[key], best[1]):
            kept[match] = True  # the same events, bound to other variables
        elif chunk.first[match] > passed[key]:
            kept[match], passed[key], best = True, last, (match, cells)
    return kept


class SkippingRunner(Runner):
    """A runner whose results find out, chunk by chunk, which matches are taken.

    `passed` has, by key, the ordinal of the event after which the next match may begin. A chunk
    holds all matches of every event in it.
    """

    passed: Ints = np.full(0, NOTHING)

    def run(self, events: Events) -> Iterator[MatchChunk]:
        for begin in range(0, len(events), PIECE):
            piece = events.part(begin, min(begin + PIECE, len(events)))
            chunks = [chunk.copied() for chunk in super().run(self._raised(piece))]
            if chunks:
                yield joined(chunks)

    def taken(self, chunk: MatchChunk) -> MatchChunk:
        """The matches that are taken. Later matches must begin after them."""
        if not len(chunk):
            return chunk
        keys = self.history.keys[chunk.at - self.history.first].astype(np.int64)
        if self.plan.query.skip is Skip.PAST_LAST:
            best = preferred(chunk, keys, chunk.last, chunk.first)
            chunk, keys = chunk.only(best), keys[best]
            return chunk.only(apart(chunk, keys, self._passed()))
        kept = moving_on(chunk.at, chunk.first, keys, self._passed())
        if not self.chosen_by_first_events:
            kept &= preferred(chunk, keys, chunk.at, chunk.first)
        return chunk.only(kept)

    @property
    def chosen_by_first_events(self) -> bool:
        """Whether the automaton lists one complex event for each first event."""
        by_automaton = isinstance(self.plan.automaton, FirstEventsAutomaton | NamedAutomaton)
        return by_automaton and not self.plan.traits.chosen_late

    def _raised(self, events: Events) -> Events:
        """The events with raised floors, so that partial matches go that began with an event that
        is passed. Only times are compared, so some stay that are left out later."""
        if not (self.clock.follows_time and self.plan.query.window is not None):
            return events
        passed = self._passed()[events.keys]
        places = np.maximum(passed - self.history.first, 0)
        known = passed >= self.history.first
        starts = np.where(known, self.history.times[places], np.iinfo(np.int64).min)
        return replace(events, floors=np.maximum(events.floors, starts))

    def _passed(self) -> Ints:
        if len(self.passed) < self.key_count:
            self.passed = np.array(longer(self.passed, self.key_count, NOTHING))
        return self.passed

    def forget(self) -> None:
        super().forget()
        self.passed = np.full(0, NOTHING)

    def _renumber_keys(self, numbers: Codes) -> None:
        super()._renumber_keys(numbers)
        passed = self._passed_before(len(numbers))
        self.passed = np.full(int(numbers.max(initial=-1)) + 1, NOTHING)
        self.passed[numbers[numbers >= 0]] = passed[numbers >= 0]

    def _passed_before(self, keys: int) -> Ints:
        known = self.passed[:keys]
        return np.append(known, np.full(keys - len(known), NOTHING))

    def save(self) -> dict[str, object]:
        saved = super().save()
        return {**saved, "passed": self._passed().copy()}

    def restore(self, saved: dict[str, Any]) -> None:
        super().restore(saved)
        passed = checked.integers(saved["passed"], "what is passed", self.key_count)
        checked.within(passed, NOTHING, self.history.next_ordinal, "what is passed")
        self.passed = passed.copy()
