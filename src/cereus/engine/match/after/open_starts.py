"""WITH TIMEOUTS: the events that may have begun a match, until their windows end.

Every event that may begin a match is open until a match that begins with it is complete, or its
window has ended: by a later event of its key, by `advance`, or at the end of the input. Then the
events of its window are looked up among the remembered ones, for all such events at once: events
of a key have ascending ordinals and times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cereus.clauses.tree import EventWindow
from cereus.engine.ingest.clock import later
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Ints
from cereus.engine.match.after.following import NEVER, latest_times
from cereus.engine.match.runner import Runner
from cereus.engine.memory import NO_INTS
from cereus.engine.results.match_chunks import Mask, MatchChunk
from cereus.plan.timeouts import TimeoutPlans
from cereus.state import checked

PIECE = 1 << 18
"""At most about this many events of windows are read at once."""


@dataclass(frozen=True)
class Windows:
    """The events of some windows. Window w begins with the event of ordinal `starts[w]`; its events
    are `order[low[w]:high[w]]`, places among the remembered events."""

    starts: Ints
    low: Ints
    high: Ints
    order: Ints

    def __len__(self) -> int:
        return len(self.starts)

    def only(self, kept: Mask) -> Windows:
        return Windows(self.starts[kept], self.low[kept], self.high[kept], self.order)

    def without(self, starts: Ints) -> Windows:
        return self.only(~np.isin(self.starts, starts))

    def pieces(self) -> Iterator[Windows]:
        """The windows in pieces, so that few events have to be copied at once."""
        if not len(self):
            return
        piece = np.cumsum(self.high - self.low) // PIECE
        for number in np.unique(piece):
            yield self.only(piece == number)


def distinct(ordinals: Ints) -> Ints:
    """Each ordinal once, in order. They are close together, as those of a window: a mark for every
    number between them takes less time than `numpy.unique`."""
    if not len(ordinals):
        return ordinals
    low = int(ordinals.min())
    marks = np.zeros(int(ordinals.max()) - low + 1, bool)
    marks[ordinals - low] = True
    return low + np.flatnonzero(marks)


@dataclass
class OpenStarts:
    """The events of a runner that have begun a match which is still open; `span` is the length of
    their windows, in the units of time."""

    runner: Runner
    plans: TimeoutPlans
    span: int
    open: Ints = field(default_factory=lambda: NO_INTS)
    """The ordinals of the open events."""
    completed: list[Ints] = field(default_factory=list)
    """The first events of matches of the batch at hand."""

    def noting(self, chunks: Iterable[MatchChunk]) -> Iterator[MatchChunk]:
        """Pass the matches on, and note with which events they begin."""
        self.runner.events_read, self.completed = [], []
        for chunk in chunks:
            self.completed.append(distinct(chunk.first))
            yield chunk
            del chunk

    def read(self) -> Windows:
        """The windows that the last batch has ended."""
        for events in self.runner.events_read:
            self._keep(np.append(self.open, self._begun(events)))
        if self.completed:
            self._keep(self.open[~np.isin(self.open, np.concatenate(self.completed))])
        self.completed = []
        return self._ended(self._passed())

    def _begun(self, events: Events) -> Ints:
        begins = [bool(letter & self.plans.begins) for letter in self.runner.reader.known]
        return events.first_ordinal + np.flatnonzero(np.array(begins, bool)[events.classes])

    def _keep(self, starts: Ints) -> None:
        """Remember which events are open, and keep them and their keys."""
        self.open = starts
        self.runner.pinned = int(starts.min()) if len(starts) else NEVER

    def _passed(self) -> Mask:
        """The open events whose windows the last batch has ended."""
        passed = np.zeros(len(self.open), bool)
        if not len(self.open):
            return passed
        if isinstance(self.plans.window, EventWindow):
            # a match that waits for its window to pass is complete only with the event after the
            # window
            size = self.plans.window.size + self.runner.plan.traits.closes
            windows = self._windows(self.open, size)
            full: Mask = windows.high - windows.low == size
            return full
        keys = self.runner.history.keys[self._places(self.open)].astype(np.int64)
        for events in self.runner.events_read:
            passed |= latest_times(keys, events) > self._deadlines(self.open)
        return passed

    def advance(self, time: int) -> Windows:
        """No event before `time` will come; the windows that this has ended."""
        if isinstance(self.plans.window, EventWindow) or not len(self.open):
            return self._ended(np.zeros(len(self.open), bool))
        return self._ended(self._deadlines(self.open) < time)

    def finish(self) -> Windows:
        return self._ended(np.ones(len(self.open), bool))

    def _ended(self, ended: Mask) -> Windows:
        """Close these windows, and return them."""
        windows = self._windows(self.open[ended])
        self._keep(self.open[~ended])
        return windows

    def forget(self) -> None:
        self._keep(NO_INTS)

    # ------------------------------------------------------------ the events of windows

    def _places(self, ordinals: Ints) -> Ints:
        return ordinals - self.runner.history.first

    def _deadlines(self, starts: Ints) -> Ints:
        return later(self.runner.history.times[self._places(starts)], self.span)

    def _windows(self, starts: Ints, size: int | None = None) -> Windows:
        """The windows of these events; with `size`, of that length instead of their own."""
        if not len(starts):
            return Windows(starts, starts, starts, starts)
        history, places = self.runner.history, self._places(starts)
        base = int(places.min())
        keys = history.keys[base:]
        order = np.argsort(keys, kind="stable")
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        low = ranks[places - base]
        ends = np.searchsorted(keys[order], keys[places - base], "right")
        if isinstance(self.plans.window, EventWindow):
            high = np.minimum(low + (size or self.plans.window.size), ends)
        else:
            times = history.times[base:][order]
            high = first_above(times, low, ends, self._deadlines(starts))
        return Windows(starts, low, high, order + base)

    # ------------------------------------------------------------ state that outlives the process

    def save(self) -> Ints:
        return np.array(self.open)

    def restore(self, saved: Any) -> None:
        starts = checked.integers(saved, "what is open")
        history = self.runner.history
        checked.within(starts, history.first, history.next_ordinal, "what is open")
        self._keep(starts)


def first_above(values: Ints, low: Ints, high: Ints, limits: Ints) -> Ints:
    """For each range of ascending values, the first place with a value above its limit, or its end.
    Binary search in all ranges at once."""
    low, high = low.copy(), high.copy()
    while (open_ := low < high).any():
        middle = (low + high) // 2
        above = values[np.minimum(middle, len(values) - 1)] > limits
        high = np.where(open_ & above, middle, high)
        low = np.where(open_ & ~above, middle + 1, low)
    return low
