"""Keeps the configurations of a state in the order of one of their values.

Suppose that every move except staying needs a slot to be below a value of the event (or every one
above it). Then the configurations on the other side need not be looked at. So the configurations of
such a state are a heap, the smallest value first (negated, where the largest has to come first): a
walk from its top meets those below a bound, and at most two others for each of them.

Invariants
  1. `key[c] <= key[left[c]], key[right[c]]`, and `up` is the way back; NONE where there is none.
  2. While a heap is walked nothing enters it, and what leaves it stays where it is until the walk
     has ended.
  3. `best[c]` is not below `rank[c]`, nor below `best` of its children.

Where only the best of those that can move is wanted, `rank` says how good each is, and a walk
leaves out what is below the best so far (`step_to_best`): it is led to the best one, and costs far
less than a walk through all. A configuration that has gone, or has become worse, leaves `best` too
high until a walk comes by.

The heaps are skew heaps: two are joined along their right sides, whose nodes change sides. That
costs O(log n) on average over all operations, and a node is three numbers. A heap is made only when
looking at all configurations has turned out not to pay (`Stepper._read`).
"""

from __future__ import annotations

import cython
import numpy as np

from cereus.engine.memory import longer

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
else:
    from cereus.engine.kernel import layout


@cython.cclass
class OrderedConfigurations:
    """Heaps of configurations, at most one for each state.

    `by[s]` says by which slot those of state s are ordered, and how (NONE: they are not).
    """

    def __init__(self) -> None:
        self.by = np.zeros(0, np.int32)
        self.group = np.zeros(0, np.int64)
        self.mixed = np.zeros(0, np.uint8)
        self.top = np.zeros(0, np.int32)
        self.key = np.zeros(0, np.int64)
        self.rank = self.best = np.zeros(0, np.int64)
        self.left = self.right = self.up = np.zeros(0, np.int32)
        self.stack = self.gone = np.zeros(0, np.int32)
        self.n_stack = self.n_gone = 0
        self.walked = layout.NONE
        self.bound = self.looked = 0

    def room_for_states(self, states: cython.int) -> cython.int:
        if states > self.by.shape[0]:
            self.by = longer(self.by, states, layout.NONE)
            self.group = longer(self.group, states, 0)
            self.mixed = longer(self.mixed, states, 0)
            self.top = longer(self.top, states, layout.NONE)
        return 0

    def room_for(self, configurations: cython.int) -> cython.int:
        if configurations > self.key.shape[0]:
            self.key = longer(self.key, configurations, 0)
            self.rank = longer(self.rank, configurations, 0)
            self.best = longer(self.best, configurations, 0)
            self.left = longer(self.left, configurations, layout.NONE)
            self.right = longer(self.right, configurations, layout.NONE)
            self.up = longer(self.up, configurations, layout.NONE)
            self.stack = longer(self.stack, configurations + 2, 0)
            self.gone = longer(self.gone, configurations, 0)
        return 0

    def order(self, s: cython.int, by: cython.int) -> cython.int:
        """Order the configurations of a state from now on. They enter one by one."""
        self.by[s] = by
        self.group[s] = layout.NULL
        self.mixed[s] = False
        self.top[s] = layout.NONE
        return 0

    def forget(self, s: cython.int) -> cython.int:
        """Stop ordering the configurations of a state."""
        self.by[s] = layout.NONE
        return 0

    # ------------------------------------------------------------ coming and going

    def enter(self, s: cython.int, c: cython.int, value: cython.longlong) -> cython.int:
        """Add a configuration with this value. NULL is neither below nor above anything."""
        self.left[c] = self.right[c] = layout.NONE
        self.rank[c] = self.best[c] = layout.NO_BOUND
        if value == layout.NULL:
            self.up[c] = c  # in no heap
            return 0
        self.key[c] = -value if self.by[s] & 1 else value
        self.top[s] = self._joined(self.top[s], c)
        self.up[self.top[s]] = layout.NONE
        return 0

    def set_rank(self, c: cython.int, rank: cython.longlong) -> cython.int:
        """Set how good a configuration is, and return how many others were updated."""
        self.rank[c] = rank
        above: cython.int = c
        updated: cython.int = 0
        while above >= 0 and self.best[above] < rank:
            self.best[above] = rank
            above = self.up[above]
            updated += 1
        return updated

    def set_group(self, s: cython.int, group: cython.longlong) -> cython.int:
        """Set the group of a configuration: it can be compared with others of its group only. With
        several groups, ranks mean nothing (`mixed`)."""
        if self.group[s] == layout.NULL:
            self.group[s] = group
        elif self.group[s] != group:
            self.mixed[s] = True
        return 0

    def leave(self, s: cython.int, c: cython.int) -> cython.int:
        """Remove a configuration."""
        if s == self.walked:
            self.gone[self.n_gone] = c
            self.n_gone += 1
            return 0
        above: cython.int = self.up[c]
        if above == c:
            return 0
        below: cython.int = self._joined(self.left[c], self.right[c])
        if below >= 0:
            self.up[below] = above
        if above < 0:
            self.top[s] = below
        elif self.left[above] == c:
            self.left[above] = below
        else:
            self.right[above] = below
        return 0

    def _joined(self, a: cython.int, b: cython.int) -> cython.int:
        """Join two heaps. The `up` of the new top is not set."""
        if a < 0:
            return b
        if b < 0:
            return a
        if self.key[b] < self.key[a]:
            a, b = b, a
        top: cython.int = a
        below: cython.int
        while True:
            self.best[a] = max(self.best[a], self.best[b])
            below = self.right[a]
            self.right[a] = self.left[a]
            if below < 0:
                self.left[a] = b
                self.up[b] = a
                return top
            if self.key[b] < self.key[below]:
                below, b = b, below
            self.left[a] = below
            self.up[below] = a
            a = below

    # ------------------------------------------------------------ walking

    def begin(self, s: cython.int, value: cython.longlong, strictly: cython.bint) -> cython.int:
        """Begin a walk through the configurations of a state whose value is below (or above, as
        they are ordered) a value, strictly or not."""
        self.walked = s
        self.n_gone = 0
        self.n_stack = 0
        self.bound = -value if self.by[s] & 1 else value
        if strictly:
            self.bound -= 1
        self._push(self.top[s])
        return 0

    def _push(self, c: cython.int) -> cython.int:
        if c >= 0 and self.key[c] <= self.bound:
            self.stack[self.n_stack] = c
            self.n_stack += 1
        return 0

    def step(self) -> cython.int:
        """The next configuration of the walk, or NONE."""
        if self.n_stack == 0:
            return layout.NONE
        self.n_stack -= 1
        c: cython.int = self.stack[self.n_stack]
        self._push(self.left[c])
        self._push(self.right[c])
        return c

    def walk_again(self, s: cython.int) -> cython.int:
        """Begin the walk again at the top."""
        self.n_stack = 0
        self._push(self.top[s])
        return 0

    def step_to_best(self, least: cython.longlong) -> cython.int:
        """The next configuration of the walk that may be as good as `least`, or NONE."""
        while self.n_stack:
            self.n_stack -= 1
            self.looked += 1
            c: cython.int = self.stack[self.n_stack]
            left: cython.int = self.left[c]
            right: cython.int = self.right[c]
            of_left: cython.longlong = layout.NO_BOUND if left < 0 else self.best[left]
            of_right: cython.longlong = layout.NO_BOUND if right < 0 else self.best[right]
            self.best[c] = max(self.rank[c], max(of_left, of_right))
            if self.best[c] < least:
                continue
            if of_left > of_right:
                left, right = right, left
            self._push(left)
            self._push(right)  # the side with the best one first
            if self.rank[c] >= least:
                return c
        return layout.NONE

    def end(self) -> cython.int:
        """End the walk. What has left meanwhile is removed from the heap."""
        s: cython.int = self.walked
        i: cython.int
        self.walked = layout.NONE
        for i in range(self.n_gone):
            self.leave(s, self.gone[i])
        return 0
