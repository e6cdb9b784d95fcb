"""Counts matches in a window in amortised constant work per event and state.

A vector of counts per start (`counting`) would be copied at every event. So vectors are made only
now and then. In between, a partial match is a node of a DAG, and paths are counted:

* a START node: one partial match that begins at an event,
* a BASE node: the vector that a configuration had when vectors were made last,
* any other node: the sum of its two children (0: none).

A node may carry the amounts of an event, which count for each path through it. Every node knows its
value as a linear form: a number for the matches that began since vectors were made, and a factor
for each BASE. The value of a BASE in the window is a suffix sum of its vector, which a cursor
follows as the window moves. Nothing is ever subtracted, so counts are as exact as those of vectors.
MIN and MAX work in the same way: values are those of a semiring, (count, totals), where paths one
after the other multiply and paths side by side add up.

This is the two-stack aggregation of a sliding window: the vectors are the stack that is taken from,
the DAG the one that is put on. When the first match since leaves the window (`first_start`), the
vectors are used up, and new ones are made in one pass back over the nodes: a path back from a root
to a START counts for that start. So every node is visited once per configuration at hand.

Invariants
  1. Node `dag + j`, for j < n_bases, is BASE j; later nodes up to `used` are sums and STARTs, and
     children are older nodes from `dag` on. Older ones are vectors, or no longer used.
  2. `forms` has `width` numbers for each node from `dag` on: the value since, then the factors.
     A value is `words` numbers: a count, and the totals; where the count is 0 they are those of
     no events.
  3. STARTs come in the order of their starts, none before the last start of a vector.
  4. Between groups of events all roots are vectors, so what is carried and saved is as `counting`
     has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np

from cereus.engine.memory import longer, taller

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.counting import CountingKernel, _joined, _nothing
    from cython.cimports.cereus.engine.kernel.keyed import KeyedStepper
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.counting import CountingKernel, _joined, _nothing
    from cereus.engine.kernel.keyed import KeyedStepper

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable

SUM = cython.declare(cython.int, 0)
START = cython.declare(cython.int, 1)
BASE = cython.declare(cython.int, 2)
"""The kinds of nodes; they stand where a listing kernel has links."""
MANY_FORMS = cython.declare(cython.longlong, 1 << 22)
"""With more numbers in forms, vectors are made before there are as many nodes as otherwise: with
thousands of bases a form has thousands of numbers."""
NOT_COUNTED = cython.declare(cython.double, float("nan"))


@cython.cclass
class SlidingCountingKernel(CountingKernel):
    """Writes the same rows as a CountingKernel, for plans whose configurations have no slots."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        self.words = 1 + len(options.totals)
        self.dag = 1
        self.n_bases = 0
        self.width = self.words
        self.first_start = layout.LATEST
        self.forms = np.zeros(16 * layout.FIRST_ROOM)
        self.node_amounts = np.zeros((16 * layout.FIRST_ROOM, len(options.totals)))
        self.cursor = self.front_end = self.place = np.zeros(0, np.int64)
        self.suffix_counts = np.zeros(0)
        self.suffix_totals = np.zeros((0, len(options.totals)))
        CountingKernel.__init__(self, table, options)

    # ------------------------------------------------------------ values

    def _set_nothing(self, at: cython.longlong, numbers: cython.longlong) -> cython.int:
        """Set this many numbers of `forms` to the values of no matches."""
        i: cython.longlong
        t: cython.int
        for i in range(at, at + numbers):
            self.forms[i] = 0.0
        if self.words > 1:
            i = at
            while i < at + numbers:
                for t in range(self.kinds.shape[0]):
                    self.forms[i + 1 + t] = _nothing(self.kinds[t])
                i += self.words
        return 0

    def _add(
        self, at: cython.longlong, other: cython.longlong, numbers: cython.longlong
    ) -> cython.int:
        """Add values to others in `forms`: matches side by side."""
        i: cython.longlong
        t: cython.int
        if self.words == 1:
            for i in range(numbers):
                self.forms[at + i] += self.forms[other + i]
            return 0
        i = 0
        while i < numbers:
            self.forms[at + i] += self.forms[other + i]
            for t in range(1, self.words):
                self.forms[at + i + t] = _joined(
                    self.kinds[t - 1], self.forms[at + i + t], self.forms[other + i + t]
                )
            i += self.words
        return 0

    def _with_amounts(self, at: cython.longlong, n: cython.int) -> cython.int:
        """Add what node n carries to every match of a value."""
        t: cython.int
        if self.forms[at] == 0.0:
            return 0
        for t in range(self.kinds.shape[0]):
            amount: cython.double = self.node_amounts[n - self.dag, t]
            if amount == amount:
                if self.kinds[t] == layout.TOTAL_SUM:
                    self.forms[at + 1 + t] += self.forms[at] * amount
                else:
                    self.forms[at + 1 + t] = _joined(self.kinds[t], self.forms[at + 1 + t], amount)
        return 0

    def _add_product(
        self, cell: cython.longlong, at: cython.longlong, i: cython.longlong, suffix: cython.bint
    ) -> cython.int:
        """Add to a cell: every match of cell i (with `suffix`, also of all cells after it),
        continued by every match of the value at `at`."""
        t: cython.int
        n: cython.double = self.forms[at]
        if n == 0.0:
            return 0
        count: cython.double = self.suffix_counts[i] if suffix else self.counts[i]
        self.counts[cell] += n * count
        for t in range(self.kinds.shape[0]):
            kind: cython.int = self.kinds[t]
            mine: cython.double = self.forms[at + 1 + t]
            its: cython.double = self.suffix_totals[i, t] if suffix else self.totals[i, t]
            if kind == layout.TOTAL_SUM:
                self.totals[cell, t] += mine * count + n * its
            else:
                self.totals[cell, t] = _joined(kind, self.totals[cell, t], _joined(kind, mine, its))
        return 0

    # ------------------------------------------------------------ nodes

    def _form(self, n: cython.int) -> cython.longlong:
        """The place of the form of node n."""
        return cython.cast(cython.longlong, n - self.dag) * self.width

    def _dag_node(
        self, kind: cython.int, start: cython.longlong, left: cython.int, right: cython.int
    ) -> cython.int:
        """A new node without amounts, whose form is not set."""
        n: cython.int = self._node(0, start, kind, layout.UNMARKED)
        self.thin[n, layout.NODE_LEFT] = left
        self.thin[n, layout.NODE_RIGHT] = right
        end: cython.longlong = self._form(n + 1)
        if end > self.forms.shape[0]:
            with cython.gil:
                self.forms = longer(self.forms, 2 * end, 0)
        if end > MANY_FORMS and n - self.dag > 2 * self.n_bases:
            self.sweep_at = 0  # before the next event
        t: cython.int
        if self.words > 1:
            if n - self.dag >= self.node_amounts.shape[0]:
                with cython.gil:
                    self.node_amounts = taller(self.node_amounts, 2 * (n - self.dag + 1))
            for t in range(self.kinds.shape[0]):
                self.node_amounts[n - self.dag, t] = NOT_COUNTED
        return n

    def _in_memory(self) -> cython.longlong:
        return CountingKernel._in_memory(self) + self._form(self.used) // layout.NODE_WORDS

    def _copy_form(self, n: cython.int, other: cython.int) -> cython.int:
        """Copy the form of another node to node n."""
        i: cython.longlong
        at: cython.longlong = self._form(n)
        its: cython.longlong = self._form(other)
        for i in range(self.width):
            self.forms[at + i] = self.forms[its + i]
        return 0

    def _take_amounts(self, n: cython.int, label: cython.int) -> cython.int:
        """Let node n carry the amounts of this event with this label."""
        t: cython.int
        i: cython.longlong = self._form(n)
        end: cython.longlong = i + self.width
        if self.words == 1:
            return 0
        for t in range(self.kinds.shape[0]):
            if self.adds[label, t]:
                self.node_amounts[n - self.dag, t] = self.amounts[self.event, t]
        while i < end:
            self._with_amounts(i, n)
            i += self.words
        return 0

    def _counts_for_total(self, label: cython.int) -> cython.bint:
        t: cython.int
        for t in range(self.kinds.shape[0]):
            if self.adds[label, t]:
                return True
        return False

    # ------------------------------------------------------------ what an event does

    def _mark(self, label: cython.int, r: cython.int, unseen: cython.int) -> cython.int:
        n: cython.int = r
        self.look_at -= self.width // layout.CELLS_PER_STEP
        if r and self._counts_for_total(label):
            n = self._dag_node(SUM, self._start(r), r, 0)
            self._copy_form(n, r)
            self._take_amounts(n, label)
        if unseen == layout.UNSTARTED:
            # without a window it does not matter when a match begins
            now: cython.longlong = self.measures[self.event] if self.windowed else 0
            begun: cython.int = self._dag_node(START, now, 0, 0)
            self._set_nothing(self._form(begun), self.width)
            self.forms[self._form(begun)] = 1.0
            self._take_amounts(begun, label)
            self.first_start = min(self.first_start, now)
            n = self._meld(n, begun)
        return n

    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        if a == 0 or self._start(a) < self.bound:
            return b
        if b == 0 or self._start(b) < self.bound:
            return a
        self.look_at -= self.width // layout.CELLS_PER_STEP
        n: cython.int = self._dag_node(SUM, max(self._start(a), self._start(b)), a, b)
        self._copy_form(n, a)
        self._add(self._form(n), self._form(b), self.width)
        return n

    def _report(self) -> cython.bint:
        if self.first_start < self.bound:
            self._make_vectors()
            self._begin_dag()
        self._follow_window()
        self._room_for_cells(1)
        cell: cython.longlong = self.cells  # free to add up in
        self.counts[cell] = 0.0
        self._total_nothing()
        c: cython.int = self._next_accepted(layout.NONE)
        while c != layout.NONE:
            self._worked(1 + self.width // layout.CELLS_PER_STEP)
            if self._start(self.root[c]) >= self.bound:
                self._add_value(cell, self._form(self.root[c]))
            c = self._next_accepted(c)
        return self._write_row(cell)

    def _follow_window(self) -> cython.int:
        """Move the cursors of all bases to the first start inside the window."""
        j: cython.int
        for j in range(self.n_bases):
            while self.cursor[j] < self.front_end[j] and (self.starts[self.cursor[j]] < self.bound):
                self.cursor[j] += 1
        return 0

    def _add_value(self, cell: cython.longlong, at: cython.longlong) -> cython.int:
        """Add the value of a form, in the window, to a cell."""
        j: cython.int
        t: cython.int
        self.counts[cell] += self.forms[at]
        for t in range(self.kinds.shape[0]):
            self.totals[cell, t] = _joined(
                self.kinds[t], self.totals[cell, t], self.forms[at + 1 + t]
            )
        for j in range(self.n_bases):
            i: cython.longlong = self.cursor[j]
            if i < self.front_end[j]:
                self._add_product(cell, at + (1 + j) * self.words, i, True)
        return 0

    # ------------------------------------------------------------ vectors and back

    def _take_up(self, key: cython.int) -> cython.int:
        KeyedStepper._take_up(self, key)
        self._begin_dag()
        return 0

    def _save(self, key: cython.int) -> cython.int:
        self._make_vectors()
        KeyedStepper._save(self, key)
        return 0

    def _sweep(self) -> cython.int:
        if self.loaded:
            # the bound may still be that of a later event of another key
            self.bound = self.floors[self.event] if self.windowed else layout.NO_BOUND
            self._make_vectors()
        CountingKernel._sweep(self)
        if self.loaded:
            self._begin_dag()
        return 0

    def _begin_dag(self) -> cython.int:
        """Turn every root, which is a vector, into a BASE."""
        i: cython.int
        c: cython.int
        self.dag = self.used
        self.n_bases = 0
        self.first_start = layout.LATEST
        for i in range(self.n_active):
            c = self.first[self.active[i]]
            while c >= 0:
                self.n_bases += self.root[c] > 0
                c = self.following[c]
        self.width = (1 + self.n_bases) * self.words
        if self.n_bases > self.cursor.shape[0]:
            with cython.gil:
                self.cursor = np.zeros(2 * self.n_bases, np.int64)
                self.front_end = np.zeros(2 * self.n_bases, np.int64)
                self.place = np.zeros(2 * self.n_bases, np.int64)
        if self.suffix_counts.shape[0] < self.starts.shape[0]:
            with cython.gil:
                self.suffix_counts = np.zeros(self.starts.shape[0])
                self.suffix_totals = np.zeros((self.starts.shape[0], self.kinds.shape[0]))
        j: cython.int = 0
        for i in range(self.n_active):
            c = self.first[self.active[i]]
            while c >= 0:
                if self.root[c]:
                    self.root[c] = self._new_base(j, self.root[c])
                    j += 1
                c = self.following[c]
        return 0

    def _new_base(self, j: cython.int, vector: cython.int) -> cython.int:
        begin: cython.longlong = self.wide[vector, layout.VECTOR_BEGIN]
        end: cython.longlong = begin + self.thin[vector, layout.VECTOR_SIZE]
        self._worked(1 + self._cost(end - begin) + self.width // layout.CELLS_PER_STEP)
        self.cursor[j] = begin
        self.front_end[j] = end
        i: cython.longlong
        t: cython.int
        for i in range(end - 1, begin - 1, -1):
            self.suffix_counts[i] = self.counts[i]
            for t in range(self.kinds.shape[0]):
                self.suffix_totals[i, t] = self.totals[i, t]
            if i + 1 < end:
                self.suffix_counts[i] += self.suffix_counts[i + 1]
                for t in range(self.kinds.shape[0]):
                    self.suffix_totals[i, t] = _joined(
                        self.kinds[t], self.suffix_totals[i, t], self.suffix_totals[i + 1, t]
                    )
        n: cython.int = self._dag_node(BASE, self._start(vector), 0, 0)
        self._set_nothing(self._form(n), self.width)
        self.forms[self._form(n) + (1 + j) * self.words] = 1.0
        return n

    def _make_vectors(self) -> cython.int:
        """Turn every root into a vector of the matches inside the window."""
        i: cython.int
        dag_end: cython.int = self.used
        for i in range(self.n_active):
            c: cython.int = self.first[self.active[i]]
            while c >= 0:
                r: cython.int = self.root[c]
                self._worked(1 + self._cost(dag_end - self.dag))
                if r >= self.dag and r < dag_end:
                    self.root[c] = self._vector_of(r)
                c = self.following[c]
        return 0

    def _vector_of(self, r: cython.int) -> cython.int:
        """The vector of a node: for every start, the paths to it."""
        begin: cython.longlong = self.cells
        if self._start(r) < self.bound:
            return 0
        self._weigh(r)
        self._follow_window()
        self._put_bases(begin)
        n: cython.int
        for n in range(self.dag + self.n_bases, r + 1):
            at: cython.longlong = cython.cast(cython.longlong, n - self.dag) * self.words
            if self.thin[n, layout.NODE_LINK] == START and self.forms[at] > 0:
                if self._start(n) >= self.bound:
                    self._put_start(begin, self._start(n))
                    self.counts[self.cells - 1] += self.forms[at]
                    self._total_weight(self.cells - 1, at)
        return self._vector(begin)

    def _weigh(self, r: cython.int) -> cython.int:
        """Count the paths from root r to each older node, with what they carry. These weights
        overwrite `forms`, which are no longer needed: the value of node n is at (n - dag) ·
        words."""
        rows: cython.longlong = max(r - self.dag + 1, self.n_bases)
        i: cython.longlong
        n: cython.int
        self._set_nothing(0, rows * self.words)
        self.forms[cython.cast(cython.longlong, r - self.dag) * self.words] = 1.0
        for n in range(r, self.dag + self.n_bases - 1, -1):
            i = cython.cast(cython.longlong, n - self.dag) * self.words
            if self.forms[i] > 0:
                self._with_amounts(i, n)
                left: cython.longlong = self.thin[n, layout.NODE_LEFT]
                right: cython.longlong = self.thin[n, layout.NODE_RIGHT]
                if left:
                    self._add((left - self.dag) * self.words, i, self.words)
                if right:
                    self._add((right - self.dag) * self.words, i, self.words)
        return 0

    def _put_bases(self, begin: cython.longlong) -> cython.int:
        """The cells of all bases in the order of their starts, times the weights of the bases."""
        j: cython.int
        nearest: cython.longlong
        for j in range(self.n_bases):
            self.place[j] = self.cursor[j]
        while True:
            nearest = layout.LATEST
            for j in range(self.n_bases):
                if self.forms[j * self.words] > 0 and self.place[j] < self.front_end[j]:
                    nearest = min(nearest, self.starts[self.place[j]])
            if nearest == layout.LATEST:
                break
            self._worked(1 + self.width // layout.CELLS_PER_STEP)
            self._put_start(begin, nearest)
            for j in range(self.n_bases):
                i: cython.longlong = self.place[j]
                if i < self.front_end[j] and self.starts[i] == nearest:
                    self._add_product(self.cells - 1, j * self.words, i, False)
                    self.place[j] += 1
        return 0

    def _put_start(self, begin: cython.longlong, start: cython.longlong) -> cython.int:
        """Make sure that the last cell has this start."""
        self._room_for_cells(1)
        if self.cells == begin or self.starts[self.cells - 1] != start:
            self._put(start, 0.0)
        return 0

    def _total_weight(self, cell: cython.longlong, at: cython.longlong) -> cython.int:
        t: cython.int
        for t in range(self.kinds.shape[0]):
            self.totals[cell, t] = _joined(
                self.kinds[t], self.totals[cell, t], self.forms[at + 1 + t]
            )
        return 0
