"""Applies a strategy (§7.1 of the CEL paper) to the list of all matches of one event.

It is used where a window bounds complex events that may end before the event they are reported at
(a trailing NOT or PROJECT). Then the window decides by their last event, and no part of the stream
can be left out beforehand. So all of them are listed, and the strategy chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np

from cereus.clauses.tree import Strategy
from cereus.engine.ingest.events import Events
from cereus.engine.kernel.kernel import Kernel
from cereus.engine.match.runner import Runner
from cereus.engine.results.match_chunks import MatchChunk, joined

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
        """A kernel without the LIMIT of the query, which counts chosen matches. Only LIMIT 0
        stays."""
        limit = 0 if self.plan.query.limit == 0 else None
        return Kernel(self.table, replace(self.options, limit=limit))

    def run(self, events: Events) -> Iterator[MatchChunk]:
        chunks = [chunk.copied() for chunk in super().run(events)]
        if chunks:
            yield self._chosen(joined(chunks))

    def _chosen(self, chunk: MatchChunk) -> MatchChunk:
        """The best matches of each event, as many as LIMIT allows."""
        less = LESS[self.plan.query.strategy]
        limit = None if self.plan.traits.limited_late else self.plan.query.limit
        supports = [frozenset(chunk.cells[a:b].tolist()) for a, b in pairwise(chunk.offsets)]
        kept = np.zeros(len(chunk), bool)
        for _, group in groupby(range(len(chunk)), key=lambda i: int(chunk.at[i])):
            matches = list(group)
            distinct = {supports[i] for i in matches}
            best = {s for s in distinct if not any(less(s, other) for other in distinct)}
            kept[[i for i in matches if supports[i] in best][:limit]] = True
        return chunk.only(kept)
