"""Events that no match can have, left out before the kernel: where matches are few, most events.

An event may extend a partial match and yet be useless, because what has to follow does not come
before the window has passed. The rest of the batch shows that. Leaving conditions between events
aside (which only makes more seem possible), one pass forward finds for every state the latest start
of a run that may be in it, and one pass back how soon a run in it may be complete. An event is kept
if it takes a run from a state to another that can be complete while its start is inside the window.

So an event may be left out only where it does nothing but mark: every state that can go on must be
able to wait. Beyond the end of a batch anything may come.
"""

from __future__ import annotations

import numpy as np

from cereus.engine.ingest import codes
from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.match.forgetting import NEVER
from cereus.engine.match.table import TransitionTable

MOST_STATES = 64
"""Patterns with more states are not looked through."""
WORTH_IT = 1 << 10
"""Fewer events than this are read as they are."""
SAMPLE = 16
"""One in so many events is looked at first, to see whether the passes pay."""
EVER = np.iinfo(np.int64).max


class LookAhead:
    """Which events of a batch some match may have. The caller holds the lock of the table."""

    def __init__(self, table: TransitionTable) -> None:
        self._table = table
        self._latest: Ints = np.full(MOST_STATES, NEVER)
        """The latest start of a run that may be in each state."""

    def begin(self) -> None:
        """No run has begun."""
        self._latest[:] = NEVER

    def resume(self) -> None:
        """Any run may have begun."""
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
