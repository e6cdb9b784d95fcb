"""Runs that wait: each in a state, with its slots, in order of preference.

Two runs that wait for the same row in the same state with the same live slots are alike: they have
the same future. A slot that holds a row stands for the values that are read there (`dead.py`). A
counted state (`x{2,1000}`) has its round in the last slot, and what may follow it depends on that.
"""

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match.runs.conditions_kernel import (
        SlotConditions,
    )
else:
    from cereus.languages.match_recognize.match.runs.conditions_kernel import SlotConditions

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
FEW = cython.declare(cython.Py_ssize_t, 8)
"""Up to this many runs are compared one by one; with more, their hashes are remembered."""


@cython.cclass
class WaitingRuns(SlotConditions):
    """The automaton of a clause over one set of rows, and the runs of one start: those that wait
    for the row at hand and for the next are the two sides of the arrays."""

    def __init__(self, tables: Any, rows: Any) -> None:
        """`tables` and `rows` have the arrays of the same names (`slots/tables.py`)."""
        SlotConditions.__init__(self, tables, rows)
        self.sets = rows.sets
        self.alive = rows.alive
        self.move_starts = tables.move_starts
        self.moves = tables.moves
        self.last = tables.last
        self.least = tables.least
        self.most = tables.most
        self.again = tables.again
        self.live = tables.live
        self.live_floats = tables.live_floats
        self.initial = tables.initial
        self.alike_of = np.full(tables.live.shape[1], -1, np.int32)
        self.alike = np.zeros((1, 1), np.int32)
        self.times = rows.times
        self.length = rows.length
        self.slots = tables.live.shape[1]
        self.float_slots = tables.live_floats.shape[1]
        self.keys = np.zeros(self.slots, np.int64)
        self.stamp = 0
        self.hashed = -1
        self.look_at = 0
        self.timeouts = False
        self.prunes = False

    def use(self, room: Any) -> None:
        """Use these arrays. The stamp goes on: buckets may be old, and must look older than
        whatever is put there now."""
        self.use_slots(room)
        self.states = room.states
        self.nodes_of = room.nodes_of
        self.buckets = room.buckets
        self.chains = room.chains
        self.parents = room.parents
        self.node_states = room.node_states
        self.repeats = room.repeats

    def compare_values(self, alike: Any) -> None:
        """Treat slots that hold different rows as equal, if the values that are read there are the
        same."""
        self.alike_of = alike.of
        self.alike = alike.rows

    def prune(self, deadlines: Any) -> None:
        """Drop runs that cannot be completed in time (`deadlines.py`)."""
        self.deadline = deadlines.length
        self.deadline_times = deadlines.times
        self.latest = deadlines.latest
        self.prunes = True

    def in_time(
        self, start: cython.Py_ssize_t, row: cython.Py_ssize_t, state: cython.int
    ) -> cython.bint:
        """Whether a match from `start` that reads `row` in a state can be completed in time."""
        latest: cython.int = self.latest[row, state]
        if latest < 0:
            return latest == -1
        return self.deadline_times[latest] - self.deadline_times[start] <= self.deadline

    def round_of(self, side: cython.int, run: cython.Py_ssize_t) -> cython.longlong:
        """The round that a run waits for; 0 if rounds of its state are not counted."""
        counted: cython.bint = self.again[self.states[side, run]] >= 0
        return self.cells[side, run, self.slots - 1] if counted else 0

    def may_leave(self, state: cython.int, rounds: cython.longlong) -> cython.bint:
        """Whether a run may leave a state after a round of it."""
        return self.again[state] < 0 or rounds >= self.least[state]

    def rows_to_leave(self, side: cython.int, run: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many more rows a run must read in its state, at least, before it may leave it."""
        state: cython.int = self.states[side, run]
        if self.again[state] < 0:
            return 0
        return max(self.least[state] + 1 - self.cells[side, run, self.slots - 1], 0)

    def may_reach(self, state: cython.int, rounds: cython.longlong) -> cython.bint:
        """Whether a counted state has such a round."""
        return self.most[state] == 0 or rounds <= self.most[state]

    def later_round(
        self, state: cython.int, rounds: cython.longlong, rows: cython.Py_ssize_t
    ) -> cython.longlong:
        """The round that is `rows` rows after one. Without an upper bound, all rounds after the
        lower bound have one number."""
        rounds += rows
        return min(rounds, self.least[state] + 1) if self.most[state] == 0 else rounds

    def next_round(
        self, side: cython.int, run: cython.Py_ssize_t, state: cython.int, move: cython.Py_ssize_t
    ) -> cython.longlong:
        """The round of the state that a move leads to: 1 if it is another state; 0 if the run has
        read too few rounds for the move, or too many."""
        rounds: cython.longlong
        if self.again[state] < 0:
            return 1
        rounds = self.cells[side, run, self.slots - 1]
        if move != self.again[state]:
            return 1 if self.may_leave(state, rounds) else 0
        return self.later_round(state, rounds, 1) if self.may_reach(state, rounds + 1) else 0

    def may_end(self, side: cython.int, run: cython.Py_ssize_t, state: cython.int) -> cython.bint:
        """Whether the match may end after a row that is the last of its partition."""
        return self.last[state] and self.may_leave(state, self.cells[side, run, self.slots - 1])

    def wait(
        self,
        side: cython.int,
        count: cython.Py_ssize_t,
        from_side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        rounds: cython.longlong,
        node: cython.longlong,
    ) -> cython.bint:
        """Let a run (its slots are those of `run` on `from_side`) wait for a round of a state as
        number `count`, unless a more preferred one waits there with the same live slots."""
        cython.declare(j=cython.Py_ssize_t, other=cython.longlong, bucket=cython.Py_ssize_t)
        for j in range(self.slots):
            self.cells[side, count, j] = (
                self.cells[from_side, run, j] if self.live[state, j] else self.initial[j]
            )
        for j in range(self.float_slots):
            self.float_cells[side, count, j] = (
                self.float_cells[from_side, run, j] if self.live_floats[state, j] else 0.0
            )
        if self.again[state] >= 0:
            self.cells[side, count, self.slots - 1] = rounds
        if count < FEW:
            for other in range(count):
                if self.is_same(side, other, count, state):
                    return False
        else:
            if self.hashed != self.stamp:
                for other in range(count):
                    self.put(side, other, self.bucket(side, other, self.states[side, other]))
                self.hashed = self.stamp
            bucket = self.bucket(side, count, state)
            other = self.buckets[bucket] - self.stamp
            while other >= 0:
                if self.is_same(side, other, count, state):
                    return False
                self.look_at -= 1
                other = self.chains[other]
            self.put(side, count, bucket)
        self.states[side, count] = state
        self.nodes_of[side, count] = node
        return True

    def copy_slots(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        to_side: cython.int,
        to: cython.Py_ssize_t,
    ) -> cython.void:
        """Give a run the slots of another."""
        j: cython.Py_ssize_t
        for j in range(self.slots):
            self.cells[to_side, to, j] = self.cells[side, run, j]
        for j in range(self.float_slots):
            self.float_cells[to_side, to, j] = self.float_cells[side, run, j]

    def key(
        self, side: cython.int, run: cython.Py_ssize_t, slot: cython.Py_ssize_t
    ) -> cython.longlong:
        """The value that distinguishes a slot: for a row, what is read there, if that is known."""
        cell: cython.longlong = self.cells[side, run, slot]
        return cell if self.alike_of[slot] < 0 else self.alike[self.alike_of[slot], cell]

    def is_same(
        self,
        side: cython.int,
        other: cython.Py_ssize_t,
        run: cython.Py_ssize_t,
        state: cython.int,
    ) -> cython.bint:
        """Whether a run waits in this state with the slots of another."""
        j: cython.Py_ssize_t
        if self.states[side, other] != state:
            return False
        for j in range(self.slots):
            if self.key(side, other, j) != self.key(side, run, j):
                return False
        for j in range(self.float_slots):
            if self.float_cells[side, other, j] != self.float_cells[side, run, j]:
                return False
        return True

    def hashed_slots(
        self, side: cython.int, run: cython.Py_ssize_t, state: cython.int
    ) -> cython.ulonglong:
        """A hash that is the same for runs of this state with the same slots; `keys` gets the
        values that distinguish the slots."""
        j: cython.Py_ssize_t
        hash_: cython.ulonglong = cython.cast(cython.ulonglong, state) * PRIME
        for j in range(self.slots):
            self.keys[j] = self.key(side, run, j)
            hash_ = (hash_ ^ cython.cast(cython.ulonglong, self.keys[j])) * PRIME
            hash_ = hash_ ^ (hash_ >> 29)
        for j in range(self.float_slots):
            hash_ = (hash_ ^ cython.cast(cython.ulonglong, self.float_bits[side, run, j])) * PRIME
            hash_ = hash_ ^ (hash_ >> 29)
        return hash_

    def bucket(
        self, side: cython.int, run: cython.Py_ssize_t, state: cython.int
    ) -> cython.Py_ssize_t:
        """Where runs of this state and with these slots are kept."""
        return cython.cast(
            cython.Py_ssize_t,
            self.hashed_slots(side, run, state)
            & cython.cast(cython.ulonglong, self.buckets.shape[0] - 1),
        )

    def put(
        self, side: cython.int, run: cython.Py_ssize_t, bucket: cython.Py_ssize_t
    ) -> cython.void:
        """Put a run into a bucket, with the stamp of its row."""
        other: cython.longlong = self.buckets[bucket] - self.stamp
        self.chains[run] = other if other >= 0 else -1
        self.buckets[bucket] = self.stamp + run
