"""Computes with registers that have bounds instead of values.

Invariants: `low <= value <= high` for every row of a block, and a register is known for all of its
rows or for none; a function that cannot tell returns False. Rounding keeps the order of numbers, so
bounds that were computed as rows are computed are bounds. Where a bound is infinite or NaN, nothing
is known.
"""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from cereus.languages.match_recognize.match import codes


HUGE = cython.declare(cython.double, 9.2e18)
"""Larger whole numbers may be NULL."""


@cython.cclass
class BoundedRegisters:
    """Bounds of whole numbers and of floats, and which registers are known."""

    def __init__(self, blocks: Any) -> None:
        self.low = blocks.registers
        self.high = blocks.registers.copy()
        self.low_float = blocks.float_registers
        self.high_float = blocks.float_registers.copy()
        self.known = blocks.known

    def root(self, to: cython.int, a: cython.int) -> cython.bint:
        """Compute the square root; False if it is not known for all rows whether there is one."""
        self.known[to] = self.known[a]
        if not self.known[a]:
            return True
        if not 0 <= self.low_float[a] <= self.high_float[a]:
            return False
        self.low_float[to] = sqrt(self.low_float[a])
        self.high_float[to] = sqrt(self.high_float[a])
        return True

    def joined(
        self, either: cython.bint, to: cython.int, a: cython.int, b: cython.int
    ) -> cython.bint:
        """AND and OR; False if it is not known, for all rows or for none, whether the result is
        NULL."""
        cython.declare(decides=cython.longlong, x=cython.bint, y=cython.bint)
        decides = 1 if either else 0
        x = self.known[a] and self.low[a] == self.high[a] == decides
        y = self.known[b] and self.low[b] == self.high[b] == decides
        if x or y:
            self.known[to] = 1
            self.low[to] = self.high[to] = decides
            return True
        if self.known[a] != self.known[b]:
            # NULL, unless the one that is known decides at some rows
            self.known[to] = 0
            return self.low[a if self.known[a] else b] == self.high[a if self.known[a] else b]
        self.known[to] = self.known[a]
        if either:
            self.low[to] = max(self.low[a], self.low[b])
            self.high[to] = max(self.high[a], self.high[b])
        else:
            self.low[to] = min(self.low[a], self.low[b])
            self.high[to] = min(self.high[a], self.high[b])
        return True

    def chosen(self, op: cython.int, to: cython.int, a: cython.int, b: cython.int) -> cython.bint:
        """Take one of two values; False if they cannot be combined."""
        if op == codes.CHOOSE:
            if not self.known[a] or self.high[a] == 0:
                return True
            if self.low[a] == 0:
                # either one, if both are known, or none is
                if self.known[to] != self.known[b]:
                    return False
                self.low[to] = min(self.low[to], self.low[b])
                self.high[to] = max(self.high[to], self.high[b])
                self.low_float[to] = min(self.low_float[to], self.low_float[b])
                self.high_float[to] = max(self.high_float[to], self.high_float[b])
                return self.are_numbers(to, to) and self.are_numbers(b, b)
            a = b
        elif op == codes.IF_KNOWN and not self.known[a]:
            return True
        self.known[to] = self.known[a]
        self.low[to] = self.low[a]
        self.high[to] = self.high[a]
        self.low_float[to] = self.low_float[a]
        self.high_float[to] = self.high_float[a]
        return True

    def are_numbers(self, a: cython.int, b: cython.int) -> cython.bint:
        """Whether the bounds of two registers, as floats, are finite numbers."""
        cython.declare(f=cython.double, g=cython.double)
        f = self.low_float[a] - self.high_float[a]
        g = self.low_float[b] - self.high_float[b]
        return f - f == 0 and g - g == 0

    def size_of(self, as_int: cython.bint, to: cython.int, a: cython.int) -> cython.bint:
        """Compute the absolute value of a number; False if it has no bounds."""
        cython.declare(low=cython.longlong, high=cython.longlong)
        cython.declare(f=cython.double, g=cython.double)
        self.known[to] = self.known[a]
        if not self.known[a]:
            return True
        if as_int:
            low = self.low[a]
            high = self.high[a]
            if low < -HUGE:
                return False
            self.low[to] = 0 if low < 0 < high else min(abs(low), abs(high))
            self.high[to] = max(abs(low), abs(high))
            return True
        f = self.low_float[a]
        g = self.high_float[a]
        self.low_float[to] = 0.0 if f < 0 < g else min(abs(f), abs(g))
        self.high_float[to] = max(abs(f), abs(g))
        return f - f == 0 and g - g == 0

    def extreme(self, op: cython.int, to: cython.int, a: cython.int, b: cython.int) -> cython.bint:
        """Take the greater or the smaller of two known values."""
        self.known[to] = 1
        if op == codes.GREATEST_INT:
            self.low[to] = max(self.low[a], self.low[b])
            self.high[to] = max(self.high[a], self.high[b])
        elif op == codes.LEAST_INT:
            self.low[to] = min(self.low[a], self.low[b])
            self.high[to] = min(self.high[a], self.high[b])
        elif not self.are_numbers(a, b):
            return False
        elif op == codes.GREATEST_FLOAT:
            self.low_float[to] = max(self.low_float[a], self.low_float[b])
            self.high_float[to] = max(self.high_float[a], self.high_float[b])
        else:
            self.low_float[to] = min(self.low_float[a], self.low_float[b])
            self.high_float[to] = min(self.high_float[a], self.high_float[b])
        return True

    def compared(self, op: cython.int, to: cython.int, a: cython.int, b: cython.int) -> cython.void:
        """Compare two known values: surely true, surely false, or either."""
        cython.declare(sure=cython.bint, never=cython.bint)
        if op == codes.EQUAL:
            sure = self.low[a] == self.high[a] == self.low[b] == self.high[b]
            never = self.high[a] < self.low[b] or self.high[b] < self.low[a]
        elif op == codes.LESS:
            sure = self.high[a] < self.low[b]
            never = self.low[a] >= self.high[b]
        elif op == codes.LESS_EQUAL:
            sure = self.high[a] <= self.low[b]
            never = self.low[a] > self.high[b]
        elif op == codes.EQUAL_FLOAT:
            sure = self.low_float[a] == self.high_float[a] == self.low_float[b]
            sure = sure and self.low_float[b] == self.high_float[b]
            never = self.high_float[a] < self.low_float[b] or self.high_float[b] < self.low_float[a]
        elif op == codes.LESS_FLOAT:
            sure = self.high_float[a] < self.low_float[b]
            never = self.low_float[a] >= self.high_float[b]
        else:
            sure = self.high_float[a] <= self.low_float[b]
            never = self.low_float[a] > self.high_float[b]
        self.known[to] = 1
        self.low[to] = 1 if sure else 0
        self.high[to] = 0 if never else 1

    def computed(self, op: cython.int, to: cython.int, a: cython.int, b: cython.int) -> cython.bint:
        """Compute the bounds of an operation on two known values; False if there are none. The
        operations are monotonic in each value, so the bounds are among the corners."""
        cython.declare(f=cython.double, least=cython.double, most=cython.double)
        cython.declare(corner=cython.int, corner_value=cython.longlong)
        if op == codes.DIVIDE_FLOAT and self.low_float[b] <= 0 <= self.high_float[b]:
            return False
        least = most = self._corner(op, a, b, 0)
        for corner in range(4):
            f = self._corner(op, a, b, corner)
            if f - f != 0 or (op < codes.ADD_FLOAT and not -HUGE < f < HUGE):
                return False
            least = min(least, f)
            most = max(most, f)
        self.known[to] = 1
        if op >= codes.ADD_FLOAT:
            self.low_float[to] = least
            self.high_float[to] = most
            return True
        self.low[to] = self.high[to] = self._int_corner(op, a, b, 0)
        for corner in range(1, 4):
            corner_value = self._int_corner(op, a, b, corner)
            self.low[to] = min(self.low[to], corner_value)
            self.high[to] = max(self.high[to], corner_value)
        return True

    def _corner(
        self, op: cython.int, a: cython.int, b: cython.int, corner: cython.int
    ) -> cython.double:
        """The result of an operation on two bounds, as a float."""
        cython.declare(f=cython.double, g=cython.double)
        if op >= codes.ADD_FLOAT:
            f = self.high_float[a] if corner & 1 else self.low_float[a]
            g = self.high_float[b] if corner & 2 else self.low_float[b]
        else:
            f = cython.cast(cython.double, self.high[a] if corner & 1 else self.low[a])
            g = cython.cast(cython.double, self.high[b] if corner & 2 else self.low[b])
        if op == codes.ADD or op == codes.ADD_FLOAT:
            return f + g
        if op == codes.SUBTRACT or op == codes.SUBTRACT_FLOAT:
            return f - g
        return f / g if op == codes.DIVIDE_FLOAT else f * g

    def _int_corner(
        self, op: cython.int, a: cython.int, b: cython.int, corner: cython.int
    ) -> cython.longlong:
        """Like `_corner`, as a whole number that fits."""
        cython.declare(x=cython.longlong, y=cython.longlong)
        x = self.high[a] if corner & 1 else self.low[a]
        y = self.high[b] if corner & 2 else self.low[b]
        if op == codes.ADD:
            return x + y
        return x - y if op == codes.SUBTRACT else x * y
