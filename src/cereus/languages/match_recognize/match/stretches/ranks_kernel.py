"""Percentiles of consecutive rows, by the ranks of their values.

Invariants: those of the matrices (`slots/percentiles.py`). A percentile may lie between two values
in proportion; that is computed with twice the digits of a float, so that it is rounded once.
"""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
else:
    from cereus.languages.match_recognize.match import codes

LARGE = cython.declare(cython.double, 1e270)
SCALE = cython.declare(cython.double, 2.0**200)
SPLITTER = cython.declare(cython.double, 134217729.0)
"""2 to the power of 27, and 1: parts a float into two of half its digits (T. J. Dekker, 1971)."""


@cython.cclass
class RanksOfRows:
    """The percentiles of a clause (`Percentiles`), over its rows."""

    def __init__(self, percentiles: Any) -> None:
        self.parts = percentiles.parts
        self.of = percentiles.of
        self.before = percentiles.before
        self.zeros = percentiles.zeros
        self.values = percentiles.values
        self.sizes = percentiles.sizes

    def count(
        self, number: cython.int, first: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.longlong:
        """How many values the rows from `first` to `end` have."""
        m: cython.int = self.of[number]
        return self.before[m, end] - self.before[m, first]

    def beside(
        self,
        number: cython.int,
        first: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        above: cython.bint,
    ) -> cython.double:
        """The value that a percentile of these rows, which have some, is not below (with `above`,
        not above)."""
        cython.declare(rank=cython.longlong, place=cython.longlong)
        place = self.parts[number, codes.NUMERATOR] * (self.count(number, first, end) - 1)
        rank = place // self.parts[number, codes.DENOMINATOR]
        if above and place % self.parts[number, codes.DENOMINATOR]:
            rank += 1
        return self.ranked(number, first, end, rank)

    def below(
        self,
        number: cython.int,
        first: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        limit: cython.longlong,
    ) -> cython.longlong:
        """How many values of the rows from `first` to `end` are less than a limit."""
        m: cython.int = self.of[number]
        low: cython.Py_ssize_t = self.before[m, first]
        high: cython.Py_ssize_t = self.before[m, end]
        last: cython.Py_ssize_t = self.zeros.shape[2] - 1
        cython.declare(level=cython.Py_ssize_t, rank=cython.Py_ssize_t)
        cython.declare(bit=cython.Py_ssize_t, count=cython.longlong)
        rank = self.rank_of(m, limit)
        if rank >> self.zeros.shape[1]:
            return high - low
        count = 0
        for level in range(self.zeros.shape[1]):
            bit = (rank >> (self.zeros.shape[1] - 1 - level)) & 1
            if bit == 0:
                low = self.zeros[m, level, low]
                high = self.zeros[m, level, high]
                continue
            count += self.zeros[m, level, high] - self.zeros[m, level, low]
            low += self.zeros[m, level, last] - self.zeros[m, level, low]
            high += self.zeros[m, level, last] - self.zeros[m, level, high]
        return count

    def rank_of(self, m: cython.int, limit: cython.longlong) -> cython.Py_ssize_t:
        """How many of the sorted values are less than a limit."""
        cython.declare(low=cython.Py_ssize_t, high=cython.Py_ssize_t, at=cython.Py_ssize_t)
        low = 0
        high = self.sizes[m]
        while low < high:
            at = (low + high) // 2
            if self.values[m, at] < limit:
                low = at + 1
            else:
                high = at
        return low

    def percentile(
        self, number: cython.int, first: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.double:
        """A percentile of these rows, which have some values."""
        cython.declare(low=cython.double, high=cython.double, place=cython.longlong)
        low = self.beside(number, first, end, False)
        place = self.parts[number, codes.NUMERATOR] * (self.count(number, first, end) - 1)
        if place % self.parts[number, codes.DENOMINATOR] == 0:
            return low
        high = self.beside(number, first, end, True)
        if low == high:
            return low
        return _between(
            low,
            high,
            cython.cast(cython.double, place % self.parts[number, codes.DENOMINATOR]),
            cython.cast(cython.double, self.parts[number, codes.DENOMINATOR]),
        )

    def ranked(
        self,
        number: cython.int,
        first: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        rank: cython.longlong,
    ) -> cython.double:
        """The value with a rank among those of the rows from `first` to `end`."""
        m: cython.int = self.of[number]
        low: cython.Py_ssize_t = self.before[m, first]
        high: cython.Py_ssize_t = self.before[m, end]
        last: cython.Py_ssize_t = self.zeros.shape[2] - 1
        cython.declare(level=cython.Py_ssize_t, value=cython.Py_ssize_t, below=cython.Py_ssize_t)
        value = 0
        for level in range(self.zeros.shape[1]):
            below = self.zeros[m, level, high] - self.zeros[m, level, low]
            value *= 2
            if rank < below:
                low = self.zeros[m, level, low]
                high = self.zeros[m, level, high]
            else:
                rank -= below
                value += 1
                low += self.zeros[m, level, last] - self.zeros[m, level, low]
                high += self.zeros[m, level, last] - self.zeros[m, level, high]
        return self.values[m, value]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _between(
    low: cython.double, high: cython.double, share: cython.double, of: cython.double
) -> cython.double:
    """The value `share / of` of the way from one number to a greater one."""
    cython.declare(apart=cython.double, rest=cython.double, way=cython.double)
    cython.declare(way_rest=cython.double, step=cython.double, step_rest=cython.double)
    cython.declare(total=cython.double, part=cython.double)
    if low - low != 0 or high - high != 0:
        return (1 - share / of) * low + share / of * high
    if low < -LARGE or high > LARGE:  # their difference, or a product of it, may be too large
        return _between(low / SCALE, high / SCALE, share, of) * SCALE
    apart = high - low
    part = apart - high
    rest = (high - (apart - part)) - (low + part)
    way = apart * share
    way_rest = _product_rest(apart, share, way) + rest * share
    step = way / of
    part = step * of
    step_rest = ((way - part) - _product_rest(step, of, part) + way_rest) / of
    total = low + step
    part = total - low
    return total + (((low - (total - part)) + (step - part)) + step_rest)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _product_rest(f: cython.double, g: cython.double, product: cython.double) -> cython.double:
    """The rounding error of a product of two floats."""
    cython.declare(high=cython.double, low=cython.double, other=cython.double, rest=cython.double)
    high = SPLITTER * f
    high = high - (high - f)
    low = f - high
    other = SPLITTER * g
    other = other - (other - g)
    rest = g - other
    return low * rest - (((product - high * other) - low * other) - high * rest)
