"""Counts matches of patterns with an order or an equality, `a.price < b.price`, without looking at
every configuration.

`counting` has a vector of counts for each value in a slot, and an event looks at the vectors of all
values below its own. With thousands of values that is slow. But such patterns do only two things
to what they hold. An event that only repeats or advances (`b` in `a ; b+ ; c`) changes the counts
of all values in the same way: it multiplies (count in `a`, count in `b+`) by one matrix. An event
that compares only completes matches: it adds up the counts of a range of values.

So the counts can be the leaves of a tree, in the order of their values. A leaf holds, for one value
and one start, a count for each state. A node above has the sum of its leaves, and the product of
the matrices that its leaves still have to be multiplied with. Then an event costs O(log n):

* a matrix is multiplied with the root,
* a range of values is the sum of O(log n) nodes,
* a new partial match, and one that leaves the window, change one leaf and the sums above it.

Nothing is ever subtracted, so counts are as exact as those of vectors.

Events to come need places among the leaves. So the tree is made with a leaf for each of the next
events as well, in the order of their values, and it serves until these have been read.

It is made only when looking at the vectors has cost more than making it. When an event comes that
it cannot read, the leaves become vectors again, as they do before the key is put down: what is
carried and saved is as `counting` has it.

Invariants
  1. Node 1 is the root, the children of n are 2n and 2n + 1, leaf i is node `width` + i.
     `sums[n]` takes all matrices into account, but those that wait in nodes above n.
  2. Leaves are ordered by value, and those of one value by start.
  3. `queue` has the leaves that hold matches, or did, in the order of their starts.
  4. While the leaves hold the matches of `states`, no configuration is in these states, except
     within `_step`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.interrupts import interruptible
from cereus.engine.ranges import ranges

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.counting import CountingKernel
    from cython.cimports.cereus.engine.kernel.keyed import KeyedStepper
    from cython.cimports.cereus.engine.kernel.stepper import Stepper
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.counting import CountingKernel
    from cereus.engine.kernel.keyed import KeyedStepper
    from cereus.engine.kernel.stepper import Stepper

if TYPE_CHECKING:
    from cereus.engine.match.kernel_input import KernelInput
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable

MOST_STATES = cython.declare(cython.int, 4)
"""A matrix has the square of this many numbers."""
RENEWALS = cython.declare(cython.int, 8)
"""How often leaves follow leaves before it is measured again whether they pay."""


@cython.cclass
class OrderedCountingKernel(CountingKernel):
    """Writes the same rows as a CountingKernel."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        CountingKernel.__init__(self, table, options)
        late = options.closes or options.open_ended or options.watching or options.past
        consumes = options.consuming or options.consuming_all
        others = options.totals or options.scoped or options.growing or options.must_show
        self.may_order = not (late or consumes or others)
        self.leaf_cost = options.order_from // 8  # in steps; reading an event takes two such
        self.leaves_ahead = options.leaves_ahead
        self.in_order = False
        self.spent = self.seen = self.worth_at = 0
        self.renewals = 0
        self.n_states = self.wanted = 0
        self.words = 0
        self.states = np.zeros(MOST_STATES, np.int32)
        self.range_from = self.range_to = 0

    def feed(self, events: KernelInput, keys: cython.longlong) -> None:
        CountingKernel.feed(self, events, keys)
        self.in_order = False

    def shed(self) -> None:
        self.in_order = False
        self._forget_leaves()
        CountingKernel.shed(self)

    def _take_up(self, key: cython.int) -> cython.int:
        KeyedStepper._take_up(self, key)
        self._measure_anew()
        return 0

    def _save(self, key: cython.int) -> cython.int:
        if self.in_order:
            self._put_back()
        KeyedStepper._save(self, key)
        return 0

    # ------------------------------------------------------------ one event

    def _step(self, e: cython.longlong) -> cython.int:
        if self.in_order and e == self.order_to:
            self._put_back()
            if self.renewals > 0:
                self.renewals -= 1
                with cython.gil:
                    self._put_in_leaves(e)
        if self.in_order and not self._can_read(e):
            self._put_back()
        before: cython.longlong = self.steps
        looks_at: cython.longlong = self.look_at  # is lowered where cells are looked at
        Stepper._step(self, e)
        if self.in_order:
            self._read_leaves(e)
            if self._take_in(e):
                self._heed_limits()
            else:
                self._give_up()
        elif self.may_order and not self.expiring:
            self.spent += self.steps - before + max(0, looks_at - self.look_at)
            self.seen += 1
            if self.spent > self.worth_at and self._is_worth_it(e + 1):
                self.renewals = RENEWALS
                with cython.gil:
                    self._put_in_leaves(e + 1)
                self._measure_anew()
                self._heed_limits()
        return 0

    def _give_up(self) -> cython.int:
        """Go on without leaves for good."""
        self._put_back()
        self.may_order = False
        return 0

    def _heed_limits(self) -> cython.int:
        """Go on without leaves where more configurations than the limits allow may be there, or may
        read an event: there are at most so many as leaves with matches, for each state."""
        if self.in_order:
            most: cython.longlong = (self.queue_to - self.queue_from) * self.n_states
            limit: cython.longlong = min(self.max_nodes, self.max_configurations, self.max_steps)
            if most + self.n_configurations > limit:
                self._give_up()
        return 0

    def _measure_anew(self) -> cython.int:
        self.spent = self.seen = 0
        self.worth_at = self.leaf_cost * self.n_configurations
        return 0

    def _is_worth_it(self, begin: cython.longlong) -> cython.bint:
        """Whether making leaves for the events from `begin` on costs less than what looking at all
        configurations has cost, and reading an event too."""
        i: cython.int
        leaves: cython.longlong = min(self.leaves_ahead, self.group_ends[self.group] - begin)
        for i in range(self.n_active):
            c: cython.int = self.first[self.active[i]]
            while c >= 0:
                leaves += self.thin[self.root[c], layout.VECTOR_SIZE] if self.root[c] else 0
                self.look_at -= 1
                c = self.following[c]
        if self.spent <= self.leaf_cost * leaves:
            self.worth_at = self.leaf_cost * leaves
            return False
        if self.spent <= 2 * self.leaf_cost * self.seen:
            self._measure_anew()
            return False
        return True

    def _can_read(self, e: cython.longlong) -> cython.bint:
        """Whether the leaves can read an event: it changes all counts in the same way."""
        g: cython.int
        self.bound = self.floors[e] if self.windowed else layout.NO_BOUND
        self._expire()
        if self.positions[e] > self.position + 1 and not self._can_skip():
            return False
        for g in range(self.n_states):
            ready: cython.bint = self.learned[self.classes[e], g] or self._sum(1, g) == 0.0
            if not ready and not self._learn(self.classes[e], g):
                return False
        return True

    def _can_skip(self) -> cython.bint:
        """Whether partial matches stay where they are when events satisfy no test."""
        g: cython.int
        for g in range(self.n_states):
            s: cython.int = self.states[g]
            if self.gap_to[s] == layout.UNKNOWN:
                with cython.gil:
                    self.table.expand_gap(s)
                    self.load_table()
            if self.gap_to[s] != s:
                return False
        return True

    def _learn(self, letter: cython.int, g: cython.int) -> cython.bint:
        """Learn what events of a class do to partial matches in a state. Returns whether leaves
        can do it."""
        s: cython.int = self.states[g]
        k: cython.int
        if self.head[letter, s] == layout.UNKNOWN:
            with cython.gil:
                self.table.expand(s, letter)
                self.load_table()
        at: cython.int = self.head[letter, s]
        for k in range(self.n_states):
            self.matrices[letter, k * self.n_states + g] = 0.0
        if at == layout.STAY or self.edges[at + layout.EDGES_STAYS]:
            self.matrices[letter, g * self.n_states + g] = 1.0
        if at != layout.STAY:
            for k in range(self.edges[at + layout.EDGES_COUNT]):
                if not self._learn_move(letter, g, at + layout.EDGES_MOVES + layout.MOVE_WORDS * k):
                    return False
        for k in range(self.n_states):
            same: cython.bint = self.matrices[letter, k * self.n_states + g] == (
                1.0 if k == g else 0.0
            )
            self.changes[letter] = self.changes[letter] or not same
        self.learned[letter, g] = True
        return True

    def _learn_move(self, letter: cython.int, g: cython.int, move: cython.int) -> cython.bint:
        to: cython.int = self.edges[move + layout.MOVE_TO]
        checks: cython.int = self.edges[move + layout.MOVE_CHECKS]
        k: cython.int = 0
        if self.final[to] and self.accepting[to]:
            self.ends[letter, g] = True
            self.may_order = checks < 0 or self._is_range(checks)
            return self.may_order
        if checks >= 0 or not self._keeps_slot(to, self.edges[move + layout.MOVE_COPY]):
            self.may_order = False
            return False
        while k < self.n_states and self.states[k] != to:
            k += 1
        if k == self.n_states:
            self.wanted = to  # the next leaves will have it
            return False
        self.matrices[letter, k * self.n_states + g] += 1.0
        return True

    def _keeps_slot(self, to: cython.int, copy: cython.int) -> cython.bint:
        """Whether a move takes the value along to a state whose counts leaves can have."""
        if self.slot_counts[to] != 1 or self.accepting[to] or copy < 0:
            return False
        how: cython.int = self.programs[copy + layout.PROGRAM_ITEMS + layout.COPY_HOW]
        return how == layout.UPDATE_KEEP

    def _is_range(self, checks: cython.int) -> cython.bint:
        """Whether the values that pass all checks of a program are next to each other."""
        k: cython.int
        for k in range(self.programs[checks + layout.PROGRAM_COUNT]):
            check: cython.int = checks + layout.PROGRAM_ITEMS + layout.CHECK_WORDS * k
            if self.programs[check + layout.CHECK_SLOT] != 0:
                return False
            if self.programs[check + layout.CHECK_OP] > layout.CHECK_EQUAL:
                return False
        return True

    def _read_leaves(self, e: cython.longlong) -> cython.int:
        """Let all leaves read an event."""
        letter: cython.int = self.classes[e]
        g: cython.int
        count: cython.double = 0.0
        for g in range(self.n_states):
            if self.ends[letter, g] and self._sum(1, g) != 0.0:
                count += self._completed(g, self.head[letter, self.states[g]], e)
        if count > 0.0:
            if self.n_ended == 0:
                self._end_nothing()
            self.n_ended += 1
            self.ended_count += count
        if self.changes[letter]:
            self._worked(1)
            for g in range(self.n_states * self.n_states):
                self.factor[g] = self.matrices[letter, g]
            self._multiply(1)
        return 0

    def _completed(self, g: cython.int, at: cython.int, e: cython.longlong) -> cython.double:
        """How many matches the event completes from a state."""
        count: cython.double = 0.0
        k: cython.int
        for k in range(self.edges[at + layout.EDGES_COUNT]):
            move: cython.int = at + layout.EDGES_MOVES + layout.MOVE_WORDS * k
            to: cython.int = self.edges[move + layout.MOVE_TO]
            if self.final[to] and self.accepting[to]:
                checks: cython.int = self.edges[move + layout.MOVE_CHECKS]
                if checks < 0:
                    count += self._sum(1, g)
                else:
                    self._set_range(checks, e)
                    if self.range_from < self.range_to:
                        count += self._sum_of_range(g)
        return count

    def _set_range(self, checks: cython.int, e: cython.longlong) -> cython.int:
        """Set the range of the leaves whose values pass all checks of a program."""
        k: cython.int
        self.range_from = self.n_null
        self.range_to = self.width  # behind the last leaf are empty ones
        for k in range(self.programs[checks + layout.PROGRAM_COUNT]):
            check: cython.int = checks + layout.PROGRAM_ITEMS + layout.CHECK_WORDS * k
            op: cython.int = self.programs[check + layout.CHECK_OP]
            value: cython.longlong = self.columns[self.programs[check + layout.CHECK_COLUMN], e]
            if value == layout.NULL:
                self.range_to = 0
            elif op == layout.CHECK_LESS:
                self.range_to = min(self.range_to, self._place(value, False))
            elif op == layout.CHECK_LESS_OR_EQUAL:
                self.range_to = min(self.range_to, self._place(value, True))
            elif op == layout.CHECK_GREATER:
                self.range_from = max(self.range_from, self._place(value, True))
            elif op == layout.CHECK_GREATER_OR_EQUAL:
                self.range_from = max(self.range_from, self._place(value, False))
            else:
                self.range_from = max(self.range_from, self._place(value, False))
                self.range_to = min(self.range_to, self._place(value, True))
        return 0

    def _place(self, value: cython.longlong, behind: cython.bint) -> cython.int:
        """The first leaf whose value is not below a value (`behind`: that is above it)."""
        low: cython.int = 0
        high: cython.int = self.n_leaves
        while low < high:
            middle: cython.int = (low + high) >> 1
            if self.leaf_value[middle] < value or (behind and self.leaf_value[middle] == value):
                low = middle + 1
            else:
                high = middle
        return low

    def _in_memory(self) -> cython.longlong:
        return CountingKernel._in_memory(self) + self.words // layout.NODE_WORDS

    # ------------------------------------------------------------ sums and matrices

    def _sum(self, n: cython.int, g: cython.int) -> cython.double:
        return self.sums[n * self.n_states + g]

    def _sum_of_range(self, g: cython.int) -> cython.double:
        count: cython.double = 0.0
        low: cython.int = self.width + self.range_from
        high: cython.int = self.width + self.range_to
        self._worked(2)
        if self.range_from:
            self._send_down(low)
        if self.range_to < self.width:
            self._send_down(high - 1)
        while low < high:
            if low & 1:
                count += self._sum(low, g)
                low += 1
            if high & 1:
                high -= 1
                count += self._sum(high, g)
            low >>= 1
            high >>= 1
        return count

    def _send_down(self, leaf: cython.int) -> cython.int:
        """Send the matrices that wait above a leaf down, out of its way."""
        level: cython.int
        for level in range(self.levels, 0, -1):
            if self.waits[leaf >> level]:
                self._send_to_children(leaf >> level)
        return 0

    def _send_to_children(self, n: cython.int) -> cython.int:
        i: cython.int
        for i in range(self.n_states * self.n_states):
            self.factor[i] = self.products[n, i]
        self._multiply(2 * n)
        self._multiply(2 * n + 1)
        self.waits[n] = False
        return 0

    def _multiply(self, n: cython.int) -> cython.int:
        """Multiply node n with the matrix in `factor`. Sums are not negative: where they are 0,
        the leaves are empty, and stay so."""
        size: cython.int = self.n_states
        at: cython.int = n * size
        i: cython.int
        j: cython.int
        k: cython.int
        total: cython.double = 0.0
        for i in range(size):
            total += self.sums[at + i]
        if total == 0.0:
            return 0
        for i in range(size):
            total = 0.0
            for k in range(size):
                if self.factor[i * size + k] != 0.0 and self.sums[at + k] != 0.0:
                    total += self.factor[i * size + k] * self.sums[at + k]
            self.column[i] = total
        for i in range(size):
            self.sums[at + i] = self.column[i]
        if n >= self.width:
            return 0
        if not self.waits[n]:
            self.waits[n] = True
            for i in range(size * size):
                self.products[n, i] = self.factor[i]
            return 0
        for j in range(size):
            for i in range(size):
                total = 0.0
                for k in range(size):
                    if self.factor[i * size + k] != 0.0 and self.products[n, k * size + j] != 0.0:
                        total += self.factor[i * size + k] * self.products[n, k * size + j]
                self.column[i] = total
            for i in range(size):
                self.products[n, i * size + j] = self.column[i]
        return 0

    def _add_up(self, leaf: cython.int) -> cython.int:
        """Compute the sums above a leaf anew."""
        g: cython.int
        n: cython.int = leaf >> 1
        while n:
            for g in range(self.n_states):
                self.sums[n * self.n_states + g] = self._sum(2 * n, g) + self._sum(2 * n + 1, g)
            n >>= 1
        return 0

    # ------------------------------------------------------------ coming and going

    def _expire(self) -> cython.int:
        """Empty the leaves that have left the window."""
        g: cython.int
        while (
            self.queue_from < self.queue_to
            and self.leaf_start[self.queue[self.queue_from]] < self.bound
        ):
            leaf: cython.int = self.width + self.queue[self.queue_from]
            self.queue_from += 1
            self._worked(2)
            self._send_down(leaf)
            for g in range(self.n_states):
                self.sums[leaf * self.n_states + g] = 0.0
            self._add_up(leaf)
        return 0

    def _take_in(self, e: cython.longlong) -> cython.bint:
        """Put the partial matches that began with this event into its leaf. Returns whether all
        could be put there."""
        g: cython.int
        c: cython.int
        place: cython.int = self.place_of[e - self.order_at]
        leaf: cython.int = self.width + place
        for g in range(self.n_states):
            s: cython.int = self.states[g]
            c = self.first[s]
            if c < 0:
                continue
            if not self._began_now(c, place, e):
                return False
            if self.queue_to == self.queue_from or self.queue[self.queue_to - 1] != place:
                self.queue[self.queue_to] = place
                self.queue_to += 1
            self._worked(2)
            self._send_down(leaf)
            begin: cython.longlong = self.wide[self.root[c], layout.VECTOR_BEGIN]
            self.sums[leaf * self.n_states + g] += self.counts[begin]
            self._add_up(leaf)
            self._drop(c)
            self._forget_empty()
        return True

    def _began_now(self, c: cython.int, place: cython.int, e: cython.longlong) -> cython.bint:
        """Whether a configuration is the only one of its state, and all its matches began with this
        event, which has a leaf for its value."""
        r: cython.int = self.root[c]
        now: cython.longlong = self.measures[e] if self.windowed else 0
        return (
            place >= 0
            and self.following[c] < 0
            and self.empty[c] == layout.NONE
            and r > 0
            and self.thin[r, layout.VECTOR_SIZE] == 1
            and self.wide[r, layout.VECTOR_START] == now
            and self.leaf_value[place] == self.values[c, 0]
        )

    # ------------------------------------------------------------ vectors to leaves and back

    def _put_in_leaves(self, begin: cython.longlong) -> cython.int:
        """Make a tree of the configurations of all states with a slot, for the events from `begin`
        on; nothing if that is not possible."""
        in_leaves = self._states_with_a_slot()
        column, enters = self._entries(in_leaves)
        cells = self._cells_of(in_leaves) if column >= 0 else None
        if cells is None:
            return 0
        values, starts, places, counts = cells
        ahead = max(self.leaves_ahead, 2 * len(values))
        end = min(begin + ahead, self.group_ends[self.group])
        leaf_of, begun = _leaves_of(values, starts)
        coming = begin + np.flatnonzero(enters[np.asarray(self.classes)[begin:end]])
        measures = np.asarray(self.measures)[coming] * self.windowed
        leaf_values = np.concatenate([values[begun], np.asarray(self.columns)[column, coming]])
        order = _sorted(leaf_values)
        place_of = np.empty(len(order), np.int32)
        place_of[order] = np.arange(len(order), dtype=np.int32)
        self.words = _words(len(order), len(in_leaves))
        if self._in_memory() > self.max_nodes:
            self.words, self.may_order = 0, False
            return 0
        self.n_states = len(in_leaves)
        self.states = np.array(in_leaves, np.int32)
        all_starts = np.concatenate([starts[begun], measures])
        self._make_leaves(leaf_values[order], all_starts[order])
        self._fill_leaves(place_of[leaf_of], places, counts)
        self.queue = np.zeros(len(order), np.int32)
        self.queue_from, self.queue_to = 0, len(begun)
        np.asarray(self.queue)[: len(begun)] = place_of[_sorted(starts[begun])]
        self.place_of = np.full(end - begin, layout.NONE, np.int32)
        np.asarray(self.place_of)[coming - begin] = place_of[len(begun) :]
        self.order_at, self.order_to = begin, end
        for s in in_leaves:
            while self.first[s] >= 0:
                self._drop(self.first[s])
        self._forget_empty()
        self.in_order = True
        return 0

    def _states_with_a_slot(self) -> list[int]:
        """The states whose counts leaves can have."""
        active = set(np.asarray(self.active)[: self.n_active].tolist())
        if self.wanted:
            active.add(self.wanted)
        in_leaves = [
            s for s in sorted(active) if self.slot_counts[s] == 1 and not self.accepting[s]
        ]
        if len(in_leaves) > MOST_STATES:
            self.may_order = False
            return []
        return in_leaves

    def _entries(self, in_leaves: list[int]) -> tuple[int, npt.NDArray[np.bool_]]:
        """The column from which moves that begin a match set the slot of these states (NONE: it is
        not known), and which classes of events may make such moves."""
        columns = set()
        enters = np.zeros(self.head.shape[0], bool)
        for s in np.asarray(self.active)[: self.n_active].tolist():
            if s not in in_leaves:
                moves = np.asarray(self.head)[:, s]
                enters |= moves == layout.UNKNOWN
                for at in np.unique(moves[moves >= 0]).tolist():
                    columns_set = self._columns_set_at(at, in_leaves)
                    columns |= columns_set
                    if columns_set:
                        enters |= moves == at
        return (columns.pop() if len(columns) == 1 else layout.NONE), enters

    def _columns_set_at(self, at: int, in_leaves: list[int]) -> set[int]:
        edges, programs = np.asarray(self.edges), np.asarray(self.programs)
        count = edges[at + layout.EDGES_COUNT]
        moves = edges[at + layout.EDGES_MOVES :][: layout.MOVE_WORDS * count]
        columns = set()
        for move in moves.reshape(-1, layout.MOVE_WORDS):
            if move[layout.MOVE_TO] in in_leaves:
                copy = programs[move[layout.MOVE_COPY] + layout.PROGRAM_ITEMS :]
                sets = copy[layout.COPY_HOW] == layout.UPDATE_SET
                columns.add(int(copy[layout.COPY_COLUMN]) if sets else layout.NONE)
        return columns

    def _cells_of(self, in_leaves: list[int]) -> tuple[npt.NDArray[Any], ...] | None:
        """The value, start, state (its index in the list) and count of each cell in the window;
        None if some partial matches have no count."""
        of_states = np.asarray(self.state_of)[: self.made]
        rows = np.flatnonzero(np.isin(of_states, in_leaves))
        if (np.asarray(self.empty)[rows] != layout.NONE).any():
            self.may_order = False
            return None
        rows = rows[np.asarray(self.root)[rows] > 0]
        roots = np.asarray(self.root)[rows]
        begins = np.asarray(self.wide)[roots, layout.VECTOR_BEGIN]
        sizes = np.asarray(self.thin)[roots, layout.VECTOR_SIZE]
        cells = ranges(begins, sizes)
        starts = np.asarray(self.starts)[cells]
        values = np.repeat(np.asarray(self.values)[rows, 0], sizes)
        places = np.repeat(np.searchsorted(in_leaves, of_states[rows]), sizes)
        inside = starts >= self.bound
        counts = np.asarray(self.counts)[cells]
        return values[inside], starts[inside], places[inside], counts[inside]

    def _fill_leaves(
        self,
        leaves: npt.NDArray[np.int32],
        places: npt.NDArray[np.int64],
        counts: npt.NDArray[np.float64],
    ) -> None:
        """Put counts into the leaves, and add them up."""
        sums = np.asarray(self.sums).reshape(-1, self.n_states)
        np.add.at(sums, (self.width + leaves, places), counts)
        for level in range(self.levels - 1, -1, -1):
            below = sums[2 << level : 4 << level]
            sums[1 << level : 2 << level] = below[0::2] + below[1::2]

    def _make_leaves(self, values: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> None:
        """Make a tree of empty leaves."""
        self.n_leaves = len(values)
        self.levels = _levels(self.n_leaves)
        self.width = 1 << self.levels
        self.leaf_value, self.leaf_start = values, starts
        self.n_null = self._place(layout.NULL, True)
        self.sums = np.zeros(2 * self.width * self.n_states)
        self.waits = np.zeros(self.width, np.uint8)
        self.products = np.zeros((self.width, self.n_states * self.n_states))
        self.factor = np.zeros(self.n_states * self.n_states)
        self.column = np.zeros(self.n_states)
        classes = self.head.shape[0]
        self.matrices = np.zeros((classes, self.n_states * self.n_states))
        self.changes = np.zeros(classes, np.uint8)
        self.ends = np.zeros((classes, self.n_states), np.uint8)
        self.learned = np.zeros((classes, self.n_states), np.uint8)

    def _put_back(self) -> cython.int:
        """Turn the leaves into configurations with vectors."""
        n: cython.int
        g: cython.int
        self.in_order = False
        for n in range(1, self.width):
            self._worked(1)
            if self.waits[n]:
                self._send_to_children(n)
        for g in range(self.n_states):
            n = 0
            while n < self.n_leaves:
                self._worked(1)
                n = self._put_back_value(g, n)
        self._measure_anew()
        with cython.gil:
            self._forget_leaves()
        return 0

    def _forget_leaves(self) -> None:
        """Let the memory of the tree go."""
        self.words = 0
        self.leaf_value = self.leaf_start = np.zeros(0, np.int64)
        self.place_of = self.queue = np.zeros(0, np.int32)
        self.sums, self.products = np.zeros(0), np.zeros((0, 0))
        self.waits = np.zeros(0, np.uint8)

    def _put_back_value(self, g: cython.int, n: cython.int) -> cython.int:
        """Make a vector of the counts of all leaves with the value of leaf n. Returns the leaf
        after them."""
        value: cython.longlong = self.leaf_value[n]
        begin: cython.longlong = self.cells
        while n < self.n_leaves and self.leaf_value[n] == value:
            count: cython.double = self._sum(self.width + n, g)
            if count != 0.0:
                self._room_for_cells(1)
                if self.cells > begin and self.starts[self.cells - 1] == self.leaf_start[n]:
                    self.counts[self.cells - 1] += count
                else:
                    self._put(self.leaf_start[n], count)
            n += 1
        vector: cython.int = self._vector(begin)
        if vector:
            self.pending_values[0, 0] = value
            c: cython.int = self._find(self.states[g], 0)
            if c < 0:
                c = self._new(self.states[g], 0)
            self.root[c] = self._meld(self.root[c], vector)
        return n


def _sorted(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places of values in their order."""
    return interruptible(len(values), lambda: np.argsort(values, kind="stable"))


def _levels(leaves: int) -> int:
    """The height of the tree above so many leaves."""
    return max(1, leaves - 1).bit_length()


def _words(leaves: int, states: int) -> int:
    """How many numbers a tree has: per leaf a sum for each state, its value and its start; per
    node above the sums, a matrix, and whether it waits; and the places of leaves."""
    return (states * (2 + states) + 1 << _levels(leaves)) + 4 * leaves


def _leaves_of(
    values: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Which leaf each cell belongs to, one for each value and start, in this order; and a cell of
    each leaf."""
    order = interruptible(len(values), lambda: np.lexsort((starts, values)))
    ordered = np.stack([values[order], starts[order]])
    new = np.ones(len(order), bool)
    new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    leaf_of = np.empty(len(order), np.int64)
    leaf_of[order] = np.cumsum(new) - 1
    return leaf_of, order[new]
