"""Parts of a pattern that choose: NEXT, LAST or MAX around a part whose events are compared.

Such a part begins at an event, its *scope*, and every run of it has that event's ordinal in a slot
(`automata.memory.chosen`). Of two complex events of one scope the better one stays better whatever
is added to both later. So:

* of the partial matches of a configuration inside the part, which agree on state, values and scope,
  only the best is kept, and those that are equal to it;
* runs that leave the part have ended at the same event, and of those of one scope only the best
  arrives, and those that are equal to it.

MAX keeps all that no other contains. If one contains another, it still does whatever is added to
both, so the same rules hold, with one exception: a configuration may have several such partial
matches. Then there are as many configurations with the same values, one for each. For `SELECT MAX
*` the matches inside the window compete. One that begins sooner leaves sooner, so partial matches
compete only with those of the same first event, which is their scope; complete matches compete with
all.

Evaluation of a side of ALL may begin at any event. There, LAST keeps the latest of all that begin
no sooner, so a partial match goes only if another is later and does not begin sooner.

Events before the scope take no part in the comparison: the comparison ends at nodes that are older.
Other parts, on the other sides of ALL, may mark events meanwhile. So the part puts a stamp on the
events that it marks, and the others are left out. The partial matches of a heap then have the same
events of the part, and any others. A better one that is out of the window still beats the others.
So where the scope has nothing before it and its matches may begin at different events
(`OPEN_SCOPE`), partial matches do not expire inside the part, or only their rivals do not
(`automata.memory.rivals`). Otherwise all partial matches of a scope have the same start, or the
same heap below them, and expire together.

Parts may stand inside each other. What the inner one does not choose is gone, whatever is around
it. So of two partial matches of one configuration the innermost part that can tell decides, then
the one around it, and so on. Runs that leave several parts at one event are chosen by the innermost
first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np

from cereus.engine.memory import longer, taller

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.stepper import Stepper
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.stepper import Stepper

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable


INFINITY = cython.declare(cython.double, float("inf"))
THIN_OUT = cython.declare(cython.int, 32)
"""How many configurations are looked at when one has a new partial match."""
MOST_IN_VAIN = cython.declare(cython.int, 1 << 12)
"""After so many looks in vain, there are no more for a while."""


@cython.cclass
class ScopedStepper(Stepper):
    """Partial matches that compete with others of their scope."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        Stepper.__init__(self, table, options)
        self.leaving = np.zeros((0, layout.SCOPES), np.int32)
        self.begun_at = np.zeros((0, layout.SCOPES), np.int64)
        self.rivals = np.zeros(0, np.int32)
        self.next_rival = np.zeros(0, np.int32)
        self.depth = 0
        self.largest = options.largest
        self.in_vain = 0

    def load_table(self) -> None:
        Stepper.load_table(self)
        self.scope = self.table.scope
        self.chooser = self.table.chooser
        self.easier = self.table.easier
        self.lasting = self.table.lasting
        self.entering = self.table.entering

    def _outlives(self, c: cython.int) -> cython.bint:
        s: cython.int = self.state_of[c]
        d: cython.int
        if not self.lasting[s]:
            return False
        for d in range(layout.SCOPES):
            if self.scope[s, d] >= 0 and self.values[c, self.scope[s, d]] < 0:
                return True
        return False

    def _note_scope(self, row: cython.int, c: cython.int) -> cython.int:
        """Note which choices a pending row takes part in: NONE, if it does not leave the part.

        If the row before takes part in the same ones, and both arrive as the same configuration,
        the better one is enough: it takes the place of the row before.
        """
        if row >= self.leaving.shape[0]:
            with cython.gil:
                self.leaving = taller(self.leaving, self.pending.shape[0])
                self.begun_at = taller(self.begun_at, self.pending.shape[0])
                self.next_rival = longer(self.next_rival, self.pending.shape[0], 0)
        s: cython.int = self.state_of[c]
        to: cython.int = self.pending[row, layout.PENDING_STATE]
        d: cython.int
        for d in range(layout.SCOPES):
            self.leaving[row, d] = layout.NONE
            if (
                self.scope[s, d] >= 0
                and self.scope[to, d] < 0
                and not self.entering[to]
                and _way(self.chooser[s, d]) != layout.CHOOSE_LARGEST_OF_ALL
            ):
                self.leaving[row, d] = self.chooser[s, d]
                self.begun_at[row, d] = _ordinal(self.values[c, self.scope[s, d]])
        before: cython.int = row - 1
        if (
            before < 0
            or self.slot_counts[to]
            or self.pending[before, layout.PENDING_STATE] != to
            or self.pending[before, layout.PENDING_LABEL] != self.pending[row, layout.PENDING_LABEL]
            or self.pending[before, layout.PENDING_ROOT] == 0
            or self.pending[row, layout.PENDING_ROOT] == 0
            or self.pending[before, layout.PENDING_EMPTY] != layout.NONE
            or self.pending[row, layout.PENDING_EMPTY] != layout.NONE
        ):
            return 0
        better: cython.int = 0
        for d in range(layout.SCOPES):
            if self.leaving[row, d] != self.leaving[before, d]:
                return 0
            if self.leaving[row, d] >= 0:
                if self.begun_at[row, d] != self.begun_at[before, d]:
                    return 0
                self.depth = d
                verdict: cython.int = self._beats(row, before)
                if verdict != layout.EQUAL:
                    better = verdict  # the innermost part decides
        if better == layout.NEITHER:
            return 0
        if better == layout.BETTER:
            self.pending[before, layout.PENDING_ROOT] = self.pending[row, layout.PENDING_ROOT]
            self.pending_starts[before] = self.pending_starts[row]
        return better != layout.EQUAL

    def _choose(self) -> cython.int:
        self.depth = layout.SCOPES - 1
        while self.depth >= 0:
            self._choose_of()
            self.depth -= 1
        if self.largest:
            self._choose_largest()
        self._end_rivals()
        return 0

    def _end_rivals(self) -> cython.int:
        """End the runs that only compete with others."""
        row: cython.int
        for row in range(self.n_pending):
            to: cython.int = self.pending[row, layout.PENDING_STATE]
            if to >= 0 and self.final[to] and not self.accepting[to]:
                self.pending[row, layout.PENDING_STATE] = layout.NONE
        return 0

    def _choose_largest(self) -> cython.int:
        """Let only those complete matches arrive that no other contains."""
        row: cython.int
        self.depth = 0
        for row in range(self.n_pending):
            to: cython.int = self.pending[row, layout.PENDING_STATE]
            complete: cython.bint = to >= 0 and self.accepting[to] and self.final[to]
            if complete and self._start(self.pending[row, layout.PENDING_ROOT]) < self.bound:
                complete = False  # a part inside has kept it although it has left the window
            self.leaving[row, 0] = layout.CHOOSE_LARGEST_OF_ALL if complete else layout.NONE
            self.begun_at[row, 0] = 0
        return self._choose_of()

    def _choose_of(self) -> cython.int:
        """Of the runs that leave parts inside `depth` others, let only the best arrive."""
        row: cython.int
        best: cython.int
        left: cython.int = 0
        for row in range(self.n_pending):
            self._worked(1)
            if self.pending[row, layout.PENDING_STATE] == layout.NONE:
                self.leaving[row, self.depth] = layout.NONE  # a part inside has not chosen it
            left += self.leaving[row, self.depth] >= 0
        if left < 2:
            return 0
        self._clear_rivals(left)
        for row in range(self.n_pending):
            self._worked(1)
            if self.leaving[row, self.depth] >= 0:
                best = self._rival(row)
                if _way(self.leaving[row, self.depth]) >= layout.CHOOSE_LARGEST:
                    self.next_rival[row] = layout.NONE if best == row else best
                    self._set_rival(row)
                elif self._beats(row, best) == layout.BETTER:
                    self._set_rival(row)
        for row in range(self.n_pending):
            self._worked(1)
            if self.leaving[row, self.depth] >= 0 and self._is_beaten(row):
                self.pending[row, layout.PENDING_STATE] = layout.NONE
        return 0

    def _is_beaten(self, row: cython.int) -> cython.bint:
        """Whether a row of the same scope is better. For a choice of the largest, the rivals of a
        row are linked. A row that has left the window does not matter, unless it takes part in
        another choice."""
        other: cython.int = self._rival(row)
        if _way(self.leaving[row, self.depth]) < layout.CHOOSE_LARGEST:
            return self._beats(other, row) == layout.BETTER
        out: cython.bint = self._start(self.pending[row, layout.PENDING_ROOT]) < self.bound
        if out and not self._is_inside(row):
            return False
        while other >= 0:
            self.steps += 1
            if self.steps >= self.look_at:
                self._look_up()
            if self._beats(other, row) == layout.BETTER:
                return True
            other = self.next_rival[other]
        return False

    def _is_inside(self, row: cython.int) -> cython.bint:
        """Whether a row that leaves a part is inside another, or leaves that as well."""
        d: cython.int
        for d in range(self.depth):
            if self.leaving[row, d] >= 0:
                return True
        return self.outer[self.pending[row, layout.PENDING_STATE]] >= 0

    # ------------------------------------------------------------ the best of each scope, hashed

    def _clear_rivals(self, rows: cython.int) -> cython.int:
        """Make room for the best of at most this many scopes."""
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
        d: cython.int = self.depth
        i: cython.int = cython.cast(
            cython.int, (31 * self.begun_at[row, d] + self.leaving[row, d]) & (self.n_rivals - 1)
        )
        other: cython.int = self.rivals[i]
        while other != layout.NONE and not (
            self.begun_at[other, d] == self.begun_at[row, d]
            and self.leaving[other, d] == self.leaving[row, d]
        ):
            i = (i + 1) & (self.n_rivals - 1)
            other = self.rivals[i]
        return i

    def _rival(self, row: cython.int) -> cython.int:
        """The best row so far of a row's scope: the row itself, if it is the first."""
        i: cython.int = self._rival_place(row)
        if self.rivals[i] == layout.NONE:
            self.rivals[i] = row
        return self.rivals[i]

    def _set_rival(self, row: cython.int) -> cython.int:
        self.rivals[self._rival_place(row)] = row
        return 0

    # ------------------------------------------------------------ comparing

    def _beats(self, row: cython.int, other: cython.int) -> cython.int:
        """How the events that a pending row has marked in its scope compare with those of
        another."""
        if row == other:
            return layout.EQUAL
        return self._compared(
            self.pending[row, layout.PENDING_ROOT],
            self.pending[other, layout.PENDING_ROOT],
            self.begun_at[row, self.depth],
            self.leaving[row, self.depth],
        )

    def _compared(
        self, a: cython.int, b: cython.int, begin: cython.longlong, chooser: cython.int
    ) -> cython.int:
        """How two heaps compare, whose matches have the same events of the part from `begin` on.
        Compares from the last event to the first: where the latest events win, the first difference
        decides, and where the earliest do, the last."""
        way: cython.int = _way(chooser)
        stamp: cython.int = _stamp(chooser)
        if way == layout.CHOOSE_LATEST_FROM_THERE:
            return self._compared_from_there(a, b, begin, chooser)
        verdict: cython.int = layout.EQUAL
        new: cython.int
        while a != b:
            self.look_at -= 1  # long matches take long to compare
            if stamp:
                a = self._last_stamped(a, begin, stamp)
                b = self._last_stamped(b, begin, stamp)
                if a == b:
                    break
            both: cython.bint = self._inside(a, begin) and self._inside(b, begin)
            if both and self.wide[a, layout.NODE_EVENT] == self.wide[b, layout.NODE_EVENT]:
                a = self._link(a)
                b = self._link(b)
                continue
            if both:
                new = layout.WORSE
                if self.wide[a, layout.NODE_EVENT] > self.wide[b, layout.NODE_EVENT]:
                    new = layout.BETTER
            elif self._inside(a, begin):
                new = layout.BETTER
            elif self._inside(b, begin):
                new = layout.WORSE
            else:
                return verdict
            if way >= layout.CHOOSE_LARGEST and verdict == -new:
                return layout.NEITHER
            if way == layout.CHOOSE_LATEST or not both:
                return new
            verdict = new
            if new == layout.BETTER:
                a = self._link(a)
            else:
                b = self._link(b)
        return verdict

    def _inside(self, n: cython.int, begin: cython.longlong) -> cython.bint:
        """Whether the last event of a partial match was marked in its scope."""
        return n > 0 and self.wide[n, layout.NODE_EVENT] >= begin

    def _compared_from_there(
        self, a: cython.int, b: cython.int, begin: cython.longlong, chooser: cython.int
    ) -> cython.int:
        """Like `_compared` where the latest events win, but only a match that begins no sooner is
        better."""
        latest: cython.int = chooser - layout.CHOOSE_LATEST_FROM_THERE + layout.CHOOSE_LATEST
        verdict: cython.int = self._compared(a, b, begin, latest)
        if verdict == layout.WORSE:
            a, b = b, a
        if verdict != layout.EQUAL:
            first: cython.longlong = self._first_marked(a, begin, chooser)
            if first < self._first_marked(b, begin, chooser):
                return layout.NEITHER
        return verdict

    def _first_marked(
        self, n: cython.int, begin: cython.longlong, chooser: cython.int
    ) -> cython.longlong:
        """The first event that a partial match has marked in its scope; LATEST, if none."""
        first: cython.longlong = layout.LATEST
        n = self._last_marked(n, begin, chooser)
        while self._inside(n, begin):
            self.look_at -= 1
            first = self.wide[n, layout.NODE_EVENT]
            n = self._last_marked(self._link(n), begin, chooser)
        return first

    def _last_stamped(self, n: cython.int, begin: cython.longlong, stamp: cython.int) -> cython.int:
        """The last event of a partial match that its part has marked, or one before its scope."""
        while self._inside(n, begin) and not self._label(n) & stamp:
            self.steps += 1
            n = self._link(n)
        return n

    def _compared_in_scopes(self, a: cython.int, b: cython.int, c: cython.int) -> cython.int:
        """How two heaps of one configuration compare: the innermost part that can tell decides."""
        s: cython.int = self.state_of[c]
        verdict: cython.int = layout.EQUAL
        d: cython.int = layout.SCOPES - 1
        while d >= 0 and verdict == layout.EQUAL:
            if self.scope[s, d] >= 0:
                begin: cython.longlong = _ordinal(self.values[c, self.scope[s, d]])
                verdict = self._compared(a, b, begin, self.chooser[s, d])
            d -= 1
        return verdict

    def _join_scope(self, to: cython.int, row: cython.int) -> cython.int:
        """Let a pending row arrive in a scope: better ones stay, worse ones go."""
        new: cython.int = self.pending[row, layout.PENDING_ROOT]
        arrived: cython.int = layout.NONE
        c: cython.int = self._find(to, row)
        while c >= 0:
            if self.steps >= self.look_at:
                self._look_up()
            after: cython.int = self._find_from(self.chain[c], to, row)
            verdict: cython.int = self._compared_in_scopes(new, self.root[c], c)
            if verdict == layout.WORSE:
                return 0
            if verdict == layout.EQUAL:
                self._join_equal(c, row)
                return 0
            if verdict == layout.BETTER:
                if arrived >= 0:
                    self._drop(c)
                else:
                    arrived = c
            c = after
        if arrived < 0:
            arrived = self._new(to, row)
        self.root[arrived] = new
        self.empty[arrived] = self.pending[row, layout.PENDING_EMPTY]
        if self.ordered.by[to] >= 0:
            self._note_rank(arrived)
        if (self.easier[to, 0] | self.easier[to, 1]) and self._has_marked(arrived):
            self._thin_out(arrived)
        return 0

    def _join_equal(self, c: cython.int, row: cython.int) -> cython.int:
        """Join a pending row with a configuration that has marked the same events in its scopes."""
        new: cython.int = self.pending[row, layout.PENDING_ROOT]
        if self.root[c] != new:
            self.root[c] = self._meld(self.root[c], new)
        if self._has_marked(c):
            self.empty[c] = layout.NONE
        else:
            self.empty[c] = self._later(self.empty[c], self.pending[row, layout.PENDING_EMPTY])
        return 0

    def _has_marked(self, c: cython.int) -> cython.bint:
        """Whether the partial matches of a configuration have marked events in its scopes."""
        s: cython.int = self.state_of[c]
        d: cython.int
        for d in range(layout.SCOPES):
            if self.scope[s, d] >= 0:
                begin: cython.longlong = _ordinal(self.values[c, self.scope[s, d]])
                n: cython.int = self._last_marked(self.root[c], begin, self.chooser[s, d])
                if self._inside(n, begin):
                    return True
        return False

    def _last_marked(
        self, n: cython.int, begin: cython.longlong, chooser: cython.int
    ) -> cython.int:
        """The last event of a partial match that is compared with others, or one before its
        scope."""
        stamp: cython.int = _stamp(chooser)
        return self._last_stamped(n, begin, stamp) if stamp else n

    # ------------------------------------------------------------ the best of an order

    def _ranks(self, s: cython.int) -> cython.bint:
        chooser: cython.int = self._only_chooser(s)
        way: cython.int = _way(chooser)
        return chooser >= 0 and (way == layout.CHOOSE_EARLIEST or way == layout.CHOOSE_LATEST)

    def _only_chooser(self, s: cython.int) -> cython.int:
        """The only choosing part that a state is inside of; NONE if there are several."""
        chooser: cython.int = layout.NONE
        d: cython.int
        for d in range(layout.SCOPES):
            if self.scope[s, d] >= 0:
                if chooser != layout.NONE:
                    return layout.NONE
                chooser = self.chooser[s, d]
        return chooser

    def _rank_in_scope(self, c: cython.int) -> cython.longlong:
        """The rank: where the latest events win, the last event; else the first, the sooner the
        better."""
        s: cython.int = self.state_of[c]
        chooser: cython.int = self._only_chooser(s)
        begin: cython.longlong = _ordinal(self.values[c, self.outer[s]])
        r: cython.int = self._last_marked(self.root[c], begin, chooser)
        if self.empty[c] != layout.NONE or not self._inside(r, begin):
            return layout.LATEST
        if _way(chooser) == layout.CHOOSE_LATEST:
            return self.wide[r, layout.NODE_EVENT]
        return -self._first_marked(r, begin, chooser)

    # ------------------------------------------------------------ what is never chosen

    def _thin_out(self, c: cython.int) -> cython.int:
        """Drop configurations that are never chosen, after configuration c got a new partial match.
        Of two configurations of the same scopes, the worse one is never chosen if the other can do
        all that it can. What leaves the window stays here, so there would otherwise be one for
        every value that ever came.

        What leaves the window goes by itself where it does not outlive that. There it is not looked
        for as long as hardly anything is found.

        It is enough to look at some: of what came last the first ones are listed first, and those
        that are left are in order, better ones being harder to satisfy.
        """
        s: cython.int = self.state_of[c]
        other: cython.int = self.first[s]
        looks: cython.int = THIN_OUT
        if self.in_vain > MOST_IN_VAIN and not self._outlives(c):
            self.in_vain -= 1
            return 0
        self.in_vain += looks
        while other >= 0 and looks > 0:
            after: cython.int = self.following[other]
            easier: cython.int = 0 if other == c else self._easier(c, other)
            if easier != 0 and self.root[other] and self.empty[other] == layout.NONE:
                better: cython.int = self._compared_in_scopes(self.root[c], self.root[other], c)
                if easier > 0 and better == layout.BETTER:
                    self._drop_outdone(other)
                    self.in_vain = 0
                elif easier < 0 and better == layout.WORSE:
                    self._drop_outdone(c)
                    self.in_vain = 0
                    return 0
            looks -= 1
            other = after
        return 0

    def _easier(self, c: cython.int, other: cython.int) -> cython.int:
        """1 if configuration c can do all that another of its state can, -1 the other way round, 0
        if neither is known. Their values differ somewhere."""
        verdict: cython.int = 0
        k: cython.int
        for k in range(self.slot_counts[self.state_of[c]]):
            if self.values[c, k] != self.values[other, k]:
                side: cython.int = self._easier_in_slot(k, c, other)
                if side == 0 or side == -verdict:
                    return 0
                verdict = side
        return verdict

    def _easier_in_slot(self, k: cython.int, c: cython.int, other: cython.int) -> cython.int:
        """The same by the values in slot k alone, which differ."""
        s: cython.int = self.state_of[c]
        smaller: cython.bint = self.easier[s, layout.EASIER_SMALLER] >> k & 1
        if not smaller and not self.easier[s, layout.EASIER_GREATER] >> k & 1:
            return 0
        total: cython.bint = self.easier[s, layout.EASIER_TOTAL] >> k & 1
        if self.values[c, k] == layout.NULL or self.values[other, k] == layout.NULL:
            if total:
                return 0  # nothing has been added up yet
            return -1 if self.values[c, k] == layout.NULL else 1  # no condition holds for NULL
        below: cython.bint = self.values[c, k] < self.values[other, k]
        if self.easier[s, layout.EASIER_FLOAT] >> k & 1:
            x: cython.double = self.terms.float_values[c, k]
            y: cython.double = self.terms.float_values[other, k]
            if not (abs(x) < INFINITY and abs(y) < INFINITY):
                return 0
            below = x < y
        return 1 if below == smaller else -1

    def _drop_outdone(self, c: cython.int) -> cython.int:
        """Forget a configuration that another outdoes. If that has a greater sum, it may not fit 64
        bits later on, where the sum of the other would."""
        s: cython.int = self.state_of[c]
        if self.easier[s, layout.EASIER_LONG_SUM]:
            self.terms.sums_must_fit = True
        self._drop(c)
        return 0


def _way(chooser: cython.int) -> cython.int:
    """How a slot chooses."""
    return chooser % layout.CHOOSE_WAYS


def _stamp(chooser: cython.int) -> cython.int:
    """The bit in the labels of events that compete; 0 if all of them do."""
    stamp: cython.int = chooser // layout.CHOOSE_WAYS % layout.CHOOSE_STAMPS
    return 1 << (layout.LABEL_BITS + stamp - 1) if stamp else 0


def _ordinal(value: cython.longlong) -> cython.longlong:
    """The first event of a scope."""
    return value + layout.OPEN_SCOPE if value < 0 else value
