"""The kernel: classified events in, matches out. Pure Python to read, compiled by Cython to run.

**Configurations.** A configuration is a state with the values in its slots (none, for patterns
that do not compare events), and holds all partial matches that agree on both:

* `root[c]`  a heap of partial matches that have marked events (0: none), and
* `empty[c]` the partial match that has shown nothing: NONE, UNSTARTED, or the node of the event
  where it began unseen (a variable that is not selected).

A state without slots has at most one configuration. The others are linked per state, and hashed by
state and first slot, so that an equality finds the configurations that can satisfy it.

**The forest.** Partial matches are shared, never copied. A node is 32 bytes: the event's ordinal,
`start` (the measure, time or position, of the latest first event among the matches below), the
`link` to the partial matches that this event extends, two heap children, a label and a heap rank.
What a node stands for: its event added to each match of `link`, and whatever its two children
stand for.

Invariants
  1. `start[n] >= start[left[n]], start[right[n]]`, and `start[n] == start[link[n]]` if linked:
     a heap whose head is inside the window has at least one match inside the window, so every
     node that the enumeration visits yields a match, and its delay is linear in the output.
  2. `link`, `left` and `right` point to older nodes (smaller ids), and a node is not changed
     after the event that made it. So the garbage collector is two sweeps over the ids, and
     partial matches may be shared between states and over time.
  3. Heaps are leftist: inserting a start that is not older than the head costs one store;
     otherwise a meld copies O(log n) nodes, but for those that this event has made.

**Memory follows the window.** Nodes out of every heap's reach, or out of the window, are swept
when the arena has doubled since the last sweep; a node is moved at most once per doubling.
"""

import cython
import numpy as np
from cython.cimports.libc.math import asin, ceil, cos, floor, fmod, sin, sqrt

from cereus.engine.match.memory import empty, filled

if cython.compiled:
    from cython.cimports.cereus.engine.match import layout
else:
    from cereus.engine.match import layout

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
LOW_63 = cython.declare(cython.longlong, (1 << 63) - 1)
LONGEST = cython.declare(cython.longlong, (1 << 63) - 1)
RADIANS = cython.declare(cython.double, 0.017453292519943295)
EARTH_DIAMETER_METRES = cython.declare(cython.double, 2 * 6_371_008.8)
INFINITY = cython.declare(cython.double, float("inf"))
NAN = cython.declare(cython.double, float("nan"))


@cython.cclass
class Kernel:
    """Runs one plan over events sorted by key, carrying configurations per key between calls."""

    # the automaton, grown on demand by `table`
    table: object
    head: cython.int[:, ::1]
    moving: cython.int[:, ::1]
    n_moving: cython.int[::1]
    edges: cython.int[::1]
    accepting: cython.uchar[::1]
    closing: cython.uchar[::1]
    closed: cython.int
    gap_to: cython.int[::1]
    gap_copy: cython.int[::1]
    slot_counts: cython.int[::1]
    programs: cython.int[::1]
    constants: cython.longlong[::1]

    # the stack for terms: integers, floats, and which are known; slots and columns seen as floats;
    # and the answer to the term that was asked last of the configuration at hand
    whole: cython.longlong[::1]
    real: cython.double[::1]
    bits: cython.longlong[::1]
    known: cython.uchar[::1]
    answered: cython.int
    answer: cython.bint
    real_constants: cython.double[::1]
    real_values: cython.double[:, ::1]
    real_columns: cython.double[:, ::1]

    # the forest: nodes as int64, and the same memory seen as int32 (`layout` names the columns)
    wide: cython.longlong[:, ::1]
    thin: cython.int[:, ::1]
    used: cython.int
    made_now: cython.int
    sweep_at: cython.int
    sweep_from: cython.int

    # the states in use, and the configurations of each
    active: cython.int[::1]
    is_active: cython.uchar[::1]
    first: cython.int[::1]
    n_active: cython.int
    root: cython.int[::1]
    empty: cython.int[::1]
    values: cython.longlong[:, ::1]
    state_of: cython.int[::1]
    following: cython.int[::1]
    preceding: cython.int[::1]
    chain: cython.int[::1]
    buckets: cython.int[::1]
    n_slots: cython.int
    free: cython.int
    n_configurations: cython.int
    n_accepting: cython.int
    made: cython.int

    # configurations on their way: (state, label, root, empty), their values, when their latest
    # partial match began; and the order in which they arrive
    pending: cython.int[:, ::1]
    pending_values: cython.longlong[:, ::1]
    pending_starts: cython.longlong[::1]
    arrivals: cython.int[::1]
    n_pending: cython.int

    # configurations of every key while others are read: rows (state, root, empty, values …).
    # Those of key k are rows carry_from[k] to carry_to[k]; what lies between is of no use any more
    carry_from: cython.longlong[::1]
    carry_to: cython.longlong[::1]
    carry: cython.longlong[:, ::1]
    n_carry: cython.longlong
    carry_at: cython.longlong
    last_position: cython.longlong[::1]
    last_floor: cython.longlong[::1]

    # the events of this call, sorted by group (one group is one key)
    classes: cython.int[::1]
    positions: cython.longlong[::1]
    measures: cython.longlong[::1]
    floors: cython.longlong[::1]
    columns: cython.longlong[:, ::1]
    shown: cython.longlong[::1]
    key_of: cython.int[::1]
    group_ends: cython.longlong[::1]
    base: cython.longlong
    known_from: cython.longlong
    known_floors: cython.longlong[::1]
    event: cython.longlong
    group: cython.longlong
    loaded: cython.bint
    position: cython.longlong
    bound: cython.longlong

    # what the plan asks for
    windowed: cython.bint
    open_ended: cython.bint
    closes: cython.bint
    expiring: cython.bint
    ends_at_marks: cython.bint
    consuming: cython.bint
    limit: cython.longlong
    max_nodes: cython.longlong
    max_configurations: cython.longlong
    max_matches: cython.longlong
    cut_short: cython.bint
    with_labels: cython.bint
    must_show: cython.bint
    report_from: cython.longlong
    watching: cython.bint
    waiting: cython.int[::1]

    # a depth-first walk that can stop and go on, and the chunk it writes to
    stack: cython.int[:, ::1]
    height: cython.int
    path: cython.longlong[::1]
    path_label: cython.int[::1]
    walk_bound: cython.longlong
    walk_end: cython.longlong
    walk_at: cython.longlong
    reporting: cython.int
    report_next: cython.int
    reported: cython.longlong
    out_events: cython.longlong[::1]
    out_labels: cython.int[::1]
    out_offsets: cython.int[::1]
    out_first: cython.longlong[::1]
    out_last: cython.longlong[::1]
    out_at: cython.longlong[::1]
    n_matches: cython.int
    n_cells: cython.int
    out_counts: cython.double[::1]
    produced: cython.bint
    sweeps: cython.longlong

    # for counting only: vectors of (start, number of partial matches that start there)
    vector_starts: cython.longlong[::1]
    vector_counts: cython.double[::1]
    vector_totals: cython.double[:, ::1]
    amounts: cython.double[:, ::1]
    adds: cython.uchar[:, ::1]
    how: cython.int[::1]
    out_totals: cython.double[:, ::1]
    cells: cython.longlong
    sweep_cells_at: cython.longlong

    def __init__(self, table, options):
        self.table = table
        self.windowed = options.windowed
        self.open_ended = options.open_ended
        self.closes = options.closes
        self.closed = table.closed_state() if options.closes else layout.NONE
        self.expiring = False
        self.ends_at_marks = options.ends_at_marks
        self.consuming = options.consuming
        self.limit = -1 if options.limit is None else options.limit
        self.max_nodes = options.max_nodes
        self.max_configurations = options.max_configurations
        self.max_matches = options.max_matches
        self.cut_short = False
        self.n_slots = options.slots
        self.with_labels = options.with_labels
        self.must_show = options.must_show
        self.watching = options.watching
        self.report_from = 0
        self._set_nodes(np.zeros((1024, layout.NODE_WORDS), np.int64))
        self.used = 1
        self.made_now = 1
        self.sweep_from = options.sweep_at
        self.sweep_at = self.sweep_from
        self.pending = np.zeros((64, layout.PENDING_WORDS), np.int32)
        self.pending_values = np.zeros((64, max(1, self.n_slots)), np.int64)
        self.pending_starts = np.zeros(64, np.int64)
        self.arrivals = np.zeros(64, np.int32)
        self.stack = np.zeros((256, layout.WALK_WORDS), np.int32)
        self.path = np.zeros(64, np.int64)
        self.path_label = np.zeros(64, np.int32)
        self.n_active = 0
        self.active = np.zeros(0, np.int32)
        self.is_active = np.zeros(0, np.uint8)
        self.first = np.zeros(0, np.int32)
        self.free = layout.NONE
        self.n_configurations = 0
        self.n_accepting = 0
        self.made = 0
        self._room_for_configurations(64)
        self.columns = np.zeros((1, 0), np.int64)
        self.real_columns = np.zeros((1, 0))
        self.whole = np.zeros(layout.TERM_STACK, np.int64)
        stack = np.zeros(layout.TERM_STACK)
        self.real = stack
        self.bits = stack.view(np.int64)
        self.known = np.zeros(layout.TERM_STACK, np.uint8)
        self.answered = -1
        self.answer = False
        self.load_table()
        self.clear_keys()
        self.reporting = -1
        self.report_next = -1
        self.height = 0
        self.n_matches = 0
        self.n_cells = 0
        self.sweeps = 0
        self.event = 0
        self.cells = 0
        self.sweep_cells_at = 1 << 20
        self.classes = np.zeros(0, np.int32)

    # ------------------------------------------------------------ arrays that grow

    def load_table(self):
        """Look at the tables again, after `table` has grown."""
        self.head = self.table.head
        self.moving = self.table.moving
        self.n_moving = self.table.n_moving
        self.edges = self.table.edges
        self.accepting = self.table.accepting
        self.closing = self.table.closing
        self.gap_to = self.table.gap_to
        self.gap_copy = self.table.gap_copy
        self.slot_counts = self.table.slot_counts
        self.programs = self.table.programs
        self.constants = self.table.constants
        self.real_constants = self.table.constants.view(np.float64)
        states = self.head.shape[1]
        if states > self.active.shape[0]:
            self.active = _longer(self.active, states, 0)
            self.is_active = _longer(self.is_active, states, 0)
            self.first = _longer(self.first, states, -1)

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _room_for_configurations(self, size: cython.int) -> cython.int:
        if self.made == 0:
            self.values = np.zeros((0, max(1, self.n_slots)), np.int64)
            self.root = self.empty = self.state_of = np.zeros(0, np.int32)
            self.following = self.preceding = self.chain = np.zeros(0, np.int32)
        self.root = _longer(self.root, size, 0)
        self.empty = _longer(self.empty, size, -1)
        self.state_of = _longer(self.state_of, size, -1)
        self.following = _longer(self.following, size, -1)
        self.preceding = _longer(self.preceding, size, -1)
        self.chain = _longer(self.chain, size, -1)
        self.values = _taller(self.values, size)
        self.real_values = np.asarray(self.values).view(np.float64)
        if self.n_slots:
            self.buckets = np.full(2 * size, -1, np.int32)
            c: cython.int
            for c in range(self.made):
                if self.state_of[c] >= 0 and self.slot_counts[self.state_of[c]]:
                    self._enter_chain(c)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _set_nodes(self, nodes: object) -> cython.int:
        self.wide = nodes
        self.thin = nodes.view(np.int32)
        return 0

    # ------------------------------------------------------------ the forest

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _node(
        self,
        ordinal: cython.longlong,
        start: cython.longlong,
        link: cython.int,
        label: cython.int,
    ) -> cython.int:
        n: cython.int = self.used
        if n >= self.wide.shape[0]:
            self._set_nodes(_taller(self.wide, 2 * n))
        self.wide[n, layout.NODE_EVENT] = ordinal
        self.wide[n, layout.NODE_START] = start
        self.thin[n, layout.NODE_LINK] = link
        self.thin[n, layout.NODE_LEFT] = 0
        self.thin[n, layout.NODE_RIGHT] = 0
        self.thin[n, layout.NODE_TAG] = (label << layout.RANK_BITS) + 1
        self.used = n + 1
        return n

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        """Two heaps as one. Nodes on the way are copied (invariant 2), but for those of this very
        event, which nothing points to yet."""
        if a == 0 or self._start(a) < self.bound:
            return b
        if b == 0 or self._start(b) < self.bound:
            return a
        if self._start(a) < self._start(b) or (self._start(a) == self._start(b) and a < b):
            a, b = b, a
        left: cython.int = self.thin[a, layout.NODE_LEFT]
        below: cython.int = b
        if self.thin[a, layout.NODE_RIGHT]:
            below = self._meld(self.thin[a, layout.NODE_RIGHT], b)
        n: cython.int = a
        if a < self.made_now or a < below:
            n = self._copied(a)
        self._set_children(n, left, below)
        return n

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _copied(self, n: cython.int) -> cython.int:
        """A node like n, without children."""
        return self._node(
            self.wide[n, layout.NODE_EVENT], self._start(n), self._link(n), self._label(n)
        )

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _rank(self, n: cython.int) -> cython.int:
        return 0 if n == 0 else self.thin[n, layout.NODE_TAG] & layout.RANK_MASK

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _label(self, n: cython.int) -> cython.int:
        return self.thin[n, layout.NODE_TAG] >> layout.RANK_BITS

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _start(self, n: cython.int) -> cython.longlong:
        return self.wide[n, layout.NODE_START]

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _link(self, n: cython.int) -> cython.int:
        return self.thin[n, layout.NODE_LINK]

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _set_children(self, n: cython.int, one: cython.int, other: cython.int) -> cython.void:
        """Hang two heaps below a node: the one of greater rank to the left (invariant 3)."""
        if self._rank(one) < self._rank(other):
            one, other = other, one
        self.thin[n, layout.NODE_LEFT] = one
        self.thin[n, layout.NODE_RIGHT] = other
        self.thin[n, layout.NODE_TAG] = (self._label(n) << layout.RANK_BITS) + 1 + self._rank(other)

    # ------------------------------------------------------------ one event

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _step(self, e: cython.longlong) -> cython.int:
        """All configurations read event e."""
        letter: cython.int = self.classes[e]
        i: cython.int
        self.bound = layout.NO_BOUND
        if (self.windowed and not self.open_ended) or self.expiring:
            self.bound = self.floors[e]
        left: cython.bint = False
        if not self.expiring:
            skipped: cython.longlong = self.positions[e] - self.position - 1
            self.position = self.positions[e]
            if skipped > 0:
                self._skip(skipped)
            if self.watching:
                self.waiting[e] = self._unstarted()
        self.n_pending = 0
        if self.closes:
            left = self._close()
            if self.expiring:
                self._settle()
                self._forget_empty()
                return 0
        # a state that waits costs at most a look at the table
        s: cython.int
        if self.n_moving[letter] < self.n_active:
            for i in range(self.n_moving[letter] - 1, -1, -1):  # what is expanded may go
                s = self.moving[letter, i]
                if self.first[s] >= 0 and self._read(s, letter, e):
                    left = True
        else:
            for i in range(self.n_active):
                s = self.active[i]
                if self.head[letter, s] != layout.STAY and self._read(s, letter, e):
                    left = True
        self._settle()
        if left:
            self._forget_empty()
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _close(self) -> cython.bint:
        """Runs in a closing state whose window has passed are complete: they go to the closed
        state, and arrive there with what this event brings. Whether there are any."""
        i: cython.int
        s: cython.int
        while self.first[self.closed] >= 0:
            self._drop(self.first[self.closed])  # these have been reported
        for i in range(self.n_active):
            s = self.active[i]
            if self.closing[s]:
                c: cython.int = self.first[s]
                while c >= 0:
                    after: cython.int = self.following[c]
                    if self.root[c] and self._start(self.root[c]) < self.bound:
                        self._send(
                            self.closed, layout.UNMARKED, self.root[c], layout.NONE, c, -1, 0
                        )
                        self._drop(c)
                    c = after
        return self.n_pending > 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _unstarted(self) -> cython.int:
        """The state of the runs that have marked nothing; there is at most one."""
        i: cython.int
        for i in range(self.n_active):
            c: cython.int = self.first[self.active[i]]
            while c >= 0:
                if self.empty[c] == layout.UNSTARTED:
                    return self.active[i]
                c = self.following[c]
        return layout.NONE

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _read(self, s: cython.int, letter: cython.int, e: cython.longlong) -> cython.bint:
        """The configurations of state s read an event; whether none of them is left there."""
        at: cython.int = self.head[letter, s]
        if at == layout.UNKNOWN:
            self.table.expand(s, letter)
            self.load_table()
            at = self.head[letter, s]
            if at == layout.STAY:
                return False
        column: cython.int = self.edges[at + layout.EDGES_COLUMN]
        c: cython.int
        after: cython.int
        if column < 0:
            c = self.first[s]
            while c >= 0:
                after = self.following[c]
                self._go(c, s, at, e)
                c = after
        elif self.columns[column, e] != layout.NULL:
            # every move but staying asks the first slot to be equal to this column
            c = self.buckets[self._bucket(s, self.columns[column, e])]
            while c >= 0:
                after = self.chain[c]
                if self.state_of[c] == s and self.values[c, 0] == self.columns[column, e]:
                    self._go(c, s, at, e)
                c = after
        return self.first[s] < 0

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _go(self, c: cython.int, s: cython.int, at: cython.int, e: cython.longlong) -> cython.int:
        """One configuration makes the moves at `at` in the table."""
        r: cython.int = self.root[c]
        if r and self._start(r) < self.bound:
            r = 0
        unseen: cython.int = self.empty[c]
        if unseen > 0 and self._start(unseen) < self.bound:
            unseen = layout.NONE
        stays: cython.bint = False
        k: cython.int
        self.answered = -1
        if r or unseen != layout.NONE:
            stays = self.edges[at + layout.EDGES_STAYS]
            for k in range(self.edges[at + layout.EDGES_COUNT]):
                move: cython.int = at + layout.EDGES_MOVES + layout.MOVE_WORDS * k
                label: cython.int = self.edges[move + layout.MOVE_LABEL]
                to: cython.int = self.edges[move + layout.MOVE_TO]
                checks: cython.int = self.edges[move + layout.MOVE_CHECKS]
                if checks >= 0 and not self._holds(checks, c, e):
                    continue
                if label == layout.UNMARKED and to == s:
                    stays = True
                else:
                    self._send(to, label, r, unseen, c, self.edges[move + layout.MOVE_COPY], e)
        if stays:
            self.root[c] = r
            self.empty[c] = unseen
        else:
            self._drop(c)
        return 0

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _holds(self, at: cython.int, c: cython.int, e: cython.longlong) -> cython.bint:
        """Whether all checks of a program hold."""
        k: cython.int
        for k in range(self.programs[at + layout.PROGRAM_COUNT]):
            check: cython.int = at + layout.PROGRAM_ITEMS + layout.CHECK_WORDS * k
            op: cython.int = self.programs[check + layout.CHECK_OP]
            slot: cython.int = self.programs[check + layout.CHECK_SLOT]
            if op >= layout.CHECK_HOLDS:
                term: cython.int = self.programs[check + layout.CHECK_TERM]
                if term != self.answered:  # what one move needs, another needs to fail
                    self.answer = self._true(term, c, e)
                    self.answered = term
                if self.answer != (op == layout.CHECK_HOLDS):
                    return False
                continue
            a: cython.longlong = self.columns[self.programs[check + layout.CHECK_COLUMN], e]
            b: cython.longlong
            if slot >= 0:
                b = a
                a = self.values[c, slot]
            else:
                b = self.columns[self.programs[check + layout.CHECK_OTHER], e]
            known: cython.bint = a != layout.NULL and b != layout.NULL
            if op == layout.CHECK_DIFFERS:
                if known and a == b:
                    return False
            elif not known:
                return False
            elif op == layout.CHECK_LESS:
                if a >= b:
                    return False
            elif op == layout.CHECK_LESS_OR_EQUAL:
                if a > b:
                    return False
            elif op == layout.CHECK_GREATER:
                if a <= b:
                    return False
            elif op == layout.CHECK_GREATER_OR_EQUAL:
                if a < b:
                    return False
            elif op == layout.CHECK_EQUAL:
                if a != b:
                    return False
            elif a == b:
                return False
        return True

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _copy(
        self, at: cython.int, c: cython.int, e: cython.longlong, row: cython.int
    ) -> cython.int:
        """The values that a configuration takes along, into a pending row."""
        k: cython.int
        for k in range(self.programs[at + layout.PROGRAM_COUNT]):
            copy: cython.int = at + layout.PROGRAM_ITEMS + layout.COPY_WORDS * k
            how: cython.int = self.programs[copy + layout.COPY_HOW]
            slot: cython.int = self.programs[copy + layout.COPY_SLOT]
            column: cython.int = self.programs[copy + layout.COPY_COLUMN]
            value: cython.longlong = 0
            if how == layout.UPDATE_START:
                self.pending_values[row, k] = self.measures[e]
                continue
            if how >= layout.UPDATE_COUNT:
                value = self._total(how, slot, column, c, e)
                self.pending_values[row, k] = value
                continue
            if how != layout.UPDATE_SET:
                value = self.values[c, slot]
            if how != layout.UPDATE_KEEP:
                new: cython.longlong = self.columns[column, e]
                # NULL is the smallest value, and stays once it is in
                if how == layout.UPDATE_SET or new == layout.NULL:
                    value = new
                elif value != layout.NULL and (how == layout.UPDATE_MIN) == (new < value):
                    value = new
            self.pending_values[row, k] = value
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _total(
        self,
        how: cython.int,
        slot: cython.int,
        column: cython.int,
        c: cython.int,
        e: cython.longlong,
    ) -> cython.longlong:
        """A total with the event's value added; a slot of -1 is that of no events."""
        if how <= layout.UPDATE_TALLY:
            counted: cython.longlong = 0 if slot < 0 else self.values[c, slot]
            return (
                counted + 1
                if how == layout.UPDATE_TALLY or self.columns[column, e] != layout.NULL
                else counted
            )
        self.known[0] = 0
        if slot >= 0:
            self._load(0, self.values[c, slot], self.real_values[c, slot])
        self._load(1, self.columns[column, e], self.real_columns[column, e])
        op: cython.int = layout.TERM_SUM_INT + how - layout.UPDATE_SUM_INT
        self._combine(op, 0)
        if not self.known[0]:
            return layout.NULL
        if op == layout.TERM_SUM_INT or op == layout.TERM_MIN_INT or op == layout.TERM_MAX_INT:
            return self.whole[0]
        self.real[1] = self.real[0] + 0.0  # the bits of -0.0 are NULL
        return self.bits[1]

    # ------------------------------------------------------------ terms

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _true(self, at: cython.int, c: cython.int, e: cython.longlong) -> cython.bint:
        """Whether a term is true."""
        top: cython.int = -1
        k: cython.int
        op: cython.int
        first: cython.int = at + layout.PROGRAM_ITEMS
        if self.programs[at + layout.PROGRAM_COUNT] == 3:
            op = self.programs[first + 2 * layout.STEP_WORDS + layout.STEP_OP]
            if (
                layout.TERM_EQUAL_INT <= op <= layout.TERM_GREATER_OR_EQUAL_FLOAT
                and self.programs[first + layout.STEP_OP] <= layout.TERM_SLOT
                and self.programs[first + layout.STEP_WORDS + layout.STEP_OP] <= layout.TERM_SLOT
            ):
                return self._compares(first, op, c, e)
        for k in range(self.programs[at + layout.PROGRAM_COUNT]):
            op = self.programs[first + layout.STEP_WORDS * k + layout.STEP_OP]
            which: cython.int = self.programs[first + layout.STEP_WORDS * k + layout.STEP_ARGUMENT]
            if op == layout.TERM_COLUMN:
                top += 1
                self._load(top, self.columns[which, e], self.real_columns[which, e])
            elif op == layout.TERM_SLOT:
                top += 1
                self._load(top, self.values[c, which], self.real_values[c, which])
            elif op == layout.TERM_CONSTANT:
                top += 1
                self._load(top, self.constants[which], self.real_constants[which])
            elif op < layout.TERM_ADD_INT:
                self._change(op, top)
            elif op == layout.TERM_DISTANCE:
                top -= 3
                self._distance(top)
            else:
                top -= 1
                self._combine(op, top)
        return self.known[0] and self.whole[0] != 0

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _compares(
        self, first: cython.int, op: cython.int, c: cython.int, e: cython.longlong
    ) -> cython.bint:
        """The commonest term, two values compared, without the stack."""
        second: cython.int = first + layout.STEP_WORDS
        left: cython.int = self.programs[first + layout.STEP_ARGUMENT]
        right: cython.int = self.programs[second + layout.STEP_ARGUMENT]
        in_slot: cython.bint = self.programs[first + layout.STEP_OP] == layout.TERM_SLOT
        other_in_slot: cython.bint = self.programs[second + layout.STEP_OP] == layout.TERM_SLOT
        a: cython.longlong = self.values[c, left] if in_slot else self.columns[left, e]
        b: cython.longlong = self.values[c, right] if other_in_slot else self.columns[right, e]
        if a == layout.NULL or b == layout.NULL:
            return False
        if op < layout.TERM_EQUAL_FLOAT:
            return _compared(op, a < b, a == b, a > b)
        x: cython.double = self.real_values[c, left] if in_slot else self.real_columns[left, e]
        y: cython.double = (
            self.real_values[c, right] if other_in_slot else self.real_columns[right, e]
        )
        return _compared(op - layout.TERM_EQUAL_FLOAT + layout.TERM_EQUAL_INT, x < y, x == y, x > y)

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _load(self, top: cython.int, whole: cython.longlong, real: cython.double) -> cython.int:
        self.whole[top] = whole
        self.real[top] = real
        self.known[top] = whole != layout.NULL
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _change(self, op: cython.int, t: cython.int) -> cython.int:
        """An operation on the value at the top."""
        if op == layout.TERM_IS_NULL or op == layout.TERM_KNOWN:
            self.whole[t] = self.known[t] == (op == layout.TERM_KNOWN)
            self.known[t] = 1
        elif not self.known[t]:
            return 0
        elif op == layout.TERM_TO_FLOAT:
            self.real[t] = cython.cast(cython.double, self.whole[t])
        elif op == layout.TERM_NEGATE_INT:
            self.whole[t] = -self.whole[t]
        elif op == layout.TERM_NEGATE_FLOAT:
            self.real[t] = -self.real[t]
        elif op == layout.TERM_ABS_INT:
            self.whole[t] = abs(self.whole[t])
        elif op == layout.TERM_ABS_FLOAT:
            self.real[t] = abs(self.real[t])
        elif op == layout.TERM_NOT:
            self.whole[t] = self.whole[t] == 0
        elif op == layout.TERM_SQRT:
            if self.real[t] < 0:
                self.known[t] = 0
            else:
                self.real[t] = sqrt(self.real[t])
        elif abs(self.real[t]) < INFINITY:
            self.real[t] = floor(self.real[t]) if op == layout.TERM_FLOOR else ceil(self.real[t])
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _combine(self, op: cython.int, t: cython.int) -> cython.int:
        """An operation on the two values at the top; the result takes the place of the first."""
        a: cython.longlong = self.whole[t]
        b: cython.longlong = self.whole[t + 1]
        x: cython.double = self.real[t]
        y: cython.double = self.real[t + 1]
        if op == layout.TERM_AND or op == layout.TERM_OR:
            decided: cython.bint = op == layout.TERM_OR  # what one side alone decides
            if (self.known[t] and (a != 0) == decided) or (
                self.known[t + 1] and (b != 0) == decided
            ):
                self.whole[t] = decided
                self.known[t] = 1
            else:
                self.whole[t] = not decided
                self.known[t] = self.known[t] and self.known[t + 1]
            return 0
        if layout.TERM_SUM_INT <= op <= layout.TERM_MAX_FLOAT and not (
            self.known[t] and self.known[t + 1]
        ):
            if self.known[t + 1]:
                self._load(t, b, y)
                self.known[t] = 1
            return 0
        self.known[t] = self.known[t] and self.known[t + 1]
        if not self.known[t]:
            return 0
        if op <= layout.TERM_MODULO_INT or op == layout.TERM_SUM_INT:
            self._calculate(op, t, a, b)
        elif op == layout.TERM_ADD_FLOAT or op == layout.TERM_SUM_FLOAT:
            self.real[t] = x + y
        elif op == layout.TERM_SUBTRACT_FLOAT:
            self.real[t] = x - y
        elif op == layout.TERM_MULTIPLY_FLOAT:
            self.real[t] = x * y
        elif op == layout.TERM_DIVIDE_FLOAT or op == layout.TERM_MODULO_FLOAT:
            if y == 0:
                self.known[t] = 0
            elif op == layout.TERM_DIVIDE_FLOAT:
                self.real[t] = x / y
            else:
                # an infinite dividend has no remainder, which plain Python refuses to compute
                self.real[t] = fmod(x, y) if abs(x) < INFINITY else NAN
        elif op <= layout.TERM_GREATER_OR_EQUAL_INT:
            self.whole[t] = _compared(op, a < b, a == b, a > b)
        elif op <= layout.TERM_GREATER_OR_EQUAL_FLOAT:
            self.whole[t] = _compared(
                op - layout.TERM_EQUAL_FLOAT + layout.TERM_EQUAL_INT, x < y, x == y, x > y
            )
        elif op == layout.TERM_MIN_INT or op == layout.TERM_LEAST_INT:
            self.whole[t] = min(a, b)
        elif op == layout.TERM_MAX_INT or op == layout.TERM_GREATEST_INT:
            self.whole[t] = max(a, b)
        elif (op == layout.TERM_LEAST_FLOAT or op == layout.TERM_GREATEST_FLOAT) and y != y:
            self.real[t] = y
        elif y < x if op == layout.TERM_MIN_FLOAT or op == layout.TERM_LEAST_FLOAT else y > x:
            self.real[t] = y
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _calculate(
        self, op: cython.int, t: cython.int, a: cython.longlong, b: cython.longlong
    ) -> cython.int:
        """Integers of 64 bits; what does not fit is NULL."""
        fits: cython.bint = True
        if op == layout.TERM_SUBTRACT_INT:
            fits = a >= b - LONGEST if b > 0 else a <= LONGEST + b
            if fits:
                self.whole[t] = a - b
        elif op == layout.TERM_MULTIPLY_INT:
            fits = b == 0 or abs(a) <= LONGEST // abs(b)
            if fits:
                self.whole[t] = a * b
        elif op == layout.TERM_MODULO_INT:
            fits = b != 0
            if fits:
                self.whole[t] = abs(a) % abs(b)
                if a < 0:
                    self.whole[t] = -self.whole[t]
        else:
            fits = a <= LONGEST - b if b > 0 else a >= -LONGEST - b
            if fits:
                self.whole[t] = a + b
        self.known[t] = fits
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _distance(self, t: cython.int) -> cython.int:
        """Great circle in metres between (latitude, longitude) and (latitude, longitude)."""
        if not (self.known[t] and self.known[t + 1] and self.known[t + 2] and self.known[t + 3]):
            self.known[t] = 0
            return 0
        k: cython.int
        for k in range(t, t + 4):
            if abs(self.real[k]) == INFINITY:
                self.known[t] = 0
                return 0
        north: cython.double = RADIANS * (self.real[t + 2] - self.real[t])
        east: cython.double = RADIANS * (self.real[t + 3] - self.real[t + 1])
        across: cython.double = cos(RADIANS * self.real[t]) * cos(RADIANS * self.real[t + 2])
        half: cython.double = sin(north / 2) ** 2 + across * sin(east / 2) ** 2
        self.real[t] = EARTH_DIAMETER_METRES * asin(sqrt(min(half, 1.0)))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _mark(self, label: cython.int, r: cython.int, unseen: cython.int) -> cython.int:
        """The partial matches of one configuration, each extended by this event."""
        ordinal: cython.longlong = self.base + self.event
        n: cython.int = 0
        if r:
            n = self._node(ordinal, self._start(r), r, label)
        if unseen == layout.UNSTARTED:
            n = self._meld(n, self._node(ordinal, self.measures[self.event], 0, label))
        elif unseen > 0:
            n = self._meld(n, self._node(ordinal, self._start(unseen), unseen, label))
        return n

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _send(
        self,
        to: cython.int,
        label: cython.int,
        r: cython.int,
        unseen: cython.int,
        c: cython.int,
        copy: cython.int,
        e: cython.longlong,
    ) -> cython.int:
        """What configuration c holds goes to a state, marking the event as the label says; it
        arrives when all have read the event."""
        n: cython.int = self.n_pending
        if n == self.pending.shape[0]:
            self.pending = _taller(self.pending, 2 * n)
            self.pending_values = _taller(self.pending_values, 2 * n)
            self.pending_starts = _longer(self.pending_starts, 2 * n, 0)
            self.arrivals = _longer(self.arrivals, 2 * n, 0)
        self.pending[n, layout.PENDING_STATE] = to
        self.pending[n, layout.PENDING_LABEL] = label
        self.pending[n, layout.PENDING_ROOT] = r
        self.pending[n, layout.PENDING_EMPTY] = unseen
        self.pending_starts[n] = self._start(r)
        if unseen == layout.UNSTARTED and label != layout.UNMARKED:
            self.pending_starts[n] = self.measures[e]
        elif unseen > 0 and r == 0:
            self.pending_starts[n] = self._start(unseen)
        self.arrivals[n] = n
        if copy >= 0:
            self._copy(copy, c, e, n)
        self.n_pending = n + 1
        return 0

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _settle(self) -> cython.int:
        """What is on its way arrives, and joins what agrees with it on state and values.

        Nodes are made in the order of their starts, and hung into heaps in the opposite order:
        what comes then goes below what came before, and of a heap hardly anything is copied.
        """
        i: cython.int
        k: cython.int
        label: cython.int
        self.made_now = self.used
        if self.n_pending > 1:
            self._sort_arrivals()
        for k in range(self.n_pending):
            i = self.arrivals[k]
            label = self.pending[i, layout.PENDING_LABEL]
            if label == layout.UNSEEN:
                self.pending[i, layout.PENDING_ROOT] = 0
                self.pending[i, layout.PENDING_EMPTY] = self._node(
                    self.base + self.event, self.measures[self.event], 0, layout.UNSEEN
                )
            elif label != layout.UNMARKED:
                self.pending[i, layout.PENDING_ROOT] = self._mark(
                    label,
                    self.pending[i, layout.PENDING_ROOT],
                    self.pending[i, layout.PENDING_EMPTY],
                )
                self.pending[i, layout.PENDING_EMPTY] = layout.NONE
        for k in range(self.n_pending - 1, -1, -1):
            i = self.arrivals[k]
            to: cython.int = self.pending[i, layout.PENDING_STATE]
            if to == self.closed:
                # out of its window, so nothing melds with it
                self.root[self._new(to, i)] = self.pending[i, layout.PENDING_ROOT]
                continue
            c: cython.int = self._find(to, i)
            if c < 0:
                c = self._new(to, i)
            self.root[c] = self._meld(self.root[c], self.pending[i, layout.PENDING_ROOT])
            self.empty[c] = self._later(self.empty[c], self.pending[i, layout.PENDING_EMPTY])
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _sort_arrivals(self) -> cython.int:
        """By start, ascending (Shell's sort: as a rule there are very few)."""
        n: cython.int = self.n_pending
        gap: cython.int = 1
        i: cython.int
        j: cython.int
        while 3 * gap + 1 < n:
            gap = 3 * gap + 1
        while gap:
            for i in range(gap, n):
                row: cython.int = self.arrivals[i]
                start: cython.longlong = self.pending_starts[row]
                j = i
                while j >= gap and self.pending_starts[self.arrivals[j - gap]] > start:
                    self.arrivals[j] = self.arrivals[j - gap]
                    j -= gap
                self.arrivals[j] = row
            gap = gap // 3
        return 0

    # ------------------------------------------------------------ configurations

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _bucket(self, s: cython.int, value: cython.longlong) -> cython.longlong:
        mixed: cython.ulonglong = cython.cast(cython.ulonglong, value & LOW_63)
        mixed = (mixed ^ (mixed >> 29)) * PRIME + cython.cast(cython.ulonglong, s)
        if not cython.compiled:
            mixed = mixed & ((1 << 64) - 1)
        # there are as many buckets as a power of two
        return cython.cast(cython.longlong, mixed >> 20) & (self.buckets.shape[0] - 1)

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _find(self, s: cython.int, row: cython.int) -> cython.int:
        """The configuration of state s with the values of a pending row, or -1."""
        slots: cython.int = self.slot_counts[s]
        if slots == 0:
            return self.first[s]
        c: cython.int = self.buckets[self._bucket(s, self.pending_values[row, 0])]
        k: cython.int
        while c >= 0:
            if self.state_of[c] == s:
                k = 0
                while k < slots and self.values[c, k] == self.pending_values[row, k]:
                    k += 1
                if k == slots:
                    return c
            c = self.chain[c]
        return -1

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _new(self, s: cython.int, row: cython.int) -> cython.int:
        """A configuration of state s, with the values of a pending row."""
        c: cython.int = self.free
        if c >= 0:
            self.free = self.following[c]
        else:
            if self.made == self.root.shape[0]:
                self._room_for_configurations(2 * self.made)
            c = self.made
            self.made += 1
        if not self.is_active[s]:
            self.is_active[s] = 1
            self.active[self.n_active] = s
            self.n_active += 1
        self.state_of[c] = s
        self.root[c] = 0
        self.empty[c] = layout.NONE
        self.preceding[c] = -1
        self.following[c] = self.first[s]
        if self.first[s] >= 0:
            self.preceding[self.first[s]] = c
        self.first[s] = c
        self.n_configurations += 1
        self.n_accepting += self.accepting[s]
        k: cython.int
        if self.slot_counts[s]:
            for k in range(self.slot_counts[s]):
                self.values[c, k] = self.pending_values[row, k]
            self._enter_chain(c)
        return c

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _enter_chain(self, c: cython.int) -> cython.int:
        b: cython.longlong = self._bucket(self.state_of[c], self.values[c, 0])
        self.chain[c] = self.buckets[b]
        self.buckets[b] = c
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _drop(self, c: cython.int) -> cython.int:
        """Forget a configuration; its state may be left without any (`_forget_empty`)."""
        s: cython.int = self.state_of[c]
        if self.preceding[c] >= 0:
            self.following[self.preceding[c]] = self.following[c]
        else:
            self.first[s] = self.following[c]
        if self.following[c] >= 0:
            self.preceding[self.following[c]] = self.preceding[c]
        if self.slot_counts[s]:
            b: cython.longlong = self._bucket(s, self.values[c, 0])
            other: cython.int = self.buckets[b]
            if other == c:
                self.buckets[b] = self.chain[c]
            else:
                while self.chain[other] != c:
                    other = self.chain[other]
                self.chain[other] = self.chain[c]
        self.state_of[c] = -1
        self.following[c] = self.free
        self.free = c
        self.n_configurations -= 1
        self.n_accepting -= self.accepting[s]
        return 0

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _later(self, a: cython.int, b: cython.int) -> cython.int:
        """Of two partial matches that have shown nothing, the one that expires later."""
        if a == layout.UNSTARTED or b == layout.UNSTARTED:
            return layout.UNSTARTED
        if a == layout.NONE or b == layout.NONE:
            return a if b == layout.NONE else b
        return a if self._start(a) >= self._start(b) else b

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _forget_empty(self) -> cython.int:
        kept: cython.int = 0
        i: cython.int
        for i in range(self.n_active):
            s: cython.int = self.active[i]
            if self.first[s] >= 0:
                self.active[kept] = s
                kept += 1
            else:
                self.is_active[s] = 0
        self.n_active = kept
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _skip(self, skipped: cython.longlong) -> cython.int:
        """Events went by that satisfy no atom: states that cannot wait are left."""
        i: cython.int
        while skipped > 0:
            self.n_pending = 0
            moved: cython.bint = False
            for i in range(self.n_active):
                s: cython.int = self.active[i]
                to: cython.int = self.gap_to[s]
                if to == layout.UNKNOWN:
                    to = self.table.expand_gap(s)
                    self.load_table()
                if to != s:
                    moved = True
                    while self.first[s] >= 0:
                        c: cython.int = self.first[s]
                        if to != layout.NONE:
                            self._send(
                                to,
                                layout.UNMARKED,
                                self.root[c],
                                self.empty[c],
                                c,
                                self.gap_copy[s],
                                0,
                            )
                        self._drop(c)
            if not moved:
                return 0
            self._settle()
            self._forget_empty()
            skipped -= 1
        return 0

    # ------------------------------------------------------------ keys

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _begin(self) -> cython.int:
        """Evaluation starts (anew): one partial match that has seen nothing."""
        self._drop_all()
        self.empty[self._new(self.table.initial, 0)] = layout.UNSTARTED
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _drop_all(self) -> cython.int:
        i: cython.int
        for i in range(self.n_active):
            s: cython.int = self.active[i]
            while self.first[s] >= 0:
                self._drop(self.first[s])
            self.is_active[s] = 0
        self.n_active = 0
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _take_up(self, key: cython.int) -> cython.int:
        """Take up the configurations of a key where they were left."""
        self.position = self.last_position[key]
        if self.position < 0:
            self._begin()
            return 0
        self._drop_all()
        i: cython.longlong
        k: cython.int
        for i in range(self.carry_from[key], self.carry_to[key]):
            for k in range(self.n_slots):
                self.pending_values[0, k] = self.carry[i, layout.CARRY_VALUES + k]
            c: cython.int = self._new(cython.cast(cython.int, self.carry[i, layout.CARRY_STATE]), 0)
            self.root[c] = cython.cast(cython.int, self.carry[i, layout.CARRY_ROOT])
            self.empty[c] = cython.cast(cython.int, self.carry[i, layout.CARRY_EMPTY])
        self.carry_to[key] = self.carry_from[key]
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _save(self, key: cython.int) -> cython.int:
        """Put down the configurations of a key."""
        i: cython.int
        k: cython.int
        self.last_position[key] = self.position
        self.carry_from[key] = self.n_carry
        for i in range(self.n_active):
            c: cython.int = self.first[self.active[i]]
            while c >= 0:
                if self.n_carry == self.carry.shape[0]:
                    self.carry = _taller(self.carry, 2 * self.n_carry + 64)
                self.carry[self.n_carry, layout.CARRY_STATE] = self.state_of[c]
                self.carry[self.n_carry, layout.CARRY_ROOT] = self.root[c]
                self.carry[self.n_carry, layout.CARRY_EMPTY] = self.empty[c]
                for k in range(self.n_slots):
                    self.carry[self.n_carry, layout.CARRY_VALUES + k] = self.values[c, k]
                self.n_carry += 1
                c = self.following[c]
        self.carry_to[key] = self.n_carry
        return 0

    def clear_keys(self):
        """No key has been seen."""
        self.carry_from = self.carry_to = np.zeros(0, np.int64)
        self.carry = np.zeros((64, layout.CARRY_VALUES + self.n_slots), np.int64)
        self.n_carry = 0
        self.carry_at = 1 << 10
        self.last_position = np.zeros(0, np.int64)
        self.last_floor = np.zeros(0, np.int64)
        self.key_of = np.zeros(0, np.int32)
        self.loaded = False

    def shed(self):
        """Drop the partial matches of the key at hand, to be under the limits again."""
        self._begin()

    def start_over(self, report_from):
        """Forget everything; from now on report only matches that end at this event or later."""
        self._drop_all()
        self.clear_keys()
        self.used = 1
        self.report_from = report_from

    def renumber(self, table, numbers):
        """Go on with another table, in which state s has the number numbers[s]."""
        self._drop_all()  # what was left in the old numbers; it has been put down
        self.table = table
        if self.closes:
            self.closed = table.closed_state()
        self.load_table()
        carry = self._carried()
        carry[:, layout.CARRY_STATE] = numbers[carry[:, layout.CARRY_STATE]]

    def carried_values(self):
        """The values that some key's configurations hold in slots."""
        return np.unique(self._carried()[:, layout.CARRY_VALUES :])

    def carried_states(self):
        """The states that some key's configurations are in."""
        return np.unique(self._carried()[:, layout.CARRY_STATE])

    def begin_anew(self, key):
        """One key's evaluation starts anew after its last event (CONSUME BY PARTITION)."""
        self._carry_anew(np.array([key]))

    def begin_others_anew(self, key):
        """Every other key's evaluation starts anew after its last event (CONSUME BY ANY)."""
        seen = np.asarray(self.last_position) >= 0
        seen[key] = False
        self._carry_anew(np.flatnonzero(seen))

    def _carry_anew(self, keys):
        """One partial match that has seen nothing, for each of these keys."""
        anew = np.zeros((len(keys), layout.CARRY_VALUES + self.n_slots), np.int64)
        anew[:, layout.CARRY_STATE] = self.table.initial
        np.asarray(self.carry_to)[keys] = np.asarray(self.carry_from)[keys]
        begin = len(self._carried())
        self.carry = np.concatenate([self._carried(), anew])
        self.n_carry = begin + len(keys)
        np.asarray(self.carry_from)[keys] = begin + np.arange(len(keys))
        np.asarray(self.carry_to)[keys] = begin + np.arange(len(keys)) + 1

    def _carried(self):
        """The rows that some key carries, in the order of the keys, after moving them together."""
        begins = np.asarray(self.carry_from)
        sizes = np.asarray(self.carry_to) - begins
        ends = np.cumsum(sizes)
        rows = np.arange(int(sizes.sum())) + np.repeat(begins - (ends - sizes), sizes)
        carry = np.zeros((max(64, 2 * len(rows)), layout.CARRY_VALUES + self.n_slots), np.int64)
        carry[: len(rows)] = np.asarray(self.carry)[rows]
        self.carry = carry
        self.n_carry = len(rows)
        self.carry_from = ends - sizes
        self.carry_to = ends
        return carry[: len(rows)]

    # ------------------------------------------------------------ a batch of events

    def feed(self, events, keys):
        """Get ready to read a batch: arrays sorted by group, and the number of keys known."""
        self.classes = events.classes
        self.positions = events.positions
        self.measures = events.measures
        self.floors = events.floors
        if self.n_slots:
            self.columns = events.columns
            self.real_columns = events.columns.view(np.float64)
        self.shown = events.shown
        self.key_of = events.key_of
        self.group_ends = events.group_ends
        self.base = events.base
        self.known_from = events.known_from
        self.known_floors = events.known_floors
        if self.watching:
            self.waiting = events.waiting
        old = self.last_position.shape[0]
        if keys > old:
            self.last_position = _longer(self.last_position, keys, -1)
            self.last_floor = _longer(self.last_floor, keys, layout.NO_BOUND)
            self.carry_from = _longer(self.carry_from, keys, 0)
            self.carry_to = _longer(self.carry_to, keys, 0)
        self.event = 0
        self.group = 0
        self.loaded = False
        self.produced = False
        self.expiring = False

    def expire(self, events, keys):
        """Get ready to read no event but the passing of time: one row per key, with its floor."""
        self.feed(events, keys)
        self.expiring = True

    def waiting_keys(self):
        """The keys with partial matches that wait for their window to pass."""
        waits = np.asarray(self.closing)[self._carried()[:, layout.CARRY_STATE]] > 0
        sizes = np.asarray(self.carry_to) - np.asarray(self.carry_from)
        keys = np.repeat(np.arange(len(sizes)), sizes)
        return np.unique(keys[waits]).astype(np.int32)

    def use_chunk(self, chunk):
        """Write matches here from now on."""
        self.out_events = chunk.events
        self.out_labels = chunk.labels
        self.out_offsets = chunk.offsets
        self.out_first = chunk.first
        self.out_last = chunk.last
        self.out_at = chunk.at
        self.out_counts = chunk.counts
        self.out_totals = chunk.totals
        self.out_offsets[0] = 0
        self.n_matches = 0
        self.n_cells = 0

    def let_go(self):
        """Hold on to the chunk no longer."""
        self.out_events = self.out_first = self.out_last = self.out_at = np.zeros(0, np.int64)
        self.out_labels = self.out_offsets = np.zeros(0, np.int32)
        self.out_counts = np.zeros(0)
        self.out_totals = np.zeros((0, 0))

    def run(self):
        """Read events until the batch is FINISHED, the CHUNK_FULL, or a limit is reached.

        After a limit one may go on: matches past theirs were left out; for the others `shed`.
        """
        n: cython.longlong = self.classes.shape[0]
        while True:
            if self.reporting >= 0:
                if not self._report():
                    return layout.CHUNK_FULL
                self._leave_event()
                if self.cut_short:
                    self.cut_short = False
                    return layout.TOO_MANY_MATCHES
            if self.event == n:
                break
            if not self.loaded:
                self._take_up(self.key_of[self.group])
                self.loaded = True
            if self.used > self.sweep_at or self.cells > self.sweep_cells_at:
                self._sweep()
                if self.used > self.max_nodes:
                    return layout.TOO_MANY_NODES
            if self.n_configurations > self.max_configurations:
                return layout.TOO_MANY_CONFIGURATIONS
            self._step(self.event)
            if self.n_accepting and self.event >= self.report_from and self._anything_accepted():
                self.reporting = 0
                self.reported = 0
                self.height = 0
            else:
                self._leave_event()
        if self.n_carry > self.carry_at:
            self.carry_at = max(1 << 10, 4 * len(self._carried()))
        self.key_of = np.zeros(0, np.int32)
        return layout.FINISHED

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _leave_event(self) -> cython.int:
        """On to the next event; at the last one of a group, its configurations are put down."""
        self.event += 1
        if self.event == self.group_ends[self.group]:
            key: cython.int = self.key_of[self.group]
            self.last_floor[key] = self.floors[self.event - 1]
            self._save(key)
            self.group += 1
            self.loaded = False
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _anything_accepted(self) -> cython.bint:
        i: cython.int
        for i in range(self.n_active):
            if self.accepting[self.active[i]]:
                c: cython.int = self.first[self.active[i]]
                while c >= 0:
                    if self.root[c]:
                        return True
                    c = self.following[c]
        return False

    # ------------------------------------------------------------ reporting

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _report(self) -> cython.bint:
        """Write the matches that are accepted at this event; False when the chunk is full."""
        while True:
            if self.height:
                if not self._walk():
                    return False
            if self.limit >= 0 and self.reported >= self.limit:
                self.height = 0
                break
            if self.cut_short:
                break
            if self.report_next >= 0:
                c: cython.int = self.report_next
                self.report_next = self.following[c]
                if self.root[c] and self.state_of[c] == self.closed:
                    self.walk_bound = layout.NO_BOUND
                    self._push(self.root[c], 0)
                elif self.root[c] and self._start(self.root[c]) >= self.bound:
                    self.walk_bound = self.bound
                    self._push(self.root[c], 0)
            elif self.reporting < self.n_active:
                # the passing of time is no event: what the last one has accepted is reported
                s: cython.int = self.active[self.reporting]
                if self.accepting[s] and (s == self.closed or not self.expiring):
                    self.report_next = self.first[s]
                self.reporting += 1
            else:
                break
        return self._reported()

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _reported(self) -> cython.bint:
        """All matches of this event have been written."""
        self.reporting = -1
        self.report_next = -1
        if self.reported:
            self.produced = True
            if self.consuming:
                self._begin()
        return True

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _push(self, n: cython.int, depth: cython.int) -> cython.int:
        if self.height == self.stack.shape[0]:
            self.stack = _taller(self.stack, 2 * self.height)
        self.stack[self.height, layout.WALK_NODE] = n
        self.stack[self.height, layout.WALK_DEPTH] = depth
        self.height += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _walk(self) -> cython.bint:
        """Depth first: an event, all that it extends, then the other choices at its depth.

        path[d] is what is shown of the event chosen at depth d, latest first. On the stack, a
        depth below zero stands for a match that is on the path but was not written: the chunk
        was full, and False is returned.
        """
        wide: cython.longlong[:, ::1] = self.wide
        thin: cython.int[:, ::1] = self.thin
        shown: cython.longlong[::1] = self.shown
        path: cython.longlong[::1] = self.path
        path_label: cython.int[::1] = self.path_label
        stack: cython.int[:, ::1] = self.stack
        out: cython.longlong[::1] = self.out_events
        known_from: cython.longlong = self.known_from
        bound: cython.longlong = self.walk_bound
        own_bounds: cython.bint = self.open_ended and self.windowed
        n: cython.int
        other: cython.int
        depth: cython.int
        d: cython.int
        at: cython.int
        while self.height:
            if self.limit >= 0 and self.reported >= self.limit:
                self.height = 0
                return True
            if self.reported >= self.max_matches:
                self.height = 0
                self.cut_short = True
                return True
            self.height -= 1
            n = stack[self.height, layout.WALK_NODE]
            depth = stack[self.height, layout.WALK_DEPTH]
            if depth < 0:
                if not self._emit(n, -1 - depth):
                    return False
                continue
            if depth == 0:
                # the last event shown is not the last of the match if that is not selected
                self.walk_end = self.base + self.event
                if self.open_ended or self.ends_at_marks:
                    self.walk_end = wide[n, layout.NODE_EVENT]
                self.walk_at = self.walk_end if self.expiring else self.base + self.event
                if own_bounds:
                    self._push_siblings(n)
                    stack = self.stack
                    bound = self.walk_bound = self.known_floors[
                        wide[n, layout.NODE_EVENT] - known_from
                    ]
                    if wide[n, layout.NODE_START] < bound:
                        continue
            while True:
                if depth == path.shape[0]:
                    self.path = path = _longer(path, 2 * depth, 0)
                    self.path_label = path_label = _longer(path_label, 2 * depth, 0)
                if self.height + 2 >= stack.shape[0]:
                    self.stack = stack = _taller(stack, 2 * stack.shape[0])
                path[depth] = shown[wide[n, layout.NODE_EVENT] - known_from]
                path_label[depth] = thin[n, layout.NODE_TAG] >> layout.RANK_BITS
                if depth or not own_bounds:
                    other = thin[n, layout.NODE_RIGHT]
                    if other and wide[other, layout.NODE_START] >= bound:
                        stack[self.height, layout.WALK_NODE] = other
                        stack[self.height, layout.WALK_DEPTH] = depth
                        self.height += 1
                    other = thin[n, layout.NODE_LEFT]
                    if other and wide[other, layout.NODE_START] >= bound:
                        stack[self.height, layout.WALK_NODE] = other
                        stack[self.height, layout.WALK_DEPTH] = depth
                        self.height += 1
                other = thin[n, layout.NODE_LINK]
                if other == 0:
                    break
                n = other
                depth += 1
            at = self.n_cells
            if (
                self.with_labels
                or self.n_matches == self.out_first.shape[0]
                or at + depth >= out.shape[0]
            ):
                if not self._emit(n, depth):
                    return False
                continue
            # the same as _emit, without labels and with room
            self.out_first[self.n_matches] = wide[n, layout.NODE_EVENT]
            self.out_last[self.n_matches] = self.walk_end
            self.out_at[self.n_matches] = self.walk_at
            for d in range(depth, -1, -1):
                out[at] = path[d]
                at += 1
            self.n_cells = at
            self.n_matches += 1
            self.out_offsets[self.n_matches] = at
            self.reported += 1
        return True

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _push_siblings(self, n: cython.int) -> cython.int:
        if self.thin[n, layout.NODE_RIGHT]:
            self._push(self.thin[n, layout.NODE_RIGHT], 0)
        if self.thin[n, layout.NODE_LEFT]:
            self._push(self.thin[n, layout.NODE_LEFT], 0)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _shows(self, depth: cython.int) -> cython.bint:
        """Whether something of the match on the path is selected."""
        d: cython.int
        for d in range(depth + 1):
            if self.path_label[d] > layout.HIDDEN:
                return True
        return False

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _emit(self, first: cython.int, depth: cython.int) -> cython.bint:
        """Write the match on the path, whose earliest event is that of node `first`."""
        at: cython.int = self.n_cells
        m: cython.int = self.n_matches
        if self.must_show and not self._shows(depth):
            return True
        if m == self.out_first.shape[0] or at + depth + 1 > self.out_events.shape[0]:
            self._push(first, -1 - depth)
            return False
        self.out_first[m] = self.wide[first, layout.NODE_EVENT]
        self.out_last[m] = self.walk_end
        self.out_at[m] = self.walk_at
        d: cython.int
        if self.with_labels:
            for d in range(depth, -1, -1):
                if self.path_label[d] != layout.UNSEEN:
                    self.out_labels[at] = self.path_label[d]
                    self.out_events[at] = self.path[d]
                    at += 1
        else:
            for d in range(depth, -1, -1):
                self.out_events[at] = self.path[d]
                at += 1
        self.n_cells = at
        self.n_matches = m + 1
        self.out_offsets[m + 1] = at
        self.reported += 1
        return True

    # ------------------------------------------------------------ garbage

    def sweep(self):
        """Sweep now (between batches), and put away configurations that have no match left."""
        self.bound = layout.NO_BOUND
        self._sweep()
        carry = self._carried()
        alive = (carry[:, layout.CARRY_ROOT] > 0) | (carry[:, layout.CARRY_EMPTY] != layout.NONE)
        before = np.concatenate([[0], np.cumsum(alive)])
        self.carry_from = before[np.asarray(self.carry_from)]
        self.carry_to = before[np.asarray(self.carry_to)]
        self.n_carry = np.count_nonzero(alive)
        carry[: self.n_carry] = carry[alive]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _sweep(self) -> cython.int:
        """Two passes over the ids (invariant 2): down to mark, up to move the live ones.

        A live node learns from what points to it how old a start may be to count.
        """
        self.sweeps += 1
        bounds: cython.longlong[::1] = filled(self.used, layout.NO_BOUND, np.int64)
        moved: cython.int[::1] = filled(self.used, 0, np.int32)
        i: cython.longlong
        k: cython.longlong
        n: cython.int
        here: cython.longlong = layout.NO_BOUND
        pruned: cython.bint = self.windowed and not self.open_ended
        c: cython.int
        if self.loaded:
            if pruned:
                here = self.floors[self.event]
            for c in range(self.made):
                if self.state_of[c] >= 0:
                    # what waits for its window to pass is needed then
                    waits: cython.bint = self.closing[self.state_of[c]]
                    self.root[c] = self._reach(
                        self.root[c], layout.NO_BOUND if waits else here, bounds, moved
                    )
                    self.empty[c] = self._reach_unseen(self.empty[c], here, bounds, moved)
        for k in range(self.carry_from.shape[0]):
            here = layout.NO_BOUND
            if pruned:
                here = self.last_floor[k]
            for i in range(self.carry_from[k], self.carry_to[k]):
                waits = self.closing[self.carry[i, layout.CARRY_STATE]]
                self._reach_row(i, layout.NO_BOUND if waits else here, bounds, moved)
        for n in range(self.used - 1, 0, -1):
            if moved[n]:
                self._reach(self._link(n), bounds[n], bounds, moved)
                self.thin[n, layout.NODE_LEFT] = self._reach(
                    self.thin[n, layout.NODE_LEFT], bounds[n], bounds, moved
                )
                self.thin[n, layout.NODE_RIGHT] = self._reach(
                    self.thin[n, layout.NODE_RIGHT], bounds[n], bounds, moved
                )
        live: cython.int = 1
        for n in range(1, self.used):
            if moved[n]:
                moved[n] = live
                self.wide[live, layout.NODE_EVENT] = self.wide[n, layout.NODE_EVENT]
                self.wide[live, layout.NODE_START] = self._start(n)
                self.thin[live, layout.NODE_LINK] = moved[self._link(n)]
                self.thin[live, layout.NODE_TAG] = self.thin[n, layout.NODE_TAG]
                # what was cut off may have been the higher side
                self._set_children(
                    live,
                    moved[self.thin[n, layout.NODE_LEFT]],
                    moved[self.thin[n, layout.NODE_RIGHT]],
                )
                live += 1
        if self.loaded:
            for c in range(self.made):
                if self.state_of[c] >= 0:
                    self.root[c] = moved[self.root[c]]
                    if self.empty[c] > 0:
                        self.empty[c] = moved[self.empty[c]]
                    if self.root[c] == 0 and self.empty[c] == layout.NONE:
                        self._drop(c)
            self._forget_empty()
        for k in range(self.carry_from.shape[0]):
            for i in range(self.carry_from[k], self.carry_to[k]):
                self.carry[i, layout.CARRY_ROOT] = moved[self.carry[i, layout.CARRY_ROOT]]
                if self.carry[i, layout.CARRY_EMPTY] > 0:
                    self.carry[i, layout.CARRY_EMPTY] = moved[self.carry[i, layout.CARRY_EMPTY]]
        self.used = live
        self.sweep_at = max(self.sweep_from, 2 * live)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _reach_row(
        self,
        i: cython.longlong,
        bound: cython.longlong,
        bounds: cython.longlong[::1],
        moved: cython.int[::1],
    ) -> cython.int:
        r: cython.int = cython.cast(cython.int, self.carry[i, layout.CARRY_ROOT])
        unseen: cython.int = cython.cast(cython.int, self.carry[i, layout.CARRY_EMPTY])
        self.carry[i, layout.CARRY_ROOT] = self._reach(r, bound, bounds, moved)
        self.carry[i, layout.CARRY_EMPTY] = self._reach_unseen(unseen, bound, bounds, moved)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def _reach(
        self,
        n: cython.int,
        bound: cython.longlong,
        bounds: cython.longlong[::1],
        moved: cython.int[::1],
    ) -> cython.int:
        """Mark a node as live if its start is inside the window; 0 if it is not."""
        if n == 0 or self._start(n) < bound:
            return 0
        bounds[n] = min(bound, bounds[n]) if moved[n] else bound
        moved[n] = 1
        return n

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def _reach_unseen(
        self,
        n: cython.int,
        bound: cython.longlong,
        bounds: cython.longlong[::1],
        moved: cython.int[::1],
    ) -> cython.int:
        if n <= 0:
            return n
        return n if self._reach(n, bound, bounds, moved) else layout.NONE

    # ------------------------------------------------------------ snapshots and measures

    def oldest(self):
        """The smallest ordinal that a live node refers to (after a sweep), or None."""
        if self.used == 1:
            return None
        return int(np.asarray(self.wide)[1 : self.used, layout.NODE_EVENT].min())

    def save(self):
        """Everything that must outlive this process, as arrays (call `sweep` before)."""
        return {
            "nodes": np.asarray(self.wide)[: self.used].copy(),
            "carry": self._carried().copy(),
            "carry_from": np.append(np.asarray(self.carry_from), self.n_carry),
            "last_position": np.asarray(self.last_position).copy(),
            "last_floor": np.asarray(self.last_floor).copy(),
        }

    def restore(self, saved):
        nodes = np.zeros((max(1024, 2 * len(saved["nodes"])), layout.NODE_WORDS), np.int64)
        nodes[: len(saved["nodes"])] = saved["nodes"]
        self._set_nodes(nodes)
        self.used = len(saved["nodes"])
        self.sweep_at = max(self.sweep_from, 2 * self.used)
        self.carry_from = saved["carry_from"][:-1].copy()
        self.carry_to = saved["carry_from"][1:].copy()
        self.carry = saved["carry"].copy()
        self.n_carry = len(saved["carry"])
        self.last_position = saved["last_position"].copy()
        self.last_floor = saved["last_floor"].copy()

    @property
    def match_count(self):
        return self.n_matches

    @property
    def cell_count(self):
        return self.n_cells

    @property
    def node_count(self):
        return self.used - 1

    @property
    def configuration_count(self):
        return self.n_configurations

    @property
    def sweep_count(self):
        return self.sweeps

    @property
    def has_produced(self):
        return self.produced

    @property
    def key_count(self):
        return self.last_position.shape[0]

    @property
    def floors_of_keys(self):
        """The floor of the last event of every key."""
        return np.asarray(self.last_floor)

    @property
    def where(self):
        """The event being read: its index in the batch, and its key."""
        return self.event, (self.key_of[self.group] if self.group < self.key_of.shape[0] else -1)


@cython.cclass
class CountingKernel(Kernel):
    """Counts matches without listing them.

    Where the kernel has a heap of partial matches, this one has a vector: how many of them start
    at which measure, in ascending order. A vector is a node with the offset of its cells in place
    of the event, their number in place of the link, and the last start as its `start`, so that
    windows and merging work as they do for heaps. Counts are exact up to 2**53.

    Totals over all matches are kept beside the counts: adding an event of value v to n partial
    matches adds n·v to their sum, and lets v into their smallest and largest. `adds[label, t]`
    says whether an event so labelled counts for total t, `how[t]` which kind of total it is.
    """

    def __init__(self, table, options):
        Kernel.__init__(self, table, options)
        self.how = np.array(options.totals, np.int32)
        self.vector_starts = np.zeros(1 << 12, np.int64)
        self.vector_counts = np.zeros(1 << 12)
        self.vector_totals = np.zeros((1 << 12, len(options.totals)))
        self.adds = np.zeros((0, len(options.totals)), np.uint8)
        self.amounts = np.zeros((0, len(options.totals)))

    def use_totals(self, amounts, adds):
        """The values of the events of the next batch, and which labels they count for."""
        self.amounts = amounts
        self.adds = adds

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _room_for_cells(self, more: cython.longlong) -> cython.int:
        size: cython.longlong = self.vector_starts.shape[0]
        if self.cells + more > size:
            self.vector_starts = _longer(self.vector_starts, 2 * size + more, 0)
            self.vector_counts = _longer(self.vector_counts, 2 * size + more, 0)
            self.vector_totals = _taller(self.vector_totals, 2 * size + more)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _put(self, start: cython.longlong, count: cython.double) -> cython.int:
        self.vector_starts[self.cells] = start
        self.vector_counts[self.cells] = count
        self.cells += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _total_nothing(self, cell: cython.longlong) -> cython.int:
        """The totals of partial matches without any event that counts."""
        t: cython.int
        for t in range(self.how.shape[0]):
            self.vector_totals[cell, t] = _nothing(self.how[t])
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _total_into(
        self, cell: cython.longlong, totals: cython.double[:, ::1], other: cython.longlong
    ) -> cython.int:
        """The totals of other partial matches join those of a cell."""
        t: cython.int
        for t in range(self.how.shape[0]):
            self.vector_totals[cell, t] = _joined(
                self.how[t], self.vector_totals[cell, t], totals[other, t]
            )
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _total_event(self, begin: cython.longlong, label: cython.int) -> cython.int:
        """This event is added to all partial matches of the cells from `begin` on."""
        t: cython.int
        i: cython.longlong
        for t in range(self.how.shape[0]):
            amount: cython.double = self.amounts[self.event, t]
            if self.adds[label, t] and amount == amount:  # not NULL
                for i in range(begin, self.cells):
                    if self.how[t] == layout.TOTAL_SUM:
                        self.vector_totals[i, t] += self.vector_counts[i] * amount
                    else:
                        self.vector_totals[i, t] = _joined(
                            self.how[t], self.vector_totals[i, t], amount
                        )
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _vector(self, begin: cython.longlong) -> cython.int:
        """The cells from `begin` on as a vector (0 if there are none)."""
        if self.cells == begin:
            return 0
        size: cython.int = cython.cast(cython.int, self.cells - begin)
        return self._node(begin, self.vector_starts[self.cells - 1], size, 0)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _mark(self, label: cython.int, r: cython.int, unseen: cython.int) -> cython.int:
        begin: cython.longlong = self.cells
        i: cython.longlong
        if r:
            self._room_for_cells(self.thin[r, layout.VECTOR_SIZE] + 1)
            begin = self.cells
            for i in range(
                self.wide[r, layout.VECTOR_BEGIN],
                self.wide[r, layout.VECTOR_BEGIN] + self.thin[r, layout.VECTOR_SIZE],
            ):
                if self.vector_starts[i] >= self.bound:
                    self._total_nothing(self.cells)
                    self._total_into(self.cells, self.vector_totals, i)
                    self._put(self.vector_starts[i], self.vector_counts[i])
        if unseen == layout.UNSTARTED:
            now: cython.longlong = self.measures[self.event]
            self._room_for_cells(1)
            if self.cells > begin and self.vector_starts[self.cells - 1] == now:
                self.vector_counts[self.cells - 1] += 1
            else:
                self._total_nothing(self.cells)
                self._put(now, 1)
        self._total_event(begin, label)
        return self._vector(begin)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        if a == 0 or self.wide[a, layout.VECTOR_START] < self.bound:
            return b
        if b == 0 or self.wide[b, layout.VECTOR_START] < self.bound:
            return a
        self._room_for_cells(self.thin[a, layout.VECTOR_SIZE] + self.thin[b, layout.VECTOR_SIZE])
        begin: cython.longlong = self.cells
        i: cython.longlong = self.wide[a, layout.VECTOR_BEGIN]
        j: cython.longlong = self.wide[b, layout.VECTOR_BEGIN]
        i_end: cython.longlong = i + self.thin[a, layout.VECTOR_SIZE]
        j_end: cython.longlong = j + self.thin[b, layout.VECTOR_SIZE]
        while i < i_end or j < j_end:
            if j == j_end or (i < i_end and self.vector_starts[i] < self.vector_starts[j]):
                if self.vector_starts[i] >= self.bound:
                    self._total_nothing(self.cells)
                    self._total_into(self.cells, self.vector_totals, i)
                    self._put(self.vector_starts[i], self.vector_counts[i])
                i += 1
            elif i == i_end or self.vector_starts[j] < self.vector_starts[i]:
                if self.vector_starts[j] >= self.bound:
                    self._total_nothing(self.cells)
                    self._total_into(self.cells, self.vector_totals, j)
                    self._put(self.vector_starts[j], self.vector_counts[j])
                j += 1
            else:
                if self.vector_starts[i] >= self.bound:
                    self._total_nothing(self.cells)
                    self._total_into(self.cells, self.vector_totals, i)
                    self._total_into(self.cells, self.vector_totals, j)
                    self._put(self.vector_starts[i], self.vector_counts[i] + self.vector_counts[j])
                i += 1
                j += 1
        return self._vector(begin)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _report(self) -> cython.bint:
        """One row per event at which matches are accepted: how many."""
        total: cython.double = 0
        i: cython.int
        k: cython.longlong
        self._room_for_cells(1)
        self._total_nothing(self.cells)  # the cell after the last is free to add up in
        for i in range(self.n_active):
            if self.accepting[self.active[i]]:
                c: cython.int = self.first[self.active[i]]
                while c >= 0:
                    r: cython.int = self.root[c]
                    if r:
                        for k in range(
                            self.wide[r, layout.VECTOR_BEGIN],
                            self.wide[r, layout.VECTOR_BEGIN] + self.thin[r, layout.VECTOR_SIZE],
                        ):
                            if self.vector_starts[k] >= self.bound:
                                total += self.vector_counts[k]
                                self._total_into(self.cells, self.vector_totals, k)
                    c = self.following[c]
        if self.limit >= 0 and total > self.limit:
            total = self.limit
        if total > 0:
            m: cython.int = self.n_matches
            if m == self.out_at.shape[0]:
                return False
            self.out_first[m] = self.out_last[m] = self.out_at[m] = self.base + self.event
            self.out_counts[m] = total
            for i in range(self.how.shape[0]):
                self.out_totals[m, i] = self.vector_totals[self.cells, i]
            self.n_matches = m + 1
            self.produced = True
            if self.consuming:
                self._begin()
        self.reporting = -1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _sweep(self) -> cython.int:
        """Copy the vectors that configurations hold, without what is out of the window."""
        self.sweeps += 1
        nodes = np.asarray(self.wide).copy()
        links = nodes.view(np.int32)
        starts = np.asarray(self.vector_starts).copy()
        counts = np.asarray(self.vector_counts).copy()
        totals = np.asarray(self.vector_totals).copy()
        self.used = 1
        self.cells = 0
        here: cython.longlong = layout.NO_BOUND
        i: cython.longlong
        k: cython.longlong
        c: cython.int
        if self.loaded:
            if self.windowed:
                here = self.floors[self.event]
            for c in range(self.made):
                if self.state_of[c] >= 0:
                    self.root[c] = self._moved(
                        self.root[c], here, nodes, links, starts, counts, totals
                    )
                    if self.root[c] == 0 and self.empty[c] == layout.NONE:
                        self._drop(c)
            self._forget_empty()
        for k in range(self.carry_from.shape[0]):
            here = self.last_floor[k] if self.windowed else layout.NO_BOUND
            for i in range(self.carry_from[k], self.carry_to[k]):
                c = cython.cast(cython.int, self.carry[i, layout.CARRY_ROOT])
                self.carry[i, layout.CARRY_ROOT] = self._moved(
                    c, here, nodes, links, starts, counts, totals
                )
        self.sweep_at = max(self.sweep_from, 2 * self.used)
        self.sweep_cells_at = max(1 << 20, 2 * self.cells)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _moved(
        self,
        r: cython.int,
        bound: cython.longlong,
        nodes: cython.longlong[:, ::1],
        links: cython.int[:, ::1],
        starts: cython.longlong[::1],
        counts: cython.double[::1],
        totals: cython.double[:, ::1],
    ) -> cython.int:
        if r == 0 or nodes[r, layout.VECTOR_START] < bound:
            return 0
        self._room_for_cells(links[r, layout.VECTOR_SIZE])
        begin: cython.longlong = self.cells
        i: cython.longlong
        for i in range(
            nodes[r, layout.VECTOR_BEGIN],
            nodes[r, layout.VECTOR_BEGIN] + links[r, layout.VECTOR_SIZE],
        ):
            if starts[i] >= bound:
                self._total_nothing(self.cells)
                self._total_into(self.cells, totals, i)
                self._put(starts[i], counts[i])
        return self._vector(begin)

    def oldest(self):
        """Vectors do not refer to events."""
        return None

    def save(self):
        saved = Kernel.save(self)
        saved["vector_starts"] = np.asarray(self.vector_starts)[: self.cells].copy()
        saved["vector_counts"] = np.asarray(self.vector_counts)[: self.cells].copy()
        saved["vector_totals"] = np.asarray(self.vector_totals)[: self.cells].copy()
        return saved

    def restore(self, saved):
        Kernel.restore(self, saved)
        self.cells = len(saved["vector_starts"])
        self.vector_starts = _longer(saved["vector_starts"], 2 * self.cells + 4096, 0)
        self.vector_counts = _longer(saved["vector_counts"], 2 * self.cells + 4096, 0)
        self.vector_totals = _taller(saved["vector_totals"], 2 * self.cells + 4096)

    @property
    def cell_count(self):
        return 0


@cython.cclass
class ChoosingKernel(Kernel):
    """NEXT, LAST and ANY: of the matches that end at an event, the best one.

    LAST: of two complex events, the one that has the largest position that they do not share;
    NEXT: the smallest. Either way what is added to both later does not change which is better:

    * Without a window, of all partial matches of a configuration only the best is kept.
    * With a window, a better one may expire sooner, so all are kept. `choice[n]` is the node of the
      heap n whose best match is the best of the heap, and `began[n]` when that match began: while
      that is inside the window the choice stands, for what it was chosen from only gets less. So
      every node is looked at once, and again when the best match below it has expired.

    Matches with the same events that are marked in different ways are equally good. Once two such
    have met (`tied`), all that is accepted is walked through to find them.
    """

    latest: cython.bint
    choice: cython.int[::1]
    began: cython.longlong[::1]
    tied: cython.bint
    # the chosen match: its events, latest first, how many come before the last, and its start
    chosen: cython.longlong[::1]
    chosen_depth: cython.int
    chosen_start: cython.longlong

    def __init__(self, table, options):
        Kernel.__init__(self, table, options)
        self.latest = options.latest
        self.choice = np.zeros(0, np.int32)
        self.began = np.zeros(0, np.int64)
        self.chosen = np.zeros(64, np.int64)
        self.tied = False

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        if self.windowed or a == 0 or b == 0:
            return Kernel._meld(self, a, b)
        better: cython.int = self._compare(a, b)
        if better == 0 and self.with_labels:
            return Kernel._meld(self, a, b)
        return a if better >= 0 else b

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def _before(self, n: cython.int) -> cython.int:
        """The event before in the best match of a node (0: it is the first)."""
        link: cython.int = self._link(n)
        return self.choice[link] if link and self.windowed else link

    @cython.final
    @cython.cfunc
    @cython.exceptval(-2, check=False)
    def _compare(self, a: cython.int, b: cython.int) -> cython.int:
        """1 if the best match of node a beats that of b, -1 if it is beaten, 0 if they are equal.

        From the last event to the first: for LAST, the first difference decides, for NEXT the last.
        """
        verdict: cython.int = 0
        same: cython.bint = a == b
        while a != b:
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

    @cython.final
    @cython.cfunc
    @cython.exceptval(check=False)
    def _undecided(self, n: cython.int) -> cython.bint:
        """Whether a heap has matches in the window, and its choice is not known."""
        if n == 0 or self._start(n) < self.bound:
            return False
        return self.choice[n] == 0 or self.began[n] < self.bound

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _decide(self, heap: cython.int) -> cython.int:
        """Find the choice of a heap, after those of all heaps that it is made of."""
        if self.choice.shape[0] < self.wide.shape[0]:
            self.choice = _longer(self.choice, self.wide.shape[0], 0)
            self.began = _longer(self.began, self.wide.shape[0], 0)
        n: cython.int
        k: cython.int
        self._push(heap, 0)
        while self.height:
            n = self.stack[self.height - 1, layout.WALK_NODE]
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
            link: cython.int = self._link(n)
            self.choice[n] = n
            self.began[n] = self.began[link] if link else self._start(n)
            for k in range(layout.NODE_LEFT, layout.NODE_RIGHT + 1):
                other: cython.int = self.thin[n, k]
                if other and self._start(other) >= self.bound:
                    if self._compare(self.choice[other], self.choice[n]) > 0:
                        self.choice[n] = self.choice[other]
                        self.began[n] = self.began[other]
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _best(self) -> cython.int:
        """The last node of the best match that is accepted at this event; 0 if there is none."""
        best: cython.int = 0
        i: cython.int
        for i in range(self.n_active):
            if self.accepting[self.active[i]]:
                c: cython.int = self.first[self.active[i]]
                while c >= 0:
                    r: cython.int = self.root[c]
                    if r and self._start(r) >= self.bound:
                        if self.windowed:
                            self._decide(r)
                            r = self.choice[r]
                        if best == 0 or self._compare(r, best) > 0:
                            best = r
                    c = self.following[c]
        return best

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _report(self) -> cython.bint:
        """Write the best match, in every way that it is marked; False when the chunk is full."""
        if self.reporting == 0:
            self.reporting = 1
            last: cython.int = self._best()
            if last:
                self._set_out(last)
        if not self._write():
            return False
        return self._reported()

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
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
                self.chosen = _longer(self.chosen, 2 * depth, 0)
                self.path = _longer(self.path, 2 * depth, 0)
                self.path_label = _longer(self.path_label, 2 * depth, 0)
            self.chosen[depth] = self.wide[n, layout.NODE_EVENT]
            self.chosen_start = self.wide[
                n, layout.NODE_START
            ]  # that of the first event is its own
            self.path[depth] = self.shown[self.wide[n, layout.NODE_EVENT] - self.known_from]
            self.path_label[depth] = self._label(n)
            last = n
            depth += 1
            n = self._before(n)
        self.chosen_depth = depth - 1
        if not (self.with_labels and self.tied):
            self._push(last, -depth)  # it is on the path already
            return 0
        i: cython.int
        for i in range(self.n_active):
            if self.accepting[self.active[i]]:
                c: cython.int = self.first[self.active[i]]
                while c >= 0:
                    if self.root[c]:
                        self._push(self.root[c], 0)
                    c = self.following[c]
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
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
            n: cython.int = self.stack[self.height, layout.WALK_NODE]
            d: cython.int = self.stack[self.height, layout.WALK_DEPTH]
            if d < 0:
                if not self._emit(n, -1 - d):
                    return False
                continue
            if self._start(n) < self.chosen_start:
                continue
            if self.thin[n, layout.NODE_RIGHT]:
                self._push(self.thin[n, layout.NODE_RIGHT], d)
            if self.thin[n, layout.NODE_LEFT]:
                self._push(self.thin[n, layout.NODE_LEFT], d)
            if self.wide[n, layout.NODE_EVENT] != self.chosen[d]:
                continue
            self.path[d] = self.shown[self.chosen[d] - self.known_from]
            self.path_label[d] = self._label(n)
            if d < self.chosen_depth:
                if self._link(n):
                    self._push(self._link(n), d + 1)
            elif self._link(n) == 0:
                self._push(n, -1 - d)
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _sweep(self) -> cython.int:
        Kernel._sweep(self)
        np.asarray(self.choice)[:] = 0  # nodes have new numbers
        return 0

    def restore(self, saved):
        Kernel.restore(self, saved)
        self.tied = True  # for all that is known


@cython.cfunc
@cython.exceptval(check=False)
def _compared(
    op: cython.int, less: cython.bint, equal: cython.bint, greater: cython.bint
) -> cython.bint:
    """What a comparison of integers says, from what is so; of NaN nothing is, but `!=`."""
    if op == layout.TERM_EQUAL_INT:
        return equal
    if op == layout.TERM_NOT_EQUAL_INT:
        return not equal
    if op == layout.TERM_LESS_INT:
        return less
    if op == layout.TERM_LESS_OR_EQUAL_INT:
        return less or equal
    if op == layout.TERM_GREATER_INT:
        return greater
    return greater or equal


@cython.cfunc
@cython.exceptval(check=False)
def _nothing(how: cython.int) -> cython.double:
    """The total of no events at all."""
    if how == layout.TOTAL_SUM:
        return 0.0
    return INFINITY if how == layout.TOTAL_MIN else -INFINITY


@cython.cfunc
@cython.exceptval(check=False)
def _joined(how: cython.int, a: cython.double, b: cython.double) -> cython.double:
    if how == layout.TOTAL_SUM:
        return a + b
    if how == layout.TOTAL_MIN:
        return min(a, b)
    return max(a, b)


@cython.ccall
def _longer(array: object, size: object, fill: object) -> object:
    """A longer copy of a one-dimensional array."""
    old = np.asarray(array)
    bigger = empty(size, old.dtype)
    bigger[: len(old)] = old
    bigger[len(old) :] = fill
    return bigger


@cython.ccall
def _taller(array: object, size: object) -> object:
    """A copy of a two-dimensional array with more rows."""
    old = np.asarray(array)
    bigger = empty((size, old.shape[1]), old.dtype)
    bigger[: len(old)] = old
    bigger[len(old) :] = 0
    return bigger
