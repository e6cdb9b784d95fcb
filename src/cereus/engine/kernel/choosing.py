"""Lists the best match that ends at an event, for NEXT, LAST and ANY.

LAST prefers, of two complex events, the one that has the largest position that they do not share;
NEXT prefers the one with the smallest. Events that are added to both later do not change which is
better:

* Without a window, only the best of all partial matches of a configuration is kept.
* With a window, a better one may expire sooner, so all are kept. `choice[n]` is the node of the
  heap n whose best match is the best of the heap, and `began[n]` is when that match began. While
  that is inside the window the choice stands, since the heap only loses matches. So every node
  is looked at once, and again when the best match below it has expired.

**Chains.** NEXT prefers what began first, which also expires first. So in a long window choices are
lost often, and many nodes lose theirs at once. But most heaps are chains: each node is the left
child of a newer one, and either no node has a link, or their links go to newer and newer nodes of
one other chain. Then the best match that a node extends, the older node below it extends as well,
as long as that has matches in the window, and by an older event: its match is better. So the choice
is the oldest node of the chain inside the window. Starts descend along a chain, and every node has
a pointer far down (`jump`), so that this node is found in O(log n) steps (Myers, "An applicative
random-access stack", 1983).

Invariants, of a node n with `length[n] > 0`
  1. `right[n]` is 0, and `length[n]` is 1, or 1 more than that of `left[n]`, whose event is older.
  2. With a left child in the chain: either none of the two has a link, or the chain of `link[n]`
     goes through `link[left[n]]`.
  3. `jump[n]` is a node of its chain, n itself if its length is 1.

**What is never chosen.** Of two partial matches in one state, the worse one is never chosen if the
better one does not begin sooner and if its values satisfy every condition that those of the other
do: for `a.x < b.x`, if its `a.x` is not greater. LAST prefers what is later, and that begins later
too, as a rule. So of thousands of values that wait in a long window only those are kept that are
easier to satisfy than all later ones (`_leave_out`).

Matches with the same events that are marked in different ways are equally good. Once two such have
met (`tied`), all accepted matches are walked through to find them.
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


LOOKS = cython.declare(cython.int, 8)
"""How many configurations are looked at in vain when one has a new partial match."""


@cython.cclass
class ChoosingKernel(Kernel):
    """Lists the best of the matches that end at an event."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        Kernel.__init__(self, table, options)
        self.latest = options.latest
        self.choice = np.zeros(0, np.int32)
        self.began = np.zeros(0, np.int64)
        self.jump = np.zeros(0, np.int32)
        self.length = np.zeros(0, np.int32)
        self.chosen = np.zeros(layout.FIRST_ROOM, np.int64)
        self.tied = False
        self.ranked = not self.open_ended  # all matches that end at an event share that event
        self.limited = options.best_alone and self.n_slots > 0
        self.came = np.zeros(layout.FIRST_ROOM, np.int32)
        self.n_came = 0

    def _rank_of(self, c: cython.int) -> cython.longlong:
        """A first comparison of matches that end with the same event: LAST prefers the one whose
        second to last event is later, NEXT the one that begins sooner. Equal ranks need a full
        comparison."""
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
        """The second to last event in the best match of a node (0: it has one event)."""
        link: cython.int = self.thin[n, layout.NODE_LINK]
        return self.choice[link] if link and self.windowed else link

    def _compare(self, a: cython.int, b: cython.int) -> cython.int:
        """1 if the best match of node a beats that of b, -1 if it is beaten, 0 if they are equal.

        Compares from the last event to the first: for LAST, the first difference decides; for NEXT,
        the last difference.
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
        """Whether a heap has matches in the window and its choice is not known."""
        if n == 0 or self.wide[n, layout.NODE_START] < self.bound:
            return False
        if self.began[n] < self.bound and self.choice[n] and not self.latest and self.length[n]:
            self._choose_in_chain(n)
        return self.choice[n] == 0 or self.began[n] < self.bound

    def _choose_in_chain(self, heap: cython.int) -> cython.int:
        """The choice of a node of a chain: the oldest node of each chain inside the window, from
        the last event of the match to the first."""
        n: cython.int = heap
        while True:
            self.choice[n] = self._oldest(n)
            self.look_at -= 1  # long matches take long to find
            link: cython.int = self.thin[self.choice[n], layout.NODE_LINK]
            if link == 0:
                self.began[heap] = self.wide[self.choice[n], layout.NODE_START]
                return 0
            n = link

    def _oldest(self, n: cython.int) -> cython.int:
        """The last node of a chain that is inside the window, as the first one is."""
        while self.length[n] > 1:
            left: cython.int = self.thin[n, layout.NODE_LEFT]
            if self.wide[self.jump[n], layout.NODE_START] >= self.bound:
                n = self.jump[n]
            elif self.wide[left, layout.NODE_START] >= self.bound:
                n = left
            else:
                break
        return n

    def _in_chain(self, n: cython.int, older: cython.int) -> cython.bint:
        """Whether the chain of a node goes through an older one."""
        if self.length[older] == 0:
            return False
        while self.length[n] > self.length[older]:
            if self.length[self.jump[n]] >= self.length[older]:
                n = self.jump[n]
            else:
                n = self.thin[n, layout.NODE_LEFT]
        return n == older

    def _join_chain(self, n: cython.int) -> cython.int:
        """Note that a node is part of a chain, if it is."""
        left: cython.int = self.thin[n, layout.NODE_LEFT]
        link: cython.int = self.thin[n, layout.NODE_LINK]
        self.length[n] = 0
        if self.thin[n, layout.NODE_RIGHT] or (link and self.length[link] == 0):
            return 0
        if left == 0 or self.wide[left, layout.NODE_START] < self.bound:
            self.length[n] = 1
            self.jump[n] = n
            return 0
        its_link: cython.int = self.thin[left, layout.NODE_LINK]
        if (
            self.length[left]
            and self.wide[left, layout.NODE_EVENT] < self.wide[n, layout.NODE_EVENT]
            and (self._in_chain(link, its_link) if link and its_link else link == its_link)
        ):
            self.length[n] = self.length[left] + 1
            far: cython.int = self.jump[left]
            farther: cython.int = self.jump[far]
            step: cython.int = self.length[far] - self.length[farther]
            self.jump[n] = farther if self.length[left] - self.length[far] == step else left
        return 0

    def _decide(self, heap: cython.int) -> cython.int:
        """Find the choice of a heap, after the choices of all heaps below it."""
        if self.choice.shape[0] < self.wide.shape[0]:
            with cython.gil:
                self.choice = longer(self.choice, self.wide.shape[0], 0)
                self.began = longer(self.began, self.wide.shape[0], 0)
                if not self.latest:
                    self.jump = longer(self.jump, self.wide.shape[0], 0)
                    self.length = longer(self.length, self.wide.shape[0], 0)
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
                self._worked(1)
                continue
            self.height -= 1
            if not self.latest:
                self._join_chain(n)
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
        c: cython.int = self.report_next
        while c != layout.NONE:
            r: cython.int = self.root[c]
            self._worked(1)
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
        if self.height == 0:  # otherwise the writing has already begun
            last: cython.int = self._best()
            if last:
                self._set_out(last)
        if not self._write():
            return False
        return self._reported()

    def _set_out(self, last: cython.int) -> cython.int:
        """Note the events of the chosen match, and where it may be found."""
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
        """Walk through the stack, as far as its nodes have the chosen events. As in `_walk`, a
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
            self._worked(1)
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

    # ------------------------------------------------------------ what is never chosen

    def _is_left_out(
        self, c: cython.int, at: cython.int, r: cython.int, unseen: cython.int
    ) -> cython.bint:
        return False

    def _leave_out_rows(self) -> cython.int:
        self.n_came = 0
        return 0

    def _leave_out_covered(self, c: cython.int, row: cython.int) -> cython.int:
        """Note that a pending row has arrived. More may still arrive, so nothing is chosen yet."""
        s: cython.int = self.state_of[c]
        if not self.slot_counts[s] or (self.easier[s, 0] | self.easier[s, 1]) == 0:
            return 0
        if self.n_came == self.came.shape[0]:
            with cython.gil:
                self.came = longer(self.came, 2 * self.n_came, 0)
        self.came[self.n_came] = c
        self.n_came += 1
        return 0

    def _step(self, e: cython.longlong) -> cython.int:
        Kernel._step(self, e)
        k: cython.int
        for k in range(self.n_came):
            if self.state_of[self.came[k]] >= 0:
                self._leave_out(self.came[k])
        self.n_came = 0
        return 0

    def _leave_out(self, c: cython.int) -> cython.int:
        """Drop configurations whose matches are never chosen, after configuration c has got a new
        partial match. What has come last is listed first: as a rule it is what c takes the place
        of, if there is any such."""
        s: cython.int = self.state_of[c]
        looks: cython.int = LOOKS
        # with an equality, only those with the same value can be compared
        hashed: cython.bint = (
            self.hashed_slots[s] == 1 and not (self.easier[s, 0] | self.easier[s, 1]) & 1
        )
        other: cython.int = self.first[s]
        if hashed:
            other = self.buckets[self._bucket(s, self.values[c, 0])]
        while other >= 0 and looks > 0:
            after: cython.int = self.chain[other] if hashed else self.following[other]
            looks -= 1
            if other != c and self.state_of[other] == s:
                easier: cython.int = self._easier(c, other)
                if easier > 0 and self._outdoes(c, other):
                    self._drop_outdone(other)
                    looks += 1
                elif easier < 0 and self._outdoes(other, c):
                    self._drop_outdone(c)
                    return 0
            other = after
        return 0

    def _outdoes(self, c: cython.int, other: cython.int) -> cython.bint:
        """Whether some partial match of a configuration is better than all of another, and leaves
        the window no sooner."""
        a: cython.int = self.root[c]
        b: cython.int = self.root[other]
        if a == 0 or b == 0 or self.empty[c] != layout.NONE or self.empty[other] != layout.NONE:
            return False
        if self.windowed:
            if self._start(b) < self.bound or self._start(a) < self._start(b):
                return False
            self._decide(a)
            if self.began[a] < self._start(b):
                return False
            self._decide(b)
            a, b = self.choice[a], self.choice[b]
        return self._compare(a, b) > 0

    def _sweep(self) -> cython.int:
        Kernel._sweep(self)
        with cython.gil:
            np.asarray(self.choice)[:] = 0  # nodes have new numbers
            np.asarray(self.length)[:] = 0
        return 0

    def restore(self, saved: dict[str, Any]) -> None:
        Kernel.restore(self, saved)
        self.tied = True  # for all that is known
