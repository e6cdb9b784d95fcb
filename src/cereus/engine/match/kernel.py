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

NONE = cython.declare(cython.int, -1)
UNSTARTED = cython.declare(cython.int, 0)
STAY = cython.declare(cython.int, -1)
UNKNOWN = cython.declare(cython.int, -2)
UNMARKED = cython.declare(cython.int, 0)
UNSEEN = cython.declare(cython.int, 1)
HIDDEN = cython.declare(cython.int, 2)
NO_BOUND = cython.declare(cython.longlong, -(1 << 63))
NULL = cython.declare(cython.longlong, -(1 << 63))
LOW_63 = cython.declare(cython.longlong, (1 << 63) - 1)
PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)

# what a check asks, and how a slot is updated (`engine.table` writes the programs)
LESS = cython.declare(cython.int, 0)
LESS_OR_EQUAL = cython.declare(cython.int, 1)
GREATER = cython.declare(cython.int, 2)
GREATER_OR_EQUAL = cython.declare(cython.int, 3)
EQUAL = cython.declare(cython.int, 4)
NOT_EQUAL = cython.declare(cython.int, 5)
DIFFERS = cython.declare(cython.int, 6)
HOLDS = cython.declare(cython.int, 7)
KEEP = cython.declare(cython.int, 0)
TAKE = cython.declare(cython.int, 1)
SMALLEST = cython.declare(cython.int, 2)
LARGEST = cython.declare(cython.int, 3)
COUNT = cython.declare(cython.int, 4)
TALLY = cython.declare(cython.int, 5)
FIRST_TOTAL = cython.declare(cython.int, 6)
START = cython.declare(cython.int, 12)

# the operations of terms, in the order of `automata.terms.OPERATIONS`
COLUMN = cython.declare(cython.int, 0)
SLOT = cython.declare(cython.int, 1)
CONSTANT = cython.declare(cython.int, 2)
TO_FLOAT = cython.declare(cython.int, 3)
NEGATE_INT = cython.declare(cython.int, 4)
NEGATE = cython.declare(cython.int, 5)
ABS_INT = cython.declare(cython.int, 6)
ABS = cython.declare(cython.int, 7)
SQRT = cython.declare(cython.int, 8)
FLOOR = cython.declare(cython.int, 9)
CEIL = cython.declare(cython.int, 10)
NOT = cython.declare(cython.int, 11)
IS_NULL = cython.declare(cython.int, 12)
KNOWN = cython.declare(cython.int, 13)
ADD_INT = cython.declare(cython.int, 14)
SUBTRACT_INT = cython.declare(cython.int, 15)
MULTIPLY_INT = cython.declare(cython.int, 16)
MODULO_INT = cython.declare(cython.int, 17)
ADD = cython.declare(cython.int, 18)
SUBTRACT = cython.declare(cython.int, 19)
MULTIPLY = cython.declare(cython.int, 20)
DIVIDE = cython.declare(cython.int, 21)
MODULO = cython.declare(cython.int, 22)
EQUAL_INT = cython.declare(cython.int, 23)
GREATER_OR_EQUAL_INT = cython.declare(cython.int, 28)
EQUAL_FLOAT = cython.declare(cython.int, 29)
GREATER_OR_EQUAL_FLOAT = cython.declare(cython.int, 34)
AND = cython.declare(cython.int, 35)
OR = cython.declare(cython.int, 36)
SUM_INT = cython.declare(cython.int, 37)
SUM = cython.declare(cython.int, 38)
MIN_INT = cython.declare(cython.int, 39)
MAX_INT = cython.declare(cython.int, 40)
MIN = cython.declare(cython.int, 41)
MAX = cython.declare(cython.int, 42)
LEAST_INT = cython.declare(cython.int, 43)
GREATEST_INT = cython.declare(cython.int, 44)
LEAST = cython.declare(cython.int, 45)
GREATEST = cython.declare(cython.int, 46)
DISTANCE = cython.declare(cython.int, 47)
RADIANS = cython.declare(cython.double, 0.017453292519943295)
EARTH_DIAMETER_METRES = cython.declare(cython.double, 2 * 6_371_008.8)
LONGEST = cython.declare(cython.longlong, (1 << 63) - 1)

# kinds of totals over all matches
TOTAL_SUM = cython.declare(cython.int, 0)
TOTAL_MIN = cython.declare(cython.int, 1)
TOTAL_MAX = cython.declare(cython.int, 2)
INFINITY = cython.declare(cython.double, float("inf"))
NAN = cython.declare(cython.double, float("nan"))

FINISHED, CHUNK_FULL = 0, 1
TOO_MANY_NODES, TOO_MANY_CONFIGURATIONS, TOO_MANY_MATCHES = 2, 3, 4
CLOSED = frozenset({"closed"})
"""`engine.table.CLOSED`"""
STACK = 64
"""The deepest stack that a term may need (`plan.terms` refuses deeper ones)."""


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

    # the forest: one (n, 4) int64 array, seen also as (n, 8) int32
    #   int64 0: event ordinal, 1: start;  int32 4: link, 5: left, 6: right, 7: label * 256 + rank
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
        self.closed = table.number(CLOSED) if options.closes else NONE
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
        self._set_nodes(np.zeros((1024, 4), np.int64))
        self.used = 1
        self.made_now = 1
        self.sweep_from = options.sweep_at
        self.sweep_at = self.sweep_from
        self.pending = np.zeros((64, 4), np.int32)
        self.pending_values = np.zeros((64, max(1, self.n_slots)), np.int64)
        self.pending_starts = np.zeros(64, np.int64)
        self.arrivals = np.zeros(64, np.int32)
        self.stack = np.zeros((256, 2), np.int32)
        self.path = np.zeros(64, np.int64)
        self.path_label = np.zeros(64, np.int32)
        self.n_active = 0
        self.active = np.zeros(0, np.int32)
        self.is_active = np.zeros(0, np.uint8)
        self.first = np.zeros(0, np.int32)
        self.free = NONE
        self.n_configurations = 0
        self.n_accepting = 0
        self.made = 0
        self._room_for_configurations(64)
        self.columns = np.zeros((1, 0), np.int64)
        self.real_columns = np.zeros((1, 0))
        self.whole = np.zeros(STACK, np.int64)
        stack = np.zeros(STACK)
        self.real = stack
        self.bits = stack.view(np.int64)
        self.known = np.zeros(STACK, np.uint8)
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
        self.wide[n, 0] = ordinal
        self.wide[n, 1] = start
        self.thin[n, 4] = link
        self.thin[n, 5] = 0
        self.thin[n, 6] = 0
        self.thin[n, 7] = label * 256 + 1
        self.used = n + 1
        return n

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        """Two heaps as one. Nodes on the way are copied (invariant 2), but for those of this very
        event, which nothing points to yet."""
        if a == 0 or self.wide[a, 1] < self.bound:
            return b
        if b == 0 or self.wide[b, 1] < self.bound:
            return a
        if self.wide[a, 1] < self.wide[b, 1] or (self.wide[a, 1] == self.wide[b, 1] and a < b):
            a, b = b, a
        left: cython.int = self.thin[a, 5]
        below: cython.int = b
        if self.thin[a, 6]:
            below = self._meld(self.thin[a, 6], b)
        n: cython.int = a
        if a < self.made_now or a < below:
            n = self._node(self.wide[a, 0], self.wide[a, 1], self.thin[a, 4], self.thin[a, 7] >> 8)
        if self._rank(left) < self._rank(below):
            left, below = below, left
        self.thin[n, 5] = left
        self.thin[n, 6] = below
        self.thin[n, 7] = (self.thin[n, 7] & ~255) + 1 + self._rank(below)
        return n

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(check=False)
    def _rank(self, n: cython.int) -> cython.int:
        return 0 if n == 0 else self.thin[n, 7] & 255

    # ------------------------------------------------------------ one event

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _step(self, e: cython.longlong) -> cython.int:
        """All configurations read event e."""
        letter: cython.int = self.classes[e]
        i: cython.int
        self.bound = NO_BOUND
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
                if self.head[letter, s] != STAY and self._read(s, letter, e):
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
                    if self.root[c] and self.wide[self.root[c], 1] < self.bound:
                        self._send(self.closed, UNMARKED, self.root[c], NONE, c, -1, 0)
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
                if self.empty[c] == UNSTARTED:
                    return self.active[i]
                c = self.following[c]
        return NONE

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _read(self, s: cython.int, letter: cython.int, e: cython.longlong) -> cython.bint:
        """The configurations of state s read an event; whether none of them is left there."""
        at: cython.int = self.head[letter, s]
        if at == UNKNOWN:
            self.table.expand(s, letter)
            self.load_table()
            at = self.head[letter, s]
            if at == STAY:
                return False
        column: cython.int = self.edges[at + 1]
        c: cython.int
        after: cython.int
        if column < 0:
            c = self.first[s]
            while c >= 0:
                after = self.following[c]
                self._go(c, s, at, e)
                c = after
        elif self.columns[column, e] != NULL:
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
        if r and self.wide[r, 1] < self.bound:
            r = 0
        unseen: cython.int = self.empty[c]
        if unseen > 0 and self.wide[unseen, 1] < self.bound:
            unseen = NONE
        stays: cython.bint = False
        k: cython.int
        self.answered = -1
        if r or unseen != NONE:
            stays = self.edges[at + 2]
            for k in range(self.edges[at]):
                move: cython.int = at + 3 + 4 * k
                label: cython.int = self.edges[move]
                to: cython.int = self.edges[move + 1]
                if self.edges[move + 2] >= 0 and not self._holds(self.edges[move + 2], c, e):
                    continue
                if label == UNMARKED and to == s:
                    stays = True
                else:
                    self._send(to, label, r, unseen, c, self.edges[move + 3], e)
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
        """Whether all checks of a program hold: (op, slot or -1, column, other column) each."""
        k: cython.int
        for k in range(self.programs[at]):
            op: cython.int = self.programs[at + 1 + 4 * k]
            slot: cython.int = self.programs[at + 2 + 4 * k]
            if op >= HOLDS:
                term: cython.int = self.programs[at + 3 + 4 * k]
                if term != self.answered:  # what one move needs, another needs to fail
                    self.answer = self._true(term, c, e)
                    self.answered = term
                if self.answer != (op == HOLDS):
                    return False
                continue
            a: cython.longlong = self.columns[self.programs[at + 3 + 4 * k], e]
            b: cython.longlong
            if slot >= 0:
                b = a
                a = self.values[c, slot]
            else:
                b = self.columns[self.programs[at + 4 + 4 * k], e]
            known: cython.bint = a != NULL and b != NULL
            if op == DIFFERS:
                if known and a == b:
                    return False
            elif not known:
                return False
            elif op == LESS:
                if a >= b:
                    return False
            elif op == LESS_OR_EQUAL:
                if a > b:
                    return False
            elif op == GREATER:
                if a <= b:
                    return False
            elif op == GREATER_OR_EQUAL:
                if a < b:
                    return False
            elif op == EQUAL:
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
        """The values that a configuration takes along: (how, slot, column) for each of them."""
        k: cython.int
        for k in range(self.programs[at]):
            how: cython.int = self.programs[at + 1 + 3 * k]
            value: cython.longlong = 0
            if how == START:
                self.pending_values[row, k] = self.measures[e]
                continue
            if how >= COUNT:
                value = self._total(
                    how, self.programs[at + 2 + 3 * k], self.programs[at + 3 + 3 * k], c, e
                )
                self.pending_values[row, k] = value
                continue
            if how != TAKE:
                value = self.values[c, self.programs[at + 2 + 3 * k]]
            if how != KEEP:
                new: cython.longlong = self.columns[self.programs[at + 3 + 3 * k], e]
                # NULL is the smallest value, and stays once it is in
                if how == TAKE or new == NULL:
                    value = new
                elif value != NULL and (how == SMALLEST) == (new < value):
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
        if how <= TALLY:
            counted: cython.longlong = 0 if slot < 0 else self.values[c, slot]
            return counted + 1 if how == TALLY or self.columns[column, e] != NULL else counted
        self.known[0] = 0
        if slot >= 0:
            self._load(0, self.values[c, slot], self.real_values[c, slot])
        self._load(1, self.columns[column, e], self.real_columns[column, e])
        op: cython.int = SUM_INT + how - FIRST_TOTAL
        self._combine(op, 0)
        if not self.known[0]:
            return NULL
        if op == SUM_INT or op == MIN_INT or op == MAX_INT:
            return self.whole[0]
        self.real[1] = self.real[0] + 0.0  # the bits of -0.0 are NULL
        return self.bits[1]

    # ------------------------------------------------------------ terms

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _true(self, at: cython.int, c: cython.int, e: cython.longlong) -> cython.bint:
        """Whether a term is true: (operation, argument) pairs for a stack."""
        top: cython.int = -1
        k: cython.int
        op: cython.int
        if self.programs[at] == 3:
            op = self.programs[at + 5]
            loads: cython.bint = self.programs[at + 1] <= SLOT and self.programs[at + 3] <= SLOT
            if loads and EQUAL_INT <= op <= GREATER_OR_EQUAL_FLOAT:
                return self._compares(at, op, c, e)
        for k in range(self.programs[at]):
            op = self.programs[at + 1 + 2 * k]
            which: cython.int = self.programs[at + 2 + 2 * k]
            if op == COLUMN:
                top += 1
                self._load(top, self.columns[which, e], self.real_columns[which, e])
            elif op == SLOT:
                top += 1
                self._load(top, self.values[c, which], self.real_values[c, which])
            elif op == CONSTANT:
                top += 1
                self._load(top, self.constants[which], self.real_constants[which])
            elif op < ADD_INT:
                self._change(op, top)
            elif op == DISTANCE:
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
        self, at: cython.int, op: cython.int, c: cython.int, e: cython.longlong
    ) -> cython.bint:
        """The commonest term, two values compared, without the stack."""
        left: cython.int = self.programs[at + 2]
        right: cython.int = self.programs[at + 4]
        held: cython.bint = self.programs[at + 1] == SLOT
        other: cython.bint = self.programs[at + 3] == SLOT
        a: cython.longlong = self.values[c, left] if held else self.columns[left, e]
        b: cython.longlong = self.values[c, right] if other else self.columns[right, e]
        if a == NULL or b == NULL:
            return False
        if op < EQUAL_FLOAT:
            return _compared(op - EQUAL_INT, a < b, a == b, a > b)
        x: cython.double = self.real_values[c, left] if held else self.real_columns[left, e]
        y: cython.double = self.real_values[c, right] if other else self.real_columns[right, e]
        return _compared(op - EQUAL_FLOAT, x < y, x == y, x > y)

    @cython.final
    @cython.inline
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _load(self, top: cython.int, whole: cython.longlong, real: cython.double) -> cython.int:
        self.whole[top] = whole
        self.real[top] = real
        self.known[top] = whole != NULL
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _change(self, op: cython.int, t: cython.int) -> cython.int:
        """An operation on the value at the top."""
        if op == IS_NULL or op == KNOWN:
            self.whole[t] = self.known[t] == (op == KNOWN)
            self.known[t] = 1
        elif not self.known[t]:
            return 0
        elif op == TO_FLOAT:
            self.real[t] = cython.cast(cython.double, self.whole[t])
        elif op == NEGATE_INT:
            self.whole[t] = -self.whole[t]
        elif op == NEGATE:
            self.real[t] = -self.real[t]
        elif op == ABS_INT:
            self.whole[t] = abs(self.whole[t])
        elif op == ABS:
            self.real[t] = abs(self.real[t])
        elif op == NOT:
            self.whole[t] = self.whole[t] == 0
        elif op == SQRT:
            if self.real[t] < 0:
                self.known[t] = 0
            else:
                self.real[t] = sqrt(self.real[t])
        elif abs(self.real[t]) < INFINITY:
            self.real[t] = floor(self.real[t]) if op == FLOOR else ceil(self.real[t])
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
        if op == AND or op == OR:
            decided: cython.bint = op == OR  # what one side alone decides
            if (self.known[t] and (a != 0) == decided) or (
                self.known[t + 1] and (b != 0) == decided
            ):
                self.whole[t] = decided
                self.known[t] = 1
            else:
                self.whole[t] = not decided
                self.known[t] = self.known[t] and self.known[t + 1]
            return 0
        if SUM_INT <= op <= MAX and not (self.known[t] and self.known[t + 1]):
            if self.known[t + 1]:
                self._load(t, b, y)
                self.known[t] = 1
            return 0
        self.known[t] = self.known[t] and self.known[t + 1]
        if not self.known[t]:
            return 0
        if op <= MODULO_INT or op == SUM_INT:
            self._calculate(op, t, a, b)
        elif op == ADD or op == SUM:
            self.real[t] = x + y
        elif op == SUBTRACT:
            self.real[t] = x - y
        elif op == MULTIPLY:
            self.real[t] = x * y
        elif op == DIVIDE or op == MODULO:
            if y == 0:
                self.known[t] = 0
            elif op == DIVIDE:
                self.real[t] = x / y
            else:
                # an infinite dividend has no remainder, which plain Python refuses to compute
                self.real[t] = fmod(x, y) if abs(x) < INFINITY else NAN
        elif op <= GREATER_OR_EQUAL_INT:
            self.whole[t] = _compared(op - EQUAL_INT, a < b, a == b, a > b)
        elif op <= GREATER_OR_EQUAL_FLOAT:
            self.whole[t] = _compared(op - EQUAL_FLOAT, x < y, x == y, x > y)
        elif op == MIN_INT or op == LEAST_INT:
            self.whole[t] = min(a, b)
        elif op == MAX_INT or op == GREATEST_INT:
            self.whole[t] = max(a, b)
        elif (op == LEAST or op == GREATEST) and y != y:
            self.real[t] = y
        elif y < x if op == MIN or op == LEAST else y > x:
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
        if op == SUBTRACT_INT:
            fits = a >= b - LONGEST if b > 0 else a <= LONGEST + b
            if fits:
                self.whole[t] = a - b
        elif op == MULTIPLY_INT:
            fits = b == 0 or abs(a) <= LONGEST // abs(b)
            if fits:
                self.whole[t] = a * b
        elif op == MODULO_INT:
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
            n = self._node(ordinal, self.wide[r, 1], r, label)
        if unseen == UNSTARTED:
            n = self._meld(n, self._node(ordinal, self.measures[self.event], 0, label))
        elif unseen > 0:
            n = self._meld(n, self._node(ordinal, self.wide[unseen, 1], unseen, label))
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
        self.pending[n, 0] = to
        self.pending[n, 1] = label
        self.pending[n, 2] = r
        self.pending[n, 3] = unseen
        self.pending_starts[n] = self.wide[r, 1]
        if unseen == UNSTARTED and label != UNMARKED:
            self.pending_starts[n] = self.measures[e]
        elif unseen > 0 and r == 0:
            self.pending_starts[n] = self.wide[unseen, 1]
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
            label = self.pending[i, 1]
            if label == UNSEEN:
                self.pending[i, 2] = 0
                self.pending[i, 3] = self._node(
                    self.base + self.event, self.measures[self.event], 0, UNSEEN
                )
            elif label != UNMARKED:
                self.pending[i, 2] = self._mark(label, self.pending[i, 2], self.pending[i, 3])
                self.pending[i, 3] = NONE
        for k in range(self.n_pending - 1, -1, -1):
            i = self.arrivals[k]
            to: cython.int = self.pending[i, 0]
            if to == self.closed:
                # out of its window, so nothing melds with it
                self.root[self._new(to, i)] = self.pending[i, 2]
                continue
            c: cython.int = self._find(to, i)
            if c < 0:
                c = self._new(to, i)
            self.root[c] = self._meld(self.root[c], self.pending[i, 2])
            self.empty[c] = self._later(self.empty[c], self.pending[i, 3])
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
        self.empty[c] = NONE
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
        if a == UNSTARTED or b == UNSTARTED:
            return UNSTARTED
        if a == NONE or b == NONE:
            return a if b == NONE else b
        return a if self.wide[a, 1] >= self.wide[b, 1] else b

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
                if to == UNKNOWN:
                    to = self.table.expand_gap(s)
                    self.load_table()
                if to != s:
                    moved = True
                    while self.first[s] >= 0:
                        c: cython.int = self.first[s]
                        if to != NONE:
                            self._send(
                                to, UNMARKED, self.root[c], self.empty[c], c, self.gap_copy[s], 0
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
        self.empty[self._new(self.table.initial, 0)] = UNSTARTED
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
                self.pending_values[0, k] = self.carry[i, 3 + k]
            c: cython.int = self._new(cython.cast(cython.int, self.carry[i, 0]), 0)
            self.root[c] = cython.cast(cython.int, self.carry[i, 1])
            self.empty[c] = cython.cast(cython.int, self.carry[i, 2])
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
                self.carry[self.n_carry, 0] = self.state_of[c]
                self.carry[self.n_carry, 1] = self.root[c]
                self.carry[self.n_carry, 2] = self.empty[c]
                for k in range(self.n_slots):
                    self.carry[self.n_carry, 3 + k] = self.values[c, k]
                self.n_carry += 1
                c = self.following[c]
        self.carry_to[key] = self.n_carry
        return 0

    def clear_keys(self):
        """No key has been seen."""
        self.carry_from = self.carry_to = np.zeros(0, np.int64)
        self.carry = np.zeros((64, 3 + self.n_slots), np.int64)
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
            self.closed = table.number(CLOSED)
        self.load_table()
        carry = self._carried()
        carry[:, 0] = numbers[carry[:, 0]]

    def carried_values(self):
        """The values that some key's configurations hold in slots."""
        return np.unique(self._carried()[:, 3:])

    def carried_states(self):
        """The states that some key's configurations are in."""
        return np.unique(self._carried()[:, 0])

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
        anew = np.zeros((len(keys), 3 + self.n_slots), np.int64)
        anew[:, 0] = self.table.initial
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
        carry = np.zeros((max(64, 2 * len(rows)), 3 + self.n_slots), np.int64)
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
            self.last_floor = _longer(self.last_floor, keys, NO_BOUND)
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
        waits = np.asarray(self.closing)[self._carried()[:, 0]] > 0
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
                    return CHUNK_FULL
                self._leave_event()
                if self.cut_short:
                    self.cut_short = False
                    return TOO_MANY_MATCHES
            if self.event == n:
                break
            if not self.loaded:
                self._take_up(self.key_of[self.group])
                self.loaded = True
            if self.used > self.sweep_at or self.cells > self.sweep_cells_at:
                self._sweep()
                if self.used > self.max_nodes:
                    return TOO_MANY_NODES
            if self.n_configurations > self.max_configurations:
                return TOO_MANY_CONFIGURATIONS
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
        return FINISHED

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
                    self.walk_bound = NO_BOUND
                    self._push(self.root[c], 0)
                elif self.root[c] and self.wide[self.root[c], 1] >= self.bound:
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
        self.stack[self.height, 0] = n
        self.stack[self.height, 1] = depth
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
            n = stack[self.height, 0]
            depth = stack[self.height, 1]
            if depth < 0:
                if not self._emit(n, -1 - depth):
                    return False
                continue
            if depth == 0:
                # the last event shown is not the last of the match if that is not selected
                self.walk_end = self.base + self.event
                if self.open_ended or self.ends_at_marks:
                    self.walk_end = wide[n, 0]
                self.walk_at = self.walk_end if self.expiring else self.base + self.event
                if own_bounds:
                    self._push_siblings(n)
                    stack = self.stack
                    bound = self.walk_bound = self.known_floors[wide[n, 0] - known_from]
                    if wide[n, 1] < bound:
                        continue
            while True:
                if depth == path.shape[0]:
                    self.path = path = _longer(path, 2 * depth, 0)
                    self.path_label = path_label = _longer(path_label, 2 * depth, 0)
                if self.height + 2 >= stack.shape[0]:
                    self.stack = stack = _taller(stack, 2 * stack.shape[0])
                path[depth] = shown[wide[n, 0] - known_from]
                path_label[depth] = thin[n, 7] >> 8
                if depth or not own_bounds:
                    other = thin[n, 6]
                    if other and wide[other, 1] >= bound:
                        stack[self.height, 0] = other
                        stack[self.height, 1] = depth
                        self.height += 1
                    other = thin[n, 5]
                    if other and wide[other, 1] >= bound:
                        stack[self.height, 0] = other
                        stack[self.height, 1] = depth
                        self.height += 1
                other = thin[n, 4]
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
            self.out_first[self.n_matches] = wide[n, 0]
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
        if self.thin[n, 6]:
            self._push(self.thin[n, 6], 0)
        if self.thin[n, 5]:
            self._push(self.thin[n, 5], 0)
        return 0

    @cython.final
    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _shows(self, depth: cython.int) -> cython.bint:
        """Whether something of the match on the path is selected."""
        d: cython.int
        for d in range(depth + 1):
            if self.path_label[d] > HIDDEN:
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
        self.out_first[m] = self.wide[first, 0]
        self.out_last[m] = self.walk_end
        self.out_at[m] = self.walk_at
        d: cython.int
        if self.with_labels:
            for d in range(depth, -1, -1):
                if self.path_label[d] != UNSEEN:
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
        self.bound = NO_BOUND
        self._sweep()
        carry = self._carried()
        alive = (carry[:, 1] > 0) | (carry[:, 2] != NONE)
        before = np.concatenate([[0], np.cumsum(alive)])
        self.carry_from = before[np.asarray(self.carry_from)]
        self.carry_to = before[np.asarray(self.carry_to)]
        self.n_carry = int(before[-1])
        carry[: self.n_carry] = carry[alive]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _sweep(self) -> cython.int:
        """Two passes over the ids (invariant 2): down to mark, up to move the live ones.

        A live node learns from what points to it how old a start may be to count.
        """
        self.sweeps += 1
        bounds: cython.longlong[::1] = filled(self.used, NO_BOUND, np.int64)
        moved: cython.int[::1] = filled(self.used, 0, np.int32)
        i: cython.longlong
        k: cython.longlong
        n: cython.int
        here: cython.longlong = NO_BOUND
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
                        self.root[c], NO_BOUND if waits else here, bounds, moved
                    )
                    self.empty[c] = self._reach_unseen(self.empty[c], here, bounds, moved)
        for k in range(self.carry_from.shape[0]):
            here = NO_BOUND
            if pruned:
                here = self.last_floor[k]
            for i in range(self.carry_from[k], self.carry_to[k]):
                waits = self.closing[self.carry[i, 0]]
                self._reach_row(i, NO_BOUND if waits else here, bounds, moved)
        for n in range(self.used - 1, 0, -1):
            if moved[n]:
                self._reach(self.thin[n, 4], bounds[n], bounds, moved)
                self.thin[n, 5] = self._reach(self.thin[n, 5], bounds[n], bounds, moved)
                self.thin[n, 6] = self._reach(self.thin[n, 6], bounds[n], bounds, moved)
        live: cython.int = 1
        for n in range(1, self.used):
            if moved[n]:
                moved[n] = live
                self.wide[live, 0] = self.wide[n, 0]
                self.wide[live, 1] = self.wide[n, 1]
                self.thin[live, 4] = moved[self.thin[n, 4]]
                # what was cut off may have been the higher side
                left: cython.int = moved[self.thin[n, 5]]
                right: cython.int = moved[self.thin[n, 6]]
                if self._rank(left) < self._rank(right):
                    left, right = right, left
                label: cython.int = self.thin[n, 7] >> 8
                self.thin[live, 5] = left
                self.thin[live, 6] = right
                self.thin[live, 7] = label * 256 + 1 + self._rank(right)
                live += 1
        if self.loaded:
            for c in range(self.made):
                if self.state_of[c] >= 0:
                    self.root[c] = moved[self.root[c]]
                    if self.empty[c] > 0:
                        self.empty[c] = moved[self.empty[c]]
                    if self.root[c] == 0 and self.empty[c] == NONE:
                        self._drop(c)
            self._forget_empty()
        for k in range(self.carry_from.shape[0]):
            for i in range(self.carry_from[k], self.carry_to[k]):
                self.carry[i, 1] = moved[self.carry[i, 1]]
                if self.carry[i, 2] > 0:
                    self.carry[i, 2] = moved[self.carry[i, 2]]
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
        r: cython.int = cython.cast(cython.int, self.carry[i, 1])
        unseen: cython.int = cython.cast(cython.int, self.carry[i, 2])
        self.carry[i, 1] = self._reach(r, bound, bounds, moved)
        self.carry[i, 2] = self._reach_unseen(unseen, bound, bounds, moved)
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
        if n == 0 or self.wide[n, 1] < bound:
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
        return n if self._reach(n, bound, bounds, moved) else NONE

    # ------------------------------------------------------------ snapshots and measures

    def oldest(self):
        """The smallest ordinal that a live node refers to (after a sweep), or None."""
        if self.used == 1:
            return None
        return int(np.asarray(self.wide)[1 : self.used, 0].min())

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
        nodes = np.zeros((max(1024, 2 * len(saved["nodes"])), 4), np.int64)
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
                    if self.how[t] == TOTAL_SUM:
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
            self._room_for_cells(self.thin[r, 4] + 1)
            begin = self.cells
            for i in range(self.wide[r, 0], self.wide[r, 0] + self.thin[r, 4]):
                if self.vector_starts[i] >= self.bound:
                    self._total_nothing(self.cells)
                    self._total_into(self.cells, self.vector_totals, i)
                    self._put(self.vector_starts[i], self.vector_counts[i])
        if unseen == UNSTARTED:
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
        if a == 0 or self.wide[a, 1] < self.bound:
            return b
        if b == 0 or self.wide[b, 1] < self.bound:
            return a
        self._room_for_cells(self.thin[a, 4] + self.thin[b, 4])
        begin: cython.longlong = self.cells
        i: cython.longlong = self.wide[a, 0]
        j: cython.longlong = self.wide[b, 0]
        i_end: cython.longlong = i + self.thin[a, 4]
        j_end: cython.longlong = j + self.thin[b, 4]
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
                        for k in range(self.wide[r, 0], self.wide[r, 0] + self.thin[r, 4]):
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
        here: cython.longlong = NO_BOUND
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
                    if self.root[c] == 0 and self.empty[c] == NONE:
                        self._drop(c)
            self._forget_empty()
        for k in range(self.carry_from.shape[0]):
            here = self.last_floor[k] if self.windowed else NO_BOUND
            for i in range(self.carry_from[k], self.carry_to[k]):
                c = cython.cast(cython.int, self.carry[i, 1])
                self.carry[i, 1] = self._moved(c, here, nodes, links, starts, counts, totals)
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
        if r == 0 or nodes[r, 1] < bound:
            return 0
        self._room_for_cells(links[r, 4])
        begin: cython.longlong = self.cells
        i: cython.longlong
        for i in range(nodes[r, 0], nodes[r, 0] + links[r, 4]):
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
        link: cython.int = self.thin[n, 4]
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
            if self.wide[a, 0] == self.wide[b, 0]:
                a = self._before(a)
                b = self._before(b)
                continue
            if self.wide[a, 0] > self.wide[b, 0]:
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
        if n == 0 or self.wide[n, 1] < self.bound:
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
            n = self.stack[self.height - 1, 0]
            if not self._undecided(n):
                self.height -= 1
                continue
            before: cython.int = self.height
            for k in range(4, 7):
                if self._undecided(self.thin[n, k]):
                    self._push(self.thin[n, k], 0)
            if self.height > before:
                continue
            self.height -= 1
            link: cython.int = self.thin[n, 4]
            self.choice[n] = n
            self.began[n] = self.began[link] if link else self.wide[n, 1]
            for k in range(5, 7):
                other: cython.int = self.thin[n, k]
                if other and self.wide[other, 1] >= self.bound:
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
                    if r and self.wide[r, 1] >= self.bound:
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
            self.walk_end = self.wide[last, 0]
        n: cython.int = last
        depth: cython.int = 0
        while n:
            if depth == self.chosen.shape[0]:
                self.chosen = _longer(self.chosen, 2 * depth, 0)
                self.path = _longer(self.path, 2 * depth, 0)
                self.path_label = _longer(self.path_label, 2 * depth, 0)
            self.chosen[depth] = self.wide[n, 0]
            self.chosen_start = self.wide[n, 1]  # that of the first event is its own
            self.path[depth] = self.shown[self.wide[n, 0] - self.known_from]
            self.path_label[depth] = self.thin[n, 7] >> 8
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
            n: cython.int = self.stack[self.height, 0]
            d: cython.int = self.stack[self.height, 1]
            if d < 0:
                if not self._emit(n, -1 - d):
                    return False
                continue
            if self.wide[n, 1] < self.chosen_start:
                continue
            if self.thin[n, 6]:
                self._push(self.thin[n, 6], d)
            if self.thin[n, 5]:
                self._push(self.thin[n, 5], d)
            if self.wide[n, 0] != self.chosen[d]:
                continue
            self.path[d] = self.shown[self.chosen[d] - self.known_from]
            self.path_label[d] = self.thin[n, 7] >> 8
            if d < self.chosen_depth:
                if self.thin[n, 4]:
                    self._push(self.thin[n, 4], d + 1)
            elif self.thin[n, 4] == 0:
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
    """`= != < <= > >=`, from what is so; of NaN nothing is, but `!=`."""
    if op == 0:
        return equal
    if op == 1:
        return not equal
    if op == 2:
        return less
    if op == 3:
        return less or equal
    if op == 4:
        return greater
    return greater or equal


@cython.cfunc
@cython.exceptval(check=False)
def _nothing(how: cython.int) -> cython.double:
    """The total of no events at all."""
    if how == TOTAL_SUM:
        return 0.0
    return INFINITY if how == TOTAL_MIN else -INFINITY


@cython.cfunc
@cython.exceptval(check=False)
def _joined(how: cython.int, a: cython.double, b: cython.double) -> cython.double:
    if how == TOTAL_SUM:
        return a + b
    if how == TOTAL_MIN:
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
