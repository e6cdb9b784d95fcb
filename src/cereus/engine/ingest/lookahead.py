"""Leaves out events that no match can have, before the kernel reads them: where matches are few,
these are most events.

An event may extend a partial match and yet be useless, because what has to follow does not come
before the window has passed. The rest of the batch shows that. One pass forward finds for every
state the latest start of a run that may be in it, and one pass back finds how soon a run in it may
be complete. Both ignore conditions between events, which only makes more seem possible. An event is
kept if it takes a run from a state to another that can be complete while its start is inside the
window.

This is right only where events do nothing but mark: every state that can go on must be able to
wait. Anything may come after the end of a batch.
"""

from __future__ import annotations

import numpy as np

from cereus.engine.ingest import codes
from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.match.forgetting import NEVER
from cereus.engine.match.table import TransitionTable

MOST_STATES = 64
"""Patterns with more states than this are not examined."""
WORTH_IT = 1 << 10
"""With fewer events than this, none is left out."""
SAMPLE = 16
"""One in this many events is looked at first, to see whether the passes are worth it."""
EVER = np.iinfo(np.int64).max


class LookAhead:
    """Finds the events of a batch that some match may have. The caller holds the lock of the
    table."""

    def __init__(self, table: TransitionTable) -> None:
        self._table = table
        self._latest: Ints = np.full(MOST_STATES, NEVER)
        """The latest start of a run that may be in each state."""

    def begin(self) -> None:
        """Begin without any run."""
        self._latest[:] = NEVER

    def resume(self) -> None:
        """Assume that any run may have begun."""
        self._latest[:] = EVER

    def rows(
        self, letters: dict[int, int], classes: Codes, measures: Ints, floors: Ints
    ) -> Ints | None:
        """The events that some match may have; None for all of them."""
        self._table.know(list(letters))
        size = len(classes)
        if size < WORTH_IT or not self._table.only_marks(MOST_STATES):
            self.resume()
            return None
        np.minimum(self._latest, measures[0], out=self._latest)  # nothing began later than that
        begun, sample = self._latest.copy(), size // SAMPLE
        if sample and 2 * len(self._rows(classes[:sample], measures, floors)) > sample:
            self.resume()
            return None
        self._latest = begun
        return self._rows(classes, measures, floors)

    def _rows(self, classes: Codes, measures: Ints, floors: Ints) -> Ints:
        table = self._table
        rows: Ints = codes.hopeful_rows(
            classes,
            measures,
            floors,
            head=table.head,
            edges=table.edges,
            moving=table.moving,
            n_moving=table.n_moving,
            accepting=table.accepting,
            initial=table.initial,
            latest=self._latest,
        )
        return rows
