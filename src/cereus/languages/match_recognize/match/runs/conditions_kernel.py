"""Slots of runs, and the conditions that are computed with them.

A slot holds a row, a count, a sum, an extreme or the state of a text of the rows of a variable so
far. A row that is mapped to the variable updates them. Conditions are operations on registers, with
NULL as in SQL: a register is known or not.
"""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.stretches.ranks_kernel import (
        RanksOfRows,
    )
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.stretches.ranks_kernel import RanksOfRows


MOST = cython.declare(cython.longlong, 2**63 - 1)
LEAST = cython.declare(cython.longlong, -MOST - 1)
"""The greatest whole number and the least, which has no absolute value."""


@cython.cclass
class SlotConditions:
    """The conditions of a clause over one set of rows, and the slots of runs: those of the row at
    hand and of the next are the two sides of `cells`."""

    def __init__(self, tables: Any, rows: Any) -> None:
        """`tables` and `rows` have the arrays of the same names (`slots/tables.py`)."""
        self.labels = tables.labels
        self.ints = rows.ints
        self.floats = rows.floats
        self.valid = rows.valid
        self.constant_ints = tables.constant_ints
        self.constant_floats = tables.constant_floats
        self.update_starts = tables.update_starts
        self.updates = tables.updates
        self.code_starts = tables.code_starts
        self.code = tables.code
        self.none = rows.valid.shape[1] - 1
        self.number = 0
        self.registers = rows.registers
        self.float_registers = rows.float_registers
        self.known = rows.known
        self.ranks = RanksOfRows(rows.percentiles)

    def use_slots(self, room: Any) -> None:
        """Set the arrays that slots are kept in."""
        self.cells = room.cells
        self.float_cells = room.float_cells
        self.float_bits = room.float_cells.view("int64")

    def update(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        row: cython.Py_ssize_t,
    ) -> cython.void:
        """Map `row` to the variable of `state` in the slots of a run."""
        label: cython.int = self.labels[state]
        cython.declare(k=cython.Py_ssize_t, j=cython.Py_ssize_t, slot=cython.int, kind=cython.int)
        cython.declare(size=cython.int, of=cython.int, at=cython.Py_ssize_t)
        for k in range(self.update_starts[label], self.update_starts[label + 1]):
            kind = self.updates[k, codes.UPDATE_KIND]
            slot = self.updates[k, codes.UPDATE_SLOT]
            size = self.updates[k, codes.UPDATE_SIZE]
            of = self.updates[k, codes.UPDATE_WITH]
            if kind == codes.SHIFT_ROW or kind == codes.SHIFT_LABEL:
                for j in range(size - 1, 0, -1):
                    self.cells[side, run, slot + j] = self.cells[side, run, slot + j - 1]
                self.cells[side, run, slot] = row if kind == codes.SHIFT_ROW else label
            elif kind == codes.FIRST_ROWS:
                for j in range(size):
                    if self.cells[side, run, slot + j] == self.none:
                        self.cells[side, run, slot + j] = row
                        break
            elif kind == codes.COUNT_ROWS:
                self.cells[side, run, slot] += 1
            elif kind >= codes.LAST_ROWS:
                if kind == codes.LAST_ROWS or self.cells[side, run, slot] == self.none:
                    self.cells[side, run, slot] = row
                self.cells[side, run, slot + 1] = min(self.cells[side, run, slot + 1] + 1, size)
            elif self.valid[size, row]:
                if kind == codes.COUNT_VALID:
                    self.cells[side, run, slot] += 1
                elif kind == codes.NOTE_VALID:
                    self.cells[side, run, slot] = 1
                elif kind == codes.SUM_INT:
                    self.cells[side, run, slot] += self.ints[size, row]
                elif kind == codes.SUM_FLOAT:
                    self.float_cells[side, run, slot] += self.floats[size, row]
                elif kind == codes.SPREAD:
                    self.spread(side, run, slot, size, of, row)
                elif kind == codes.TEXT_STEP:
                    self.cells[side, run, slot] = self.ints[
                        of, self.cells[side, run, slot] + self.ints[size, row]
                    ]
                elif kind >= codes.MOST_ROW:
                    at = self.cells[side, run, slot]
                    if at == self.none or self.is_better(kind, size, row, at):
                        if kind == codes.FIRST_VALID or self.is_number(size, row):
                            self.cells[side, run, slot] = row
                elif kind == codes.MIN_INT or kind == codes.MAX_INT:
                    if (
                        self.cells[side, run, of] == 0
                        or (
                            kind == codes.MIN_INT
                            and self.ints[size, row] < self.cells[side, run, slot]
                        )
                        or (
                            kind == codes.MAX_INT
                            and self.ints[size, row] > self.cells[side, run, slot]
                        )
                    ):
                        self.cells[side, run, slot] = self.ints[size, row]
                elif (
                    self.cells[side, run, of] == 0
                    or self.float_cells[side, run, slot] != self.float_cells[side, run, slot]
                    or (
                        kind == codes.MIN_FLOAT
                        and self.floats[size, row] < self.float_cells[side, run, slot]
                    )
                    or (
                        kind == codes.MAX_FLOAT
                        and self.floats[size, row] > self.float_cells[side, run, slot]
                    )
                ):
                    self.float_cells[side, run, slot] = self.floats[size, row]

    def spread(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        slot: cython.int,
        column: cython.int,
        count: cython.int,
        row: cython.Py_ssize_t,
    ) -> cython.void:
        """Add a value to a mean and to the squared distances from it, which never shrink. This is
        B. P. Welford's method: it does not lose digits as the difference of two large sums
        would."""
        cython.declare(value=cython.double, step=cython.double)
        value = self.floats[column, row]
        step = value - self.float_cells[side, run, slot]
        self.float_cells[side, run, slot] += step / cython.cast(
            cython.double, self.cells[side, run, count] + 1
        )
        self.float_cells[side, run, slot + 1] += step * (value - self.float_cells[side, run, slot])

    def is_better(
        self,
        kind: cython.int,
        column: cython.int,
        row: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether a row is to be kept instead of another. A column has either whole numbers or
        floats; the other kind is zero."""
        if kind == codes.FIRST_VALID:
            return False
        if kind == codes.LEAST_ROW:
            row, other = other, row
        return (
            self.ints[column, row] > self.ints[column, other]
            or self.floats[column, row] > self.floats[column, other]
        )

    def is_number(self, column: cython.int, row: cython.Py_ssize_t) -> cython.bint:
        """Whether the value of a column is not NaN."""
        return self.floats[column, row] == self.floats[column, row]

    def holds(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether the condition of a state's variable is true, with the slots of a run."""
        label: cython.int = self.labels[state]
        cython.declare(
            k=cython.Py_ssize_t, op=cython.int, to=cython.int, a=cython.int, b=cython.int
        )
        cython.declare(
            at=cython.Py_ssize_t, x=cython.longlong, y=cython.longlong, z=cython.longlong
        )
        cython.declare(f=cython.double, g=cython.double)
        if self.code_starts[label] == self.code_starts[label + 1]:
            return True
        for k in range(self.code_starts[label], self.code_starts[label + 1]):
            op = self.code[k, codes.OPERATION]
            to = self.code[k, codes.WRITES]
            a = self.code[k, codes.READS_A]
            b = self.code[k, codes.READS_B]
            if op <= codes.AT_LAST:
                if op == codes.AT_ROW:
                    at = row
                elif op == codes.AT_SLOT:
                    at = self.cells[side, run, b]
                elif op == codes.AT_FIRST:
                    at = start + b
                    if at > row:
                        at = self.none
                else:
                    at = row - b
                    if at < start:
                        at = self.none
                self.known[to] = self.valid[a, at]
                self.registers[to] = self.ints[a, at]
                self.float_registers[to] = self.floats[a, at]
            elif op == codes.SLOT_INT:
                self.registers[to] = self.cells[side, run, b]
                self.known[to] = 1
            elif op == codes.SLOT_FLOAT:
                self.float_registers[to] = self.float_cells[side, run, b]
                self.known[to] = 1
            elif op == codes.CONSTANT_INT:
                self.registers[to] = self.constant_ints[a]
                self.known[to] = b
            elif op == codes.CONSTANT_FLOAT:
                self.float_registers[to] = self.constant_floats[a]
                self.known[to] = b
            elif op == codes.AVERAGE_INT or op == codes.AVERAGE_FLOAT:
                f = (
                    self.float_cells[side, run, a]
                    if op == codes.AVERAGE_FLOAT
                    else (cython.cast(cython.double, self.cells[side, run, a]))
                )
                g = cython.cast(cython.double, self.cells[side, run, b])
                self.known[to] = g > 0
                if g > 0:
                    self.float_registers[to] = f / g
            elif op == codes.AT_TAIL or op == codes.AT_HEAD:
                at = self.registers[to]
                at = self.cells[side, run, b] + (at if op == codes.AT_HEAD else -at)
                if self.cells[side, run, b + 1] <= self.registers[to]:
                    at = self.none
                self.known[to] = self.valid[a, at]
                self.registers[to] = self.ints[a, at]
                self.float_registers[to] = self.floats[a, at]
            elif op == codes.VARIANCE or op == codes.SAMPLE_VARIANCE:
                g = cython.cast(
                    cython.double,
                    self.cells[side, run, b] - (1 if op == codes.SAMPLE_VARIANCE else 0),
                )
                self.known[to] = g > 0
                if g > 0:
                    self.float_registers[to] = self.float_cells[side, run, a + 1] / g
            elif op == codes.PERCENTILE:
                at = self.cells[side, run, b] + 1
                y = at - self.cells[side, run, b + 1]
                self.known[to] = at > y and self.ranks.count(a, y, at) > 0
                if self.known[to]:
                    self.float_registers[to] = self.ranks.percentile(a, y, at)
            elif op == codes.DISTINCT:
                at = self.cells[side, run, b] + 1
                y = at - self.cells[side, run, b + 1]
                self.known[to] = at > y
                self.registers[to] = self.ranks.below(a, y, at, y)
            elif op == codes.SQUARE_ROOT:
                f = self.float_registers[a]
                self.known[to] = self.known[a] and not f < 0
                self.float_registers[to] = sqrt(f) if not f < 0 else 0.0
            elif op == codes.MATCH_NUMBER:
                self.registers[to] = self.number
                self.known[to] = 1
            elif op == codes.MATCH_LENGTH:
                self.registers[to] = row - start + 1
                self.known[to] = 1
            elif op == codes.TO_FLOAT:
                self.float_registers[to] = cython.cast(cython.double, self.registers[a])
                self.known[to] = self.known[a]
            elif op == codes.VALID_IF:
                self.registers[to] = self.registers[a]
                self.float_registers[to] = self.float_registers[a]
                self.known[to] = self.known[a] and self.cells[side, run, b] > 0
            elif op == codes.NOT:
                self.known[to] = self.known[a]
                self.registers[to] = 1 - self.registers[a]
            elif op == codes.COPY or op == codes.CHOOSE or op == codes.IF_KNOWN:
                if op == codes.CHOOSE:
                    if not self.known[a] or not self.registers[a]:
                        continue
                    a = b
                elif op == codes.IF_KNOWN and not self.known[a]:
                    continue
                self.known[to] = self.known[a]
                self.registers[to] = self.registers[a]
                self.float_registers[to] = self.float_registers[a]
            elif op == codes.SIZE_INT:
                x = self.registers[a]
                self.known[to] = self.known[a] and x >= -MOST
                self.registers[to] = -x if -MOST <= x < 0 else x
            elif op == codes.SIZE_FLOAT:
                f = self.float_registers[a]
                self.known[to] = self.known[a]
                self.float_registers[to] = -f if f < 0 else f
            elif op == codes.IS_NULL:
                self.registers[to] = 0 if self.known[a] else 1
                self.known[to] = 1
            elif op == codes.AND or op == codes.OR:
                z = 0 if op == codes.AND else 1
                if (self.known[a] and self.registers[a] == z) or (
                    self.known[b] and self.registers[b] == z
                ):
                    self.known[to] = 1
                    self.registers[to] = z
                else:
                    self.known[to] = self.known[a] and self.known[b]
                    self.registers[to] = 1 - z
            else:
                self.known[to] = self.known[a] and self.known[b]
                x = self.registers[a]
                y = self.registers[b]
                f = self.float_registers[a]
                g = self.float_registers[b]
                if op == codes.EQUAL:
                    self.registers[to] = 1 if x == y else 0
                elif op == codes.LESS:
                    self.registers[to] = 1 if x < y else 0
                elif op == codes.LESS_EQUAL:
                    self.registers[to] = 1 if x <= y else 0
                elif op == codes.EQUAL_FLOAT:
                    self.registers[to] = 1 if f == g else 0
                elif op == codes.LESS_FLOAT:
                    self.registers[to] = 1 if f < g else 0
                elif op == codes.LESS_EQUAL_FLOAT:
                    self.registers[to] = 1 if f <= g else 0
                elif op == codes.ADD:
                    if x > MOST - y if y > 0 else x < LEAST - y:
                        self.known[to] = 0
                    else:
                        self.registers[to] = x + y
                elif op == codes.SUBTRACT:
                    if x < LEAST + y if y > 0 else x > MOST + y:
                        self.known[to] = 0
                    else:
                        self.registers[to] = x - y
                elif op == codes.MULTIPLY:
                    if product_fits(x, y):
                        self.registers[to] = x * y
                    else:
                        self.known[to] = 0
                elif op == codes.REMAINDER:
                    if y == 0:
                        self.known[to] = 0
                    else:
                        self.registers[to] = remainder(x, y)
                elif op == codes.GREATEST_INT:
                    self.registers[to] = y if y > x else x
                elif op == codes.LEAST_INT:
                    self.registers[to] = y if y < x else x
                elif op == codes.GREATEST_FLOAT:
                    self.float_registers[to] = g if g > f or g != g else f
                elif op == codes.LEAST_FLOAT:
                    self.float_registers[to] = g if g < f or g != g else f
                elif op == codes.ADD_FLOAT:
                    self.float_registers[to] = f + g
                elif op == codes.SUBTRACT_FLOAT:
                    self.float_registers[to] = f - g
                elif op == codes.MULTIPLY_FLOAT:
                    self.float_registers[to] = f * g
                elif g == 0:
                    self.known[to] = 0
                elif op == codes.DIVIDE_FLOAT:
                    self.float_registers[to] = f / g
                else:
                    self.float_registers[to] = fmod(f, g)
        return self.known[0] != 0 and self.registers[0] != 0


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def product_fits(x: cython.longlong, y: cython.longlong) -> cython.bint:
    """Whether x * y fits 64 bits: floats tell, unless it is near the ends."""
    product: cython.double = cython.cast(cython.double, x) * cython.cast(cython.double, y)
    if -9.2e18 < product < 9.2e18:
        return True
    if not -9.3e18 < product < 9.3e18:
        return False
    if x == LEAST or y == LEAST:
        return x == 1 or y == 1
    return abs(x) - 1 <= (MOST - abs(y) + (product < 0)) // abs(y)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def remainder(x: cython.longlong, y: cython.longlong) -> cython.longlong:
    """The remainder of a division by a number that is not 0, with the sign of the dividend."""
    rest: cython.longlong
    if y == LEAST:
        return 0 if x == LEAST else x
    if x == LEAST:
        return -((MOST % abs(y) + 1) % abs(y))
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def fmod(f: cython.double, g: cython.double) -> cython.double:
    """The remainder with the sign of the dividend."""
    size: cython.double = -g if g < 0 else g
    rest: cython.double = (-f if f < 0 else f) % size
    return -rest if f < 0 else rest
