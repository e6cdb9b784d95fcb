"""The kernel: classified events in, matches out. Pure Python to read, compiled by Cython to run.

`stepper` has the partial matches of a key and how they read an event, `keyed` the partial matches
of the other keys, `terms_vm` the conditions that they evaluate. This module has the events of a
batch, and the walk through the forest that writes matches. `counting` and `choosing` have kernels
that report something else; `layout` names the columns of all arrays. The `.pxd` beside a module
says what is compiled to C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.memory import longer
from cereus.errors import found_while_matching

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.keyed import KeyedStepper
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.keyed import KeyedStepper

if TYPE_CHECKING:
    from cereus.engine.match.kernel_input import KernelInput
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable
    from cereus.engine.results.match_chunks import ChunkBuffer

WALK_DONE = cython.declare(cython.int, 0)
WALK_CHUNK_FULL = cython.declare(cython.int, 1)
WALK_NEEDS_ROOM = cython.declare(cython.int, 2)
WALK_ROOM = cython.declare(cython.int, 8)
"""A node pushes itself and two others at most, twice where its end bounds the window."""


@cython.cclass
class Kernel(KeyedStepper):
    """Runs one plan over events sorted by key, and lists the matches."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        KeyedStepper.__init__(self, table, options)
        self.ends_at_marks = options.ends_at_marks
        self.consuming = options.consuming
        self.limit = -1 if options.limit is None else options.limit
        distinct = options.limit_if_distinct
        self.limit_if_distinct = -1 if distinct is None else distinct
        self.limit_anyway = self.limit
        self.max_nodes = options.max_nodes
        self.max_configurations = options.max_configurations
        self.max_matches = options.max_matches
        self.cut_short = False
        self.with_labels = options.with_labels
        self.must_show = options.must_show
        self.report_from = 0
        self.stack_node = np.zeros(4 * layout.FIRST_ROOM, np.int32)
        self.stack_depth = np.zeros(4 * layout.FIRST_ROOM, np.int32)
        self.height = 0
        self.path = np.zeros(layout.FIRST_ROOM, np.int64)
        self.path_label = np.zeros(layout.FIRST_ROOM, np.int32)
        self.reporting = False
        self.report_next = layout.NONE
        self.accepted_from = 0
        self.reported = 0
        self.n_matches = 0
        self.n_cells = 0
        self.let_go()

    # ------------------------------------------------------------ a batch of events

    def shed(self) -> None:
        """Drop the partial matches of the key at hand, to get below the limits again."""
        self._begin()

    def start_over(self, report_from: cython.longlong) -> None:
        """Forget everything; from now on report only matches that end at this event or later."""
        self._drop_all()
        self._forget_keys()
        self.nodes_swept += self.used - 1
        self.used = 1
        self.report_from = report_from

    def _forget_keys(self) -> None:
        """Forget all keys. The arrays stay, since only a few events come next."""
        key: cython.Py_ssize_t
        for key in range(self.last_position.shape[0]):
            self.last_position[key] = -1
            self.last_floor[key] = layout.NO_BOUND
            self.carry_from[key] = self.carry_to[key] = 0
            self.epoch_of[key] = 0
        self.n_carry = self.epoch = 0
        self.loaded = False
        self.sets.clear()
        if self.n_past:
            self.past.clear()

    def feed(self, events: KernelInput, keys: cython.longlong) -> None:
        """Get ready to read a batch: arrays sorted by group, and the number of keys known."""
        self.classes = events.classes
        self.positions = events.positions
        self.measures = events.measures
        self.floors = events.floors
        if self.n_slots or self.n_past:
            self.columns = events.columns
            self.terms.use_columns(events.columns)
        self.shown = events.shown
        self.key_of = events.key_of
        self.group_ends = events.group_ends
        self.base = events.base
        self.known_from = events.known_from
        self.known_floors = events.known_floors
        if self.watching:
            self.waiting = events.waiting
        if self.n_past:
            self.past.know_keys(keys)
        old = self.last_position.shape[0]
        if keys > old:
            self.last_position = longer(self.last_position, keys, -1)
            self.last_floor = longer(self.last_floor, keys, layout.NO_BOUND)
            self.epoch_of = longer(self.epoch_of, keys, 0)
            self.carry_from = longer(self.carry_from, keys, 0)
            self.carry_to = longer(self.carry_to, keys, 0)
        self.event = 0
        self.group = 0
        self.loaded = False
        self.expiring = False
        self.over = False

    def expire(self, events: KernelInput, keys: cython.longlong, over: cython.bint) -> None:
        """Prepare to let time pass without an event: one row per key, with its floor; with `over`,
        the input is over, whatever the times are."""
        self.feed(events, keys)
        self.expiring = True
        self.over = over

    def use_chunk(self, chunk: ChunkBuffer) -> None:
        """Write matches to this chunk from now on."""
        self.out_events = chunk.events
        self.out_labels = chunk.labels
        self.out_offsets = chunk.offsets
        self.out_first = chunk.first
        self.out_last = chunk.last
        self.out_at = chunk.at
        self.out_offsets[0] = 0
        self.n_matches = 0
        self.n_cells = 0

    def let_go(self) -> None:
        """Release the chunk."""
        self.out_events = self.out_first = self.out_last = self.out_at = np.zeros(0, np.int64)
        self.out_labels = self.out_offsets = np.zeros(0, np.int32)

    def run(self) -> int:
        """Read events until the batch is FINISHED, the CHUNK_FULL, or a limit is reached.

        The caller may go on after a limit: matches past their own limit were left out; for the
        other limits, call `shed` first.
        """
        state: cython.int
        with cython.nogil:
            state = self._run()
        if self.terms.overflowed:
            raise found_while_matching(
                "a sum of integers does not fit 64 bits",
                hint="let the column have floating-point numbers; partial matches with smaller "
                "sums were left out, and might match",
            )
        if state == layout.FINISHED:
            self.key_of = np.zeros(0, np.int32)
        return state

    def _run(self) -> cython.int:
        n: cython.longlong = self.classes.shape[0]
        while True:
            if self.reporting:
                if not self._report():
                    return layout.CHUNK_FULL
                self._leave_event()
                if self.cut_short:
                    self.cut_short = False
                    return layout.TOO_MANY_MATCHES
            if self.event == n:
                break
            if not self.loaded:
                if self.n_carry > self.carry_at:  # a key may come many times in a batch
                    self._tidy_carry()
                self._take_up(self.key_of[self.group])
                self.loaded = True
            if self.used > self.sweep_at or self.sets.used > self.sets.sweep_at:
                self._sweep_and_count()
                if self._in_memory() > self.max_nodes:
                    return layout.TOO_MANY_NODES
            if self.n_configurations > self.max_configurations:
                self._sweep_and_count()  # some may have left the window meanwhile
                if self.n_configurations > self.max_configurations:
                    return layout.TOO_MANY_CONFIGURATIONS
            self._step(self.event)
            if self.too_many_steps:
                self.too_many_steps = False
                return layout.TOO_MANY_STEPS
            if (self.n_accepting or self.n_ended) and self.event >= self.report_from:
                self.report_next = self._next_accepted(layout.NONE)
                self.reporting = self.n_ended > 0 or self.report_next != layout.NONE
            if self.reporting:
                if self.limit_if_distinct >= 0:
                    self.limit = self.limit_anyway if self.ambiguous else self.limit_if_distinct
                self.reported = 0
                self.height = 0
            else:
                self._leave_event()
        if self.consuming_all:
            with cython.gil:
                self._forget_consumed()
        if self.n_carry > self.carry_at:
            self._tidy_carry()
        return layout.FINISHED

    def _in_memory(self) -> cython.longlong:
        """What is in memory, by its bytes as so many nodes."""
        return self.used + self.sets.used // layout.NODE_WORDS

    def _tidy_carry(self) -> cython.int:
        with cython.gil:
            self.carry_at = max(1 << 10, 4 * len(self._carried()))
        return 0

    def _leave_event(self) -> cython.int:
        """Go on to the next event. After the last one of a group, put its configurations down."""
        self.event += 1
        if self.event == self.group_ends[self.group]:
            key: cython.int = self.key_of[self.group]
            self.last_floor[key] = self.floors[self.event - 1]
            self._save(key)
            self.group += 1
            self.loaded = False
        return 0

    # ------------------------------------------------------------ reporting

    def _next_accepted(self, c: cython.int) -> cython.int:
        """The next accepting configuration with matches after c: the first one after NONE, and NONE
        after the last. No configuration may come or go meanwhile."""
        if c == layout.NONE:
            self.accepted_from = 0
        else:
            c = self.following[c]
        while True:
            while c >= 0:
                if self.root[c]:
                    return c
                self.look_at -= 1
                c = self.following[c]
            if self.accepted_from == self.n_active:
                return layout.NONE
            s: cython.int = self.active[self.accepted_from]
            self.accepted_from += 1
            if self.accepting[s]:
                c = self.first[s]

    def _report(self) -> cython.bint:
        """Write the matches that are accepted at this event; False when the chunk is full."""
        while True:
            if self.height and not self._walk():
                return False
            if self.cut_short or (self.limit >= 0 and self.reported >= self.limit):
                break
            c: cython.int = self.report_next
            if c == layout.NONE:
                break
            self.report_next = self._next_accepted(c)
            self._worked(1)
            if self.state_of[c] == self.closed:
                self.walk_bound = layout.NO_BOUND
                self._push(self.root[c], 0)
            # the passing of time is not an event: what the last event has accepted is reported
            elif not self.expiring and self.wide[self.root[c], layout.NODE_START] >= self.bound:
                if self.watching and not self.must_show:
                    return self._report_end(c)
                self.walk_bound = self.bound
                self._push(self.root[c], 0)
        return self._reported()

    def _report_end(self, c: cython.int) -> cython.bint:
        """Write that matches end at this event, those of configuration c, without any of their
        events; False when the chunk is full."""
        m: cython.int = self.n_matches
        if m == self.out_first.shape[0]:
            self.report_next = c
            return False
        self.out_first[m] = self.out_last[m] = self.out_at[m] = self.base + self.event
        self.n_matches = m + 1
        self.out_offsets[m + 1] = self.n_cells
        self.reported += 1
        return self._reported()

    def _reported(self) -> cython.bint:
        """Note that all matches of this event have been written."""
        self.reporting = False
        if self.reported:
            if self.consuming:
                self._begin()
            if self.consuming_all:  # those of the other keys follow when they are taken up
                self.epoch += 1
        return True

    def _push(self, n: cython.int, depth: cython.int) -> cython.int:
        if self.height == self.stack_node.shape[0]:
            with cython.gil:
                self.stack_node = longer(self.stack_node, 2 * self.height, 0)
                self.stack_depth = longer(self.stack_depth, 2 * self.height, 0)
        self.stack_node[self.height] = n
        self.stack_depth[self.height] = depth
        self.height += 1
        return 0

    def _walk(self) -> cython.bint:
        """Write the matches on the stack; False when the chunk is full."""
        state: cython.int = WALK_NEEDS_ROOM
        while state == WALK_NEEDS_ROOM:
            self._room_to_walk()
            state = self._walk_on()
        return state == WALK_DONE

    def _room_to_walk(self) -> cython.int:
        """Make room on the stack for one more node, and on the path for the one at the top."""
        if self.height + WALK_ROOM > self.stack_node.shape[0]:
            with cython.gil:
                self.stack_node = longer(self.stack_node, 2 * self.height + WALK_ROOM, 0)
                self.stack_depth = longer(self.stack_depth, 2 * self.height + WALK_ROOM, 0)
        depth: cython.int = self.stack_depth[self.height - 1]
        if depth >= self.path.shape[0]:
            with cython.gil:
                self.path = longer(self.path, 2 * depth, 0)
                self.path_label = longer(self.path_label, 2 * depth, 0)
        return 0

    def _walk_on(self) -> cython.int:
        """Walk depth first: an event, all that it extends, then the other choices at its depth.

        path[d] is what is shown of the event chosen at depth d, latest first. On the stack, a depth
        below zero stands for a match that is on the path but was not written, since the chunk was
        full. The arrays do not grow here (`_room_to_walk`), so C keeps them in registers.
        """
        wide: cython.longlong[::1] = self.flat_wide
        thin: cython.int[::1] = self.flat_thin
        shown: cython.longlong[::1] = self.shown
        path: cython.longlong[::1] = self.path
        path_label: cython.int[::1] = self.path_label
        stack_node: cython.int[::1] = self.stack_node
        stack_depth: cython.int[::1] = self.stack_depth
        out: cython.longlong[::1] = self.out_events
        known_from: cython.longlong = self.known_from
        bound: cython.longlong = self.walk_bound
        bound_by_end: cython.bint = self.open_ended and self.windowed
        n: cython.longlong
        other: cython.longlong
        depth: cython.int
        d: cython.int
        at: cython.int
        most: cython.longlong = stack_node.shape[0] - WALK_ROOM
        deepest: cython.longlong = path.shape[0]
        while self.height:
            if self.limit >= 0 and self.reported >= self.limit:
                self.height = 0
                return WALK_DONE
            if self.reported >= self.max_matches:
                self.height = 0
                self.cut_short = True
                return WALK_DONE
            if self.height > most:
                return WALK_NEEDS_ROOM
            self.height -= 1
            n = stack_node[self.height]
            depth = stack_depth[self.height]
            if depth < 0:
                if not self._emit(cython.cast(cython.int, n), -1 - depth):
                    return WALK_CHUNK_FULL
                continue
            if depth == 0:
                # if the last event of the match is not selected, it is not the last one shown
                self.walk_end = self.base + self.event
                if self.open_ended or self.ends_at_marks:
                    self.walk_end = wide[layout.NODE_WORDS * n + layout.NODE_EVENT]
                self.walk_at = self.walk_end if self.expiring else self.base + self.event
                if bound_by_end:
                    self._push_siblings(cython.cast(cython.int, n), 0)
                    bound = self.walk_bound = self.known_floors[
                        wide[layout.NODE_WORDS * n + layout.NODE_EVENT] - known_from
                    ]
                    if wide[layout.NODE_WORDS * n + layout.NODE_START] < bound:
                        self._worked(1)
                        continue
            while True:
                if depth == deepest or self.height > most + 2:
                    self._push(cython.cast(cython.int, n), depth)
                    return WALK_NEEDS_ROOM
                path[depth] = shown[wide[layout.NODE_WORDS * n + layout.NODE_EVENT] - known_from]
                path_label[depth] = (
                    thin[layout.NODE_INTS * n + layout.NODE_TAG] >> layout.RANK_BITS
                ) & layout.LABEL_MASK
                if depth or not bound_by_end:
                    other = thin[layout.NODE_INTS * n + layout.NODE_RIGHT]
                    if other and wide[layout.NODE_WORDS * other + layout.NODE_START] >= bound:
                        stack_node[self.height] = cython.cast(cython.int, other)
                        stack_depth[self.height] = depth
                        self.height += 1
                    other = thin[layout.NODE_INTS * n + layout.NODE_LEFT]
                    if other and wide[layout.NODE_WORDS * other + layout.NODE_START] >= bound:
                        stack_node[self.height] = cython.cast(cython.int, other)
                        stack_depth[self.height] = depth
                        self.height += 1
                other = thin[layout.NODE_INTS * n + layout.NODE_LINK]
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
                if not self._emit(cython.cast(cython.int, n), depth):
                    return WALK_CHUNK_FULL
                continue
            # like _emit, but without labels and with room
            self.out_first[self.n_matches] = wide[layout.NODE_WORDS * n + layout.NODE_EVENT]
            self.out_last[self.n_matches] = self.walk_end
            self.out_at[self.n_matches] = self.walk_at
            for d in range(depth, -1, -1):
                out[at] = path[d]
                at += 1
            self.n_cells = at
            self.n_matches += 1
            self.out_offsets[self.n_matches] = at
            self.reported += 1
        return WALK_DONE

    def _push_siblings(self, n: cython.int, depth: cython.int) -> cython.int:
        """Push the other choices in the heap of node n."""
        if self.thin[n, layout.NODE_RIGHT]:
            self._push(self.thin[n, layout.NODE_RIGHT], depth)
        if self.thin[n, layout.NODE_LEFT]:
            self._push(self.thin[n, layout.NODE_LEFT], depth)
        return 0

    def _shows(self, depth: cython.int) -> cython.bint:
        """Whether some event of the match on the path is selected."""
        d: cython.int
        for d in range(depth + 1):
            if self.path_label[d] > layout.HIDDEN:
                return True
        return False

    def _emit(self, first: cython.int, depth: cython.int) -> cython.bint:
        """Write the match on the path, whose earliest event is that of node `first`."""
        at: cython.int = self.n_cells
        m: cython.int = self.n_matches
        if self.must_show and not self._shows(depth):
            # many of these may come before the chunk is full
            self._worked(1 + depth)
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

    # ------------------------------------------------------------ snapshots and measures

    def oldest(self) -> int | None:
        """The smallest ordinal that a live node refers to (after a sweep), or None."""
        nodes = np.asarray(self.wide)[1 : self.used]
        if len(nodes) and self.scoped and self.windowed and not self.open_ended:
            # partial matches that only compete with others are never reported
            nodes = nodes[nodes[:, layout.NODE_START] >= np.min(self.last_floor)]
        return int(nodes[:, layout.NODE_EVENT].min()) if len(nodes) else None

    def save(self) -> dict[str, Any]:
        """Everything that must outlive this process, as arrays (call `sweep` before)."""
        past = {}
        if self.n_past:
            floors = np.asarray(self.last_floor)
            past = self.past.save(
                floors if self.windowed else np.full_like(floors, layout.NO_BOUND)
            )
        sets = {}
        if self.sets.made:
            self._sweep_sets()
            sets = self.sets.save()
        return {
            **past,
            **sets,
            "nodes": np.asarray(self.wide)[: self.used].copy(),
            "carry": self._carried().copy(),
            "carry_from": np.append(np.asarray(self.carry_from), self.n_carry),
            "last_position": np.asarray(self.last_position).copy(),
            "last_floor": np.asarray(self.last_floor).copy(),
            **({"sums_must_fit": True} if self.terms.sums_must_fit else {}),
        }

    def restore(self, saved: dict[str, Any]) -> None:
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
        self.epoch_of = np.full(len(self.last_floor), self.epoch)
        if self.n_past:
            self.past.restore(saved)
        self.terms.sums_must_fit = "sums_must_fit" in saved
        self.sets.clear()
        if "set_sizes" in saved:
            self.sets.restore(saved)

    @property
    def match_count(self) -> int:
        return self.n_matches

    @property
    def cell_count(self) -> int:
        return self.n_cells

    @property
    def node_count(self) -> int:
        return self.used - 1

    @property
    def configuration_count(self) -> int:
        return self.n_configurations

    @property
    def made_count(self) -> int:
        """The number of nodes made so far."""
        return self.nodes_swept + self.used - 1

    @property
    def step_count(self) -> int:
        """How often configurations have read an event."""
        return self.steps

    @property
    def sweep_count(self) -> int:
        return self.sweeps

    @property
    def key_count(self) -> int:
        return self.last_position.shape[0]

    @property
    def floors_of_keys(self) -> npt.NDArray[np.int64]:
        """The floor of the last event of every key."""
        return np.asarray(self.last_floor)

    @property
    def where(self) -> tuple[int, int]:
        """The event being read: its index in the batch, and its key."""
        return self.event, (self.key_of[self.group] if self.group < self.key_of.shape[0] else -1)
