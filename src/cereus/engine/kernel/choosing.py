"""NEXT, LAST and ANY: of the matches that end at an event, the best one.

LAST: of two complex events, the one that has the largest position that they do not share;
NEXT: the smallest. Either way what is added to both later does not change which is better:

* Without a window, of all partial matches of a configuration only the best is kept.
* With a window, a better one may expire sooner, so all are kept. `choice[n]` is the node of the
  heap n whose best match is the best of the heap, and `began[n]` when that match began: while that
  is inside the window the choice stands, for what it was chosen from only gets less. So every node
  is looked at once, and again when the best match below it has expired.

Matches with the same events that are marked in different ways are equally good. Once two such have
met (`tied`), all that is accepted is walked through to find them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cython
import numpy as np

from cereus.engine.memory import longer

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.kernel import Kernel
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.kernel import Kernel

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable


@cython.cclass
class ChoosingKernel(Kernel):
    """Lists the best of the matches that end at an event."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        Kernel.__init__(self, table, options)
        self.latest = options.latest
        self.choice = np.zeros(0, np.int32)
        self.began = np.zeros(0, np.int64)
        self.chosen = np.zeros(layout.FIRST_ROOM, np.int64)
        self.tied = False
        self.ranked = not self.open_ended  # all that end at an event have it in common

    def _rank_of(self, c: cython.int) -> cython.longlong:
        """Of two matches that end with the same event, LAST prefers the one whose event before that
        is later, NEXT the one that begins sooner. Where these are the same, more has to be seen."""
        r: cython.int = self.root[c]
        if r == 0 or self._start(r) < self.bound or self.empty[c] != layout.NONE:
            return layout.LATEST
        if self.windowed:
            self._decide(r)
            if self.latest:
                return self.wide[self.choice[r], layout.NODE_EVENT]
            return -self.began[r]
        return self.wide[r, layout.NODE_EVENT] if self.latest else -self._start(r)

    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        if self.windowed or a == 0 or b == 0:
            return Kernel._meld(self, a, b)
        better: cython.int = self._compare(a, b)
        if better == 0 and self.with_labels:
            return Kernel._meld(self, a, b)
        return a if better >= 0 else b

    def _before(self, n: cython.int) -> cython.int:
        """The event before in the best match of a node (0: it is the first)."""
        link: cython.int = self.thin[n, layout.NODE_LINK]
        return self.choice[link] if link and self.windowed else link

    def _compare(self, a: cython.int, b: cython.int) -> cython.int:
        """1 if the best match of node a beats that of b, -1 if it is beaten, 0 if they are equal.

        From the last event to the first: for LAST, the first difference decides, for NEXT the last.
        """
        verdict: cython.int = 0
        same: cython.bint = a == b
        while a != b:
            self.look_at -= 1  # long matches take long to compare
            if a == 0:
                return -1
            if b == 0:
                return 1
            if self.wide[a, layout.NODE_EVENT] == self.wide[b, layout.NODE_EVENT]:
                a = self._before(a)
                b = self._before(b)
                continue
            if self.wide[a, layout.NODE_EVENT] > self.wide[b, layout.NODE_EVENT]:
                verdict = 1
                a = self._before(a)
            else:
                verdict = -1
                b = self._before(b)
            if self.latest:
                return verdict
        if verdict == 0 and not same:
            self.tied = True
        return verdict

    def _undecided(self, n: cython.int) -> cython.bint:
        """Whether a heap has matches in the window, and its choice is not known."""
        if n == 0 or self.wide[n, layout.NODE_START] < self.bound:
            return False
        return self.choice[n] == 0 or self.began[n] < self.bound

    def _decide(self, heap: cython.int) -> cython.int:
        """Find the choice of a heap, after those of all heaps that it is made of."""
        if self.choice.shape[0] < self.wide.shape[0]:
            with cython.gil:
                self.choice = longer(self.choice, self.wide.shape[0], 0)
                self.began = longer(self.began, self.wide.shape[0], 0)
        n: cython.int
        k: cython.int
        self._push(heap, 0)
        while self.height:
            n = self.stack_node[self.height - 1]
            if not self._undecided(n):
                self.height -= 1
                continue
            before: cython.int = self.height
            for k in range(layout.NODE_LINK, layout.NODE_RIGHT + 1):
                if self._undecided(self.thin[n, k]):
                    self._push(self.thin[n, k], 0)
            if self.height > before:
                continue
            self.height -= 1
            link: cython.int = self.thin[n, layout.NODE_LINK]
            self.choice[n] = n
            self.began[n] = self.began[link] if link else self.wide[n, layout.NODE_START]
            for k in range(layout.NODE_LEFT, layout.NODE_RIGHT + 1):
                other: cython.int = self.thin[n, k]
                if other and self.wide[other, layout.NODE_START] >= self.bound:
                    if self._compare(self.choice[other], self.choice[n]) > 0:
                        self.choice[n] = self.choice[other]
                        self.began[n] = self.began[other]
        return 0

    def _best(self) -> cython.int:
        """The last node of the best match that is accepted at this event; 0 if there is none."""
        best: cython.int = 0
        c: cython.int = self._next_accepted(layout.NONE)
        while c != layout.NONE:
            r: cython.int = self.root[c]
            if self.wide[r, layout.NODE_START] >= self.bound:
                if self.windowed:
                    self._decide(r)
                    r = self.choice[r]
                if best == 0 or self._compare(r, best) > 0:
                    best = r
            c = self._next_accepted(c)
        return best

    def _report(self) -> cython.bint:
        """Write the best match, in every way that it is marked; False when the chunk is full."""
        if self.height == 0:  # else it has been begun
            last: cython.int = self._best()
            if last:
                self._set_out(last)
        if not self._write():
            return False
        return self._reported()

    def _set_out(self, last: cython.int) -> cython.int:
        """Note the events of the match that was chosen, and where it may be found."""
        self.walk_at = self.base + self.event
        self.walk_end = self.walk_at
        if self.open_ended or self.ends_at_marks:
            self.walk_end = self.wide[last, layout.NODE_EVENT]
        n: cython.int = last
        depth: cython.int = 0
        while n:
            if depth == self.chosen.shape[0]:
                with cython.gil:
                    self.chosen = longer(self.chosen, 2 * depth, 0)
                    self.path = longer(self.path, 2 * depth, 0)
                    self.path_label = longer(self.path_label, 2 * depth, 0)
            self.chosen[depth] = self.wide[n, layout.NODE_EVENT]
            self.chosen_start = self.wide[
                n, layout.NODE_START
            ]  # that of the first event is its own
            self.path[depth] = self.shown[self.wide[n, layout.NODE_EVENT] - self.known_from]
            self.path_label[depth] = self._label(n) & layout.LABEL_MASK
            last = n
            depth += 1
            n = self._before(n)
        self.chosen_depth = depth - 1
        if not (self.with_labels and self.tied):
            self._push(last, -depth)  # it is on the path already
            return 0
        c: cython.int = self._next_accepted(layout.NONE)
        while c != layout.NONE:
            self._push(self.root[c], 0)
            c = self._next_accepted(c)
        return 0

    def _write(self) -> cython.bint:
        """Walk through what is on the stack, as far as it has the chosen events. As in `_walk`, a
        depth below zero stands for a match that is on the path."""
        while self.height:
            if self.limit >= 0 and self.reported >= self.limit:
                self.height = 0
                return True
            if self.reported >= self.max_matches:
                self.height = 0
                self.cut_short = True
                return True
            self.height -= 1
            n: cython.int = self.stack_node[self.height]
            d: cython.int = self.stack_depth[self.height]
            if d < 0:
                if not self._emit(n, -1 - d):
                    return False
                continue
            if self.wide[n, layout.NODE_START] < self.chosen_start:
                continue
            self._push_siblings(n, d)
            if self.wide[n, layout.NODE_EVENT] != self.chosen[d]:
                continue
            self.path[d] = self.shown[self.chosen[d] - self.known_from]
            self.path_label[d] = self._label(n) & layout.LABEL_MASK
            if d < self.chosen_depth:
                if self.thin[n, layout.NODE_LINK]:
                    self._push(self.thin[n, layout.NODE_LINK], d + 1)
            elif self.thin[n, layout.NODE_LINK] == 0:
                self._push(n, -1 - d)
        return True

    def _sweep(self) -> cython.int:
        Kernel._sweep(self)
        with cython.gil:
            np.asarray(self.choice)[:] = 0  # nodes have new numbers
        return 0

    def restore(self, saved: dict[str, Any]) -> None:
        Kernel.restore(self, saved)
        self.tied = True  # for all that is known
