"""Parts of a pattern that choose: NEXT or LAST around a part whose events are compared.

Such a part is begun at an event, its *scope*, and every run of it has that event's ordinal in a
slot (`automata.memory.chosen`). Of two complex events of one scope the better one is better
whatever is added to both later, so:

* of the partial matches of a configuration inside the part, which agree on state, values and scope,
  only the best is kept, and those that are equal to it;
* where runs leave the part they have ended at the same event, and of those of one scope only the
  best arrives, and those that are equal to it.

What came before the scope has no part in the comparison: it ends at nodes that are older. A better
one that is out of the window still beats the others, so where the scope has nothing before it
(`OPEN_SCOPE`) partial matches do not expire inside the part. Where it has, all partial matches of a
scope have the same heap below them, and expire together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np

from cereus.engine.memory import longer

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.stepper import Stepper
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.stepper import Stepper

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable


@cython.cclass
class ScopedStepper(Stepper):
    """Partial matches that compete with others of their scope."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        Stepper.__init__(self, table, options)
        self.leaving = np.zeros(0, np.int32)
        self.begun_at = np.zeros(0, np.int64)
        self.rivals = np.zeros(0, np.int32)

    def _outlives(self, c: cython.int) -> cython.bint:
        slot: cython.int = self.scope[self.state_of[c]]
        return slot >= 0 and self.values[c, slot] < 0

    def _note_scope(self, row: cython.int, c: cython.int) -> cython.int:
        """Note which choice a pending row takes part in: NONE, if it leaves no scope."""
        if row >= self.leaving.shape[0]:
            with cython.gil:
                self.leaving = longer(self.leaving, self.pending.shape[0], 0)
                self.begun_at = longer(self.begun_at, self.pending.shape[0], 0)
        s: cython.int = self.state_of[c]
        self.leaving[row] = layout.NONE
        if self.scope[s] >= 0 and self.scope[self.pending[row, layout.PENDING_STATE]] < 0:
            self.leaving[row] = self.chooser[s]
            self.begun_at[row] = _ordinal(self.values[c, self.scope[s]])
        return 0

    def _choose(self) -> cython.int:
        row: cython.int
        best: cython.int
        left: cython.int = 0
        for row in range(self.n_pending):
            left += self.leaving[row] >= 0
        if left < 2:
            return 0
        self._clear_rivals(left)
        for row in range(self.n_pending):
            if self.leaving[row] >= 0:
                best = self._rival(row)
                if self._beats(row, best) > 0:
                    self._set_rival(row)
        for row in range(self.n_pending):
            if self.leaving[row] >= 0 and self._beats(self._rival(row), row) > 0:
                self.pending[row, layout.PENDING_STATE] = layout.NONE
        return 0

    # ------------------------------------------------------------ the best of each scope, hashed

    def _clear_rivals(self, rows: cython.int) -> cython.int:
        """Room for the best of so many scopes at the most."""
        size: cython.int = 4
        i: cython.int
        while size < 2 * rows:
            size *= 2
        if size > self.rivals.shape[0]:
            with cython.gil:
                self.rivals = np.zeros(size, np.int32)
        for i in range(size):
            self.rivals[i] = layout.NONE
        self.n_rivals = size
        return 0

    def _rival_place(self, row: cython.int) -> cython.int:
        """Where the best of a row's scope is noted, or will be."""
        i: cython.int = cython.cast(
            cython.int, (31 * self.begun_at[row] + self.leaving[row]) & (self.n_rivals - 1)
        )
        other: cython.int = self.rivals[i]
        while other != layout.NONE and not (
            self.begun_at[other] == self.begun_at[row] and self.leaving[other] == self.leaving[row]
        ):
            i = (i + 1) & (self.n_rivals - 1)
            other = self.rivals[i]
        return i

    def _rival(self, row: cython.int) -> cython.int:
        """The best so far of a row's scope: the row itself, if it is the first."""
        i: cython.int = self._rival_place(row)
        if self.rivals[i] == layout.NONE:
            self.rivals[i] = row
        return self.rivals[i]

    def _set_rival(self, row: cython.int) -> cython.int:
        self.rivals[self._rival_place(row)] = row
        return 0

    # ------------------------------------------------------------ comparing

    def _beats(self, row: cython.int, other: cython.int) -> cython.int:
        """1 if what a pending row has marked in its scope beats what another has, -1 if it is
        beaten, 0 if both are equal."""
        if row == other:
            return 0
        return self._compared(
            self.pending[row, layout.PENDING_ROOT],
            self.pending[other, layout.PENDING_ROOT],
            self.begun_at[row],
            self.leaving[row] & 1,
        )

    def _compared(
        self, a: cython.int, b: cython.int, begin: cython.longlong, latest: cython.bint
    ) -> cython.int:
        """The same for two heaps whose matches have the same events from `begin` on: from the last
        event to the first. Where the latest events win, the first difference decides, else the
        last."""
        verdict: cython.int = 0
        while a != b:
            if not self._inside(a, begin):
                return -1 if self._inside(b, begin) else verdict
            if not self._inside(b, begin):
                return 1
            if self.wide[a, layout.NODE_EVENT] == self.wide[b, layout.NODE_EVENT]:
                a = self._link(a)
                b = self._link(b)
                continue
            if self.wide[a, layout.NODE_EVENT] > self.wide[b, layout.NODE_EVENT]:
                verdict = 1
                a = self._link(a)
            else:
                verdict = -1
                b = self._link(b)
            if latest:
                return verdict
        return verdict

    def _inside(self, n: cython.int, begin: cython.longlong) -> cython.bint:
        """Whether the last event of a partial match was marked in its scope."""
        return n > 0 and self.wide[n, layout.NODE_EVENT] >= begin

    def _join_scope(self, c: cython.int, row: cython.int) -> cython.int:
        """The better one stays; whatever has marked something beats what has not."""
        s: cython.int = self.state_of[c]
        begin: cython.longlong = _ordinal(self.values[c, self.scope[s]])
        here: cython.int = self.root[c]
        new: cython.int = self.pending[row, layout.PENDING_ROOT]
        if self._inside(here, begin) or self._inside(new, begin):
            better: cython.int = self._compared(new, here, begin, self.chooser[s] & 1)
            if better > 0:
                self.root[c] = new
            elif better == 0 and here != new:
                self.root[c] = self._meld(here, new)
            self.empty[c] = layout.NONE
            return 0
        if here != new:
            self.root[c] = self._meld(here, new)
        self.empty[c] = self._later(self.empty[c], self.pending[row, layout.PENDING_EMPTY])
        return 0


def _ordinal(value: cython.longlong) -> cython.longlong:
    """The first event of a scope."""
    return value + layout.OPEN_SCOPE if value < 0 else value
