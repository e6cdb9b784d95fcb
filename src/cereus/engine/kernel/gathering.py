"""ALL of single events: gathers the events of each part, and combines them once all parts have
some.

The automaton (`automata.gathering`) has one state for each part, whose heap has the events of that
part, one node each. The matches that end with an event are this event with every choice of one
event inside the window for each of the other parts. So reading an event is one insertion, and
listing is linear in the output, however many parts there are. To count them, the numbers of events
in the window are multiplied.

Invariants
  1. No event belongs to two parts, so every choice is another match, and this event is in all.
  2. `gathered[0]` is the node of the event at hand, the first that it has made, and no other of
     its part is chosen with it; `gathered[d]`, for every other part, is a heap whose head is inside
     the window.
  3. On the stack are nodes at the depth of their part; `chosen[d, 0 … d]` has the nodes chosen at
     the depths up to d in the order of their events, latest first, the event at hand before all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.kernel import Kernel
    from cython.cimports.cereus.engine.kernel.sliding import SlidingCountingKernel
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.kernel import Kernel
    from cereus.engine.kernel.sliding import SlidingCountingKernel

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable


@cython.cclass
class GatheringKernel(Kernel):
    """Lists the combinations of gathered events that end at an event."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        Kernel.__init__(self, table, options)
        self.n_parts = options.parts
        self.gathered = np.zeros(self.n_parts, np.int32)
        self.chosen = np.zeros((self.n_parts, self.n_parts), np.int32)
        if self.path.shape[0] < self.n_parts:
            self.path = np.zeros(self.n_parts, np.int64)
            self.path_label = np.zeros(self.n_parts, np.int32)
        self.combining = False

    def _report(self) -> cython.bint:
        if not self.combining:
            if self.limit == 0 or not self._set_out():
                return self._reported()
            self.combining = True
        if not self._combine():
            return False
        self.combining = False
        return self._reported()

    def _set_out(self) -> cython.bint:
        """Find the events to choose from; False where a part has none."""
        if not gather_other_parts(self, self.gathered):
            return False
        self.walk_end = self.walk_at = self.base + self.event
        self.gathered[0] = self.chosen[0, 0] = self.made_now
        self._push(self.gathered[1], 1)
        return True

    def _combine(self) -> cython.bint:
        """Write the matches on the stack, depth first; False when the chunk is full."""
        n: cython.int
        depth: cython.int
        other: cython.int
        while self.height:
            if self.limit >= 0 and self.reported >= self.limit:
                self.height = 0
                return True
            if self.reported >= self.max_matches:
                self.height = 0
                self.cut_short = True
                return True
            self.height -= 1
            n = self.stack_node[self.height]
            depth = self.stack_depth[self.height]
            if depth < 0:  # the match is on the path, but the chunk was full
                if not self._emit(n, -1 - depth):
                    return False
                continue
            while True:
                other = self.thin[n, layout.NODE_RIGHT]
                if other and self.wide[other, layout.NODE_START] >= self.bound:
                    self._push(other, depth)
                other = self.thin[n, layout.NODE_LEFT]
                if other and self.wide[other, layout.NODE_START] >= self.bound:
                    self._push(other, depth)
                self._choose_also(n, depth)
                depth += 1
                if depth == self.n_parts:
                    break
                n = self.gathered[depth]
            self._set_path()
            if not self._emit(self.chosen[depth - 1, depth - 1], depth - 1):
                return False
        return True

    def _choose_also(self, n: cython.int, depth: cython.int) -> cython.int:
        """Insert a node among those that are chosen before its depth (invariant 3)."""
        event: cython.longlong = self.wide[n, layout.NODE_EVENT]
        d: cython.int
        at: cython.int = depth
        for d in range(depth - 1, -1, -1):
            if self.wide[self.chosen[depth - 1, d], layout.NODE_EVENT] > event:
                break
            self.chosen[depth, d + 1] = self.chosen[depth - 1, d]
            at = d
        self.chosen[depth, at] = n
        for d in range(at):
            self.chosen[depth, d] = self.chosen[depth - 1, d]
        return 0

    def _set_path(self) -> cython.int:
        """Set the path to the chosen events, as a match is written."""
        d: cython.int
        n: cython.int
        for d in range(self.n_parts):
            n = self.chosen[self.n_parts - 1, d]
            self.path[d] = self.shown[self.wide[n, layout.NODE_EVENT] - self.known_from]
            self.path_label[d] = self.thin[n, layout.NODE_TAG] >> layout.RANK_BITS
        return 0


@cython.cclass
class GatheringCountingKernel(SlidingCountingKernel):
    """Counts the combinations of gathered events that end at an event."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        SlidingCountingKernel.__init__(self, table, options)
        self.gathered = np.zeros(options.parts, np.int32)

    def _report(self) -> cython.bint:
        if not gather_other_parts(self, self.gathered):
            return self._reported()
        if self.first_start < self.bound:
            self._make_vectors()
            self._begin_dag()
            gather_other_parts(self, self.gathered)  # the same events, as other nodes
        self._follow_window()
        self._room_for_cells(1)
        cell: cython.longlong = self.cells  # this cell is free for the sum
        combinations: cython.double = 1.0
        d: cython.int
        for d in range(1, self.gathered.shape[0]):
            self.counts[cell] = 0.0
            self._add_value(cell, self._form(self.gathered[d]))
            combinations *= self.counts[cell]
        self.counts[cell] = combinations
        return self._write_row(cell)


def gather_other_parts(kernel: Kernel, gathered: cython.int[::1]) -> cython.bint:
    """Set `gathered[1:]` to the events to choose from for each part but that of the event at hand.

    False where a part has none in the window, or the event belongs to no part."""
    this_part: cython.int = part_of_event(kernel)
    if this_part == layout.NONE:
        return False
    parts: cython.int = 1
    i: cython.int
    for i in range(kernel.n_active):
        s: cython.int = kernel.active[i]
        if s == kernel.initial or s == this_part or kernel.first[s] < 0:
            continue
        n: cython.int = kernel.root[kernel.first[s]]
        if n == 0 or kernel._start(n) < kernel.bound or parts == gathered.shape[0]:
            return False
        gathered[parts] = n
        parts += 1
    return parts == gathered.shape[0]


def part_of_event(kernel: Kernel) -> cython.int:
    """The state that gathers the event at hand, or NONE."""
    at: cython.int = kernel.head[kernel.classes[kernel.event], kernel.initial]
    if at < 0:
        return layout.NONE
    return kernel.edges[at + layout.EDGES_MOVES + layout.MOVE_TO]
