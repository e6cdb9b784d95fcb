"""Runs that wait: each in a state, with its slots, in order of preference.

**Leaps.** A run that waits in a loop, `b` of `a b* c`, may wait for long. Where of all runs only
that one can go on, what waits next is the same as before, but for what the slots of the loop's
variable say, as long as the same holds of the rows that come (`QuietStretches.loops` has the states
for which this is so). Where blocks of rows tell that it does, they are not read: only slots are
brought up to date. From a row on blocks of twice the size are tried each time, and, once one may
not be quiet, of half the size. Where nothing but the loop can go on in all rows that are left, the
match is never completed, and the run ends there.
"""

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.runs.conditions_kernel import (
        SlotConditions,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.runs.conditions_kernel import SlotConditions

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
SMALL_PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
FEW = cython.declare(cython.Py_ssize_t, 8)
"""Up to so many runs are compared one by one; of more, places are remembered by what they hash to.
"""


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
        self.live = tables.live
        self.live_floats = tables.live_floats
        self.initial = tables.initial
        self.alike_of = np.full(tables.live.shape[1], -1, np.int32)
        self.alike = np.zeros((1, 1), np.int32)
        self.times = rows.times
        self.length = rows.length
        self.slots = tables.live.shape[1]
        self.float_slots = tables.live_floats.shape[1]
        self.stamp = 0
        self.hashed = -1
        self.leaps = False
        self.remembers = False
        self.leaping = 0
        self.timeouts = False

    def use(self, room: Any) -> None:
        """Use these arrays. The stamp goes on: buckets may be those from before, and have to look
        older than whatever is put there now."""
        self.use_slots(room)
        self.states = room.states
        self.nodes_of = room.nodes_of
        self.buckets = room.buckets
        self.chains = room.chains
        if self.leaps:
            self.stretches.use_runs(room.cells, room.float_cells)
        if self.remembers:
            self.dead.use_runs(room.cells, room.float_cells)

    def compare_values(self, alike: Any) -> None:
        """Take slots for equal that hold different rows, if what is read there is the same."""
        self.alike_of = alike.of
        self.alike = alike.rows

    def remember(self, dead: Any, numbered: bool, room: Any) -> None:
        """Leave out runs that came to nothing before. All rows are there. With `numbered`,
        conditions ask for the number of the match."""
        self.dead = dead
        self.dead.use_runs(room.cells, room.float_cells)
        self.numbered = numbered
        self.remembers = True

    def leap(self, stretches: Any, room: Any) -> None:
        """Leap over rows of which blocks tell that nothing happens there. All rows are there."""
        self.stretches = stretches
        self.stretches.use_runs(room.cells, room.float_cells)
        self.leaps = True

    def wait(
        self,
        side: cython.int,
        count: cython.Py_ssize_t,
        from_side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        node: cython.longlong,
    ) -> cython.bint:
        """Let a run (its slots are those of `run` on `from_side`) wait in a state as number
        `count`, unless a more preferred one waits there with the same live slots."""
        cython.declare(j=cython.Py_ssize_t, other=cython.longlong, bucket=cython.Py_ssize_t)
        for j in range(self.slots):
            self.cells[side, count, j] = (
                self.cells[from_side, run, j] if self.live[state, j] else self.initial[j]
            )
        for j in range(self.float_slots):
            self.float_cells[side, count, j] = (
                self.float_cells[from_side, run, j] if self.live_floats[state, j] else 0.0
            )
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
                other = self.chains[other]
            self.put(side, count, bucket)
        self.states[side, count] = state
        self.nodes_of[side, count] = node
        return True

    def key(
        self, side: cython.int, run: cython.Py_ssize_t, slot: cython.Py_ssize_t
    ) -> cython.longlong:
        """What tells a slot from others: a row by what is read there, if that is known."""
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

    def bucket(
        self, side: cython.int, run: cython.Py_ssize_t, state: cython.int
    ) -> cython.Py_ssize_t:
        """Where runs of this state and with these slots are kept."""
        j: cython.Py_ssize_t
        hash_: cython.ulonglong = cython.cast(cython.ulonglong, state) * PRIME
        for j in range(self.slots):
            hash_ = (hash_ ^ cython.cast(cython.ulonglong, self.key(side, run, j))) * SMALL_PRIME
            hash_ = hash_ ^ (hash_ >> 29)
        if cython.compiled:  # as Python, NaN is no number of any kind
            for j in range(self.float_slots):
                hash_ = (
                    hash_ ^ cython.cast(cython.ulonglong, self.float_cells[side, run, j] * 1024)
                ) * SMALL_PRIME
                hash_ = hash_ ^ (hash_ >> 29)
        return cython.cast(
            cython.Py_ssize_t,
            hash_ & cython.cast(cython.ulonglong, self.buckets.shape[0] - 1),
        )

    def put(
        self, side: cython.int, run: cython.Py_ssize_t, bucket: cython.Py_ssize_t
    ) -> cython.void:
        """A bucket holds the stamp of its row, and in it the last run that was put there."""
        other: cython.longlong = self.buckets[bucket] - self.stamp
        self.chains[run] = other if other >= 0 else -1
        self.buckets[bucket] = self.stamp + run

    def still_open(
        self,
        side: cython.int,
        count: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Leave out the runs that came to nothing before, and say how many are left."""
        cython.declare(k=cython.Py_ssize_t, j=cython.Py_ssize_t, left=cython.Py_ssize_t)
        left = 0
        for k in range(count):
            if self.dead.is_dead(side, k, self.states[side, k], start, row):
                continue
            if left < k:
                self.states[side, left] = self.states[side, k]
                self.nodes_of[side, left] = self.nodes_of[side, k]
                for j in range(self.slots):
                    self.cells[side, left, j] = self.cells[side, k, j]
                for j in range(self.float_slots):
                    self.float_cells[side, left, j] = self.float_cells[side, k, j]
            left += 1
        return left

    def quiet_rows(
        self,
        here: cython.int,
        count: cython.Py_ssize_t,
        loop: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Leap over rows from `row` on that change nothing, and say how many: of all that waits
        only the run in the state `loop` can go on, which was the only one at the row before."""
        cython.declare(at=cython.Py_ssize_t, size=cython.Py_ssize_t, k=cython.Py_ssize_t)
        cython.declare(level=cython.int, limit=cython.int)
        cython.declare(passed=cython.Py_ssize_t, wanted=cython.Py_ssize_t)
        if row - start > 2 and row & ((1 << codes.BLOCK_BITS) - 1):
            return 0
        self.leaping = -1
        for k in range(count):
            if self.states[here, k] == loop:
                self.leaping = k
        if self.leaping < 0 or row >= high:
            return 0
        if self.is_in_vain(here, loop, start, row, high):
            return high - row
        at = row
        limit = 1
        passed = wanted = 0
        while True:
            level = limit
            while level > 0 and at & (
                (cython.cast(cython.Py_ssize_t, 1) << (codes.BLOCK_BITS + level - 1)) - 1
            ):
                level -= 1
            while level > 0 and not self.is_quiet(here, loop, start, at, high, level):
                level -= 1
                limit = level
                wanted = passed + 3
            if level == 0:
                return at - row
            size = cython.cast(cython.Py_ssize_t, 1) << (codes.BLOCK_BITS + level - 1)
            self.pass_block(here, loop, at, size, self.stretches.starts[level - 1] + at // size)
            at += size
            if self.remembers and self.dead.pause == 0:
                if self.dead.is_dead(here, self.leaping, loop, start, at):
                    return at - row
            passed += 1
            # some blocks behind one that was too large they may be larger again
            if level == limit and limit < codes.BLOCK_SIZES and passed >= wanted:
                limit += 1

    def is_in_vain(
        self,
        here: cython.int,
        loop: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether in no row from here to the end of the partition anything but `loop` can go on."""
        cython.declare(m=cython.Py_ssize_t, rest=cython.Py_ssize_t)
        if self.last[loop] or self.timeouts or self.stretches.loops[loop] == codes.MAY_END:
            return False
        rest = self.stretches.starts[codes.BLOCK_SIZES] + (row >> codes.BLOCK_BITS)
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            if (
                self.moves[m] != loop
                and self.stretches.truth(
                    self.labels[self.moves[m]],
                    self.labels[loop],
                    here,
                    self.leaping,
                    start,
                    row,
                    high - row,
                    rest,
                )
                != 0
            ):
                return False
        return True

    def is_quiet(
        self,
        here: cython.int,
        loop: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        level: cython.int,
    ) -> cython.bint:
        """Whether a block of the size number `level` from `row` on changes nothing."""
        cython.declare(m=cython.Py_ssize_t, size=cython.Py_ssize_t, block=cython.Py_ssize_t)
        cython.declare(state=cython.int, possible=cython.int)
        size = cython.cast(cython.Py_ssize_t, 1) << (codes.BLOCK_BITS + level - 1)
        if row + size >= high:
            return False
        if self.length >= 0 and self.times[row + size - 1] - self.times[start] >= self.length:
            return False
        block = self.stretches.starts[level - 1] + row // size
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            state = self.moves[m]
            if state < 0:
                continue
            possible = self.stretches.always_alive(block, state)
            if state == loop and possible != 1:
                return False
            if possible != 0 and self.stretches.truth(
                self.labels[state], self.labels[loop], here, self.leaping, start, row, size, block
            ) != (1 if state == loop else 0):
                return False
        return True

    def pass_block(
        self,
        here: cython.int,
        loop: cython.int,
        row: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
    ) -> cython.void:
        """Map the rows of a block to the variable of the loop, in the slots of the run in it."""
        label: cython.int = self.labels[loop]
        run: cython.Py_ssize_t = self.leaping
        cython.declare(k=cython.Py_ssize_t, j=cython.Py_ssize_t, slot=cython.int, kind=cython.int)
        cython.declare(column=cython.int, of=cython.int, total=cython.double)
        if self.is_mixed(here, label, block):
            for j in range(row, row + size):
                self.update(here, run, loop, j)
            return
        for k in range(self.update_starts[label], self.update_starts[label + 1]):
            kind = self.updates[k, 0]
            slot = self.updates[k, 1]
            column = self.updates[k, 2]
            of = self.updates[k, 3]
            if kind == codes.COUNT_ROWS:
                self.cells[here, run, slot] += size
            elif kind == codes.SHIFT_ROW or kind == codes.SHIFT_LABEL:
                for j in range(column - 1, -1, -1):
                    if j >= size:
                        self.cells[here, run, slot + j] = self.cells[here, run, slot + j - size]
                    else:
                        self.cells[here, run, slot + j] = (
                            row + size - 1 - j if kind == codes.SHIFT_ROW else label
                        )
            elif kind == codes.FIRST_ROWS or not self.stretches.any_valid[column, block]:
                continue
            elif kind == codes.COUNT_VALID:
                self.cells[here, run, slot] += size
            elif kind == codes.NOTE_VALID:
                self.cells[here, run, slot] = 1
            elif kind == codes.SUM_INT:
                self.cells[here, run, slot] += self.stretches.totals[column, block]
            elif kind == codes.SUM_FLOAT:
                # one after the other, as rows are read: rounding depends on the order
                total = self.float_cells[here, run, slot]
                for j in range(row, row + size):
                    total += self.floats[column, j]
                self.float_cells[here, run, slot] = total
            elif kind == codes.MIN_INT:
                if self.cells[here, run, of] == 0 or (
                    self.stretches.low_ints[column, block] < self.cells[here, run, slot]
                ):
                    self.cells[here, run, slot] = self.stretches.low_ints[column, block]
            elif kind == codes.MAX_INT:
                if self.cells[here, run, of] == 0 or (
                    self.stretches.high_ints[column, block] > self.cells[here, run, slot]
                ):
                    self.cells[here, run, slot] = self.stretches.high_ints[column, block]
            elif kind == codes.MIN_FLOAT:
                if self.cells[here, run, of] == 0 or not (
                    self.stretches.low_floats[column, block] >= self.float_cells[here, run, slot]
                ):
                    self.float_cells[here, run, slot] = self.stretches.low_floats[column, block]
            elif self.cells[here, run, of] == 0 or not (
                self.stretches.high_floats[column, block] <= self.float_cells[here, run, slot]
            ):
                self.float_cells[here, run, slot] = self.stretches.high_floats[column, block]

    def is_mixed(
        self, here: cython.int, label: cython.int, block: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether a block is to be read row by row: it has some values and not others, or what is
        no number, or first rows are still looked for."""
        cython.declare(k=cython.Py_ssize_t, kind=cython.int, column=cython.int)
        for k in range(self.update_starts[label], self.update_starts[label + 1]):
            kind = self.updates[k, 0]
            column = self.updates[k, 2]
            if kind == codes.FIRST_ROWS:
                if self.cells[here, self.leaping, self.updates[k, 1] + column - 1] == self.none:
                    return True
            elif kind >= codes.COUNT_VALID:
                if (
                    self.stretches.any_valid[column, block]
                    and not self.stretches.all_valid[column, block]
                ):
                    return True
                if kind >= codes.MIN_FLOAT and (
                    self.stretches.low_floats[column, block]
                    != self.stretches.low_floats[column, block]
                ):
                    return True
        return False

    def behind_leap(
        self,
        here: cython.int,
        loop: cython.int,
        row: cython.Py_ssize_t,
        node: cython.longlong,
    ) -> cython.Py_ssize_t:
        """Let wait at `row` what follows the loop, and say how many runs these are."""
        cython.declare(count=cython.Py_ssize_t, m=cython.Py_ssize_t, spare=cython.Py_ssize_t)
        cython.declare(j=cython.Py_ssize_t)
        spare = self.states.shape[1] - 1
        for j in range(self.slots):
            self.cells[1 - here, spare, j] = self.cells[here, self.leaping, j]
        for j in range(self.float_slots):
            self.float_cells[1 - here, spare, j] = self.float_cells[here, self.leaping, j]
        self.stamp += spare + 1
        count = 0
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            if (
                self.moves[m] >= 0
                and (self.timeouts or self.alive[self.sets[row], self.moves[m]])
                and self.wait(here, count, 1 - here, spare, self.moves[m], node)
            ):
                count += 1
        return count
