"""Leaves out events of idle keys before events are sorted by key: with many keys, this is most of a
stream.

A key is *idle* when none of its partial matches is inside the window: its next events can only
begin one. The table says which classes of events can: those on which the initial state does not
just stay. They *wake* the key. The first event of every partial match is such an event, so the key
is idle again when the last one has left the window. Without a window a key stays awake. It also
stays awake after an event that leads unstarted runs away from the initial state.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cereus.engine.ingest import codes
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Ints, room_for
from cereus.engine.kernel import layout
from cereus.engine.match.forgetting import NEVER
from cereus.engine.match.table import TransitionTable


class IdleKeys:
    """Knows which keys are idle, and how each class of events wakes its key. It learns this from
    the table, class by class."""

    def __init__(self, table: TransitionTable, *, windowed: bool) -> None:
        self._table, self._windowed = table, windowed
        self._wakes: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
        self.woken: Ints = np.full(1, NEVER)
        """The measure of the last event that woke each key."""

    def wakes(self, letters: dict[int, int]) -> npt.NDArray[np.uint8]:
        """How each of these classes wakes a key, as one number. The caller holds the lock of the
        table."""
        known = len(self._wakes)
        if known < len(letters):
            self._table.know(list(letters))
            more = [self._how(number) for number in range(known, len(letters))]
            self._wakes = np.append(self._wakes, np.array(more, np.uint8))
        return self._wakes

    def _how(self, number: int) -> int:
        table = self._table
        if table.head[number, table.initial] == layout.UNKNOWN:
            table.expand(table.initial, number)
        at = int(table.head[number, table.initial])
        if at == layout.STAY:
            return layout.WAKES_NOT
        moves = table.moves(at)
        unmarked = moves[:, layout.MOVE_LABEL] == layout.UNMARKED
        away = unmarked & (moves[:, layout.MOVE_TO] != table.initial)
        if self._windowed and not away.any():
            return layout.WAKES_FOR_A_WINDOW
        return layout.WAKES_FOR_GOOD

    def gaps_are_nothing(self) -> bool:
        """Whether events that pass no test leave the initial state as it is."""
        return self._table.expand_gap(self._table.initial) == self._table.initial

    def rows(self, events: Events, wakes: npt.NDArray[np.uint8], keys: int) -> Ints:
        """The events that wake their key or find it awake; `keys` is the number of keys now."""
        self.woken = room_for(self.woken, keys, NEVER)
        return codes.awake_rows(
            events.keys, events.classes, wakes, events.measures, events.floors, self.woken
        )

    def of_keys(self, keys: int) -> Ints:
        """When each of `keys` keys was last woken."""
        return room_for(self.woken, keys, NEVER)[:keys]

    def forget(self) -> None:
        """Forget all keys."""
        self.woken = np.full(1, NEVER)

    def keep(self, chosen: Ints, keys: int) -> None:
        """Forget all keys except these, which are renumbered in their order."""
        self.woken = self.of_keys(keys)[chosen]
