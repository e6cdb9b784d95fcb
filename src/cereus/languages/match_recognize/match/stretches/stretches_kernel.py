"""Decides whether a condition has the same answer for all rows of a block.

For every block, the least and the greatest value of each column are known, and those of its sums. A
condition is computed with these in place of the values of a row: its answer is sure if it does not
depend on which row of the block it is. Blocks have 8 rows, 16, and so on, so that a run that waits
for long leaps; a *rest* is all that follows in a partition.

What runs remember changes while rows are read in a loop: counts, sums and extremes of its variable,
its last rows. Before a row of the block is tried, all rows before it were read by the variable of
the loop (`loop`), and it counts as a row of the variable that tries it (`label`): so a slot has
bounds in a block, too (`_int_in_slot`, `_float_in_slot`).

Invariants: those of `bounds_kernel`; what is not known ends in UNSURE. Sums of floats, which depend
on the order, have some slack.
"""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.stretches.bounds_kernel import (
        BoundedRegisters,
    )
    from cython.cimports.cereus.languages.match_recognize.match.stretches.lines_kernel import (
        LinesOfRows,
    )
    from cython.cimports.cereus.languages.match_recognize.match.stretches.ranks_kernel import (
        RanksOfRows,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.stretches.bounds_kernel import BoundedRegisters
    from cereus.languages.match_recognize.match.stretches.lines_kernel import LinesOfRows
    from cereus.languages.match_recognize.match.stretches.ranks_kernel import RanksOfRows

EXACT = cython.declare(cython.double, 4.5e15)
"""Whole numbers up to here are exact as floats, and so are their sums."""
SLACK = cython.declare(cython.double, 1e-15)
"""How far a sum of floats may be from another, for each number and relative to their sizes."""
ROUNDING = cython.declare(cython.double, 1e-9)
"""How far a sum of squares may be from another, in parts of it."""


TRIES = cython.declare(cython.longlong, 1 << 12)
FEWEST = cython.declare(cython.longlong, 1 << 5)
"""If lines decide something no more than this often in as many tries, they are dropped."""


@cython.cclass
class QuietStretches(BoundedRegisters):
    """Bounds of all columns in all blocks (`blocks.py`), and the conditions."""

    def __init__(self, tables: Any, rows: Any, blocks: Any) -> None:
        BoundedRegisters.__init__(self, blocks)
        self.constant_ints = tables.constant_ints
        self.constant_floats = tables.constant_floats
        self.code_starts = tables.code_starts
        self.code = tables.code
        self.ints = rows.ints
        self.floats = rows.floats
        self.valid = rows.valid
        self.none = rows.valid.shape[1] - 1
        self.low_ints = blocks.low_ints
        self.high_ints = blocks.high_ints
        self.low_floats = blocks.low_floats
        self.high_floats = blocks.high_floats
        self.any_valid = blocks.any_valid
        self.all_valid = blocks.all_valid
        self.valid_counts = blocks.valid_counts
        self.low_sums = blocks.low_sums
        self.high_sums = blocks.high_sums
        self.spreads = blocks.spreads
        self.totals = blocks.totals
        self.any_alive = blocks.any_alive
        self.all_alive = blocks.all_alive
        self.starts = blocks.starts
        self.loops = blocks.loops
        self.agree = blocks.slots.agree
        self.kinds = blocks.slots.kinds
        self.columns = blocks.slots.columns
        self.counts = blocks.slots.counts
        self.places = blocks.slots.places
        self.float_kinds = blocks.slots.float_kinds
        self.float_columns = blocks.slots.float_columns
        self.float_counts = blocks.slots.float_counts
        self.number = 0
        self.ranks = RanksOfRows(rows.percentiles)
        self.exact = -1
        self.has_lines = False
        self.skipped = 0
        self.tried = 0
        self.helped = 0

    def use_lines(self, lines: Any, cells: Any, float_cells: Any) -> None:
        """Let lines decide conditions that are linear in totals, too (`lines.py`)."""
        self.lines = LinesOfRows(lines)
        self.has_lines = True
        self.use_runs(cells, float_cells)

    def use_runs(self, cells: Any, float_cells: Any) -> None:
        """Set the slots of runs."""
        self.cells = cells
        self.float_cells = float_cells
        if self.has_lines:
            self.lines.use_runs(cells, float_cells)

    def always_alive(self, block: cython.Py_ssize_t, state: cython.int) -> cython.int:
        """Whether a state is possible at all rows of a block (1), at none (0), or UNSURE."""
        if self.all_alive[block, state]:
            return 1
        return codes.UNSURE if self.any_alive[block, state] else 0

    def truth(
        self,
        label: cython.int,
        loop: cython.int,
        side: cython.int,
        run: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
    ) -> cython.int:
        """Whether the condition of a variable holds for all rows of a block (1), for none (0), or
        UNSURE; with the slots of a run that began at `start` and waits in a loop of the variable
        `loop`. The block is `size` rows from `row` on, of which the first `skipped` do not count;
        if `exact` is a row, only that one does.
        """
        answer: cython.int
        self.label = label
        self.loop = loop
        self.side = side
        self.run = run
        self.start = start
        self.row = row
        self.size = size
        self.block = block
        answer = self._by_bounds()
        if answer != codes.UNSURE or not self.has_lines:
            return answer
        self.tried += 1
        if self.lines.never(label, loop, side, run, start, row, size, self.skipped):
            self.helped += 1
            return 0
        if self.tried == TRIES:
            self.has_lines = self.helped > FEWEST
            self.tried = self.helped = 0
        return codes.UNSURE

    def _by_bounds(self) -> cython.int:
        """Like `truth`, by the bounds of what is computed."""
        cython.declare(k=cython.Py_ssize_t, at=cython.Py_ssize_t)
        cython.declare(op=cython.int, to=cython.int, a=cython.int, b=cython.int)
        if self.code_starts[self.label] == self.code_starts[self.label + 1]:
            return 1
        if not self.agree[self.label, self.loop]:
            return codes.UNSURE
        for k in range(self.code_starts[self.label], self.code_starts[self.label + 1]):
            op = self.code[k, codes.OPERATION]
            to = self.code[k, codes.WRITES]
            a = self.code[k, codes.READS_A]
            b = self.code[k, codes.READS_B]
            if op == codes.AT_ROW:
                if not self._behind(to, a, 0):
                    return codes.UNSURE
            elif op == codes.AT_SLOT:
                if not self._in_slot(to, a, b):
                    return codes.UNSURE
            elif op == codes.AT_FIRST:
                if self.start + b > self.row:
                    return codes.UNSURE
                self._exactly(to, a, self.start + b)
            elif op == codes.AT_LAST:
                if self.row - b < self.start or not self._behind(to, a, b):
                    return codes.UNSURE
            elif op == codes.SLOT_INT:
                if not self._int_in_slot(to, b):
                    return codes.UNSURE
            elif op == codes.SLOT_FLOAT:
                if not self._float_in_slot(to, b):
                    return codes.UNSURE
            elif op == codes.AVERAGE_INT or op == codes.AVERAGE_FLOAT:
                if not self._average(op == codes.AVERAGE_INT, to, a, b):
                    return codes.UNSURE
            elif op == codes.AT_TAIL:
                if not self._in_tail(to, a, b):
                    return codes.UNSURE
            elif op == codes.AT_HEAD:
                if not self._in_head(to, a, b):
                    return codes.UNSURE
            elif op == codes.VARIANCE or op == codes.SAMPLE_VARIANCE:
                if not self._variance(op == codes.SAMPLE_VARIANCE, to, a, b):
                    return codes.UNSURE
            elif op == codes.PERCENTILE:
                if not self._percentile(to, a, b):
                    return codes.UNSURE
            elif op == codes.DISTINCT:
                if not self._distinct(to, a, b):
                    return codes.UNSURE
            elif op == codes.SQUARE_ROOT:
                if not self.root(to, a):
                    return codes.UNSURE
            elif op == codes.CONSTANT_INT:
                self.known[to] = b
                self.low[to] = self.high[to] = self.constant_ints[a]
            elif op == codes.CONSTANT_FLOAT:
                self.known[to] = b
                self.low_float[to] = self.high_float[to] = self.constant_floats[a]
            elif op == codes.MATCH_NUMBER:
                self.known[to] = 1
                self.low[to] = self.high[to] = self.number
            elif op == codes.MATCH_LENGTH:
                self.known[to] = 1
                self.low[to] = self.row - self.start + 1
                self.high[to] = self.row - self.start + self.size
            elif op == codes.TO_FLOAT:
                self.known[to] = self.known[a]
                self.low_float[to] = cython.cast(cython.double, self.low[a])
                self.high_float[to] = cython.cast(cython.double, self.high[a])
            elif op == codes.VALID_IF:
                # the count is looked up in the register of the result, which is free
                if not self._int_in_slot(to, b):
                    return codes.UNSURE
                if self.low[to] <= 0 and self.high[to] > 0:
                    return codes.UNSURE
                self.known[to] = self.known[a] and self.low[to] > 0
                self.low[to] = self.low[a]
                self.high[to] = self.high[a]
                self.low_float[to] = self.low_float[a]
                self.high_float[to] = self.high_float[a]
            elif op == codes.NOT:
                self.known[to] = self.known[a]
                at = 1 - self.high[a]
                self.high[to] = 1 - self.low[a]
                self.low[to] = at
            elif op == codes.IS_NULL:
                self.low[to] = self.high[to] = 0 if self.known[a] else 1
                self.known[to] = 1
            elif op == codes.AND or op == codes.OR:
                if not self.joined(op == codes.OR, to, a, b):
                    return codes.UNSURE
            elif op == codes.COPY or op == codes.CHOOSE or op == codes.IF_KNOWN:
                if not self.chosen(op, to, a, b):
                    return codes.UNSURE
            elif op == codes.SIZE_INT or op == codes.SIZE_FLOAT:
                if not self.size_of(op == codes.SIZE_INT, to, a):
                    return codes.UNSURE
            elif not self.known[a] or not self.known[b]:
                self.known[to] = 0
            elif op <= codes.LESS_EQUAL_FLOAT:
                self.compared(op, to, a, b)
            elif op >= codes.GREATEST_INT:
                if not self.extreme(op, to, a, b):
                    return codes.UNSURE
            elif not self.computed(op, to, a, b):
                return codes.UNSURE
        if not self.known[0]:
            return 0
        return cython.cast(cython.int, self.low[0]) if self.low[0] == self.high[0] else codes.UNSURE

    def _exactly(self, to: cython.int, column: cython.int, at: cython.Py_ssize_t) -> cython.void:
        """Load the value of a column at one row, whichever row of the block is at hand."""
        self.known[to] = self.valid[column, at]
        self.low[to] = self.high[to] = self.ints[column, at]
        self.low_float[to] = self.high_float[to] = self.floats[column, at]

    def _behind(self, to: cython.int, column: cython.int, back: cython.Py_ssize_t) -> cython.bint:
        """Load a column `back` rows before the row at hand; these rows lie in at most two blocks of
        the same size. False if there are no bounds."""
        cython.declare(first=cython.Py_ssize_t, last=cython.Py_ssize_t)
        cython.declare(any_=cython.bint, all_=cython.bint)
        if self.exact >= 0:
            self._exactly(to, column, self.exact - back)
            return True
        if self.block >= self.starts[codes.BLOCK_SIZES]:
            first = last = self.starts[codes.BLOCK_SIZES] + ((self.row - back) >> codes.BLOCK_BITS)
        elif back > self.row:
            return False
        else:
            first = self.block - self.row // self.size + (self.row - back) // self.size
            last = self.block + (self.row + self.size - 1 - back) // self.size
            last -= self.row // self.size
        any_ = self.any_valid[column, last] or self.any_valid[column, first]
        all_ = self.all_valid[column, last] and self.all_valid[column, first]
        if any_ and not all_:
            return False
        self.known[to] = all_
        self.low[to] = min(self.low_ints[column, last], self.low_ints[column, first])
        self.high[to] = max(self.high_ints[column, last], self.high_ints[column, first])
        self.low_float[to] = self.low_floats[column, last]
        self.high_float[to] = self.high_floats[column, last]
        if first != last:
            if not self.low_float[to] <= self.low_floats[column, first]:
                self.low_float[to] = self.low_floats[column, first]
            if not self.high_float[to] >= self.high_floats[column, first]:
                self.high_float[to] = self.high_floats[column, first]
            # NaN has no bounds
            if self.low_floats[column, last] != self.low_floats[column, last]:
                self.low_float[to] = self.low_floats[column, last]
                self.high_float[to] = self.low_floats[column, last]
        return True

    def _in_slot(self, to: cython.int, column: cython.int, slot: cython.int) -> cython.bint:
        """Load a column at the row (or of the label) in a slot; False if there are no bounds."""
        by_label: cython.bint = self.kinds[self.label, slot] >= 0
        by_loop: cython.bint = self.kinds[self.loop, slot] >= 0
        kind: cython.int = self.kinds[self.label if by_label else self.loop, slot]
        at: cython.Py_ssize_t = self.cells[self.side, self.run, slot]
        place: cython.int = self.places[slot]
        j: cython.int
        if (not by_label and not by_loop) or (kind == codes.FIRST_ROWS and at != self.none):
            self._exactly(to, column, at)
            return True
        if kind == codes.FIRST_ROWS or kind == codes.TEXT_STEP:
            return False
        if kind >= codes.MOST_ROW:
            if not self.keeps_row(
                kind, self.columns[self.label if by_label else self.loop, slot], at, self.block
            ):
                return False
            self._exactly(to, column, at)
            return True
        if not by_loop:
            if place > 0:
                self._exactly(to, column, self.cells[self.side, self.run, slot - 1])
                return True
            if kind == codes.SHIFT_LABEL:
                self._exactly(to, column, self.label)
                return True
            return self._behind(to, column, 0)
        # what the loop reads moves on with it, if it was the loop that was read so far
        for j in range(place if by_label else place + 1):
            if self.cells[self.side, self.run, slot - place + j] != (
                self.loop if kind == codes.SHIFT_LABEL else self.row - 1 - j
            ):
                return False
        if kind == codes.SHIFT_LABEL:
            self._exactly(to, column, self.label if by_label and place == 0 else self.loop)
            return True
        return self._behind(to, column, place if by_label else place + 1)

    def keeps_row(
        self,
        kind: cython.int,
        column: cython.int,
        row: cython.Py_ssize_t,
        block: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether a row with the best value of a column stays the best in a block."""
        if row == self.none:
            return not self.any_valid[column, block]
        if kind == codes.FIRST_VALID:
            return True
        if kind == codes.MOST_ROW:
            return (
                self.high_ints[column, block] <= self.ints[column, row]
                and self.high_floats[column, block] <= self.floats[column, row]
            )
        return (
            self.low_ints[column, block] >= self.ints[column, row]
            and self.low_floats[column, block] >= self.floats[column, row]
        )

    def _in_tail(self, to: cython.int, column: cython.int, slot: cython.int) -> cython.bint:
        """Load a column as many rows before the last one of a variable as the register says; its
        rows are consecutive. False if there are no bounds."""
        back: cython.longlong = self.low[to]
        read: cython.int = 1 if self.kinds[self.label, slot] >= 0 else 0
        by_loop: cython.bint = self.kinds[self.loop, slot] >= 0
        count: cython.longlong = self.cells[self.side, self.run, slot + 1] + read
        if not by_loop:
            if read and back == 0:
                return self._behind(to, column, 0)
            if read and count > 1:
                return False
            self._exactly(
                to,
                column,
                self.cells[self.side, self.run, slot] - back if count > back else self.none,
            )
            return True
        if count + self.size - 1 <= back:
            self._exactly(to, column, self.none)
            return True
        if count <= back or self.cells[self.side, self.run, slot] != self.row - 1:
            return False
        return self._behind(to, column, back + 1 - read)

    def _in_head(self, to: cython.int, column: cython.int, slot: cython.int) -> cython.bint:
        """Like `_in_tail`, after the first row of a variable."""
        back: cython.longlong = self.low[to]
        count: cython.longlong = self.cells[self.side, self.run, slot + 1]
        if count > back:
            self._exactly(to, column, self.cells[self.side, self.run, slot] + back)
            return True
        if self.kinds[self.label, slot] >= 0:
            count += 1
        if self.kinds[self.loop, slot] >= 0:
            count += self.size - 1
        self._exactly(to, column, self.none)
        return count <= back

    def _percentile(self, to: cython.int, number: cython.int, slot: cython.int) -> cython.bint:
        """Load a percentile; False if there are no bounds. Added rows move it no farther than to
        their values, or to those that it lies between."""
        column: cython.Py_ssize_t = self.ranks.parts[number, codes.PERCENTILE_COLUMN]
        end: cython.Py_ssize_t = self.cells[self.side, self.run, slot] + 1
        first: cython.Py_ssize_t = end - self.cells[self.side, self.run, slot + 1]
        if first == end or self.ranks.count(number, first, end) == 0:
            return False
        self.known[to] = 1
        if self.kinds[self.label, slot] < 0 and self.kinds[self.loop, slot] < 0:
            self.low_float[to] = self.ranks.percentile(number, first, end)
            self.high_float[to] = self.low_float[to]
            return True
        self.low_float[to] = min(
            self.ranks.beside(number, first, end, False), self.low_floats[column, self.block]
        )
        self.high_float[to] = max(
            self.ranks.beside(number, first, end, True), self.high_floats[column, self.block]
        )
        return self.are_numbers(to, to) and (
            self.low_floats[column, self.block] == self.low_floats[column, self.block]
        )

    def _distinct(self, to: cython.int, number: cython.int, slot: cython.int) -> cython.bint:
        """Load the number of different values; False if there are no bounds. An added row has a new
        value or not."""
        end: cython.Py_ssize_t = self.cells[self.side, self.run, slot] + 1
        first: cython.Py_ssize_t = end - self.cells[self.side, self.run, slot + 1]
        if first == end:
            return False
        self.known[to] = 1
        self.low[to] = self.high[to] = self.ranks.below(number, first, end, first)
        if self.kinds[self.loop, slot] >= 0:
            self.high[to] += self.size - 1
        if self.kinds[self.label, slot] >= 0:
            self.high[to] += 1
        return True

    def _variance(
        self, sample: cython.bint, to: cython.int, slot: cython.int, count: cython.int
    ) -> cython.bint:
        """Load a variance; False if there are no bounds. The squared distances from the mean grow
        with every row: at most by those inside the block, where values differ by `high - low` at
        most, and by the distance between the means before it and inside it."""
        cython.declare(few=cython.longlong, many=cython.longlong, column=cython.int)
        cython.declare(low=cython.double, high=cython.double, mean=cython.double)
        cython.declare(least=cython.double, most=cython.double, apart=cython.double)
        cython.declare(before=cython.double, rows=cython.double)
        if not self._int_in_slot(to, count):
            return False
        few = self.low[to] - (1 if sample else 0)
        many = self.high[to] - (1 if sample else 0)
        if many <= 0:
            self.known[to] = 0
            return True
        if few <= 0:
            return False
        least = most = self.float_cells[self.side, self.run, slot + 1]
        if self.float_kinds[self.label, slot] >= 0 or self.float_kinds[self.loop, slot] >= 0:
            column = self.float_columns[
                self.label if self.float_kinds[self.label, slot] >= 0 else self.loop, slot
            ]
            low = self.low_floats[column, self.block]
            high = self.high_floats[column, self.block]
            mean = self.float_cells[self.side, self.run, slot]
            before = cython.cast(cython.double, self.cells[self.side, self.run, count])
            rows = cython.cast(cython.double, self.size)
            apart = max(high - mean, mean - low) if before > 0 else 0.0
            most += rows * (high - low) * (high - low) / 4
            most += apart * apart * before * rows / (before + rows)
            apart = max(max(high, -low), max(mean, -mean))
            most += most * ROUNDING + apart * apart * SLACK * (rows + 4)
        if most - most != 0 or least - least != 0:
            return False
        self.known[to] = 1
        self.low_float[to] = least / cython.cast(cython.double, many)
        self.high_float[to] = most / cython.cast(cython.double, few)
        return True

    def _int_in_slot(self, to: cython.int, slot: cython.int) -> cython.bint:
        """Load the whole number in a slot; False if there are no bounds."""
        by_label: cython.int = 1 if self.kinds[self.label, slot] >= 0 else 0
        by_loop: cython.bint = self.kinds[self.loop, slot] >= 0
        kind: cython.int = self.kinds[self.label if by_label else self.loop, slot]
        value: cython.longlong = self.cells[self.side, self.run, slot]
        column: cython.int = self.columns[self.label if by_label else self.loop, slot]
        self.known[to] = 1
        self.low[to] = self.high[to] = value
        if kind < 0:
            return True
        if kind == codes.COUNT_ROWS or kind == codes.COUNT_VALID:
            if kind == codes.COUNT_ROWS or self.any_valid[column, self.block]:
                self.high[to] = value + by_label + (self.size - 1 if by_loop else 0)
            if kind == codes.COUNT_ROWS or self.all_valid[column, self.block]:
                self.low[to] = value + by_label
            return True
        if not self.any_valid[column, self.block]:
            return True
        if kind == codes.NOTE_VALID:
            # before the row at hand, the loop may have noted a value or not
            if by_label and self.all_valid[column, self.block]:
                self.low[to] = 1
            self.high[to] = 1
            return True
        if kind == codes.SUM_INT:
            return self._int_sum(to, column, by_label, by_loop)
        if self.cells[self.side, self.run, self.counts[slot]] == 0:
            if not by_label or not self.all_valid[column, self.block]:
                return False
            self.low[to] = self.low_ints[column, self.block]
            self.high[to] = self.high_ints[column, self.block]
        elif kind == codes.MIN_INT:
            self.low[to] = min(value, self.low_ints[column, self.block])
            if by_label and self.all_valid[column, self.block]:
                self.high[to] = min(value, self.high_ints[column, self.block])
        else:
            self.high[to] = max(value, self.high_ints[column, self.block])
            if by_label and self.all_valid[column, self.block]:
                self.low[to] = max(value, self.low_ints[column, self.block])
        return True

    def _int_sum(
        self, to: cython.int, column: cython.int, by_label: cython.bint, by_loop: cython.bint
    ) -> cython.bint:
        """Load a sum of whole numbers; the register has its value before the block."""
        cython.declare(low=cython.double, high=cython.double)
        low = self.low_sums[column, self.block]
        high = self.high_sums[column, self.block]
        if not by_loop:
            low = min(0.0, cython.cast(cython.double, self.low_ints[column, self.block]))
            high = max(0.0, cython.cast(cython.double, self.high_ints[column, self.block]))
        elif self.block >= self.starts[codes.BLOCK_SIZES] and self.row & (
            (1 << codes.BLOCK_BITS) - 1
        ):
            return False  # sums of a rest are those from its first row on
        elif not by_label:
            low = min(low, 0.0)
            high = max(high, 0.0)
        if self.spreads[column, self.block] > EXACT or not -EXACT < self.low[to] < EXACT:
            return False
        if not -EXACT < low <= high < EXACT:
            return False
        self.low[to] += cython.cast(cython.longlong, low)
        self.high[to] += cython.cast(cython.longlong, high)
        return True

    def _float_in_slot(self, to: cython.int, slot: cython.int) -> cython.bint:
        """Load the float in a slot; False if there are no bounds."""
        by_label: cython.bint = self.float_kinds[self.label, slot] >= 0
        by_loop: cython.bint = self.float_kinds[self.loop, slot] >= 0
        kind: cython.int = self.float_kinds[self.label if by_label else self.loop, slot]
        value: cython.double = self.float_cells[self.side, self.run, slot]
        column: cython.int = self.float_columns[self.label if by_label else self.loop, slot]
        cython.declare(low=cython.double, high=cython.double, slack=cython.double)
        low = high = value
        if kind >= 0 and self.any_valid[column, self.block]:
            if kind == codes.SUM_FLOAT:
                if not by_loop:
                    low = min(0.0, self.low_floats[column, self.block])
                    high = max(0.0, self.high_floats[column, self.block])
                elif self.block >= self.starts[codes.BLOCK_SIZES] and self.row & (
                    (1 << codes.BLOCK_BITS) - 1
                ):
                    return False
                else:
                    low = self.low_sums[column, self.block]
                    high = self.high_sums[column, self.block]
                    if not by_label:
                        low = min(low, 0.0)
                        high = max(high, 0.0)
                slack = self.spreads[column, self.block] + (value if value > 0 else -value)
                slack = slack * SLACK * (self.size + 4)
                low = value + low - slack
                high = value + high + slack
            elif self.cells[self.side, self.run, self.float_counts[slot]] == 0:
                if not by_label or not self.all_valid[column, self.block]:
                    return False
                low = self.low_floats[column, self.block]
                high = self.high_floats[column, self.block]
            elif kind == codes.MIN_FLOAT:
                low = min(value, self.low_floats[column, self.block])
                if by_label and self.all_valid[column, self.block]:
                    high = min(value, self.high_floats[column, self.block])
            else:
                high = max(value, self.high_floats[column, self.block])
                if by_label and self.all_valid[column, self.block]:
                    low = max(value, self.low_floats[column, self.block])
            # nothing is known about NaN and infinite numbers
            slack = self.low_floats[column, self.block] - self.high_floats[column, self.block]
            if slack - slack != 0 or low - high - (low - high) != 0:
                return False
        self.known[to] = 1
        self.low_float[to] = low
        self.high_float[to] = high
        return True

    def _average(
        self, of_ints: cython.bint, to: cython.int, slot: cython.int, count: cython.int
    ) -> cython.bint:
        """Load a sum divided by a count; False if there are no bounds. It is between the mean
        before the block and the values in the block, and between what the bounds of both give."""
        cython.declare(least=cython.double, most=cython.double, low=cython.double)
        cython.declare(high=cython.double, sum_=cython.double, changes=cython.bint)
        cython.declare(few=cython.double, many=cython.double, column=cython.int)
        if not self._int_in_slot(to, count):
            return False
        few = cython.cast(cython.double, self.low[to])
        many = cython.cast(cython.double, self.high[to])
        if many == 0:
            self.known[to] = 0
            return True
        if few <= 0:
            return False
        if of_ints:
            column = self.columns[
                self.label if self.kinds[self.label, slot] >= 0 else self.loop, slot
            ]
            changes = self.kinds[self.label, slot] >= 0 or self.kinds[self.loop, slot] >= 0
            sum_ = cython.cast(cython.double, self.cells[self.side, self.run, slot])
            low = cython.cast(cython.double, self.low_ints[column, self.block])
            high = cython.cast(cython.double, self.high_ints[column, self.block])
        else:
            column = self.float_columns[
                self.label if self.float_kinds[self.label, slot] >= 0 else self.loop, slot
            ]
            changes = (
                self.float_kinds[self.label, slot] >= 0 or self.float_kinds[self.loop, slot] >= 0
            )
            sum_ = self.float_cells[self.side, self.run, slot]
            low = self.low_floats[column, self.block]
            high = self.high_floats[column, self.block]
        if not changes:
            self.low_float[to] = self.high_float[to] = sum_ / few
            return True
        if low - low != 0 or high - high != 0 or sum_ - sum_ != 0:
            return False
        if self.cells[self.side, self.run, count] > 0:
            sum_ = sum_ / cython.cast(cython.double, self.cells[self.side, self.run, count])
            low = min(low, sum_)
            high = max(high, sum_)
        sum_ = max(high, -low) * SLACK * (self.size + 4)
        low -= sum_
        high += sum_
        if self._int_in_slot(to, slot) if of_ints else self._float_in_slot(to, slot):
            if of_ints:
                least = cython.cast(cython.double, self.low[to])
                most = cython.cast(cython.double, self.high[to])
            else:
                least = self.low_float[to]
                most = self.high_float[to]
            low = max(low, least / (many if least > 0 else few))
            high = min(high, most / (few if most > 0 else many))
        self.known[to] = 1
        self.low_float[to] = low
        self.high_float[to] = high
        return low <= high
