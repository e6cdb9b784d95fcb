"""Runs whose slots do not change while they wait: the row that ends the wait is looked up.

In `a b*? c` with `c AS price > a.price`, the condition of `c` is the same at every row of `b`. So
the next row at which anything except the loop can go on, or the loop cannot, is found without
reading the rows before it: by blocks of rows of twice the size each time, and of half the size once
one may not be quiet, down to single rows. A block counts even where the wait begins inside it: what
holds for all its rows holds for those that are left.

Where conditions compare a column with that of an earlier row, `c AS name = a.name AND …` and `b AS
name != a.name OR …`, rows of other names change nothing (`keys.py`). Then the consecutive rows of
one name have blocks.
"""

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.runs.still_kernel import (
        StillRuns,
    )
    from cython.cimports.cereus.languages.match_recognize.match.stretches.stretches_kernel import (
        QuietStretches,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.runs.still_kernel import StillRuns
    from cereus.languages.match_recognize.match.stretches.stretches_kernel import QuietStretches

NO_KEY = cython.declare(cython.longlong, -2)
IN_VAIN = cython.declare(cython.Py_ssize_t, -1)


@cython.cclass
class SteadyRuns(StillRuns):
    """Runs that leap to the next row that counts, where it can be looked up."""

    def __init__(self, tables: Any, rows: Any) -> None:
        StillRuns.__init__(self, tables, rows)
        self.has_steady = False
        self.key_loops = np.full(len(tables.labels), -1, np.int32)
        no_blocks: Any = None
        self.by_key = no_blocks
        self.late = 0

    def use(self, room: Any) -> None:
        StillRuns.use(self, room)
        if self.by_key is not None:
            self.by_key.use_runs(room.cells, room.float_cells)

    def look_up(self, steady: Any, comparisons: Any) -> None:
        """In these loops, whose slots do not change, leap to the next row that counts."""
        self.steady = steady
        self.part_starts = comparisons.starts
        self.parts = comparisons.parts
        self.complete = comparisons.complete
        self.levels = np.zeros(len(comparisons.parts), np.int64)
        self.float_levels = np.zeros(len(comparisons.parts), np.float64)
        self.known_levels = np.zeros(len(comparisons.parts), np.int32)
        self.has_steady = steady.any()

    def look_up_keys(self, keys: Any, by_key: Any, room: Any) -> None:
        """Like `look_up`, in loops that wait for rows of a key (`RowKeys`)."""
        self.key_slots = keys.slots
        self.key_loops = keys.loops
        self.groups = keys.groups
        self.group_starts = keys.starts
        self.order = keys.order
        self.unreadable = keys.unreadable
        self.by_key = by_key
        self.by_key.use_runs(room.cells, room.float_cells)

    def passed_rows(
        self,
        here: cython.int,
        count: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Pass over rows from `row` on that change nothing, and return how many. Runs wait in
        loops."""
        if self.has_steady and self.are_steady(here):
            return self.steady_rows(here, start, row, high)
        return StillRuns.passed_rows(self, here, count, start, row, high)

    def are_steady(self, here: cython.int) -> cython.bint:
        """Whether the slots of all runs in loops stay as they are."""
        j: cython.Py_ssize_t
        for j in range(self.loop_count):
            if not self.steady[self.states[here, self.leaping[j]]]:
                return False
        return True

    def steady_rows(
        self,
        here: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """How many rows from `row` on change nothing. The last row of a partition is always read:
        the match may end after it."""
        cython.declare(j=cython.Py_ssize_t, at=cython.Py_ssize_t, bound=cython.Py_ssize_t)
        in_vain: cython.bint = not self.timeouts
        bound = high - 1
        if self.length >= 0:
            bound = min(bound, self.behind_window(start, high))
        if bound < row:
            return 0
        for j in range(self.loop_count):
            at = self.next_stir(here, j, start, row, bound, high)
            if at == IN_VAIN:
                continue
            in_vain = False
            bound = at
            if bound == row:
                return 0
        return high - row if in_vain else bound - row

    def behind_window(self, start: cython.Py_ssize_t, high: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The first row that comes too late for a start. Starts come one after the other."""
        self.late = max(self.late, start + 1)
        while self.late < high and self.times[self.late] - self.times[start] < self.length:
            self.late += 1
        return self.late

    def next_stir(
        self,
        here: cython.int,
        number: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        bound: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """The first row from `row` on, before `bound`, at which something other than a loop may
        happen, or `bound`; IN_VAIN if the run is never completed."""
        run: cython.Py_ssize_t = self.leaping[number]
        loop: cython.int = self.states[here, run]
        cython.declare(first=cython.Py_ssize_t, end=cython.Py_ssize_t, place=cython.Py_ssize_t)
        cython.declare(at=cython.longlong, key=cython.int)
        key = self.key_loops[loop]
        place = row
        end = high
        if key >= 0:
            at = self.cells[here, run, self.key_slots[loop]]
            if at == self.none:
                return row
            at = self.groups[key, at]
            if at == NO_KEY:
                return row
            first = end = 0
            if at >= 0:
                first = cython.cast(cython.Py_ssize_t, self.group_starts[at])
                end = cython.cast(cython.Py_ssize_t, self.group_starts[at + 1])
            place = self.place_of(first, end, row)
            bound = min(bound, self.unreadable[key, row])
        self.read_levels(here, run, start, row)
        if key >= 0:
            return self.stir_in(self.by_key, here, number, start, place, end, bound)
        return self.stir_in(self.stretches, here, number, start, place, end, bound)

    def place_of(
        self, first: cython.Py_ssize_t, end: cython.Py_ssize_t, row: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """The first place from `first` to `end` that has this row, or a later one."""
        middle: cython.Py_ssize_t
        while first < end:
            middle = (first + end) // 2
            if self.order[middle] < row:
                first = middle + 1
            else:
                end = middle
        return first

    def stir_in(
        self,
        blocks: QuietStretches,
        here: cython.int,
        number: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        bound: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Like `next_stir`, from a place among the rows of the blocks on, to `end`; or an earlier
        row, if it is time to check for interrupts."""
        if self.is_in_vain(blocks, here, number, start, place, end):
            return IN_VAIN
        keyed: cython.bint = self.key_loops[self.states[here, self.leaping[number]]] >= 0
        cython.declare(at=cython.Py_ssize_t, size=cython.Py_ssize_t, level=cython.int)
        cython.declare(block=cython.Py_ssize_t)
        first: cython.Py_ssize_t = place
        level = 0
        while place < end:
            at = self.order[place] if keyed else place
            if at >= bound:
                return bound
            if self.work >= self.look_at and place > first:
                return at
            self.work += 1
            if level < 0:
                block = place >> codes.BLOCK_BITS
                if not self.is_calm(blocks, here, number, start, place, 1, block, at):
                    return at
                place += 1
                if place & ((1 << codes.BLOCK_BITS) - 1) == 0:
                    level = 0
                continue
            size = cython.cast(cython.Py_ssize_t, 1) << (codes.BLOCK_BITS + level)
            block = blocks.starts[level] + place // size
            if not self.is_calm(blocks, here, number, start, place - place % size, size, block, -1):
                level -= 1
                continue
            place += size - place % size
            if level + 1 < codes.BLOCK_SIZES and place & (2 * size - 1) == 0:
                level += 1
        return bound

    def is_in_vain(
        self,
        blocks: QuietStretches,
        here: cython.int,
        number: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether nothing except the loop of a run can go on from a place on."""
        cython.declare(m=cython.Py_ssize_t, rest=cython.Py_ssize_t, state=cython.int)
        run: cython.Py_ssize_t = self.leaping[number]
        loop: cython.int = self.states[here, run]
        if self.timeouts or self.last[loop] or blocks.loops[loop] == codes.MAY_END:
            return False
        if place == end:
            return True
        rest = blocks.starts[codes.BLOCK_SIZES] + (place >> codes.BLOCK_BITS)
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            state = self.moves[m]
            if (
                state != loop
                and self.truth(blocks, here, run, state, start, place, end - place, rest, -1) != 0
                and not self.is_covered(here, number, m)
            ):
                return False
        return True

    def is_calm(
        self,
        blocks: QuietStretches,
        here: cython.int,
        number: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
        exact: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether only another round can follow a loop, in all rows of a block, or at its row
        `exact`."""
        cython.declare(m=cython.Py_ssize_t, state=cython.int, possible=cython.int)
        run: cython.Py_ssize_t = self.leaping[number]
        loop: cython.int = self.states[here, run]
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            state = self.moves[m]
            if state < 0:
                continue
            if exact >= 0:
                possible = self.alive[self.sets[exact], state]
            else:
                possible = blocks.always_alive(block, state)
            if state == loop and possible != 1:
                return False
            if (
                possible != 0
                and self.truth(blocks, here, run, state, start, place, size, block, exact)
                != (1 if state == loop else 0)
                and (state == loop or not self.is_covered(here, number, m))
            ):
                return False
        return True

    def truth(
        self,
        blocks: QuietStretches,
        here: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        start: cython.Py_ssize_t,
        place: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
        exact: cython.Py_ssize_t,
    ) -> cython.int:
        """Whether the condition of a state holds for all rows of a block (1), for none (0), or
        UNSURE; or whether it holds at the row `exact`."""
        answer: cython.int
        loop: cython.int = self.states[here, run]
        label: cython.int = self.labels[state]
        again: cython.int = 1 if state == loop else 0
        if self.code_starts[label] == self.code_starts[label + 1]:
            return 1
        answer = self.by_levels(blocks, label, again, block, exact)
        if answer != codes.UNSURE or self.complete[label, again]:
            return answer
        blocks.exact = exact
        blocks.number = self.number
        blocks.skipped = 0
        answer = blocks.truth(label, self.labels[loop], here, run, start, place, size, block)
        blocks.exact = -1
        return answer

    def read_levels(
        self,
        here: cython.int,
        run: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.void:
        """Compute the values that rows are compared with by all that may follow the loop of a run.
        They are the same for all rows, this one included."""
        cython.declare(m=cython.Py_ssize_t, k=cython.int, label=cython.int, register=cython.int)
        cython.declare(first=cython.int, end=cython.int)
        loop: cython.int = self.states[here, run]
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            if self.moves[m] < 0:
                continue
            label = self.labels[self.moves[m]]
            first = self.part_starts[label, codes.MUST_FAIL]
            end = self.part_starts[label, codes.COMPARISONS_END]
            if first == end:
                continue
            self.holds(here, run, self.moves[m], start, row)
            for k in range(first, end):
                register = self.parts[k, codes.COMPARED_WITH]
                self.levels[k] = self.registers[register]
                self.float_levels[k] = self.float_registers[register]
                self.known_levels[k] = self.known[register]

    def by_levels(
        self,
        blocks: QuietStretches,
        label: cython.int,
        again: cython.int,
        block: cython.Py_ssize_t,
        exact: cython.Py_ssize_t,
    ) -> cython.int:
        """1 if one of the comparisons makes the condition of a loop true in all rows of a block, 0
        if one makes the condition of what follows it true in none; else UNSURE."""
        cython.declare(k=cython.int, column=cython.int, answer=cython.int, valid=cython.bint)
        for k in range(self.part_starts[label, again], self.part_starts[label, again + 1]):
            column = self.parts[k, codes.COMPARED_COLUMN]
            if exact >= 0:
                valid = self.valid[column, exact]
                answer = self.compared(
                    k,
                    self.ints[column, exact],
                    self.ints[column, exact],
                    self.floats[column, exact],
                    self.floats[column, exact],
                )
            else:
                valid = blocks.all_valid[column, block]
                answer = self.compared(
                    k,
                    blocks.low_ints[column, block],
                    blocks.high_ints[column, block],
                    blocks.low_floats[column, block],
                    blocks.high_floats[column, block],
                )
            # where there is no value, a comparison is not true
            if not again and (answer == 0 or not self.known_levels[k]):
                return 0
            if again and answer == 1 and valid and self.known_levels[k]:
                return 1
        return codes.UNSURE

    def compared(
        self,
        number: cython.int,
        low: cython.longlong,
        high: cython.longlong,
        low_float: cython.double,
        high_float: cython.double,
    ) -> cython.int:
        """Whether all values between these bounds (1), or none of them (0), satisfy comparison
        `number`, or UNSURE. Nothing is sure about NaN."""
        cython.declare(below=cython.bint, above=cython.bint, least=cython.bint, most=cython.bint)
        how: cython.int = self.parts[number, codes.COMPARED_HOW]
        if self.parts[number, codes.COMPARED_AS_FLOAT]:
            below = high_float < self.float_levels[number]
            most = high_float <= self.float_levels[number]
            above = low_float > self.float_levels[number]
            least = low_float >= self.float_levels[number]
        else:
            below = high < self.levels[number]
            most = high <= self.levels[number]
            above = low > self.levels[number]
            least = low >= self.levels[number]
        if how == codes.ROW_LESS:
            return 1 if below else 0 if least else codes.UNSURE
        if how == codes.ROW_LESS_EQUAL:
            return 1 if most else 0 if above else codes.UNSURE
        if how == codes.ROW_GREATER:
            return 1 if above else 0 if most else codes.UNSURE
        if how == codes.ROW_GREATER_EQUAL:
            return 1 if least else 0 if below else codes.UNSURE
        if below or above:
            return 0 if how == codes.ROW_EQUAL else 1
        if most and least:
            return 1 if how == codes.ROW_EQUAL else 0
        return codes.UNSURE
