"""NOT FOLLOWED BY: matches wait until it is clear that a certain event does not follow them.

A match whose last event has the time t waits until t + span. If up to then an event of its key
comes that must not follow, it is dropped. Else it is emitted when the time of its key has passed
the deadline, or `advance`, or at the end of the input. Which event comes first after each match is
looked up for all waiting matches at once: events of a key have ascending ordinals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Ints
from cereus.engine.match.runner import Runner
from cereus.engine.results.match_chunks import LISTED, MatchChunk, joined
from cereus.state import checked

NEVER = np.iinfo(np.int64).max


class WaitingMatches:
    """The matches of a runner that wait; `mask` are the tests of which an event that must not
    follow passes one."""

    def __init__(self, runner: Runner, mask: int, span: int) -> None:
        self.runner, self.mask, self.span = runner, mask, span
        self.waiting: MatchChunk | None = None

    def read(self, chunks: Iterable[MatchChunk]) -> Iterator[MatchChunk]:
        """Take the matches of a batch; those that have waited long enough."""
        self.runner.events_read = []
        self._wait([chunk.copied() for chunk in chunks])
        for events in self.runner.events_read:
            if self.waiting is not None:
                yield from self._look(self.waiting, events)

    def _wait(self, chunks: list[MatchChunk]) -> None:
        every = ([] if self.waiting is None else [self.waiting]) + chunks
        self._keep(joined(every) if every else None)

    def _keep(self, waiting: MatchChunk | None) -> None:
        """Remember what waits, and keep its events and keys."""
        self.waiting = waiting if waiting is not None and len(waiting) else None
        if self.waiting is None:
            self.runner.pinned = NEVER
            return
        cells = self.waiting.first
        self.runner.pinned = int(cells.min())

    def _look(self, waiting: MatchChunk, events: Events) -> Iterator[MatchChunk]:
        history = self.runner.history
        ends = waiting.last - history.first
        keys, deadlines = history.keys[ends].astype(np.int64), history.times[ends] + self.span
        letters = np.array([bool(each & self.mask) for each in self.runner.reader.known], bool)
        follows = letters[events.classes]
        ordinals = events.first_ordinal + np.flatnonzero(follows)
        of_keys = events.keys[follows].astype(np.int64)
        times = _next_times(keys, waiting.last, of_keys, ordinals, history)
        dropped = times <= deadlines
        passed = deadlines < _latest(keys, events)
        self._keep(waiting.only(~dropped & ~passed))
        if (emitted := ~dropped & passed).any():
            yield waiting.only(emitted)

    def advance(self, time: int) -> Iterator[MatchChunk]:
        """No event before `time` will come."""
        if self.waiting is not None:
            history = self.runner.history
            deadlines = history.times[self.waiting.last - history.first] + self.span
            over, waiting = deadlines < time, self.waiting
            self._keep(waiting.only(~over))
            if over.any():
                yield waiting.only(over)

    def finish(self) -> Iterator[MatchChunk]:
        if self.waiting is not None:
            yield self.waiting
            self._keep(None)

    def forget(self) -> None:
        self._keep(None)

    def save(self) -> dict[str, Any] | None:
        if self.waiting is None:
            return None
        return {name: np.array(getattr(self.waiting, name)) for name in LISTED}

    def restore(self, saved: Any) -> None:
        if saved is None:
            self._keep(None)
            return
        of = {name: saved[name] for name in LISTED}
        size = len(checked.integers(of["at"], "what waits"))
        low, end = self.runner.history.first, self.runner.history.next_ordinal
        for name in ("first", "last", "at"):
            checked.within(checked.integers(of[name], "what waits", size), low, end, "what waits")
        offsets = checked.codes(of["offsets"], "what waits", size + 1)
        checked.ascending(offsets, "what waits")
        checked.integers(of["cells"], "what waits", int(offsets[-1]))
        checked.codes(of["labels"], "what waits")
        checked.refuse_unless(len(of["labels"]) in (0, len(of["cells"])), "what waits")
        self._keep(MatchChunk(**of))


def _next_times(keys: Ints, last: Ints, of_keys: Ints, ordinals: Ints, history: Any) -> Ints:
    """The time of the first of some events of the same key after each last event; NEVER if there is
    none. The events are sorted by key and ordinal."""
    if not len(ordinals):
        return np.full(len(keys), NEVER)
    size = int(max(ordinals.max(), last.max())) + 2
    places = np.searchsorted(of_keys * np.int64(size) + ordinals, keys * np.int64(size) + last + 1)
    inside = np.minimum(places, len(ordinals) - 1)
    there = (places < len(ordinals)) & (of_keys[inside] == keys)
    return np.where(there, history.times[ordinals[inside] - history.first], NEVER)


def _latest(keys: Ints, events: Events) -> Ints:
    """The time of the last event of each key; the lowest time for keys without one."""
    order = np.argsort(events.key_of, kind="stable")
    known = events.key_of[order]
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    ends = events.group_ends[order[places]] - 1
    return np.where(known[places] == keys, events.times[ends], np.iinfo(np.int64).min)
