"""Partial matches, and how they read an event: what the kernel does most of the time.

**Configurations.** A configuration is a state with the values in its slots (none, for patterns
that do not compare events), and holds all partial matches that agree on both:

* `root[c]`  a heap of partial matches that have marked events (0: none), and
* `empty[c]` the partial match that has shown nothing: NONE, UNSTARTED, or the node of the event
  where it began unseen (a variable that is not selected).

A state without slots has at most one configuration. Where no state has slots and every possible
move is made, the kernel is `plain`, and far less has to be looked at. The configurations of the
other states are linked per state, and hashed by state and values: by the first slot alone if that
is of an equality, which so finds the configurations that can satisfy it. Where many wait for a
value above or below theirs, they are put in order as well (`ordered`).

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

**Threads.** Events are read without the interpreter's lock, so that threads with a kernel each run
side by side. It is taken where arrays grow, where the table does not know a move yet, and now and
then to see whether the run was interrupted.

**Memory follows the window.** Nodes out of every heap's reach, or out of the window, are swept
when the arena has doubled since the last sweep; a node is moved at most once per doubling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.interrupts import look_up
from cereus.engine.memory import filled, longer, taller

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.ordered import OrderedConfigurations
    from cython.cimports.cereus.engine.kernel.past import PastEvents
    from cython.cimports.cereus.engine.kernel.sets import ValueSets
    from cython.cimports.cereus.engine.kernel.terms_vm import Terms
    from cython.cimports.cpython.exc import PyErr_CheckSignals
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.ordered import OrderedConfigurations
    from cereus.engine.kernel.past import PastEvents
    from cereus.engine.kernel.sets import ValueSets
    from cereus.engine.kernel.terms_vm import Terms

if TYPE_CHECKING:
    from cereus.engine.match.functions import FunctionValues
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
LOW_63 = cython.declare(cython.longlong, (1 << 63) - 1)
LONG_PROGRAM = 16
"""A program with more words than this takes as long as several steps."""


@cython.cclass
class Stepper:
    """The partial matches of one key, which read event after event.

    Small functions that are called often are together here: calls between compiled modules are
    never inlined.
    """

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        self.table = table
        self.terms = Terms()
        self.windowed = options.windowed
        self.open_ended = options.open_ended
        self.closes = options.closes
        self.closed = table.closed_state() if options.closes else layout.NONE
        self.watching = options.watching
        self.expiring = False
        self.over = False
        self.steps = 0
        self.look_every = layout.LOOK_EVERY
        self.look_at = layout.LOOK_EVERY
        self.max_steps = options.max_steps
        self.too_many_steps = False
        self.enough = -1 if options.enough is None else options.enough
        self.n_completed = 0
        self.ends_apart = False
        self.ranked = False
        self.n_ended = 0
        self._set_nodes(np.zeros((16 * layout.FIRST_ROOM, layout.NODE_WORDS), np.int64))
        self.used = 1
        self.made_now = 1
        self.n_slots = options.slots
        self.scoped = options.scoped
        self.limited = False
        self.growing = options.growing
        self.plain = not (options.slots or options.past or options.scoped or options.growing)
        self.n_active = 0
        self.active = np.zeros(0, np.int32)
        self.is_active = np.zeros(0, np.uint8)
        self.first = np.zeros(0, np.int32)
        self.free = layout.NONE
        self.n_configurations = 0
        self.n_accepting = 0
        self.made = 0
        self.ordered = OrderedConfigurations()
        self.sets = ValueSets(self.terms)
        self.order_from = options.order_from
        self.covered = self.done_at = np.zeros(0, np.int32)
        self.done_when = np.zeros(0, np.int64)
        self.losses = 0
        self._room_for_configurations(layout.FIRST_ROOM)
        self.pending = np.zeros((layout.FIRST_ROOM, layout.PENDING_WORDS), np.int32)
        self.pending_values = np.zeros((layout.FIRST_ROOM, max(1, self.n_slots)), np.int64)
        self.pending_starts = np.zeros(layout.FIRST_ROOM, np.int64)
        self.arrivals = np.zeros(layout.FIRST_ROOM, np.int32)
        self.n_pending = 0
        self.answered = layout.NONE
        self.answer = False
        self.position = -1
        self.bound = layout.NO_BOUND
        self.event = 0
        self.base = 0
        self.classes = np.zeros(0, np.int32)
        self.waiting = np.zeros(0, np.int32)
        self.positions = np.zeros(0, np.int64)
        self.measures = np.zeros(0, np.int64)
        self.floors = np.zeros(0, np.int64)
        self.columns = np.zeros((1, 0), np.int64)
        self.terms.use_columns(np.asarray(self.columns))
        self.key = 0
        self.n_past = len(options.past)
        self.past_bits = tuple(kind.bit for kind in options.past)
        self.past_always = sum(1 << h for h, kind in enumerate(options.past) if kind.always)
        self.recorded = np.zeros(0, np.int32)
        if self.n_past:
            self.past = PastEvents(tuple(kind.columns for kind in options.past), self.terms)
        self.load_table()

    # ------------------------------------------------------------ arrays that grow

    def load_table(self) -> None:
        """Read the tables again, after `table` has grown."""
        self.head = self.table.head
        self.moving = self.table.moving
        self.n_moving = self.table.n_moving
        self.edges = self.table.edges
        self.accepting = self.table.accepting
        self.final = self.table.final
        self.closing = self.table.closing
        self.gap_to = self.table.gap_to
        self.gap_copy = self.table.gap_copy
        self.slot_counts = self.table.slot_counts
        self.hashed_slots = self.table.hashed_slots
        self.outer = self.table.outer
        self.programs = self.table.programs
        self.initial = self.table.initial
        self.ambiguous = self.table.ambiguous
        self.terms.use_programs(self.table.programs, self.table.constants)
        self.look_every = max(
            1, layout.LOOK_EVERY // max(1, self.table.longest_program // LONG_PROGRAM)
        )
        self.look_at = min(self.look_at, self.steps + self.look_every)
        self.terms.use_functions(self.table.function_words)
        if self.n_past:
            self.recorded = np.array(
                [
                    sum(1 << h for h, bit in enumerate(self.past_bits) if letter >> bit & 1)
                    for letter in self.table.letters
                ],
                np.int32,
            )
        states = self.head.shape[1]
        if states > self.active.shape[0]:
            self.active = longer(self.active, states, 0)
            self.is_active = longer(self.is_active, states, 0)
            self.first = longer(self.first, states, -1)
            self.ordered.room_for_states(states)

    def compute_with(self, computing: FunctionValues) -> None:
        """Set what computes the functions that terms cannot compute themselves."""
        self.terms.compute_with(computing)

    def _room_for_configurations(self, size: cython.int) -> cython.int:
        if self.made == 0:
            self.values = np.zeros((size, max(1, self.n_slots)), np.int64)
            rows = filled((6, size), -1, np.int32)
            rows[0] = 0
            self.root, self.empty, self.state_of = rows[0], rows[1], rows[2]
            self.following, self.preceding, self.chain = rows[3], rows[4], rows[5]
        else:
            self.root = longer(self.root, size, 0)
            self.empty = longer(self.empty, size, -1)
            self.state_of = longer(self.state_of, size, -1)
            self.following = longer(self.following, size, -1)
            self.preceding = longer(self.preceding, size, -1)
            self.chain = longer(self.chain, size, -1)
            self.values = taller(self.values, size)
        self.terms.use_slots(np.asarray(self.values))
        if self.n_slots:
            self.ordered.room_for(size)
            self.covered = longer(self.covered, size, 0)
            self.done_at = longer(self.done_at, size, layout.NONE)
            self.done_when = longer(self.done_when, size, 0)
            self.buckets = np.full(2 * size, -1, np.int32)
            c: cython.int
            for c in range(self.made):
                if self.state_of[c] >= 0 and self.slot_counts[self.state_of[c]]:
                    self._enter_chain(c)
        return 0

    def _set_nodes(self, nodes: npt.NDArray[np.int64]) -> cython.int:
        self.wide = nodes
        self.thin = nodes.view(np.int32)
        self.flat_wide = nodes.reshape(-1)
        self.flat_thin = nodes.reshape(-1).view(np.int32)
        return 0

    # ------------------------------------------------------------ the forest

    def _node(
        self,
        ordinal: cython.longlong,
        start: cython.longlong,
        link: cython.int,
        label: cython.int,
    ) -> cython.int:
        n: cython.int = self.used
        if n >= self.wide.shape[0]:
            double_nodes(self)
        at: cython.longlong = layout.NODE_WORDS * cython.cast(cython.longlong, n)
        self.flat_wide[at + layout.NODE_EVENT] = ordinal
        self.flat_wide[at + layout.NODE_START] = start
        at = layout.NODE_INTS * cython.cast(cython.longlong, n)
        self.flat_thin[at + layout.NODE_LINK] = link
        self.flat_thin[at + layout.NODE_LEFT] = 0
        self.flat_thin[at + layout.NODE_RIGHT] = 0
        self.flat_thin[at + layout.NODE_TAG] = (label << layout.RANK_BITS) + 1
        self.used = n + 1
        return n

    def _meld(self, a: cython.int, b: cython.int) -> cython.int:
        """Join two heaps. Nodes on the way are copied (invariant 2), except those that this event
        has made: nothing points to them yet."""
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

    def _copied(self, n: cython.int) -> cython.int:
        """A copy of node n without children."""
        return self._node(
            self.wide[n, layout.NODE_EVENT], self._start(n), self._link(n), self._label(n)
        )

    def _rank(self, n: cython.longlong) -> cython.int:
        if n == 0:
            return 0
        return self.flat_thin[layout.NODE_INTS * n + layout.NODE_TAG] & layout.RANK_MASK

    def _label(self, n: cython.longlong) -> cython.int:
        return self.flat_thin[layout.NODE_INTS * n + layout.NODE_TAG] >> layout.RANK_BITS

    def _start(self, n: cython.longlong) -> cython.longlong:
        return self.flat_wide[layout.NODE_WORDS * n + layout.NODE_START]

    def _link(self, n: cython.longlong) -> cython.int:
        return self.flat_thin[layout.NODE_INTS * n + layout.NODE_LINK]

    def _set_children(self, n: cython.int, one: cython.int, other: cython.int) -> cython.void:
        """Hang two heaps below a node: the one of greater rank to the left (invariant 3)."""
        if self._rank(one) < self._rank(other):
            one, other = other, one
        self.thin[n, layout.NODE_LEFT] = one
        self.thin[n, layout.NODE_RIGHT] = other
        self.thin[n, layout.NODE_TAG] = (self._label(n) << layout.RANK_BITS) + 1 + self._rank(other)

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

    def _reach_below(self, bounds: cython.longlong[::1], moved: cython.int[::1]) -> cython.int:
        """Mark what live nodes refer to: from high ids to low ones, since it is older (invariant
        2). A node learns from what points to it how old a start may be to count."""
        n: cython.int
        for n in range(self.used - 1, 0, -1):
            if n % layout.LOOK_EVERY == 0:
                self._look_up()
            if moved[n]:
                self._reach(self._link(n), bounds[n], bounds, moved)
                self.thin[n, layout.NODE_LEFT] = self._reach(
                    self.thin[n, layout.NODE_LEFT], bounds[n], bounds, moved
                )
                self.thin[n, layout.NODE_RIGHT] = self._reach(
                    self.thin[n, layout.NODE_RIGHT], bounds[n], bounds, moved
                )
        return 0

    def _move_live(self, moved: cython.int[::1]) -> cython.int:
        """Move live nodes together, from low ids to high ones. `moved` gets their new numbers."""
        n: cython.int
        live: cython.int = 1
        for n in range(1, self.used):
            if moved[n]:
                moved[n] = live
                self.wide[live, layout.NODE_EVENT] = self.wide[n, layout.NODE_EVENT]
                self.wide[live, layout.NODE_START] = self._start(n)
                self.thin[live, layout.NODE_LINK] = moved[self._link(n)]
                self.thin[live, layout.NODE_TAG] = self.thin[n, layout.NODE_TAG]
                # the part that was cut off may have been the higher side
                self._set_children(
                    live,
                    moved[self.thin[n, layout.NODE_LEFT]],
                    moved[self.thin[n, layout.NODE_RIGHT]],
                )
                live += 1
        self.used = live
        return 0

    # ------------------------------------------------------------ one event

    def _look_up(self) -> cython.int:
        """Let Ctrl-C interrupt a long call. Without compilation, Python itself does."""
        self.look_at = self.steps + self.look_every
        with cython.gil:
            look_up()
            if cython.compiled:
                PyErr_CheckSignals()
        return 0

    def _worked(self, much: cython.longlong) -> cython.int:
        """So much was done beside steps: it is seen sooner whether the run was interrupted."""
        self.look_at -= much
        self._look_if_due()
        return 0

    def _look_if_due(self) -> cython.int:
        if self.steps >= self.look_at:
            self._look_up()
        return 0

    def _step(self, e: cython.longlong) -> cython.int:
        """Let all configurations read event e."""
        self._worked(self.n_active // layout.STATES_PER_STEP)
        letter: cython.int = self.classes[e]
        i: cython.int
        self.bound = layout.NO_BOUND
        if (self.windowed and not self.open_ended) or self.expiring:
            self.bound = self.floors[e]
        left: cython.bint = False
        before: cython.longlong = self.steps
        self.n_completed = 0
        self.n_ended = 0
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
        if self.n_pending or self.scoped:
            self._settle()
        else:
            self.made_now = self.used
        if left:
            self._forget_empty()
        if self.n_past and self.recorded[letter]:
            self._record(self.recorded[letter], e)
        self.too_many_steps = self.steps - before > self.max_steps
        return 0

    def _close(self) -> cython.bint:
        """Move complete runs to the closed state: those in a closing state whose window has passed,
        or whose input is over. They arrive with what this event brings. Returns whether there are
        any."""
        i: cython.int
        s: cython.int
        while self.first[self.closed] >= 0:
            self._worked(1)
            self._drop(self.first[self.closed])  # these have been reported
        for i in range(self.n_active):
            s = self.active[i]
            if self.closing[s]:
                c: cython.int = self.first[s]
                while c >= 0:
                    self._worked(1)
                    after: cython.int = self.following[c]
                    if self.root[c] and (self.over or self._start(self.root[c]) < self.bound):
                        self._send(
                            self.closed, layout.UNMARKED, self.root[c], layout.NONE, c, -1, 0
                        )
                        self._drop(c)
                    c = after
        return self.n_pending > 0

    def _unstarted(self) -> cython.int:
        """The state of the runs that have marked nothing; there is at most one."""
        i: cython.int
        for i in range(self.n_active):
            c: cython.int = self.first[self.active[i]]
            while c >= 0:
                if self.empty[c] == layout.UNSTARTED:
                    return self.active[i]
                self.look_at -= 1
                c = self.following[c]
        return layout.NONE

    def _read(self, s: cython.int, letter: cython.int, e: cython.longlong) -> cython.bint:
        """Let the configurations of state s read an event. Returns whether none of them is left
        there."""
        at: cython.longlong = self.head[letter, s]
        c: cython.int = self.first[s]
        after: cython.int
        if at == layout.UNKNOWN:
            # configurations that have left the window make no move, and moves may take long to
            # find; a state that was closed at this event is empty
            while (
                c >= 0
                and (self.root[c] == 0 or self._start(self.root[c]) < self.bound)
                and self.empty[c] != layout.UNSTARTED
                and (self.empty[c] == layout.NONE or self._start(self.empty[c]) < self.bound)
                and not (self.scoped and self._outlives(c))
            ):
                after = self.following[c]
                self._drop(c)
                c = after
            if c < 0:
                return True
            with cython.gil:
                self.table.expand(s, letter)
                self.load_table()
            at = self.head[letter, s]
            if at == layout.STAY:
                return False
        if self.plain:
            return c < 0 or (not self._has_enough(at) and self._goes_plainly(c, at))
        column: cython.int = self.edges[at + layout.EDGES_COLUMN]
        if column < 0 and self.edges[at + layout.EDGES_ORDER] >= 0:
            self._read_in_order(s, at, e)
        elif column < 0:
            c = self.first[s]
            while c >= 0 and not self._has_enough(at):
                after = self.following[c]
                self._go(c, s, at, e)
                self._look_if_due()
                c = after
        elif self.columns[column, e] != layout.NULL:
            # every move except staying needs the first slot to equal this column
            c = self.buckets[self._bucket(s, self.columns[column, e])]
            while c >= 0:
                after = self.chain[c]
                if self.state_of[c] == s and self.values[c, 0] == self.columns[column, e]:
                    self._go(c, s, at, e)
                    self._look_if_due()
                else:
                    self.look_at -= 1
                c = after
        return self.first[s] < 0

    def _has_enough(self, at: cython.longlong) -> cython.bint:
        return self.enough >= 0 and self._completes_more(at)

    def _completes_more(self, at: cython.longlong) -> cython.bint:
        """Whether the limit of matches is reached, and the only thing that can happen is that more
        are completed."""
        return (
            self.n_completed >= self.enough
            and not self.ambiguous
            and self.edges[at + layout.EDGES_STAYS] == layout.STAYS_OR_ENDS
        )

    def _read_in_order(self, s: cython.int, at: cython.longlong, e: cython.longlong) -> cython.int:
        """Read an event where every move except staying needs a slot to be below (or above) a
        column: only such configurations move. If most of them do, looking at all of them is
        quicker."""
        by: cython.int = self.edges[at + layout.EDGES_ORDER] >> 1
        value: cython.longlong = self.columns[self.edges[at + layout.EDGES_BOUND], e]
        if value == layout.NULL:
            return 0
        c: cython.int
        one: cython.bint = self._wants_best(s, at)
        if self.ordered.by[s] == by and one and not self.ordered.mixed[s]:
            self.ordered.begin(s, value, self.edges[at + layout.EDGES_ORDER] & 1)
            self._read_best(s, at, e)
            self.ordered.end()
            return 0
        if self.ordered.by[s] == by:
            self.ordered.begin(s, value, self.edges[at + layout.EDGES_ORDER] & 1)
            c = self.ordered.step()
            while c >= 0 and not self._has_enough(at):
                self._go(c, s, at, e)
                self._look_if_due()
                c = self.ordered.step()
            self.ordered.end()
            return 0
        looked: cython.longlong = self.steps
        moved: cython.longlong = self.n_pending + self.n_ended
        c = self.first[s]
        while c >= 0 and not self._has_enough(at):
            after: cython.int = self.following[c]
            self._go(c, s, at, e)
            self._look_if_due()
            c = after
        looked = self.steps - looked
        moved = 0 if one else self.n_pending + self.n_ended - moved
        enough: cython.longlong = self.order_from >> 3 if one else self.order_from
        if looked > enough + 4 * moved:
            self._put_in_order(s, by)
        return 0

    def _wants_best(self, s: cython.int, at: cython.longlong) -> cython.bint:
        """Whether only the best of those that can move is wanted. It is if all moves complete
        matches, or leave the only part that chooses."""
        if self.scoped and self.outer[s] >= 0:
            return self.edges[at + layout.EDGES_STAYS] == layout.STAYS_OR_LEAVES and self._ranks(s)
        return self.ranked and self.edges[at + layout.EDGES_STAYS] == layout.STAYS_OR_ENDS

    def _ranks(self, s: cython.int) -> cython.bint:
        """Whether the configurations of a state inside parts that choose have ranks."""
        return False

    def _read_best(self, s: cython.int, at: cython.longlong, e: cython.longlong) -> cython.int:
        """Let the best configuration of a walk that can move do so, and those that are as good."""
        least: cython.longlong = layout.NO_BOUND
        c: cython.int = self._find_best(s)
        while c >= 0:
            rank: cython.longlong = self._goodness(c)
            if rank < self.ordered.rank[c]:  # it was better once
                self.ordered.rank[c] = rank
            elif self._goes(c, s, at, e):
                least = self.ordered.rank[c]
                break
            elif self.state_of[c] == s:  # another condition fails: try the others
                break
            else:  # it has left the window
                self.ordered.rank[c] = layout.NO_BOUND
            c = self._find_best(s)
        self.ordered.walk_again(s)
        other: cython.int = self._step_to_best(least)
        while other >= 0:
            if other != c and self.state_of[other] == s:
                self.ordered.rank[other] = self._goodness(other)
                if self.ordered.rank[other] >= least and self._goes(other, s, at, e):
                    least = self.ordered.rank[other]
            other = self._step_to_best(least)
        return 0

    def _find_best(self, s: cython.int) -> cython.int:
        """The configuration of a walk with the best rank, or NONE."""
        best: cython.int = layout.NONE
        least: cython.longlong = layout.NO_BOUND
        self.ordered.walk_again(s)
        c: cython.int = self._step_to_best(least)
        while c >= 0:
            if self.ordered.rank[c] > least:
                best = c
                least = self.ordered.rank[c]
            c = self._step_to_best(least)
        return best

    def _step_to_best(self, least: cython.longlong) -> cython.int:
        """The next configuration of a walk that may be as good as `least`, or NONE."""
        self.ordered.looked = 0
        c: cython.int = self.ordered.step_to_best(least)
        self._worked(self.ordered.looked)
        return c

    def _goes(
        self, c: cython.int, s: cython.int, at: cython.longlong, e: cython.longlong
    ) -> cython.bint:
        """Let one configuration make its moves. Returns whether it has made one and its rank is
        known."""
        before: cython.int = self.n_pending
        known: cython.bint = self.ordered.rank[c] != layout.LATEST
        self._go(c, s, at, e)
        return known and self.n_pending > before

    def _note_rank(self, c: cython.int) -> cython.int:
        """Note that an ordered configuration has come, or has a new partial match."""
        s: cython.int = self.state_of[c]
        if self.scoped and self.outer[s] >= 0:
            if self._ranks(s):
                self.ordered.set_group(s, self.values[c, self.outer[s]])
                self.look_at -= self.ordered.set_rank(c, self._rank_in_scope(c))
        elif self.ranked:
            # computed when it is looked at: more may still arrive below it at this event
            self.look_at -= self.ordered.set_rank(c, layout.LATEST)
        return 0

    def _goodness(self, c: cython.int) -> cython.longlong:
        """How good the best partial match of a configuration is, as far as one number can tell:
        greater is better. LATEST if it is not known."""
        if self.scoped and self.outer[self.state_of[c]] >= 0:
            return self._rank_in_scope(c)
        return self._rank_of(c)

    def _rank_of(self, c: cython.int) -> cython.longlong:
        """The rank of a configuration where the best match of all is wanted (`ranked`)."""
        return layout.LATEST

    def _rank_in_scope(self, c: cython.int) -> cython.longlong:
        """The rank of a configuration inside a part that chooses."""
        return layout.LATEST

    def _put_in_order(self, s: cython.int, by: cython.int) -> cython.int:
        """Order the configurations of a state from now on."""
        if self.ordered.by[s] >= 0:
            return 0  # they are ordered in another way
        self.ordered.order(s, by)
        c: cython.int = self.first[s]
        while c >= 0:
            self._worked(1)
            self.ordered.enter(s, c, self.values[c, by >> 1])
            self._note_rank(c)
            c = self.following[c]
        return 0

    def _go(
        self, c: cython.int, s: cython.int, at: cython.longlong, e: cython.longlong
    ) -> cython.int:
        """Let one configuration make the moves at `at` in the table."""
        r: cython.int = self.root[c]
        if r and self._start(r) < self.bound and not (self.scoped and self._outlives(c)):
            r = 0
        unseen: cython.int = self.empty[c]
        if unseen > 0 and self._start(unseen) < self.bound:
            unseen = layout.NONE
        if r and self.limited and self.done_at[c] == at and self.done_when[c] == self.losses:
            return 0  # its result would not be needed
        self.steps += 1
        stays: cython.bint = False
        grown: cython.bint = False
        self.answered = -1
        if r or unseen != layout.NONE:
            how: cython.int = self.edges[at + layout.EDGES_STAYS]
            stays = how != 0
            count: cython.int = self.edges[at + layout.EDGES_COUNT]
            onward: cython.int = layout.MOVE_WORDS
            move: cython.longlong = at + layout.EDGES_MOVES - layout.MOVE_WORDS
            if self.growing:  # moves that mark the event come after those that do not
                move += layout.MOVE_WORDS * (count + 1)
                onward = -layout.MOVE_WORDS
            while count:
                count -= 1
                move += onward
                label: cython.int = self.edges[move + layout.MOVE_LABEL]
                to: cython.int = self.edges[move + layout.MOVE_TO]
                checks: cython.int = self.edges[move + layout.MOVE_CHECKS]
                if grown and label == layout.UNMARKED:
                    break
                if checks >= 0 and not self._holds(checks, c, e):
                    continue
                if label == layout.UNMARKED and to == s:
                    stays = True
                elif self.ends_apart and self.final[to] and self.accepting[to]:
                    self._end(label, r, unseen)
                elif not self.limited or not self._is_left_out(c, at, r, unseen):
                    self._send(to, label, r, unseen, c, self.edges[move + layout.MOVE_COPY], e)
                    if how == layout.STAYS_OR_ENDS and r:
                        self.n_completed += 1
                    if self.growing and label != layout.UNMARKED and unseen == layout.NONE:
                        grown = grown or not self.final[to]
        if stays and not grown:
            self.root[c] = r
            self.empty[c] = unseen
        else:
            self._drop(c)
            if self.limited and r and self.slot_counts[s]:
                self.losses += 1
        return 0

    def _goes_plainly(self, c: cython.int, at: cython.longlong) -> cython.bint:
        """Let the configuration of a state make its moves where the kernel is `plain`. Returns
        whether it is gone."""
        r: cython.int = self.root[c]
        if r and self._start(r) < self.bound:
            r = 0
        unseen: cython.int = self.empty[c]
        if unseen > 0 and self._start(unseen) < self.bound:
            unseen = layout.NONE
        self.steps += 1
        stays: cython.bint = False
        if r or unseen != layout.NONE:
            how: cython.int = self.edges[at + layout.EDGES_STAYS]
            count: cython.int = self.edges[at + layout.EDGES_COUNT]
            stays = how != 0
            if how == layout.STAYS_OR_ENDS and r:
                self.n_completed += count
            at += layout.EDGES_MOVES
            while count:
                count -= 1
                self._put_pending(
                    self.edges[at + layout.MOVE_TO], self.edges[at + layout.MOVE_LABEL], r, unseen
                )
                self.n_pending += 1
                at += layout.MOVE_WORDS
        if stays:
            self.root[c] = r
            self.empty[c] = unseen
            return False
        self._drop(c)
        return True

    def _holds(self, at: cython.longlong, c: cython.int, e: cython.longlong) -> cython.bint:
        """Whether all checks of a program hold."""
        k: cython.int
        for k in range(self.programs[at + layout.PROGRAM_COUNT]):
            check: cython.longlong = at + layout.PROGRAM_ITEMS + layout.CHECK_WORDS * k
            op: cython.int = self.programs[check + layout.CHECK_OP]
            slot: cython.int = self.programs[check + layout.CHECK_SLOT]
            if op >= layout.CHECK_HOLDS:
                what: cython.int = self.programs[check + layout.CHECK_TERM]
                if op < layout.CHECK_ABSENT:
                    if what != self.answered:  # one move may need what another forbids
                        self.answer = self.terms.is_true(what, c, e)
                        self.answered = what
                    if self.answer != (op == layout.CHECK_HOLDS):
                        return False
                elif op < layout.CHECK_NOT_IN:
                    if self._absent(what, c, e) == (op == layout.CHECK_PRESENT):
                        return False
                elif not self._all_members(op, slot, what, c, e):
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

    def _all_members(
        self, op: cython.int, slot: cython.int, what: cython.int, c: cython.int, e: cython.longlong
    ) -> cython.bint:
        """Whether all members of the set in a slot differ from a column, or make a term true."""
        n: cython.longlong = self.values[c, slot]
        if op == layout.CHECK_NOT_IN:
            value: cython.longlong = self.columns[what, e]
            return not (value == layout.NULL or self.sets.has_null(n) or self.sets.has(n, value))
        k: cython.longlong
        for k in range(self.sets.begin[n], self.sets.begin[n] + self.sets.size[n]):
            self.steps += 1
            if not self.terms.is_true_of_member(what, c, e, k):
                return False
        return True

    def _absent(self, at: cython.int, c: cython.int, e: cython.longlong) -> cython.bint:
        """Whether none of the earlier events that a program describes has come."""
        after: cython.int = self.programs[at + layout.ABSENT_AFTER]
        before: cython.int = self.programs[at + layout.ABSENT_BEFORE]
        answer: cython.bint = self.past.none(
            cython.cast(cython.longlong, self.key) * self.n_past
            + self.programs[at + layout.ABSENT_KIND],
            layout.NO_BOUND if after < 0 else self.values[c, after],
            self.base + e if before < 0 else self.values[c, before],
            self.floors[e] if self.windowed else layout.NO_BOUND,
            self.programs[at + layout.ABSENT_TERM],
            c,
            e,
        )
        self.steps += self.past.looked
        return answer

    def _record(self, recorded: cython.int, e: cython.longlong) -> cython.int:
        """Remember the event as the kinds that the bits say. A kind that only started runs ask
        about is not recorded while none has started: then everything waits in the initial state."""
        waits: cython.bint = self.n_configurations == 1 and self.first[self.initial] >= 0
        h: cython.int
        for h in range(self.n_past):
            i: cython.longlong = cython.cast(cython.longlong, self.key) * self.n_past + h
            if recorded >> h & 1:
                if not waits or self.past_always >> h & 1:
                    floor: cython.longlong = self.floors[e] if self.windowed else layout.NO_BOUND
                    self.past.record(i, self.base + e, self.measures[e], floor, self.columns, e)
                else:
                    self.past.drop(i)
        return 0

    def _copy(
        self, at: cython.longlong, c: cython.int, e: cython.longlong, row: cython.int
    ) -> cython.int:
        """Copy the values that a configuration takes along into a pending row."""
        k: cython.int
        for k in range(self.programs[at + layout.PROGRAM_COUNT]):
            copy: cython.longlong = at + layout.PROGRAM_ITEMS + layout.COPY_WORDS * k
            how: cython.int = self.programs[copy + layout.COPY_HOW]
            slot: cython.int = self.programs[copy + layout.COPY_SLOT]
            column: cython.int = self.programs[copy + layout.COPY_COLUMN]
            value: cython.longlong = 0
            if how == layout.UPDATE_INSERT:
                value = layout.NONE if slot < 0 else self.values[c, slot]
                value = self.sets.with_value(value, self.columns[column, e])
                self.pending_values[row, k] = value
                self.look_at -= self.sets.size[value] // layout.STATES_PER_STEP
                continue
            if how == layout.UPDATE_COMPUTE:
                self.pending_values[row, k] = self.terms.computed(column, c, e)
                continue
            if how == layout.UPDATE_START:
                self.pending_values[row, k] = self.measures[e]
                continue
            if how == layout.UPDATE_ORDINAL:
                self.pending_values[row, k] = self.base + e
                continue
            if how == layout.UPDATE_SCOPE:
                value = layout.OPEN_SCOPE if self.empty[c] == layout.UNSTARTED else 0
                self.pending_values[row, k] = self.base + e - value
                continue
            if how >= layout.UPDATE_COUNT:
                value = self.terms.total(how, slot, column, c, e)
                self.pending_values[row, k] = value
                continue
            if how != layout.UPDATE_SET:
                value = self.values[c, slot]
            if how != layout.UPDATE_KEEP:
                new: cython.longlong = self.columns[column, e]
                # NULL is the smallest value, so it stays once it is in
                if how == layout.UPDATE_SET or new == layout.NULL:
                    value = new
                elif value != layout.NULL and (how == layout.UPDATE_MIN) == (new < value):
                    value = new
            self.pending_values[row, k] = value
        return 0

    # ------------------------------------------------------------ arrivals

    def _mark(self, label: cython.int, r: cython.int, unseen: cython.int) -> cython.int:
        """Extend each partial match of one configuration by this event."""
        ordinal: cython.longlong = self.base + self.event
        n: cython.int = 0
        if r:
            n = self._node(ordinal, self._start(r), r, label)
        if unseen == layout.UNSTARTED:
            n = self._meld(n, self._node(ordinal, self.measures[self.event], 0, label))
        elif unseen > 0:
            n = self._meld(n, self._node(ordinal, self._start(unseen), unseen, label))
        return n

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
        """Send what configuration c holds to a state, marking the event as the label says. It
        arrives when all configurations have read the event."""
        n: cython.int = self._put_pending(to, label, r, unseen)
        if copy >= 0:
            self._copy(copy, c, e, n)
        if self.scoped and self._note_scope(n, c):
            return 0  # a better one is pending
        self.n_pending = n + 1
        return 0

    def _put_pending(
        self, to: cython.int, label: cython.int, r: cython.int, unseen: cython.int
    ) -> cython.int:
        """Write the row after the last pending one, without values. Returns its number."""
        n: cython.int = self.n_pending
        if n == self.pending.shape[0]:
            double_pending(self)
        self.pending[n, layout.PENDING_STATE] = to
        self.pending[n, layout.PENDING_LABEL] = label
        self.pending[n, layout.PENDING_ROOT] = r
        self.pending[n, layout.PENDING_EMPTY] = unseen
        self.pending_starts[n] = self._start(r)
        if unseen == layout.UNSTARTED and label != layout.UNMARKED:
            self.pending_starts[n] = self.measures[self.event]
        elif unseen > 0 and r == 0:
            self.pending_starts[n] = self._start(unseen)
        self.arrivals[n] = n
        return n

    def _end(self, label: cython.int, r: cython.int, unseen: cython.int) -> cython.int:
        """Complete matches that nothing can be added to (`ends_apart`: they need not arrive
        anywhere)."""
        return 0

    def _settle(self) -> cython.int:
        """Let pending rows arrive: each joins the configuration with the same state and values.

        Nodes are made in the order of their starts, and hung into heaps in the opposite order: so
        each goes below those before it, and hardly any part of a heap is copied.
        """
        i: cython.int
        k: cython.int
        label: cython.int
        self.made_now = self.used
        if self.n_pending > 1:
            self._sort_arrivals()
        if self.limited:
            self._leave_out_rows()
        for k in range(self.n_pending):
            i = self.arrivals[k]
            if not self.plain:
                self._look_if_due()
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
        if self.scoped:
            self._choose()
        for k in range(self.n_pending - 1, -1, -1):
            i = self.arrivals[k]
            to: cython.int = self.pending[i, layout.PENDING_STATE]
            if not self.plain:
                self._look_if_due()
                if to == layout.NONE:
                    continue  # it was not chosen, or is not needed
            if to == self.closed:
                # out of its window, so nothing melds with it
                self.root[self._new(to, i)] = self.pending[i, layout.PENDING_ROOT]
                continue
            if self.scoped and self.outer[to] >= 0:
                self._join_scope(to, i)
                continue
            c: cython.int = self._find(to, i)
            if c < 0:
                c = self._new(to, i)
                self.root[c] = self.pending[i, layout.PENDING_ROOT]
                self.empty[c] = self.pending[i, layout.PENDING_EMPTY]
            else:
                self.root[c] = self._meld(self.root[c], self.pending[i, layout.PENDING_ROOT])
                self.empty[c] = self._later(self.empty[c], self.pending[i, layout.PENDING_EMPTY])
            if not self.plain:
                if self.n_slots and self.ordered.by[to] >= 0:
                    self._note_rank(c)
                if self.limited:
                    self._leave_out_covered(c, i)
        return 0

    # ------------------------------------------------------------ parts that choose (`scopes`)

    def _outlives(self, c: cython.int) -> cython.bint:
        """Whether the partial matches of a configuration are still needed when they are out of the
        window."""
        return False

    def _note_scope(self, row: cython.int, c: cython.int) -> cython.int:
        """Note the scopes of configuration c, which is in a pending row. Returns whether the row is
        not needed."""
        return 0

    def _choose(self) -> cython.int:
        """Of the pending rows that leave a part that chooses, let only the best arrive."""
        return 0

    def _join_scope(self, to: cython.int, row: cython.int) -> cython.int:
        """Let a pending row arrive in a state inside a part that chooses."""
        return 0

    # ------------------------------------------------------------ what is not needed (`limited`)

    def _is_left_out(
        self, c: cython.int, at: cython.int, r: cython.int, unseen: cython.int
    ) -> cython.bint:
        """Whether the move of configuration c at `at` in the table is not needed."""
        return False

    def _leave_out_rows(self) -> cython.int:
        """Leave out pending rows that are not needed."""
        return 0

    def _leave_out_covered(self, c: cython.int, row: cython.int) -> cython.int:
        """Leave out configurations that are not needed now that a pending row has arrived as c; c
        may be one of them."""
        return 0

    # ------------------------------------------------------------ the order of arrivals

    def _sort_arrivals(self) -> cython.int:
        """Sort pending rows by start, ascending (Shell's sort: as a rule there are very few)."""
        n: cython.int = self.n_pending
        gap: cython.int = 1
        i: cython.int
        j: cython.int
        while 3 * gap + 1 < n:
            gap = 3 * gap + 1
        while gap:
            for i in range(gap, n):
                self._worked(1)
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

    def _bucket(self, s: cython.int, value: cython.longlong) -> cython.longlong:
        mixed: cython.ulonglong = cython.cast(cython.ulonglong, value & LOW_63)
        mixed = (mixed ^ (mixed >> 29)) * PRIME + cython.cast(cython.ulonglong, s)
        if not cython.compiled:
            mixed = mixed & ((1 << 64) - 1)
        # there are as many buckets as a power of two
        return cython.cast(cython.longlong, mixed >> 20) & (self.buckets.shape[0] - 1)

    def _bucket_of(
        self, s: cython.int, values: cython.longlong[:, ::1], row: cython.int
    ) -> cython.longlong:
        """Where a configuration with these values is hashed: by its first slot where an equality
        looks for that, else by all slots."""
        mixed: cython.ulonglong = cython.cast(cython.ulonglong, values[row, 0] & LOW_63)
        k: cython.int
        for k in range(1, self.hashed_slots[s]):
            value: cython.ulonglong = cython.cast(cython.ulonglong, values[row, k] & LOW_63)
            mixed = (mixed ^ (mixed >> 29)) * PRIME + value
            if not cython.compiled:
                mixed = mixed & ((1 << 64) - 1)
        return self._bucket(s, cython.cast(cython.longlong, mixed & LOW_63))

    def _find(self, s: cython.int, row: cython.int) -> cython.int:
        """The configuration of state s with the values of a pending row, or -1."""
        slots: cython.int = self.slot_counts[s]
        if slots == 0:
            return self.first[s]
        b: cython.longlong = self._bucket_of(s, self.pending_values, row)
        return self._find_from(self.buckets[b], s, row)

    def _find_from(self, c: cython.int, s: cython.int, row: cython.int) -> cython.int:
        """Like `_find`, among the configurations with the same hash, from c on."""
        slots: cython.int = self.slot_counts[s]
        k: cython.int
        while c >= 0:
            if self.state_of[c] == s:
                k = 0
                while k < slots and self.values[c, k] == self.pending_values[row, k]:
                    k += 1
                if k == slots:
                    return c
            self.look_at -= 1
            c = self.chain[c]
        return -1

    def _new(self, s: cython.int, row: cython.int) -> cython.int:
        """A new configuration of state s with the values of a pending row."""
        c: cython.int = self.free
        if c >= 0:
            self.free = self.following[c]
        else:
            if self.made == self.root.shape[0]:
                with cython.gil:
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
            self.covered[c] = 0
            self.done_at[c] = layout.NONE
            self._enter_chain(c)
            if self.ordered.by[s] >= 0:
                self.ordered.enter(s, c, self.values[c, self.ordered.by[s] >> 1])
        return c

    def _enter_chain(self, c: cython.int) -> cython.int:
        b: cython.longlong = self._bucket_of(self.state_of[c], self.values, c)
        self.chain[c] = self.buckets[b]
        self.buckets[b] = c
        return 0

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
            if self.ordered.by[s] >= 0:
                self.ordered.leave(s, c)
            b: cython.longlong = self._bucket_of(s, self.values, c)
            other: cython.int = self.buckets[b]
            if other == c:
                self.buckets[b] = self.chain[c]
            else:
                while self.chain[other] != c:
                    self.look_at -= 1
                    other = self.chain[other]
                self.chain[other] = self.chain[c]
        self.state_of[c] = -1
        self.following[c] = self.free
        self.free = c
        self.n_configurations -= 1
        self.n_accepting -= self.accepting[s]
        return 0

    def _later(self, a: cython.int, b: cython.int) -> cython.int:
        """The one of two partial matches without shown events that expires later."""
        if a == layout.UNSTARTED or b == layout.UNSTARTED:
            return layout.UNSTARTED
        if a == layout.NONE or b == layout.NONE:
            return a if b == layout.NONE else b
        return a if self._start(a) >= self._start(b) else b

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

    def _skip(self, skipped: cython.longlong) -> cython.int:
        """Pass over events that satisfy no atom: runs leave states that cannot wait."""
        i: cython.int
        while skipped > 0:
            self.n_pending = 0
            moved: cython.bint = False
            for i in range(self.n_active):
                s: cython.int = self.active[i]
                to: cython.int = self.gap_to[s]
                if to == layout.UNKNOWN:
                    with cython.gil:
                        to = self.table.expand_gap(s)
                        self.load_table()
                if to != s:
                    moved = True
                    self.losses += 1
                    while self.first[s] >= 0:
                        self._worked(1)
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

    def _begin(self) -> cython.int:
        """Start (or restart) the evaluation with one partial match that has seen nothing."""
        self._drop_all()
        self.empty[self._new(self.initial, 0)] = layout.UNSTARTED
        return 0

    def _drop_all(self) -> cython.int:
        i: cython.int
        for i in range(self.n_active):
            s: cython.int = self.active[i]
            self.ordered.forget(s)
            while self.first[s] >= 0:
                self._worked(1)
                self._drop(self.first[s])
            self.is_active[s] = 0
        self.n_active = 0
        return 0


def double_nodes(stepper: Stepper) -> cython.int:
    """Twice as much room for nodes. A function of its own, so that `_node` can be inlined."""
    with cython.gil:
        stepper._set_nodes(taller(stepper.wide, 2 * stepper.used))
    return 0


def double_pending(stepper: Stepper) -> cython.int:
    """Twice as much room for pending rows."""
    n: cython.Py_ssize_t = 2 * stepper.pending.shape[0]
    with cython.gil:
        stepper.pending = taller(stepper.pending, n)
        stepper.pending_values = taller(stepper.pending_values, n)
        stepper.pending_starts = longer(stepper.pending_starts, n, 0)
        stepper.arrivals = longer(stepper.arrivals, n, 0)
    return 0
