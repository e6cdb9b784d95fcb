"""Strategies by listing: what §7.1 of the CEL paper says, done to the matches of one event.

Used where a window bounds complex events that may end before the event they are reported at (a
trailing NOT or PROJECT): which of them the window keeps then depends on their own last event, and
no part of the stream can be left out beforehand. All of them are listed, and the strategy chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby

import numpy as np

from cereus.clauses.tree import Strategy
from cereus.engine.ingest.batch_reader import Events
from cereus.engine.match.kernel import Kernel
from cereus.engine.match.runner import Options, Runner
from cereus.engine.results.match_chunks import Found

Support = frozenset[int]


def _next_less(first: Support, second: Support) -> bool:
    return first != second and min(first ^ second) in second


def _last_less(first: Support, second: Support) -> bool:
    return first != second and max(first ^ second) in second


LESS: dict[Strategy, Callable[[Support, Support], bool]] = {
    Strategy.NEXT: _next_less,
    Strategy.LAST: _last_less,
    Strategy.ANY: _last_less,
    Strategy.MAX: frozenset.__lt__,
}


class ListingRunner(Runner):
    """A runner that lists all matches of an event, then chooses."""

    def _new_kernel(self) -> Kernel:
        """LIMIT counts what was chosen, unless it leaves nothing to choose."""
        limit = 0 if self.plan.query.limit == 0 else None
        return Kernel(self.table, replace(Options.of(self.plan, self.limits), limit=limit))

    def run(self, events: Events) -> Iterator[Found]:
        parts = [_copied(found) for found in super().run(events)]
        if parts:
            yield from self._chosen(_concatenated(parts))

    def _chosen(self, found: Found) -> Iterator[Found]:
        less = LESS[self.plan.query.strategy]
        limit = None if self.plan.limited_late else self.plan.query.limit
        supports = [
            frozenset(found.cells[a:b].tolist())
            for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)
        ]
        kept: list[int] = []
        for _, group in groupby(range(len(found)), key=lambda i: int(found.at[i])):
            rows = list(group)
            distinct = {supports[i] for i in rows}
            best = {s for s in distinct if not any(less(s, other) for other in distinct)}
            kept.extend([i for i in rows if supports[i] in best][:limit])
        yield _rows(found, kept)


def _copied(found: Found) -> Found:
    return Found(*(np.array(getattr(found, name)) for name in FIELDS))


FIELDS = ("cells", "labels", "offsets", "first", "last", "at")


def _concatenated(parts: list[Found]) -> Found:
    if len(parts) == 1:
        return parts[0]
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    joined = {n: np.concatenate([getattr(p, n) for p in parts]) for n in FIELDS if n != "offsets"}
    return Found(offsets=np.append(0, np.cumsum(sizes)).astype(np.int32), **joined)


def _rows(found: Found, rows: list[int]) -> Found:
    """Some of the matches."""
    cells = [np.arange(found.offsets[i], found.offsets[i + 1]) for i in rows]
    places = np.concatenate(cells) if cells else np.zeros(0, np.int64)
    sizes = np.append(0, np.cumsum([len(c) for c in cells])).astype(np.int32)
    labels = found.labels[places] if len(found.labels) else found.labels
    return Found(
        found.cells[places], labels, sizes, found.first[rows], found.last[rows], found.at[rows]
    )
