"""Events that come while their key is asleep, and are left out before events are put in the order
of their keys: with many keys, most of a stream.

A key is *asleep* when none of its partial matches is inside the window; all that its next events
can do is begin one. Which classes of events do, the table says: those on which the initial state
does not just stay. They *wake* the key. The first event of every partial match is such an event,
so the key sleeps again when the last one has left the window. Without a window it stays awake, and
so it does where an event leads what has not yet begun away from the initial state.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cereus.engine.match.table import STAY, UNKNOWN, UNMARKED, TransitionTable

NOT, FOR_A_WINDOW, FOR_GOOD = 0, 1, 2
"""How an event wakes its key (`codes.awake_rows` knows these numbers)."""


class Waking:
    """How each class of events wakes its key, learned from the table class by class."""

    def __init__(self, table: TransitionTable, *, windowed: bool) -> None:
        self._table, self._windowed = table, windowed
        self._found: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)

    def of(self, letters: dict[int, int]) -> npt.NDArray[np.uint8]:
        """One number for each of these classes. Who asks holds the lock of the table."""
        known = len(self._found)
        if known < len(letters):
            self._table.know(list(letters))
            more = [self._how(number) for number in range(known, len(letters))]
            self._found = np.append(self._found, np.array(more, np.uint8))
        return self._found

    def _how(self, number: int) -> int:
        table = self._table
        if table.head[number, table.initial] == UNKNOWN:
            table.expand(table.initial, number)
        at = int(table.head[number, table.initial])
        if at == STAY:
            return NOT
        moves = table.moves(at)
        away = (moves[:, 0] == UNMARKED) & (moves[:, 1] != table.initial)
        return FOR_A_WINDOW if self._windowed and not away.any() else FOR_GOOD
