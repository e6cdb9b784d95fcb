"""The term machine: computes terms from slots and from columns of an event, on a stack.

A value on the stack is an integer or a float, as the operation that made it says, and is known or
not (NULL). Slots, columns and constants are 64 bits that can be read as either; NULL is one of
these values (`layout.NULL`, which as a float is the bits of -0.0, so -0.0 is never stored).

Functions that are not computed here (`automata.memory.terms.LookedUp`) are looked up by their
operands in a hash table, the memo. What is missing there is computed in Python, together with
values that may be needed soon (`engine.match.functions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython
import numpy as np
import numpy.typing as npt
from cython.cimports.libc.math import (
    asin,
    ceil,
    cos,
    exp,
    floor,
    fmod,
    log,
    log10,
    sin,
    sqrt,
)

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.libc.math import pow as raised
else:
    from cereus.engine.kernel import layout
    from cereus.expr.python.functions import power as raised

if TYPE_CHECKING:
    from cereus.engine.match.functions import FunctionValues

LONGEST = cython.declare(cython.longlong, (1 << 63) - 1)
RADIANS = cython.declare(cython.double, 0.017453292519943295)
EARTH_DIAMETER_METRES = cython.declare(cython.double, 2 * 6_371_008.8)
INFINITY = cython.declare(cython.double, float("inf"))
NAN = cython.declare(cython.double, float("nan"))
GREATEST_EXPONENT = cython.declare(cython.double, 709.782712893384)
NO_FRACTIONS = cython.declare(cython.double, float(1 << 52))
"""From here on every float is a whole number."""
PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
FULL = cython.declare(cython.longlong, 1 << 20)
"""When this many values are known, all are forgotten."""


@cython.cclass
class Terms:
    """Evaluates terms for configuration c and event e."""

    def __init__(self) -> None:
        self.integers = np.zeros(layout.TERM_STACK, np.int64)
        floats = np.zeros(layout.TERM_STACK)
        self.floats = floats
        self.float_bits = floats.view(np.int64)
        self.known = np.zeros(layout.TERM_STACK, np.uint8)
        self.n_functions = 0
        self.sums_must_fit = self.overflowed = False

    def use_functions(self, functions: npt.NDArray[np.int32]) -> None:
        if len(functions) and not self.n_functions:
            self._forget_values(64)
            self.sought = np.zeros(layout.MEMO_WORDS, np.int64)
        if len(functions) > self.n_functions:
            self.functions = functions
            self.n_functions = len(functions)

    def compute_with(self, computing: FunctionValues) -> None:
        """Set what computes the unknown values of functions."""
        self.computing = computing

    def use_programs(
        self, programs: npt.NDArray[np.int32], constants: npt.NDArray[np.int64]
    ) -> None:
        self.programs = programs
        self.constants = constants
        self.float_constants = constants.view(np.float64)

    def use_slots(self, values: npt.NDArray[np.int64]) -> None:
        self.values = values
        self.float_values = values.view(np.float64)

    def use_past(self, rows: npt.NDArray[np.int64]) -> None:
        self.past = rows
        self.float_past = rows.view(np.float64)

    def use_members(self, members: npt.NDArray[np.int64]) -> None:
        self.members = members
        self.float_members = members.view(np.float64)

    def use_columns(self, columns: npt.NDArray[np.int64]) -> None:
        self.columns = columns
        self.float_columns = columns.view(np.float64)

    def is_true_of_past(
        self, at: cython.int, c: cython.int, e: cython.longlong, row: cython.longlong
    ) -> cython.bint:
        """Whether a term about an event of the past is true."""
        self.past_row = row
        return self.is_true(at, c, e)

    def is_true_of_member(
        self, at: cython.int, c: cython.int, e: cython.longlong, member: cython.longlong
    ) -> cython.bint:
        """Whether a term about a member of a set is true."""
        self.member = member
        return self.is_true(at, c, e)

    def is_true(self, at: cython.int, c: cython.int, e: cython.longlong) -> cython.bint:
        """Whether a term is true. The commonest ones need no stack."""
        first: cython.int = at + layout.PROGRAM_ITEMS
        if self.programs[at + layout.PROGRAM_COUNT] == 3:
            op: cython.int = self.programs[first + 2 * layout.STEP_WORDS + layout.STEP_OP]
            if (
                layout.TERM_EQUAL_INT <= op <= layout.TERM_GREATER_OR_EQUAL_FLOAT
                and _is_read(self.programs[first + layout.STEP_OP])
                and _is_read(self.programs[first + layout.STEP_WORDS + layout.STEP_OP])
            ):
                return self._compares(first, op, c, e)
        return self._computes(at, c, e)

    def _computes(self, at: cython.int, c: cython.int, e: cython.longlong) -> cython.bint:
        """Whether a term is true, step by step, with the stack."""
        top: cython.int = -1
        k: cython.int
        op: cython.int
        first: cython.int = at + layout.PROGRAM_ITEMS
        for k in range(self.programs[at + layout.PROGRAM_COUNT]):
            op = self.programs[first + layout.STEP_WORDS * k + layout.STEP_OP]
            which: cython.int = self.programs[first + layout.STEP_WORDS * k + layout.STEP_ARGUMENT]
            if op == layout.TERM_COLUMN:
                top += 1
                self._load(top, self.columns[which, e], self.float_columns[which, e])
            elif op == layout.TERM_SLOT:
                top += 1
                self._load(top, self.values[c, which], self.float_values[c, which])
            elif op == layout.TERM_CONSTANT:
                top += 1
                self._load(top, self.constants[which], self.float_constants[which])
            elif op == layout.TERM_PAST:
                top += 1
                self._load(
                    top, self.past[self.past_row, which], self.float_past[self.past_row, which]
                )
            elif op == layout.TERM_MEMBER:
                top += 1
                self._load(top, self.members[self.member], self.float_members[self.member])
            elif op < layout.TERM_ADD_INT:
                self._change(op, top)
            elif op == layout.TERM_DISTANCE:
                top -= 3
                self._distance(top)
            elif op == layout.TERM_IF:
                top -= 2
                self._choose(top)
            elif op == layout.TERM_FUNCTION:
                top -= self.functions[which, layout.FUNCTION_COUNT] - 1
                self._look_up(which, top)
            else:
                top -= 1
                self._combine(op, top)
        return self.known[0] and self.integers[0] != 0

    def computed(self, at: cython.int, c: cython.int, e: cython.longlong) -> cython.longlong:
        """The float that a term computes, as the bits of a slot."""
        self._computes(at, c, e)
        if not self.known[0]:
            return layout.NULL
        self.floats[0] += 0.0  # the bits of -0.0 are NULL
        return self.float_bits[0]

    def total(
        self,
        how: cython.int,
        slot: cython.int,
        column: cython.int,
        c: cython.int,
        e: cython.longlong,
    ) -> cython.longlong:
        """A total with the event's value added, as the bits of a slot. A slot of -1 is the total of
        no events."""
        if how <= layout.UPDATE_TALLY:
            counted: cython.longlong = 0 if slot < 0 else self.values[c, slot]
            return (
                counted + 1
                if how == layout.UPDATE_TALLY or self.columns[column, e] != layout.NULL
                else counted
            )
        self.known[0] = 0
        if slot >= 0:
            self._load(0, self.values[c, slot], self.float_values[c, slot])
        self._load(1, self.columns[column, e], self.float_columns[column, e])
        op: cython.int = layout.TERM_SUM_INT + how - layout.UPDATE_SUM_INT
        self._combine(op, 0)
        if not self.known[0]:
            return layout.NULL
        if (
            op == layout.TERM_SUM_INT
            or op == layout.TERM_MIN_INT
            or op == layout.TERM_MAX_INT
            or op == layout.TERM_CARRY_INT
            or op == layout.TERM_LEAST_INT
            or op == layout.TERM_GREATEST_INT
        ):
            return self.integers[0]
        self.floats[1] = self.floats[0] + 0.0  # the bits of -0.0 are NULL
        return self.float_bits[1]

    def _compares(
        self, first: cython.int, op: cython.int, c: cython.int, e: cython.longlong
    ) -> cython.bint:
        """Whether a comparison of two values holds: the commonest term, without the stack."""
        second: cython.int = first + layout.STEP_WORDS
        a: cython.longlong = self._integer(first, c, e)
        b: cython.longlong = self._integer(second, c, e)
        if a == layout.NULL or b == layout.NULL:
            return False
        if op < layout.TERM_EQUAL_FLOAT:
            return _compared(op, a < b, a == b, a > b)
        x: cython.double = self._float(first, c, e)
        y: cython.double = self._float(second, c, e)
        return _compared(op - layout.TERM_EQUAL_FLOAT + layout.TERM_EQUAL_INT, x < y, x == y, x > y)

    def _integer(self, step: cython.int, c: cython.int, e: cython.longlong) -> cython.longlong:
        """The value that a step reads (`_is_read`)."""
        op: cython.int = self.programs[step + layout.STEP_OP]
        which: cython.int = self.programs[step + layout.STEP_ARGUMENT]
        if op == layout.TERM_COLUMN:
            return self.columns[which, e]
        return self.values[c, which] if op == layout.TERM_SLOT else self.members[self.member]

    def _float(self, step: cython.int, c: cython.int, e: cython.longlong) -> cython.double:
        op: cython.int = self.programs[step + layout.STEP_OP]
        which: cython.int = self.programs[step + layout.STEP_ARGUMENT]
        if op == layout.TERM_COLUMN:
            return self.float_columns[which, e]
        if op == layout.TERM_SLOT:
            return self.float_values[c, which]
        return self.float_members[self.member]

    def _load(self, top: cython.int, integer: cython.longlong, number: cython.double) -> cython.int:
        self.integers[top] = integer
        self.floats[top] = number
        self.known[top] = integer != layout.NULL
        return 0

    def _change(self, op: cython.int, t: cython.int) -> cython.int:
        """Apply an operation to the value at the top."""
        if op == layout.TERM_IS_NULL or op == layout.TERM_KNOWN:
            self.integers[t] = self.known[t] == (op == layout.TERM_KNOWN)
            self.known[t] = 1
        elif not self.known[t]:
            return 0
        elif op == layout.TERM_TO_FLOAT:
            self.floats[t] = cython.cast(cython.double, self.integers[t])
        elif op == layout.TERM_NEGATE_INT:
            self.integers[t] = -self.integers[t]
        elif op == layout.TERM_NEGATE_FLOAT:
            self.floats[t] = -self.floats[t]
        elif op == layout.TERM_ABS_INT:
            self.integers[t] = abs(self.integers[t])
        elif op == layout.TERM_ABS_FLOAT:
            self.floats[t] = abs(self.floats[t])
        elif op == layout.TERM_NOT:
            self.integers[t] = self.integers[t] == 0
        elif op == layout.TERM_SQRT:
            if self.floats[t] < 0:
                self.known[t] = 0
            else:
                self.floats[t] = sqrt(self.floats[t])
        elif op >= layout.TERM_SIGN_INT and op <= layout.TERM_LOG10:
            self._apply(op, t)
        elif abs(self.floats[t]) < INFINITY:
            self.floats[t] = (
                floor(self.floats[t]) if op == layout.TERM_FLOOR else ceil(self.floats[t])
            )
        return 0

    def _apply(self, op: cython.int, t: cython.int) -> cython.int:
        """Apply a function to the value at the top; NULL where it has no value, NaN of NaN."""
        x: cython.double = self.floats[t]
        if op == layout.TERM_SIGN_INT:
            self.integers[t] = (self.integers[t] > 0) - (self.integers[t] < 0)
        elif x != x:
            return 0
        elif op == layout.TERM_SIGN_FLOAT:
            self.floats[t] = (x > 0) - (x < 0)
        elif op == layout.TERM_EXP:
            self.floats[t] = INFINITY if x > GREATEST_EXPONENT else exp(x)
        elif x <= 0:
            self.known[t] = 0
        else:
            self.floats[t] = log(x) if op == layout.TERM_LN else log10(x)
        return 0

    def _raise_to(self, t: cython.int, x: cython.double, y: cython.double) -> cython.int:
        """Compute a power; NULL for a division by zero, or a root of a negative number."""
        if x != x or y != y:
            self.floats[t] = NAN
        elif (x == 0 and y < 0) or (x < 0 and abs(y) < INFINITY and floor(y) != y):
            self.known[t] = 0
        else:
            self.floats[t] = raised(x, y)
        return 0

    def _combine(self, op: cython.int, t: cython.int) -> cython.int:
        """Apply an operation to the two values at the top; the result takes the place of the
        first."""
        a: cython.longlong = self.integers[t]
        b: cython.longlong = self.integers[t + 1]
        x: cython.double = self.floats[t]
        y: cython.double = self.floats[t + 1]
        if op == layout.TERM_AND or op == layout.TERM_OR:
            decided: cython.bint = op == layout.TERM_OR  # one operand alone may decide
            if (self.known[t] and (a != 0) == decided) or (
                self.known[t + 1] and (b != 0) == decided
            ):
                self.integers[t] = decided
                self.known[t] = 1
            else:
                self.integers[t] = not decided
                self.known[t] = self.known[t] and self.known[t + 1]
            return 0
        if op == layout.TERM_SUM_INT or op == layout.TERM_CARRY_INT:
            b = _rest(b) if op == layout.TERM_SUM_INT else (b - _rest(b)) // layout.HALF
        if layout.TERM_SUM_INT <= op <= layout.TERM_CARRY_INT and not (
            self.known[t] and self.known[t + 1]
        ):
            if self.known[t + 1]:
                self._load(t, b, y)
                self.known[t] = 1
            return 0
        self.known[t] = self.known[t] and self.known[t + 1]
        if not self.known[t]:
            return 0
        if op <= layout.TERM_MODULO_INT or op == layout.TERM_SUM_INT or op == layout.TERM_CARRY_INT:
            self._calculate(op, t, a, b)
        elif op == layout.TERM_JOIN_INT:
            self._join(t, a, b)
        elif op == layout.TERM_POWER:
            self._raise_to(t, x, y)
        elif op == layout.TERM_ROUND:
            self.floats[t] = _rounded(x, y)
        elif op == layout.TERM_ADD_FLOAT or op == layout.TERM_SUM_FLOAT:
            self.floats[t] = x + y
        elif op == layout.TERM_SUBTRACT_FLOAT:
            self.floats[t] = x - y
        elif op == layout.TERM_MULTIPLY_FLOAT:
            self.floats[t] = x * y
        elif op == layout.TERM_DIVIDE_FLOAT or op == layout.TERM_MODULO_FLOAT:
            if y == 0:
                self.known[t] = 0
            elif op == layout.TERM_DIVIDE_FLOAT:
                self.floats[t] = x / y
            else:
                # an infinite dividend has no remainder, which plain Python refuses to compute
                self.floats[t] = fmod(x, y) if abs(x) < INFINITY else NAN
        elif op <= layout.TERM_GREATER_OR_EQUAL_INT:
            self.integers[t] = _compared(op, a < b, a == b, a > b)
        elif op <= layout.TERM_GREATER_OR_EQUAL_FLOAT:
            self.integers[t] = _compared(
                op - layout.TERM_EQUAL_FLOAT + layout.TERM_EQUAL_INT, x < y, x == y, x > y
            )
        elif op == layout.TERM_MIN_INT or op == layout.TERM_LEAST_INT:
            self.integers[t] = min(a, b)
        elif op == layout.TERM_MAX_INT or op == layout.TERM_GREATEST_INT:
            self.integers[t] = max(a, b)
        elif (op == layout.TERM_LEAST_FLOAT or op == layout.TERM_GREATEST_FLOAT) and y != y:
            self.floats[t] = y
        elif y < x if op == layout.TERM_MIN_FLOAT or op == layout.TERM_LEAST_FLOAT else y > x:
            self.floats[t] = y
        return 0

    def _calculate(
        self, op: cython.int, t: cython.int, a: cython.longlong, b: cython.longlong
    ) -> cython.int:
        """Calculate with integers of 64 bits; a result that does not fit is NULL."""
        fits: cython.bint = True
        if op == layout.TERM_SUBTRACT_INT:
            fits = a >= b - LONGEST if b > 0 else a <= LONGEST + b
            if fits:
                self.integers[t] = a - b
        elif op == layout.TERM_MULTIPLY_INT:
            fits = b == 0 or abs(a) <= LONGEST // abs(b)
            if fits:
                self.integers[t] = a * b
        elif op == layout.TERM_MODULO_INT:
            fits = b != 0
            if fits:
                self.integers[t] = abs(a) % abs(b)
                if a < 0:
                    self.integers[t] = -self.integers[t]
        else:
            fits = a <= LONGEST - b if b > 0 else a >= -LONGEST - b
            if fits:
                self.integers[t] = a + b
        self.known[t] = fits
        return 0

    def _join(self, t: cython.int, low: cython.longlong, high: cython.longlong) -> cython.int:
        """high * 2**32 + low; NULL if that does not fit 64 bits."""
        rest: cython.longlong = _rest(low)
        high += (low - rest) // layout.HALF
        if high > 0 and rest < 0:
            high -= 1
            rest += layout.HALF
        elif high < 0 and rest > 0:
            high += 1
            rest -= layout.HALF
        self.known[t] = abs(high) < layout.HALF // 2
        if self.known[t]:
            self.integers[t] = high * layout.HALF + rest
        elif self.sums_must_fit:
            self.overflowed = True
        return 0

    def _choose(self, t: cython.int) -> cython.int:
        """Take the second of three values if the first is true, else the third."""
        chosen: cython.int = t + 1 if self.known[t] and self.integers[t] != 0 else t + 2
        self.integers[t] = self.integers[chosen]
        self.floats[t] = self.floats[chosen]
        self.known[t] = self.known[chosen]
        return 0

    # ------------------------------------------------------------ functions

    def _look_up(self, which: cython.int, t: cython.int) -> cython.int:
        """Look up a function of the values from t on; its value takes the place of the first."""
        k: cython.int
        n: cython.int = self.functions[which, layout.FUNCTION_COUNT]
        floats: cython.int = self.functions[which, layout.FUNCTION_FLOATS]
        for k in range(n):
            word: cython.longlong = self.integers[t + k]
            if floats >> k & 1:
                self.floats[t + k] += 0.0  # the bits of -0.0 are NULL
                word = self.float_bits[t + k]
            self.sought[layout.MEMO_OPERANDS + k] = word if self.known[t + k] else layout.NULL
        for k in range(layout.MEMO_OPERANDS + n, layout.MEMO_WORDS):
            self.sought[k] = 0
        self.sought[layout.MEMO_FUNCTION] = which
        at: cython.longlong = self._place(self.sought)
        if self.memo[at, layout.MEMO_FUNCTION] == layout.NONE:
            with cython.gil:
                self._compute(which)
            at = self._place(self.sought)
        self._load(t, self.memo_values[at], self.memo_floats[at])
        return 0

    def _place(self, key: cython.longlong[::1]) -> cython.longlong:
        """Where a key is in the memo, or could be put."""
        last: cython.longlong = self.memo.shape[0] - 1  # the size is a power of two
        mixed: cython.ulonglong = 0
        k: cython.int
        for k in range(layout.MEMO_WORDS):
            mixed = (mixed ^ cython.cast(cython.ulonglong, key[k] & LONGEST)) * PRIME
            if not cython.compiled:
                mixed = mixed & ((1 << 64) - 1)
            mixed = mixed ^ (mixed >> 29)
        at: cython.longlong = cython.cast(cython.longlong, mixed >> 8) & last
        while self.memo[at, layout.MEMO_FUNCTION] != layout.NONE:
            k = 0
            while k < layout.MEMO_WORDS and self.memo[at, k] == key[k]:
                k += 1
            if k == layout.MEMO_WORDS:
                return at
            at = (at + 1) & last
        return at

    def _compute(self, which: cython.int) -> cython.int:
        """Compute the value that is missing in the memo, and others that may be needed soon."""
        n: cython.int = self.functions[which, layout.FUNCTION_COUNT]
        operands = np.asarray(self.sought)[layout.MEMO_OPERANDS :][:n].tolist()
        keys, values = self.computing.computed(which, operands, self.memo_used == 0)
        room: cython.longlong = self.memo_used + len(values)
        if room > FULL:
            self._forget_values(64)
            room = len(values)
        if 2 * room > self.memo.shape[0]:
            self._grow_memo(room)
        self._know(keys, values)
        return 0

    def _know(self, keys: cython.longlong[:, ::1], values: cython.longlong[::1]) -> cython.int:
        i: cython.longlong
        k: cython.int
        for i in range(values.shape[0]):
            at: cython.longlong = self._place(keys[i])
            self.memo_used += self.memo[at, layout.MEMO_FUNCTION] == layout.NONE
            for k in range(layout.MEMO_WORDS):
                self.memo[at, k] = keys[i, k]
            self.memo_values[at] = values[i]
        return 0

    def _grow_memo(self, room: cython.longlong) -> cython.int:
        memo, values = np.asarray(self.memo), np.asarray(self.memo_values)
        used = memo[:, layout.MEMO_FUNCTION] != layout.NONE
        self._forget_values(1 << int(4 * room).bit_length())
        self._know(memo[used], values[used])
        return 0

    def _forget_values(self, size: cython.longlong) -> cython.int:
        self.memo = np.full((size, layout.MEMO_WORDS), layout.NONE, np.int64)
        values = np.zeros(size, np.int64)
        self.memo_values = values
        self.memo_floats = values.view(np.float64)
        self.memo_used = 0
        return 0

    def _distance(self, t: cython.int) -> cython.int:
        """Great circle in metres between (latitude, longitude) and (latitude, longitude)."""
        if not (self.known[t] and self.known[t + 1] and self.known[t + 2] and self.known[t + 3]):
            self.known[t] = 0
            return 0
        k: cython.int
        for k in range(t, t + 4):
            if abs(self.floats[k]) == INFINITY:
                self.known[t] = 0
                return 0
        north: cython.double = RADIANS * (self.floats[t + 2] - self.floats[t])
        east: cython.double = RADIANS * (self.floats[t + 3] - self.floats[t + 1])
        across: cython.double = cos(RADIANS * self.floats[t]) * cos(RADIANS * self.floats[t + 2])
        half: cython.double = sin(north / 2) ** 2 + across * sin(east / 2) ** 2
        self.floats[t] = EARTH_DIAMETER_METRES * asin(sqrt(min(half, 1.0)))
        return 0


def _rounded(value: cython.double, units: cython.double) -> cython.double:
    """A number rounded half away from zero: scaled, rounded to a whole number, and scaled back."""
    scaled: cython.double = abs(value) * units if units > 0 else abs(value) / -units
    if not scaled < NO_FRACTIONS:  # whole already, infinite, or NaN
        return value
    nearest: cython.double = floor(scaled)
    if scaled - nearest >= 0.5:
        nearest += 1
    nearest = nearest / units if units > 0 else nearest * -units
    return -nearest if value < 0 else nearest


def _rest(value: cython.longlong) -> cython.longlong:
    """The remainder of an integer divided by 2**32, with its sign; -2**63 never comes."""
    rest: cython.longlong = abs(value) % layout.HALF
    return -rest if value < 0 else rest


def _is_read(op: cython.int) -> cython.bint:
    """Whether an operation reads a value of the event, or of what came before it."""
    return op <= layout.TERM_SLOT or op == layout.TERM_MEMBER


def _compared(
    op: cython.int, less: cython.bint, equal: cython.bint, greater: cython.bint
) -> cython.bint:
    """The result of a comparison of integers, given which of the three holds. For NaN none does,
    and only `!=` is true."""
    if op == layout.TERM_EQUAL_INT:
        return equal
    if op == layout.TERM_NOT_EQUAL_INT:
        return not equal
    if op == layout.TERM_LESS_INT:
        return less
    if op == layout.TERM_LESS_OR_EQUAL_INT:
        return less or equal
    if op == layout.TERM_GREATER_INT:
        return greater
    return greater or equal
