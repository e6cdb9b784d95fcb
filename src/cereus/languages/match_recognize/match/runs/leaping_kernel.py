"""Runs that leap over rows which change nothing.

A run that waits in a loop, `b` of `a b* c`, may wait for long. Suppose that only runs in loops can
go on. Then the same runs wait after a row as before it, except for the slots of the loops'
variables, as long as this stays true for the next rows (`QuietStretches.loops` has the states for
which this is so). Where blocks of rows show that it does, their rows are not read: only slots are
updated. Where nothing except the loops can go on in all rows that are left, the match is never
completed, and the runs end there. `still_kernel` decides which rows are tried.

In `a b*? c d*? e`, once a run waits in `d`, it does not matter whether rows are a `c` for the run
in `b`: the runs that would follow `c` wait already, with the same slots, and are preferred
(`is_covered`).
"""

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.runs.dead_kernel import (
        RememberingRuns,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.runs.dead_kernel import RememberingRuns

MOST_LOOPS = cython.declare(cython.Py_ssize_t, 16)
"""At most this many runs in loops leap together."""


@cython.cclass
class LeapingRuns(RememberingRuns):
    """Runs that may leap, once there are blocks."""

    def __init__(self, tables: Any, rows: Any) -> None:
        RememberingRuns.__init__(self, tables, rows)
        self.work = 0
        self.leaps = False
        self.leaping = np.zeros(MOST_LOOPS, np.int64)
        self.loop_count = 0

    def use(self, room: Any) -> None:
        RememberingRuns.use(self, room)
        if self.leaps:
            self.stretches.use_runs(room.cells, room.float_cells)

    def leap(self, stretches: Any, touched: Any, room: Any) -> None:
        """Leap over rows where blocks show that nothing happens. All rows are known. `touched[v,
        q]` says that rows of a variable change slots that the state q needs."""
        self.stretches = stretches
        self.stretches.use_runs(room.cells, room.float_cells)
        self.touched = touched
        self.leaps = True

    def find_loops(
        self,
        here: cython.int,
        count: cython.Py_ssize_t,
        first_node: cython.longlong,
        end_node: cython.longlong,
    ) -> cython.bint:
        """Put the runs that wait in loops into `leaping`; False if the row before led to other
        runs."""
        cython.declare(node=cython.longlong, k=cython.Py_ssize_t, loop=cython.Py_ssize_t)
        cython.declare(state=cython.int, waits=cython.bint)
        self.loop_count = 0
        for node in range(first_node, end_node):
            state = self.node_states[node]
            loop = -1
            waits = False
            for k in range(count):
                if self.nodes_of[here, k] == node:
                    waits = True
                    if self.states[here, k] == state and (
                        loop < 0 or self.round_of(here, k) > self.round_of(here, loop)
                    ):
                        loop = k
            if not waits:
                continue  # its other followers waited already
            if loop < 0 or not self.stretches.loops[state] or self.loop_count == MOST_LOOPS:
                return False
            if self.again[state] >= 0 and self.round_of(here, loop) == 1:
                return False  # rounds that begin again: what else follows the last one waits too
            self.leaping[self.loop_count] = loop
            self.loop_count += 1
        return self.loop_count > 0

    def are_in_vain(
        self,
        here: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether nothing except loops can go on in any row from here to the end of the
        partition."""
        cython.declare(j=cython.Py_ssize_t, m=cython.Py_ssize_t, rest=cython.Py_ssize_t)
        cython.declare(loop=cython.int, state=cython.int)
        if self.timeouts:
            return False
        rest = self.stretches.starts[codes.BLOCK_SIZES] + (row >> codes.BLOCK_BITS)
        for j in range(self.loop_count):
            loop = self.states[here, self.leaping[j]]
            if self.last[loop] or self.stretches.loops[loop] == codes.MAY_END:
                return False
            self.stretches.skipped = self.rows_to_leave(here, self.leaping[j])
            for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
                state = self.moves[m]
                if (
                    state != loop
                    and self.stretches.truth(
                        self.labels[state],
                        self.labels[loop],
                        here,
                        self.leaping[j],
                        start,
                        row,
                        high - row,
                        rest,
                    )
                    != 0
                    and not self.is_covered(here, j, m)
                ):
                    return False
        return True

    def is_quiet(
        self,
        here: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        level: cython.int,
    ) -> cython.bint:
        """Whether a block of the size number `level` from `row` on changes nothing."""
        cython.declare(j=cython.Py_ssize_t, size=cython.Py_ssize_t)
        size = cython.cast(cython.Py_ssize_t, 1) << (codes.BLOCK_BITS + level - 1)
        if row + size >= high:
            return False
        if self.length >= 0 and self.times[row + size - 1] - self.times[start] >= self.length:
            return False
        for j in range(self.loop_count):
            if not self.only_loops(
                here, j, start, row, size, self.stretches.starts[level - 1] + row // size
            ):
                return False
        return True

    def only_loops(
        self,
        here: cython.int,
        number: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether only another round can follow a loop, in all rows of a block."""
        cython.declare(m=cython.Py_ssize_t, state=cython.int, possible=cython.int)
        run: cython.Py_ssize_t = self.leaping[number]
        loop: cython.int = self.states[here, run]
        rounds: cython.longlong = self.round_of(here, run)
        counted: cython.bint = self.again[loop] >= 0
        if counted and not self.may_reach(loop, rounds + size - 1):
            return False
        self.stretches.skipped = self.rows_to_leave(here, run)
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            state = self.moves[m]
            if state < 0:
                if counted and m < self.again[loop] and self.may_leave(loop, rounds + size - 2):
                    return False  # it ends rather than go on
                continue
            if m != self.again[loop] and not self.may_leave(loop, rounds + size - 2):
                continue  # too few rounds, up to the last row of the block
            possible = self.stretches.always_alive(block, state)
            if counted and m != self.again[loop] and state == loop and possible != 0:
                return False  # rounds that begin anew
            if state == loop and possible != 1:
                return False
            if (
                possible != 0
                and self.stretches.truth(
                    self.labels[state], self.labels[loop], here, run, start, row, size, block
                )
                != (1 if state == loop else 0)
                and (state == loop or not self.is_covered(here, number, m))
            ):
                return False
        return True

    def is_covered(
        self, here: cython.int, number: cython.Py_ssize_t, move: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether all runs that could follow a move of a loop wait already, after loops that are
        preferred, with slots that are the same and stay so."""
        cython.declare(m=cython.Py_ssize_t, j=cython.Py_ssize_t, covered=cython.bint)
        state: cython.int = self.moves[move]
        if state < 0 or self.last[state] or self.again[state] >= 0:
            return False
        for m in range(self.move_starts[state], self.move_starts[state + 1]):
            covered = False
            for j in range(number + 1):
                if self.covers(here, j, number, move, self.moves[m]):
                    covered = True
                    break
            if not covered:
                return False
        return True

    def covers(
        self,
        here: cython.int,
        other: cython.Py_ssize_t,
        number: cython.Py_ssize_t,
        move: cython.Py_ssize_t,
        state: cython.int,
    ) -> cython.bint:
        """Whether a run that waits after another loop waits in a state that a move of this loop
        leads to, is preferred, and has the same slots."""
        cython.declare(m=cython.Py_ssize_t, j=cython.Py_ssize_t, follows=cython.bint)
        run: cython.Py_ssize_t = self.leaping[number]
        by: cython.Py_ssize_t = self.leaping[other]
        loop: cython.int = self.states[here, by]
        if state < 0 or self.again[state] >= 0 or self.again[loop] >= 0:
            return False
        if (
            self.touched[self.labels[loop], state]
            or self.touched[self.labels[self.states[here, run]], state]
            or self.touched[self.labels[self.moves[move]], state]
        ):
            return False
        follows = False
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            if other == number and m == move:
                break  # later runs are not preferred, nor is a later round
            if self.moves[m] == loop:
                follows = True
                break
        if not follows:
            return False
        follows = False
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            if self.moves[m] == state:
                follows = True
        if not follows:
            return False
        for j in range(self.slots):
            if self.live[state, j] and self.key(here, run, j) != self.key(here, by, j):
                return False
        for j in range(self.float_slots):
            if (
                self.live_floats[state, j]
                and self.float_cells[here, run, j] != self.float_cells[here, by, j]
            ):
                return False
        return True

    def pass_block(
        self,
        here: cython.int,
        run: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
    ) -> cython.void:
        """Map the rows of a block to the variable of a loop, in the slots of the run in it."""
        loop: cython.int = self.states[here, run]
        label: cython.int = self.labels[loop]
        cython.declare(k=cython.Py_ssize_t, j=cython.Py_ssize_t, slot=cython.int, kind=cython.int)
        cython.declare(column=cython.int, of=cython.int, total=cython.double)
        if self.again[loop] >= 0:
            self.cells[here, run, self.slots - 1] = self.later_round(
                loop, self.round_of(here, run), size
            )
        if self.is_mixed(here, run, label, block):
            for j in range(row, row + size):
                self.update(here, run, loop, j)
            return
        for k in range(self.update_starts[label], self.update_starts[label + 1]):
            kind = self.updates[k, codes.UPDATE_KIND]
            slot = self.updates[k, codes.UPDATE_SLOT]
            column = self.updates[k, codes.UPDATE_SIZE]
            of = self.updates[k, codes.UPDATE_WITH]
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
            elif kind >= codes.LAST_ROWS:
                if kind == codes.LAST_ROWS:
                    self.cells[here, run, slot] = row + size - 1
                elif self.cells[here, run, slot] == self.none:
                    self.cells[here, run, slot] = row
                self.cells[here, run, slot + 1] = min(
                    self.cells[here, run, slot + 1] + size, column
                )
            elif (
                kind == codes.FIRST_ROWS
                or kind >= codes.MOST_ROW
                or not self.stretches.any_valid[column, block]
            ):
                continue
            elif kind == codes.COUNT_VALID:
                self.cells[here, run, slot] += self.stretches.valid_counts[column, block]
            elif kind == codes.NOTE_VALID:
                self.cells[here, run, slot] = 1
            elif kind == codes.SUM_INT:
                self.cells[here, run, slot] += self.stretches.totals[column, block]
            elif kind == codes.SUM_FLOAT:
                # one after the other, as rows are read: rounding depends on the order
                total = self.float_cells[here, run, slot]
                for j in range(row, row + size):
                    if self.valid[column, j]:
                        total += self.floats[column, j]
                self.float_cells[here, run, slot] = total
            elif kind == codes.SPREAD:
                for j in range(row, row + size):
                    self.spread(here, run, slot, column, of, j)
                    self.cells[here, run, of] += 1
                self.cells[here, run, of] -= size  # which are counted below
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
        self,
        here: cython.int,
        run: cython.Py_ssize_t,
        label: cython.int,
        block: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether a block must be read row by row: some of its values are NULL or NaN, and extremes
        of them are kept, or rows are still looked for."""
        cython.declare(k=cython.Py_ssize_t, kind=cython.int, column=cython.int)
        for k in range(self.update_starts[label], self.update_starts[label + 1]):
            kind = self.updates[k, codes.UPDATE_KIND]
            column = self.updates[k, codes.UPDATE_SIZE]
            if kind == codes.FIRST_ROWS:
                if (
                    self.cells[here, run, self.updates[k, codes.UPDATE_SLOT] + column - 1]
                    == self.none
                ):
                    return True
            elif kind >= codes.LAST_ROWS:
                continue
            elif kind == codes.TEXT_STEP:
                return True
            elif kind >= codes.MOST_ROW:
                if not self.stretches.keeps_row(
                    kind, column, self.cells[here, run, self.updates[k, codes.UPDATE_SLOT]], block
                ):
                    return True
            elif kind == codes.SPREAD or codes.MIN_INT <= kind <= codes.MAX_FLOAT:
                if (
                    self.stretches.any_valid[column, block]
                    and not self.stretches.all_valid[column, block]
                ):
                    return True
                if codes.MIN_FLOAT <= kind <= codes.MAX_FLOAT and (
                    self.stretches.low_floats[column, block]
                    != self.stretches.low_floats[column, block]
                ):
                    return True
        return False

    def behind_leap(
        self,
        here: cython.int,
        row: cython.Py_ssize_t,
        first_node: cython.longlong,
        done: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Let the runs that follow the loops wait at `row`, up to number `done`, with which the
        match may end. Returns how many runs these are, or -1 if there is no room for them."""
        cython.declare(count=cython.Py_ssize_t, m=cython.Py_ssize_t)
        cython.declare(k=cython.Py_ssize_t, loop=cython.int, rounds=cython.longlong)
        there: cython.int = 1 - here
        for k in range(self.loop_count):
            self.copy_slots(here, self.leaping[k], there, k)
            self.states[there, k] = self.states[here, self.leaping[k]]
            if self.again[self.states[there, k]] >= 0:
                self.cells[there, k, self.slots - 1] -= 1  # the round that was read
        self.stamp += self.states.shape[1]
        count = 0
        for k in range(self.loop_count):
            loop = self.states[there, k]
            for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
                rounds = self.next_round(there, k, loop, m)
                if rounds == 0:
                    continue
                if self.moves[m] < 0:
                    break
                if not (self.timeouts or self.alive[self.sets[row], self.moves[m]]):
                    continue
                if count == self.states.shape[1] - 1:
                    return -1
                if self.wait(here, count, there, k, self.moves[m], rounds, first_node + k):
                    count += 1
            if k == done:
                break
        return count

    def first_done(self, here: cython.int) -> cython.Py_ssize_t:
        """The first loop after whose last row the match may end; -1 if there is none."""
        cython.declare(j=cython.Py_ssize_t, loop=cython.int)
        for j in range(self.loop_count):
            loop = self.states[here, self.leaping[j]]
            if self.stretches.loops[loop] == codes.MAY_END and self.may_leave(
                loop, self.round_of(here, self.leaping[j]) - 1
            ):
                return j
        return -1
