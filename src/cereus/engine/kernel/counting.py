"""Counts matches without listing them.

Where the kernel has a heap of partial matches, this one has a vector: how many of them start at
which measure, in ascending order. A vector is a node with the place of its first cell instead of
the event, and the number of cells instead of the link. Its `start` is that of the last cell, so
that windows and melding work as they do for heaps. Counts are exact up to 2**53.

Totals over all matches are kept beside the counts: adding an event of value v to n partial matches
adds n·v to their sum, and updates their smallest and largest with v. `adds[label, t]` says whether
an event with that label counts for total t, `kinds[t]` which kind of total it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.memory import longer, taller

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.kernel import Kernel
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.kernel import Kernel

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable
    from cereus.engine.results.match_chunks import ChunkBuffer

INFINITY = cython.declare(cython.double, float("inf"))


@cython.cclass
class CountingKernel(Kernel):
    """Writes one row for each event at which matches are accepted: how many, and their totals."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        totals = len(options.totals)
        self.kinds = np.array(options.totals, np.int32)
        self.starts = np.zeros(64 * layout.FIRST_ROOM, np.int64)
        self.counts = np.zeros(64 * layout.FIRST_ROOM)
        self.totals = np.zeros((64 * layout.FIRST_ROOM, totals))
        self.cells = 0
        self.sweep_cells_at = layout.SWEEP_CELLS
        self.adds = np.zeros((0, totals), np.uint8)
        self.amounts = np.zeros((0, totals))
        Kernel.__init__(self, table, options)
        self.ends_apart = options.slots > 0  # many configurations may end at an event
        self.ended_count = 0
        self.ended_totals = np.zeros(totals)

    def use_totals(self, amounts: npt.NDArray[np.float64], adds: npt.NDArray[np.uint8]) -> None:
        """Set the values of the events of the next batch, and the labels for which they count."""
        self.amounts = amounts
        self.adds = adds

    def use_chunk(self, chunk: ChunkBuffer) -> None:
        Kernel.use_chunk(self, chunk)
        self.out_counts = chunk.counts
        self.out_totals = chunk.totals

    def let_go(self) -> None:
        Kernel.let_go(self)
        self.out_counts = np.zeros(0)
        self.out_totals = np.zeros((0, 0))

    # ------------------------------------------------------------ cells

    def _room_for_cells(self, more: cython.longlong) -> cython.int:
        size: cython.longlong = self.starts.shape[0]
        if self.cells + more > size:
            with cython.gil:
                self.starts = longer(self.starts, 2 * size + more, 0)
                self.counts = longer(self.counts, 2 * size + more, 0)
                self.totals = taller(self.totals, 2 * size + more)
        return 0

    def _put(self, start: cython.longlong, count: cython.double) -> cython.int:
        """Add a cell of matches without any event that counts for a total."""
        self.starts[self.cells] = start
        self.counts[self.cells] = count
        self._total_nothing()
        self.cells += 1
        return 0

    def _put_copy(self, cell: cython.longlong) -> cython.int:
        """Add a copy of a cell, if it is inside the window."""
        if self.starts[cell] >= self.bound:
            self._put(self.starts[cell], self.counts[cell])
            self._total_into(self.cells - 1, cell)
        return 0

    def _put_copies(self, vector: cython.int) -> cython.int:
        """Add copies of the cells of a vector that are inside the window."""
        i: cython.longlong
        begin: cython.longlong = self.wide[vector, layout.VECTOR_BEGIN]
        size: cython.longlong = self.thin[vector, layout.VECTOR_SIZE]
        self._room_for_cells(size)
        self.look_at -= self._cost(size)
        for i in range(begin, begin + size):
            self._put_copy(i)
        return 0

    def _vector(self, begin: cython.longlong) -> cython.int:
        """The cells from `begin` on as a vector (0 if there are none)."""
        if self.cells == begin:
            return 0
        if self.cells > self.sweep_cells_at:
            self.sweep_at = 0  # before the next event
        size: cython.int = cython.cast(cython.int, self.cells - begin)
        return self._node(begin, self.starts[self.cells - 1], size, layout.UNMARKED)

    def _in_memory(self) -> cython.longlong:
        words: cython.longlong = self.cells * (2 + self.kinds.shape[0])
        return Kernel._in_memory(self) + words // layout.NODE_WORDS

    def _cost(self, cells: cython.longlong) -> cython.longlong:
        """How many steps it takes to copy or add up so many cells with their totals."""
        return cells * (1 + self.kinds.shape[0]) // layout.CELLS_PER_STEP

    # ------------------------------------------------------------ totals

    def _total_nothing(self) -> cython.int:
        """Set the totals in the cell after the last to those of no events."""
        t: cython.int
        for t in range(self.kinds.shape[0]):
            self.totals[self.cells, t] = _nothing(self.kinds[t])
        return 0

    def _total_into(self, cell: cython.longlong, other: cython.longlong) -> cython.int:
        """Add the totals of the other cell to those of a cell."""
        t: cython.int
        for t in range(self.kinds.shape[0]):
            self.totals[cell, t] = _joined(
                self.kinds[t], self.totals[cell, t], self.totals[other, t]
            )
        return 0

    def _total_event(self, begin: cython.longlong, label: cython.int) -> cython.int:
        """Add this event to all partial matches of the cells from `begin` on."""
        t: cython.int
        i: cython.longlong
        for t in range(self.kinds.shape[0]):
            amount: cython.double = self.amounts[self.event, t]
            if self.adds[label, t] and amount == amount:  # not NULL
                for i in range(begin, self.cells):
                    if self.kinds[t] == layout.TOTAL_SUM:
                        self.totals[i, t] += self.counts[i] * amount
                    else:
                        self.totals[i, t] = _joined(self.kinds[t], self.totals[i, t], amount)
        return 0

    # ------------------------------------------------------------ what an event does

    def _mark(self, label: cython.int, r: cython.int, unseen: cython.int) -> cython.int:
        begin: cython.longlong = self.cells
        if r:
            self._put_copies(r)
        if unseen == layout.UNSTARTED:
            # without a window it does not matter when a match begins
            now: cython.longlong = self.measures[self.event] if self.windowed else 0
            self._room_for_cells(1)
            if self.cells > begin and self.starts[self.cells - 1] == now:
                self.counts[self.cells - 1] += 1
            else:
                self._put(now, 1)
        self._total_event(begin, label)
        return self._vector(begin)

    def _end(self, label: cython.int, r: cython.int, unseen: cython.int) -> cython.int:
        """Add up complete matches, without a vector for them."""
        i: cython.longlong
        if self.n_ended == 0:
            self._end_nothing()
        self.n_ended += 1
        if r:
            begin: cython.longlong = self.wide[r, layout.VECTOR_BEGIN]
            self.look_at -= self._cost(self.thin[r, layout.VECTOR_SIZE])
            for i in range(begin, begin + self.thin[r, layout.VECTOR_SIZE]):
                if self.starts[i] >= self.bound:
                    self._end_cell(i, label)
        if unseen == layout.UNSTARTED and label != layout.UNMARKED:
            self._room_for_cells(1)
            self.counts[self.cells] = 1
            self._total_nothing()  # the cell after the last is free
            self._end_cell(self.cells, label)
        return 0

    def _end_nothing(self) -> cython.int:
        """Begin an event: nothing is complete yet."""
        t: cython.int
        self.ended_count = 0
        for t in range(self.kinds.shape[0]):
            self.ended_totals[t] = _nothing(self.kinds[t])
        return 0

    def _end_cell(self, cell: cython.longlong, label: cython.int) -> cython.int:
        """Count the matches of a cell as complete with this event."""
        t: cython.int
        self.ended_count += self.counts[cell]
        for t in range(self.kinds.shape[0]):
            total: cython.double = self.totals[cell, t]
            amount: cython.double = self.amounts[self.event, t]
            if self.adds[label, t] and amount == amount:  # not NULL
                if self.kinds[t] == layout.TOTAL_SUM:
                    amount *= self.counts[cell]
                total = _joined(self.kinds[t], total, amount)
            self.ended_totals[t] = _joined(self.kinds[t], self.ended_totals[t], total)
        return 0

    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        if a == 0 or self.wide[a, layout.VECTOR_START] < self.bound:
            return b
        if b == 0 or self.wide[b, layout.VECTOR_START] < self.bound:
            return a
        begin: cython.longlong = self.cells
        i: cython.longlong = self.wide[a, layout.VECTOR_BEGIN]
        j: cython.longlong = self.wide[b, layout.VECTOR_BEGIN]
        i_end: cython.longlong = i + self.thin[a, layout.VECTOR_SIZE]
        j_end: cython.longlong = j + self.thin[b, layout.VECTOR_SIZE]
        self._room_for_cells(i_end - i + j_end - j)
        self.look_at -= self._cost(i_end - i + j_end - j)
        while i < i_end or j < j_end:
            if j == j_end or (i < i_end and self.starts[i] < self.starts[j]):
                self._put_copy(i)
                i += 1
            elif i == i_end or self.starts[j] < self.starts[i]:
                self._put_copy(j)
                j += 1
            else:
                if self.starts[i] >= self.bound:
                    self._put_copy(i)
                    self.counts[self.cells - 1] += self.counts[j]
                    self._total_into(self.cells - 1, j)
                i += 1
                j += 1
        return self._vector(begin)

    def _report(self) -> cython.bint:
        """Write one row, if any match is inside the window; False when the chunk is full."""
        count: cython.double = 0
        k: cython.longlong
        t: cython.int
        self._room_for_cells(1)
        self._total_nothing()  # the sum is made in the cell after the last, which is free
        if self.n_ended:
            count = self.ended_count
            for t in range(self.kinds.shape[0]):
                self.totals[self.cells, t] = self.ended_totals[t]
        c: cython.int = self._next_accepted(layout.NONE)
        while c != layout.NONE:
            begin: cython.longlong = self.wide[self.root[c], layout.VECTOR_BEGIN]
            size: cython.longlong = self.thin[self.root[c], layout.VECTOR_SIZE]
            self._worked(1 + self._cost(size))
            for k in range(begin, begin + size):
                if self.starts[k] >= self.bound:
                    count += self.counts[k]
                    self._total_into(self.cells, k)
            c = self._next_accepted(c)
        self.counts[self.cells] = count
        return self._write_row(self.cells)

    def _write_row(self, cell: cython.longlong) -> cython.bint:
        """Write the row of a cell, if it has any matches; False when the chunk is full."""
        count: cython.double = self.counts[cell]
        t: cython.int
        if self.limit >= 0 and count > self.limit:
            count = self.limit
        if count > 0:
            m: cython.int = self.n_matches
            if m == self.out_at.shape[0]:
                return False
            self.out_first[m] = self.out_last[m] = self.out_at[m] = self.base + self.event
            self.out_counts[m] = count
            for t in range(self.kinds.shape[0]):
                self.out_totals[m, t] = self.totals[cell, t]
            self.n_matches = m + 1
            self.reported = 1
        return self._reported()

    # ------------------------------------------------------------ garbage

    def _sweep(self) -> cython.int:
        """Copy the vectors that configurations hold to behind the last one, without the part that
        is out of the window. Then move these copies to the front."""
        self.sweeps += 1
        if self.consuming_all:
            with cython.gil:
                self._forget_consumed()
        nodes: cython.int = self.used
        cells: cython.longlong = self.cells
        i: cython.longlong
        k: cython.longlong
        c: cython.int
        if self.loaded:
            self.bound = self.floors[self.event] if self.windowed else layout.NO_BOUND
            for c in range(self.made):
                if self.state_of[c] >= 0:
                    self.root[c] = self._kept(self.root[c], nodes)
                    if self.root[c] == 0 and self.empty[c] == layout.NONE:
                        self._drop(c)
            self._forget_empty()
        for k in range(self.carry_from.shape[0]):
            self.bound = self.last_floor[k] if self.windowed else layout.NO_BOUND
            for i in range(self.carry_from[k], self.carry_to[k]):
                c = cython.cast(cython.int, self.carry[i, layout.CARRY_ROOT])
                self.carry[i, layout.CARRY_ROOT] = self._kept(c, nodes)
        self._move_to_front(nodes, cells)
        self.sweep_at = max(self.sweep_from, 2 * self.used)
        self.sweep_cells_at = max(layout.SWEEP_CELLS, 2 * self.cells)
        return 0

    def _kept(self, r: cython.int, nodes: cython.int) -> cython.int:
        """The number that a copy of a vector will have when the first `nodes` nodes are gone."""
        if r == 0 or self.wide[r, layout.VECTOR_START] < self.bound:
            return 0
        begin: cython.longlong = self.cells
        self._put_copies(r)
        return self._vector(begin) - nodes + 1

    def _move_to_front(self, nodes: cython.int, cells: cython.longlong) -> cython.int:
        """Drop the first nodes and cells; node 0 stays."""
        left: cython.int = self.used - nodes
        with cython.gil:
            wide = np.asarray(self.wide)
            wide[1 : 1 + left] = wide[nodes : self.used]
            wide[1 : 1 + left, layout.VECTOR_BEGIN] -= cells
            every = (np.asarray(self.starts), np.asarray(self.counts), np.asarray(self.totals))
            for array in every:
                array[: self.cells - cells] = array[cells : self.cells]
        self.used = 1 + left
        self.cells -= cells
        return 0

    # ------------------------------------------------------------ snapshots and measures

    def oldest(self) -> int | None:
        """None: vectors do not refer to events."""
        return None

    def save(self) -> dict[str, Any]:
        saved = Kernel.save(self)
        saved["vector_starts"] = np.asarray(self.starts)[: self.cells].copy()
        saved["vector_counts"] = np.asarray(self.counts)[: self.cells].copy()
        saved["vector_totals"] = np.asarray(self.totals)[: self.cells].copy()
        return saved

    def restore(self, saved: dict[str, Any]) -> None:
        Kernel.restore(self, saved)
        self.cells = len(saved["vector_starts"])
        self.starts = longer(saved["vector_starts"], 2 * self.cells + 4096, 0)
        self.counts = longer(saved["vector_counts"], 2 * self.cells + 4096, 0)
        self.totals = taller(saved["vector_totals"], 2 * self.cells + 4096)

    @property
    def cell_count(self) -> int:
        return 0


def _nothing(kind: cython.int) -> cython.double:
    """The total of no events at all."""
    if kind == layout.TOTAL_SUM:
        return 0.0
    return INFINITY if kind == layout.TOTAL_MIN else -INFINITY


def _joined(kind: cython.int, a: cython.double, b: cython.double) -> cython.double:
    """The total of two groups of events."""
    if kind == layout.TOTAL_SUM:
        return a + b
    if kind == layout.TOTAL_MIN:
        return min(a, b)
    return max(a, b)
