"""NOT FOLLOWED BY: matches wait until it is clear that a certain event does not follow them.

A match whose last event has the time t waits until t + span. It is dropped if an event of its key
that must not follow comes before then. Otherwise it is emitted when the time of its key has passed
the deadline, at `advance`, or at the end of the input. The first such event after each match is
looked up for all waiting matches at once: events of a key have ascending ordinals.

A match may end after its last event, as `A ; NOT(B)` does, which marks only A. Then events of
earlier batches may follow it: they are remembered as long as the history is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cereus.engine.ingest.clock import later
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Ints
from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.match.after.comparing import ComparedFollowers
from cereus.engine.match.runner import Runner
from cereus.engine.memory import NO_INTS
from cereus.engine.results.match_chunks import LISTED, Mask, MatchChunk, joined
from cereus.state import checked

NEVER = np.iinfo(np.int64).max
FOLLOWERS = "followers"


class WaitingMatches:
    """The matches of a runner that wait. An event must not follow them if it passes one of the
    tests in `mask`."""

    def __init__(self, runner: Runner, mask: int, span: int) -> None:
        self.runner, self.mask, self.span = runner, mask, span
        kinds = runner.plan.compared_followers
        self.compared = [ComparedFollowers(runner, kind) for kind in kinds]
        self.waiting: MatchChunk | None = None
        self.followers: Ints = NO_INTS
        """The ordinals of the events that must not follow and that the history still has."""

    def read(self, chunks: Iterable[MatchChunk]) -> Iterator[MatchChunk]:
        """Take the matches of a batch, and yield those that have waited long enough."""
        self.runner.events_read = []
        arrived = [chunk.copied() for chunk in chunks]
        batches, history = self.runner.events_read, self.runner.history
        begin = batches[0].first_ordinal if batches else history.next_ordinal
        self._wait(arrived)
        if self.waiting is not None and any((chunk.last < begin).any() for chunk in arrived):
            self._drop_followed(self.waiting)
        for events in batches:
            ordinals = self._following(events)
            compared = [kind.among(events) for kind in self.compared]
            if self.waiting is not None:
                yield from self._look(self.waiting, events, ordinals, compared)
            kept = self.followers[self.followers >= history.first]
            self.followers = np.concatenate([kept, ordinals])

    def _following(self, events: Events) -> Ints:
        """The ordinals of the events that must not follow, by key."""
        letters = np.array([bool(each & self.mask) for each in self.runner.reader.known], bool)
        return events.first_ordinal + np.flatnonzero(letters[events.classes])

    def _drop_followed(self, waiting: MatchChunk) -> None:
        """Drop the matches that an event of an earlier batch follows in time."""
        history = self.runner.history
        self.followers = self.followers[self.followers >= history.first]
        ends = waiting.last - history.first
        of_keys = history.keys[self.followers - history.first].astype(np.int64)
        order = np.lexsort((self.followers, of_keys))
        of_keys, ordinals = of_keys[order], self.followers[order]
        keys = history.keys[ends].astype(np.int64)
        until = self._deadlines(waiting)
        followed = _followed(keys, waiting.last, until, of_keys, ordinals, history)
        for kind in self.compared:
            kind.known = kind.known[kind.known >= history.first]
            followed |= kind.follow(waiting, kind.known, until)
        self._keep(waiting.only(~followed))

    def _deadlines(self, waiting: MatchChunk) -> Ints:
        """The times until which matches wait."""
        history = self.runner.history
        return later(history.times[waiting.last - history.first], self.span)

    def _wait(self, chunks: list[MatchChunk]) -> None:
        every = ([] if self.waiting is None else [self.waiting]) + chunks
        self._keep(joined(every) if every else None)

    def _keep(self, waiting: MatchChunk | None) -> None:
        """Remember the waiting matches, and keep their events and keys."""
        self.waiting = waiting if waiting is not None and len(waiting) else None
        if self.waiting is None:
            self.runner.pinned = NEVER
            return
        cells = self.waiting.first
        self.runner.pinned = int(cells.min())

    def _look(
        self, waiting: MatchChunk, events: Events, ordinals: Ints, compared: list[Ints]
    ) -> Iterator[MatchChunk]:
        history = self.runner.history
        ends = waiting.last - history.first
        keys, until = history.keys[ends].astype(np.int64), self._deadlines(waiting)
        of_keys = events.keys[ordinals - events.first_ordinal].astype(np.int64)
        dropped = _followed(keys, waiting.last, until, of_keys, ordinals, history)
        for kind, such in zip(self.compared, compared, strict=True):
            dropped |= kind.follow(waiting, such, until)
        passed = until < latest_times(keys, events)
        self._keep(waiting.only(~dropped & ~passed))
        if (emitted := ~dropped & passed).any():
            yield waiting.only(emitted)

    def advance(self, time: int) -> Iterator[MatchChunk]:
        """No event before `time` will come."""
        if self.waiting is not None:
            over, waiting = self._deadlines(self.waiting) < time, self.waiting
            self._keep(waiting.only(~over))
            if over.any():
                yield waiting.only(over)

    def finish(self) -> Iterator[MatchChunk]:
        if self.waiting is not None:
            yield self.waiting
            self._keep(None)

    def forget(self) -> None:
        self._keep(None)
        self.followers = NO_INTS
        for kind in self.compared:
            kind.known = NO_INTS

    def save(self) -> dict[str, Any]:
        listed = {} if self.waiting is None else _arrays(self.waiting)
        compared = {f"{FOLLOWERS} {n}": kind.known for n, kind in enumerate(self.compared)}
        return {**listed, FOLLOWERS: self.followers, **compared}

    def restore(self, saved: Any) -> None:
        low, end = self.runner.history.first, self.runner.history.next_ordinal
        self.followers = checked.integers((saved or {}).get(FOLLOWERS, NO_INTS), "what follows")
        self.followers = self.followers[self.followers >= low]
        checked.within(self.followers, low, end, "what follows")
        for number, kind in enumerate(self.compared):
            known = checked.integers(saved[f"{FOLLOWERS} {number}"], "what follows")
            kind.known = known[known >= low]
            checked.within(kind.known, low, end, "what follows")
        if saved is None or "at" not in saved:
            self._keep(None)
            return
        of = {name: saved[name] for name in LISTED}
        size = len(checked.integers(of["at"], "what waits"))
        for name in ("first", "last", "at"):
            checked.within(checked.integers(of[name], "what waits", size), low, end, "what waits")
        offsets = checked.codes(of["offsets"], "what waits", size + 1)
        checked.ascending(offsets, "what waits")
        checked.refuse_unless(offsets[0] == 0, "what waits")
        cells = checked.integers(of["cells"], "what waits", int(offsets[-1]))
        if self.runner.uses_ordinals:
            checked.within(cells, low, end, "what waits")
        labels = len(cells) if self.runner.plan.traits.labelled else 0
        checked.within(
            checked.codes(of["labels"], "what waits", labels),
            FIRST_SHOWN,
            FIRST_SHOWN + len(self.runner.labels.shown),
            "what waits",
        )
        self._keep(MatchChunk(**of))


def _arrays(chunk: MatchChunk) -> dict[str, Any]:
    return {name: np.array(getattr(chunk, name)) for name in LISTED}


def _followed(
    keys: Ints, last: Ints, until: Ints, of_keys: Ints, ordinals: Ints, history: Any
) -> Mask:
    """The matches after whose last event one of these events of the same key comes, up to the
    deadline. The events are sorted by key and ordinal. No time is reserved for "none": events may
    have any."""
    if not len(ordinals):
        return np.zeros(len(keys), bool)
    size = int(max(ordinals.max(), last.max())) + 2
    places = np.searchsorted(of_keys * np.int64(size) + ordinals, keys * np.int64(size) + last + 1)
    inside = np.minimum(places, len(ordinals) - 1)
    there = (places < len(ordinals)) & (of_keys[inside] == keys)
    followed: Mask = there & (history.times[ordinals[inside] - history.first] <= until)
    return followed


def latest_times(keys: Ints, events: Events) -> Ints:
    """The time of the last event of each key; the lowest time for keys without one."""
    order = np.argsort(events.key_of, kind="stable")
    known = events.key_of[order]
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    ends = events.group_ends[order[places]] - 1
    return np.where(known[places] == keys, events.times[ends], np.iinfo(np.int64).min)
