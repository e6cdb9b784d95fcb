"""Keeps the configurations of every key while another is read, and sweeps nodes that none reaches.

Those of key k are the rows `carry_from[k]` to `carry_to[k]` of `carry`; the rows in between are no
longer used. A key is taken up when its events come, and put down after them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.memory import filled, taller
from cereus.engine.ranges import ranges

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.limited import LimitedStepper
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.limited import LimitedStepper

if TYPE_CHECKING:
    from cereus.engine.match.kernel_options import KernelOptions
    from cereus.engine.match.table import TransitionTable


@cython.cclass
class KeyedStepper(LimitedStepper):
    """The partial matches of all keys; those of one key at a time read events."""

    def __init__(self, table: TransitionTable, options: KernelOptions) -> None:
        LimitedStepper.__init__(self, table, options)
        self.sweep_from = options.sweep_at
        self.sweep_at = self.sweep_from
        self.sweeps = 0
        self.nodes_swept = 0
        self.consuming_all = options.consuming_all
        self.group = 0
        self.clear_keys()

    def clear_keys(self) -> None:
        """Forget all keys."""
        self.carry_from = self.carry_to = np.zeros(0, np.int64)
        self.carry = np.zeros((layout.FIRST_ROOM, layout.CARRY_VALUES + self.n_slots), np.int64)
        self.n_carry = 0
        self.carry_at = 1 << 10
        self.last_position = np.zeros(0, np.int64)
        self.last_floor = np.zeros(0, np.int64)
        self.epoch = 0
        self.epoch_of = np.zeros(0, np.int64)
        self.key_of = np.zeros(0, np.int32)
        self.loaded = False
        self.sets.clear()
        if self.n_past:
            self.past.clear()

    def _take_up(self, key: cython.int) -> cython.int:
        """Take up the configurations of a key where they were left."""
        self.key = key
        self.position = self.last_position[key]
        if self.position < 0 or self.epoch_of[key] < self.epoch:
            self._begin()
            self.carry_to[key] = self.carry_from[key]
            return 0
        self._drop_all()
        i: cython.longlong
        k: cython.int
        for i in range(self.carry_from[key], self.carry_to[key]):
            self._worked(1)
            for k in range(self.n_slots):
                self.pending_values[0, k] = self.carry[i, layout.CARRY_VALUES + k]
            c: cython.int = self._new(cython.cast(cython.int, self.carry[i, layout.CARRY_STATE]), 0)
            self.root[c] = cython.cast(cython.int, self.carry[i, layout.CARRY_ROOT])
            self.empty[c] = cython.cast(cython.int, self.carry[i, layout.CARRY_EMPTY])
            if self.n_slots and self.ordered.by[self.state_of[c]] >= 0:
                self._note_rank(c)
        self.carry_to[key] = self.carry_from[key]
        return 0

    def _save(self, key: cython.int) -> cython.int:
        """Put down the configurations of a key."""
        i: cython.int
        k: cython.int
        self.last_position[key] = self.position
        self.epoch_of[key] = self.epoch
        self.carry_from[key] = self.n_carry
        for i in range(self.n_active):
            c: cython.int = self.first[self.active[i]]
            while c >= 0:
                self._worked(1)
                if self.n_carry == self.carry.shape[0]:
                    with cython.gil:
                        self.carry = taller(self.carry, 2 * self.n_carry + layout.FIRST_ROOM)
                self.carry[self.n_carry, layout.CARRY_STATE] = self.state_of[c]
                self.carry[self.n_carry, layout.CARRY_ROOT] = self.root[c]
                self.carry[self.n_carry, layout.CARRY_EMPTY] = self.empty[c]
                for k in range(self.n_slots):
                    self.carry[self.n_carry, layout.CARRY_VALUES + k] = self.values[c, k]
                self.n_carry += 1
                c = self.following[c]
        self.carry_to[key] = self.n_carry
        return 0

    def renumber(self, table: TransitionTable, numbers: npt.NDArray[np.int32]) -> None:
        """Go on with another table, in which state s has the number numbers[s]."""
        self._drop_all()  # what was left in the old numbers; it has been put down
        self.table = table
        if self.closes:
            self.closed = table.closed_state()
        self.load_table()
        carry = self._carried()
        carry[:, layout.CARRY_STATE] = numbers[carry[:, layout.CARRY_STATE]]

    def carried_values(self) -> npt.NDArray[np.int64]:
        """The values that some key's configurations hold in slots."""
        values = np.unique(self._carried()[:, layout.CARRY_VALUES :])
        if self.sets.made:
            self._sweep_sets()
            values = np.append(values, self.sets.values())
        return np.append(values, self.past.values()) if self.n_past else values

    def carried_states(self) -> npt.NDArray[np.int64]:
        """The states that some key's configurations are in."""
        return np.unique(self._carried()[:, layout.CARRY_STATE])

    def begin_anew(self, key: cython.longlong) -> None:
        """Let the evaluation of one key start anew after its last event (CONSUME BY PARTITION)."""
        self._carry_anew(np.array([key]))

    def begin_others_anew(self, key: cython.longlong) -> None:
        """Let the evaluation of every other key start anew after its last event (CONSUME BY
        ANY)."""
        seen = np.asarray(self.last_position) >= 0
        seen[key] = False
        self._carry_anew(np.flatnonzero(seen))

    def _forget_consumed(self) -> None:
        """Replace what a match of another key has consumed since the key was put down (CONSUME BY
        ANY) by one partial match that has seen nothing."""
        consumed = (np.asarray(self.epoch_of) < self.epoch) & (np.asarray(self.last_position) >= 0)
        if self.loaded:
            consumed[self.key_of[self.group]] = False
        if consumed.any():
            self._carry_anew(np.flatnonzero(consumed))
        np.asarray(self.epoch_of)[:] = self.epoch

    def _carry_anew(self, keys: npt.NDArray[np.int64]) -> None:
        """Give each of these keys one partial match that has seen nothing."""
        anew = np.zeros((len(keys), layout.CARRY_VALUES + self.n_slots), np.int64)
        anew[:, layout.CARRY_STATE] = self.table.initial
        np.asarray(self.carry_to)[keys] = np.asarray(self.carry_from)[keys]
        begin = len(self._carried())
        self.carry = np.concatenate([self._carried(), anew])
        self.n_carry = begin + len(keys)
        np.asarray(self.carry_from)[keys] = begin + np.arange(len(keys))
        np.asarray(self.carry_to)[keys] = begin + np.arange(len(keys)) + 1

    def _carried(self) -> npt.NDArray[np.int64]:
        """The rows that keys carry, in the order of the keys, after moving them together."""
        begins = np.asarray(self.carry_from)
        sizes = np.asarray(self.carry_to) - begins
        ends = np.cumsum(sizes)
        rows = ranges(begins, sizes)
        carry = np.zeros(
            (max(layout.FIRST_ROOM, 2 * len(rows)), layout.CARRY_VALUES + self.n_slots), np.int64
        )
        carry[: len(rows)] = np.asarray(self.carry)[rows]
        self.carry = carry
        self.n_carry = len(rows)
        self.carry_from = ends - sizes
        self.carry_to = ends
        return carry[: len(rows)]

    def waiting_keys(self) -> npt.NDArray[np.int32]:
        """The keys with partial matches that wait for their window to pass."""
        waits = np.asarray(self.closing)[self._carried()[:, layout.CARRY_STATE]] > 0
        sizes = np.asarray(self.carry_to) - np.asarray(self.carry_from)
        keys = np.repeat(np.arange(len(sizes)), sizes)
        return np.unique(keys[waits]).astype(np.int32)

    # ------------------------------------------------------------ garbage

    def sweep(self) -> None:
        """Sweep now (between batches), and put away configurations that have no match left."""
        self.bound = layout.NO_BOUND
        carry = self._carried()
        ended = self.table.final[carry[:, layout.CARRY_STATE]] > 0  # these were reported
        carry[ended, layout.CARRY_ROOT] = 0
        carry[ended, layout.CARRY_EMPTY] = layout.NONE
        self._sweep_and_count()
        carry = self._carried()
        alive = (carry[:, layout.CARRY_ROOT] > 0) | (carry[:, layout.CARRY_EMPTY] != layout.NONE)
        before = np.concatenate([[0], np.cumsum(alive)])
        self.carry_from = before[np.asarray(self.carry_from)]
        self.carry_to = before[np.asarray(self.carry_to)]
        self.n_carry = int(np.count_nonzero(alive))
        carry[: self.n_carry] = carry[alive]

    def _sweep_and_count(self) -> cython.int:
        before: cython.int = self.used
        self._sweep()
        self.nodes_swept += before - self.used
        if self.sets.made:
            with cython.gil:
                self._sweep_sets()
        return 0

    def _sweep_sets(self) -> cython.int:
        """Keep the sets that some configuration has in a slot."""
        carry = self._carried()
        states, values = carry[:, layout.CARRY_STATE], carry[:, layout.CARRY_VALUES :]
        if self.loaded:
            used = np.asarray(self.state_of)[: self.made]
            here = used >= 0
            states = np.append(states, used[here])
            values = np.concatenate([values, np.asarray(self.values)[: self.made][here]])
        self.sets.forget(self.table.sets_in(states, values))
        return 0

    def _sweep(self) -> cython.int:
        """Keep the nodes that some configuration reaches: two passes over the ids."""
        self.sweeps += 1
        bounds: cython.longlong[::1]
        moved: cython.int[::1]
        with cython.gil:
            if self.consuming_all:
                self._forget_consumed()
            bounds = filled(self.used, layout.NO_BOUND, np.int64)
            moved = filled(self.used, 0, np.int32)
        i: cython.longlong
        k: cython.longlong
        here: cython.longlong = layout.NO_BOUND
        pruned: cython.bint = self.windowed and not self.open_ended
        c: cython.int
        if self.loaded:
            if pruned:
                here = self.floors[self.event]
            for c in range(self.made):
                self._worked(1)
                if self.state_of[c] >= 0:
                    # configurations that wait for their window to pass are needed when it has
                    waits: cython.bint = self.closing[self.state_of[c]] or self._outlives(c)
                    self.root[c] = self._reach(
                        self.root[c], layout.NO_BOUND if waits else here, bounds, moved
                    )
                    self.empty[c] = self._reach_unseen(self.empty[c], here, bounds, moved)
        for k in range(self.carry_from.shape[0]):
            here = layout.NO_BOUND
            if pruned:
                here = self.last_floor[k]
            for i in range(self.carry_from[k], self.carry_to[k]):
                self._worked(1)
                waits = self.closing[self.carry[i, layout.CARRY_STATE]] or self._row_outlives(i)
                self._reach_row(i, layout.NO_BOUND if waits else here, bounds, moved)
        self._reach_below(bounds, moved)
        self._move_live(moved)
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
        self.sweep_at = max(self.sweep_from, 2 * self.used)
        return 0

    def _row_outlives(self, i: cython.longlong) -> cython.bint:
        """`_outlives`, for a configuration that was put down."""
        s: cython.longlong = self.carry[i, layout.CARRY_STATE]
        d: cython.int
        if not self.lasting[s]:
            return False
        for d in range(layout.SCOPES):
            slot: cython.int = self.scope[s, d]
            if slot >= 0 and self.carry[i, layout.CARRY_VALUES + slot] < 0:
                return True
        return False

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
