"""Leaves out partial matches that a LIMIT makes unnecessary, because others cover them.

A partial match *covers* another of the same state if it does not begin sooner, and if its values
satisfy every condition that those of the other do: for `a.x < b.x`, its `a.x` is not greater. Then
all events that complete the other complete it as well, at the same event and inside the window. So
where an event reports no more than n matches, whichever they are (`Stepper.enough`), a partial
match that n others cover is not needed: each of those gives a match wherever it would, and leaves
the window no sooner. Thousands of waiting values become the few that none covers.

Invariants
  1. `covered[c]` is not more than the number of different partial matches that cover all those of
     configuration c. It counts what has come since the latest partial match of c came, and may miss
     some: then more is kept than is needed.
  2. What was left out is covered by `enough` partial matches that were kept: covering is
     transitive, so what is left out later is covered by others that cover the first as well.
  3. Where `done_at[c]` is a place in the table and `done_when[c]` is `losses`, what configuration c
     would send there is covered by what it has sent before, or by what covers that: nothing of any
     state with slots has gone since but what was covered or has left the window.

Where one match may be found in several ways, two partial matches may be the same one. That makes no
difference only for a LIMIT of 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.scopes import ScopedStepper
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.scopes import ScopedStepper

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable

MOST = 16
"""Under a higher LIMIT, partial matches are seldom covered often enough."""
LOOKS = cython.declare(cython.int, 8)
LOOKS_FOR_EACH = cython.declare(cython.int, 4)
"""How many configurations are looked at in vain when one has a new partial match; as many more for
each match that may be reported."""


@cython.cclass
class LimitedStepper(ScopedStepper):
    """Partial matches, without those that a LIMIT makes unnecessary."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        ScopedStepper.__init__(self, table, options)
        self.limited = self.n_slots > 0 and 1 <= self.enough <= MOST
        self.sent_at = layout.NONE
        self.sent_event = self.sent_start = 0

    def _is_left_out(
        self, c: cython.int, at: cython.int, r: cython.int, unseen: cython.int
    ) -> cython.bint:
        """Whether the only move that marks the event is not needed, where one match is wanted.

        If the move takes all values along, the same partial matches need not make it again as long
        as nothing gets lost, and at such an event nothing does where they arrive. If all values are
        new, those that make it arrive as one configuration, and the latest start is enough.
        """
        move: cython.int = at + layout.EDGES_MOVES
        copy: cython.int = self.edges[move + layout.MOVE_COPY]
        if (
            self.enough > 1
            or r == 0
            or unseen != layout.NONE
            or copy < 0
            or self.edges[at + layout.EDGES_COUNT] != 1
            or not self.edges[at + layout.EDGES_STAYS]
            or self.edges[move + layout.MOVE_LABEL] <= layout.UNSEEN
        ):
            return False
        if self._all_copies(copy, layout.UPDATE_KEEP):
            to: cython.int = self.edges[move + layout.MOVE_TO]
            there: cython.int = self.head[self.classes[self.event], to]
            stays: cython.bint = there == layout.STAY
            if there >= 0:
                stays = self.edges[there + layout.EDGES_STAYS] != 0
            if stays and not self.accepting[to]:
                self.done_at[c] = at
                self.done_when[c] = self.losses
        elif self._all_copies(copy, layout.UPDATE_SET):
            ordinal: cython.longlong = self.base + self.event
            start: cython.longlong = self._start(r)
            if self.sent_at == at and self.sent_event == ordinal and self.sent_start >= start:
                return True
            self.sent_at = at
            self.sent_event = ordinal
            self.sent_start = start
        return False

    def _all_copies(self, at: cython.int, how: cython.int) -> cython.bint:
        """Whether all values of a program of copies are made in the same way."""
        k: cython.int
        for k in range(self.programs[at + layout.PROGRAM_COUNT]):
            copy: cython.int = at + layout.PROGRAM_ITEMS + layout.COPY_WORDS * k
            if self.programs[copy + layout.COPY_HOW] != how:
                return False
        return True

    def _leave_out_rows(self) -> cython.int:
        """Leave out pending rows that are covered by a configuration with their values, or by the
        row before. Drop from a configuration what a row covers."""
        if self.enough > 1:
            return 0
        k: cython.int
        before: cython.int = layout.NONE
        for k in range(self.n_pending - 1, -1, -1):  # the latest start first
            self._worked(1)
            row: cython.int = self.arrivals[k]
            to: cython.int = self.pending[row, layout.PENDING_STATE]
            if not self.slot_counts[to] or not self._is_plain(row):
                continue
            c: cython.int = self._find(to, row)
            if (before >= 0 and self._arrive_alike(row, before)) or (
                c >= 0 and self.root[c] and self._start(self.root[c]) >= self.pending_starts[row]
            ):
                self.pending[row, layout.PENDING_STATE] = layout.NONE
                self.pending[row, layout.PENDING_LABEL] = layout.UNMARKED
                continue
            if c >= 0:
                self.root[c] = 0
            before = row
        return 0

    def _is_plain(self, row: cython.int) -> cython.bint:
        """Whether all partial matches of a row have marked events when it arrives, the latest of
        them at its start."""
        label: cython.int = self.pending[row, layout.PENDING_LABEL]
        unseen: cython.int = self.pending[row, layout.PENDING_EMPTY]
        if label == layout.UNMARKED or label == layout.UNSEEN:
            return label == layout.UNMARKED and unseen == layout.NONE
        return unseen <= layout.UNSTARTED or self.pending[row, layout.PENDING_ROOT] == 0

    def _arrive_alike(self, row: cython.int, other: cython.int) -> cython.bint:
        """Whether two rows arrive as the same configuration."""
        to: cython.int = self.pending[row, layout.PENDING_STATE]
        k: cython.int
        if self.pending[other, layout.PENDING_STATE] != to:
            return False
        for k in range(self.slot_counts[to]):
            if self.pending_values[row, k] != self.pending_values[other, k]:
                return False
        return True

    def _leave_out_covered(self, c: cython.int, row: cython.int) -> cython.int:
        """Drop what is covered often enough, after a pending row has arrived as configuration c."""
        s: cython.int = self.state_of[c]
        if not self.slot_counts[s]:
            return 0
        self.done_at[c] = layout.NONE
        if (self.easier[s, 0] | self.easier[s, 1]) == 0:
            return 0
        if not self._is_plain(row) or (self.ambiguous and self.enough > 1):
            self.covered[c] = 0
            return 0
        start: cython.longlong = self.pending_starts[row]
        newest: cython.bint = self.empty[c] == layout.NONE and self._start(self.root[c]) <= start
        # with an equality, only those with the same value can be compared
        hashed: cython.bint = (
            self.hashed_slots[s] == 1 and not (self.easier[s, 0] | self.easier[s, 1]) & 1
        )
        counts: cython.bint = self.enough == 1 or (
            self.pending[row, layout.PENDING_LABEL] != layout.UNMARKED
        )
        looks: cython.longlong = LOOKS + LOOKS_FOR_EACH * self.enough
        times: cython.int = 0
        other: cython.int = self.first[s]
        if hashed:
            other = self.buckets[self._bucket(s, self.values[c, 0])]
        while other >= 0 and looks > 0:
            after: cython.int = self.chain[other] if hashed else self.following[other]
            looks -= 1
            if other != c and self.state_of[other] == s and self.root[other]:
                easier: cython.int = self._easier(c, other)
                if easier < 0 and newest and self._start(self.root[other]) >= start:
                    times += 1
                    if times >= self.enough:
                        self._drop_outdone(c)
                        return 0
                elif easier > 0 and counts and self._is_covered(other, start):
                    self._drop_outdone(other)
                    looks += 1
            other = after
        if newest:
            self.covered[c] = times
        return 0

    def _is_covered(self, c: cython.int, start: cython.longlong) -> cython.bint:
        """Count one more partial match that covers configuration c: it begins at `start` and its
        values are easier to satisfy. Returns whether c is no longer needed."""
        if self.empty[c] != layout.NONE or self._start(self.root[c]) > start:
            return False
        self.covered[c] += 1
        return self.covered[c] >= self.enough
