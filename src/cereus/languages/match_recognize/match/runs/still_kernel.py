"""Runs that pass rows at which nothing except their loops goes on.

From a row on, blocks of twice the size are tried each time, and, once one may not be quiet, of half
the size. Rows of a block that may not be quiet are read one by one: as long as every loop goes
round, and nothing that follows a loop can, the same runs wait, and only the slots of the loops
change. So no runs are made, compared with others and noted, as they are where something happens.
"""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.runs.leaping_kernel import (
        LeapingRuns,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.runs.leaping_kernel import LeapingRuns

MOST_PAUSE = cython.declare(cython.Py_ssize_t, 8)
"""The most rows that are read without a try after tries in vain."""
FEW_RUNS = cython.declare(cython.Py_ssize_t, 8)
"""With at most this many runs, it takes no time to see whether all wait in loops."""
MOST_IN_VAIN = cython.declare(cython.Py_ssize_t, 32)
"""The most times that the check is skipped whether the rest is in vain."""


@cython.cclass
class StillRuns(LeapingRuns):
    """Runs that leap over blocks, and pass single rows."""

    def __init__(self, tables: Any, rows: Any) -> None:
        LeapingRuns.__init__(self, tables, rows)
        self.failed = 0
        self.next_try = 0
        self.vain_failed = 0
        self.vain_pause = 0

    def quiet_rows(
        self,
        here: cython.int,
        count: cython.Py_ssize_t,
        first_node: cython.longlong,
        end_node: cython.longlong,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Pass over rows from `row` on that change nothing, and return how many: not all of them,
        if it is time to check for interrupts. The nodes are those of the row before."""
        quiet: cython.Py_ssize_t = 0
        if row - start <= 1:
            self.failed = self.next_try = 0
        if row >= high or row < self.next_try:
            return 0
        self.look_at -= (end_node - first_node) * count >> 4
        if self.find_loops(here, count, first_node, end_node):
            quiet = self.passed_rows(here, count, start, row, high)
        elif count <= FEW_RUNS:
            return 0
        self.failed = 0 if quiet > 0 else min(2 * self.failed + 1, MOST_PAUSE)
        self.next_try = row + quiet + self.failed
        return quiet

    def passed_rows(
        self,
        here: cython.int,
        count: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Like `quiet_rows`, where runs wait in loops."""
        cython.declare(at=cython.Py_ssize_t, size=cython.Py_ssize_t)
        cython.declare(level=cython.int, limit=cython.int)
        cython.declare(passed=cython.Py_ssize_t, wanted=cython.Py_ssize_t)
        if self.gives_up(here, start, row, high):
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
            while level > 0 and not self.is_quiet(here, start, at, high, level):
                level -= 1
                limit = level
                wanted = passed + 3
            if level == 0:
                if not self.is_still(here, start, at, high):
                    return at - row
                self.pass_row(here, at)
                at += 1
                self.work += count
                if self.work >= self.look_at:
                    return at - row
                if (
                    self.remembers
                    and self.looks_up(start, at)
                    and self.is_known_dead(here, start, at)
                ):
                    return at - row
                if at & ((1 << codes.BLOCK_BITS) - 1) == 0:
                    limit = max(limit, 1)
                    if self.gives_up(here, start, at, high):
                        return high - row
                continue
            size = cython.cast(cython.Py_ssize_t, 1) << (codes.BLOCK_BITS + level - 1)
            self.pass_blocks(here, at, size, self.stretches.starts[level - 1] + at // size)
            at += size
            self.work += size >> 6  # sums are updated row by row
            if self.remembers and self.pause == 0 and self.is_known_dead(here, start, at):
                return at - row
            passed += 1
            # a few blocks after one that was too large, blocks may be larger again
            if level == limit and limit < codes.BLOCK_SIZES and passed >= wanted:
                limit += 1
            if self.work >= self.look_at:
                return at - row

    def gives_up(
        self,
        here: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether the rows that are left are known to be in vain. The more often this was checked
        for nothing, the less often it is checked."""
        if self.vain_pause > 0:
            self.vain_pause -= 1
            return False
        if self.are_in_vain(here, start, row, high):
            self.vain_failed = 0
            return True
        self.vain_failed += 1
        self.vain_pause = min(self.vain_failed >> 5, MOST_IN_VAIN)
        return False

    def pass_blocks(
        self,
        here: cython.int,
        row: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
    ) -> cython.void:
        """Let all loops read the rows of a block."""
        j: cython.Py_ssize_t
        for j in range(self.loop_count):
            self.pass_block(here, self.leaping[j], row, size, block)

    def is_known_dead(
        self, here: cython.int, start: cython.Py_ssize_t, row: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether a run in a loop came to nothing before."""
        j: cython.Py_ssize_t
        dead: cython.bint = False
        for j in range(self.loop_count):
            if self.is_dead(here, self.leaping[j], self.states[here, self.leaping[j]], start, row):
                dead = True
        return dead

    def is_still(
        self,
        here: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether each loop goes round at a row, and nothing else goes on. The last row of a
        partition is always read: the match may end after it."""
        j: cython.Py_ssize_t
        if row + 1 >= high:
            return False
        if self.length >= 0 and self.times[row] - self.times[start] >= self.length:
            return False
        for j in range(self.loop_count):
            if not self.goes_round(here, j, start, row) or self.leaves_loop(here, j, start, row):
                return False
        return True

    def goes_round(
        self,
        here: cython.int,
        number: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether a loop can read a row. If it has a condition, its slots after the row are left on
        the other side."""
        run: cython.Py_ssize_t = self.leaping[number]
        loop: cython.int = self.states[here, run]
        label: cython.int = self.labels[loop]
        there: cython.int = 1 - here
        if not self.alive[self.sets[row], loop]:
            return False
        if self.prunes and not self.in_time(start, row, loop):
            return False
        if self.again[loop] >= 0 and not self.may_reach(
            loop, self.cells[here, run, self.slots - 1]
        ):
            return False
        if self.code_starts[label] == self.code_starts[label + 1]:
            return True
        self.copy_slots(here, run, there, number)
        self.update(there, number, loop, row)
        return self.holds(there, number, loop, start, row)

    def leaves_loop(
        self,
        here: cython.int,
        number: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether something that follows a loop can read a row, and leads to a run that does not
        wait already."""
        cython.declare(m=cython.Py_ssize_t, state=cython.int, label=cython.int, side=cython.int)
        cython.declare(of=cython.Py_ssize_t)
        run: cython.Py_ssize_t = self.leaping[number]
        loop: cython.int = self.states[here, run]
        if self.again[loop] >= 0 and not self.may_leave(
            loop, self.cells[here, run, self.slots - 1] - 1
        ):
            return False
        for m in range(self.move_starts[loop], self.move_starts[loop + 1]):
            state = self.moves[m]
            if state < 0 and m < self.again[loop]:
                return True  # it ends rather than go on
            if state < 0 or m == self.again[loop] or not self.alive[self.sets[row], state]:
                continue
            if state == loop:
                if self.again[loop] < 0:
                    continue
                return True  # rounds that begin anew
            label = self.labels[state]
            side = here
            of = run
            if self.update_starts[label] != self.update_starts[label + 1]:
                side = 1 - here
                of = self.loop_count
                self.copy_slots(here, run, side, of)
                self.update(side, of, state, row)
            if self.holds(side, of, state, start, row) and not self.is_covered(here, number, m):
                return True
        return False

    def pass_row(self, here: cython.int, row: cython.Py_ssize_t) -> cython.void:
        """Let all loops read a row at which they go round."""
        cython.declare(j=cython.Py_ssize_t, run=cython.Py_ssize_t, loop=cython.int)
        cython.declare(label=cython.int, rounds=cython.longlong)
        for j in range(self.loop_count):
            run = self.leaping[j]
            loop = self.states[here, run]
            label = self.labels[loop]
            if self.code_starts[label] == self.code_starts[label + 1]:
                self.update(here, run, loop, row)
            else:
                self.copy_slots(1 - here, j, here, run)
            if self.again[loop] >= 0:
                rounds = self.cells[here, run, self.slots - 1]
                self.cells[here, run, self.slots - 1] = self.later_round(loop, rounds, 1)
