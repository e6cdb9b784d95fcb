"""Lines over the rows of blocks, and whether one of them is high enough.

A condition that is linear in totals holds at a row only if `intercept + slope * x + y` is 0 or more
there, where x and y are numbers of the run (`lines.py`). The greatest of these in a block is on the
upper envelope of its lines.

Invariants: the lines of an envelope are in the order of their slopes, all different, and each is
the greatest somewhere; an envelope of a block is made of those of its halves. Floats are not exact,
so a condition counts as never true only by a margin.
"""

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.rows.rows_kernel import interrupted
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.rows.rows_kernel import interrupted

NOTHING = cython.declare(cython.double, float("-inf"))
LOOK_EVERY = cython.declare(cython.Py_ssize_t, 1 << 12)
"""After so many blocks it is seen whether Ctrl-C was pressed."""


@cython.cclass
class LinesOfRows:
    """The lines of conditions (`RowLines`), and the slots of runs."""

    def __init__(self, lines: Any) -> None:
        self.firsts = lines.firsts
        self.ends = lines.ends
        self.intercepts = lines.intercepts
        self.slopes = lines.slopes
        self.margins = lines.margins
        self.added_starts = lines.added_starts
        self.added = lines.added
        self.coefficients = lines.coefficients
        self.before = lines.before
        self.starts = lines.starts
        self.hull_starts = lines.hull_starts
        self.hull_slopes = lines.hull_slopes
        self.hull_intercepts = lines.hull_intercepts

    def use_runs(self, cells: Any, float_cells: Any) -> None:
        """Set the slots of runs."""
        self.cells = cells
        self.float_cells = float_cells

    def never(
        self,
        label: cython.int,
        loop: cython.int,
        side: cython.int,
        run: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        skipped: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether the condition of a variable holds for none of `size` rows from `row` on (the
        first `skipped` do not count), for a run that began at `start` and waits in a loop of the
        variable `loop`."""
        cython.declare(line=cython.int, k=cython.int, slot=cython.int, kind=cython.int)
        cython.declare(x=cython.double, y=cython.double, total=cython.double)
        for line in range(self.firsts[loop, label], self.ends[loop, label]):
            x = y = 0.0
            for k in range(self.added_starts[line], self.added_starts[line + 1]):
                slot = self.added[k, codes.TOTAL_SLOT]
                kind = self.added[k, codes.TOTAL_KIND]
                if kind == codes.MATCH_LENGTH:
                    total = cython.cast(cython.double, row - start)
                elif kind == codes.SLOT_FLOAT:
                    total = self.float_cells[side, run, slot]
                else:
                    total = cython.cast(cython.double, self.cells[side, run, slot])
                if self.added[k, codes.TOTAL_BEFORE] >= 0:
                    total -= self.before[self.added[k, codes.TOTAL_BEFORE], row]
                if self.coefficients[k] != 0:
                    y += self.coefficients[k] * total
                else:
                    x = total
            if self.is_below(line, x, -self.margins[line] - y, row + skipped, row + size):
                return True
        return False

    def is_below(
        self,
        line: cython.int,
        x: cython.double,
        level: cython.double,
        row: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether at x all lines of the rows from `row` to `end` are below a level."""
        cython.declare(size=cython.Py_ssize_t, number=cython.int)
        while row < end:
            if row & ((1 << codes.BLOCK_BITS) - 1) or row + (1 << codes.BLOCK_BITS) > end:
                if not self.intercepts[line, row] + self.slopes[line, row] * x < level:
                    return False
                row += 1
                continue
            number = 0
            size = 1 << codes.BLOCK_BITS
            while (
                number + 1 < codes.BLOCK_SIZES
                and row & (2 * size - 1) == 0
                and row + 2 * size <= end
            ):
                number += 1
                size *= 2
            if not self.greatest(line, self.starts[number] + row // size, x) < level:
                return False
            row += size
        return True

    def greatest(
        self, line: cython.int, block: cython.Py_ssize_t, x: cython.double
    ) -> cython.double:
        """The greatest of the lines of a block at x."""
        cython.declare(low=cython.Py_ssize_t, high=cython.Py_ssize_t, at=cython.Py_ssize_t)
        low = self.hull_starts[line, block]
        high = self.hull_starts[line, block + 1] - 1
        if high < low:
            return NOTHING
        while low < high:
            at = (low + high) // 2
            if (
                self.hull_intercepts[at] + self.hull_slopes[at] * x
                < self.hull_intercepts[at + 1] + self.hull_slopes[at + 1] * x
            ):
                low = at + 1
            else:
                high = at
        return self.hull_intercepts[low] + self.hull_slopes[low] * x


@cython.ccall
def smallest(
    blocks: cython.Py_ssize_t, slopes: Any, intercepts: Any, places: Any
) -> tuple[Any, Any]:
    """The upper envelopes of the lines of the smallest blocks: slopes and intercepts. Where each
    ends is written to `places`."""
    heights: cython.const[cython.double][::1] = intercepts
    rises: cython.const[cython.double][::1] = slopes
    ends: cython.longlong[::1] = places
    count: cython.Py_ssize_t = heights.shape[0]
    new_rises = np.empty(count, np.float64)
    new_heights = np.empty(count, np.float64)
    m: cython.double[::1] = new_rises
    b: cython.double[::1] = new_heights
    order: cython.longlong[::1] = np.zeros(1 << codes.BLOCK_BITS, np.int64)
    cython.declare(block=cython.Py_ssize_t, row=cython.Py_ssize_t, first=cython.Py_ssize_t)
    cython.declare(lines=cython.Py_ssize_t, j=cython.Py_ssize_t, top=cython.Py_ssize_t)
    top = 0
    with cython.nogil:
        for block in range(blocks):
            if block % LOOK_EVERY == 0:
                interrupted()
            first = block << codes.BLOCK_BITS
            lines = 0
            for row in range(first, min(first + (1 << codes.BLOCK_BITS), count)):
                if heights[row] == NOTHING:
                    continue
                j = lines
                while j > 0 and rises[order[j - 1]] > rises[row]:
                    order[j] = order[j - 1]
                    j -= 1
                order[j] = row
                lines += 1
            first = top
            for j in range(lines):
                top = _put(m, b, first, top, rises[order[j]], heights[order[j]])
            ends[block + 1] = top
    return new_rises[:top].copy(), new_heights[:top].copy()


@cython.ccall
def joined(
    slopes: Any,
    intercepts: Any,
    below: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    places: Any,
) -> tuple[Any, Any]:
    """The envelopes of the blocks from `first` on, made from pairs of those from `below` on, whose
    lines these are."""
    rises: cython.const[cython.double][::1] = slopes
    heights: cython.const[cython.double][::1] = intercepts
    ends: cython.longlong[::1] = places
    new_rises = np.empty(len(slopes), np.float64)
    new_heights = np.empty(len(slopes), np.float64)
    m: cython.double[::1] = new_rises
    b: cython.double[::1] = new_heights
    cython.declare(block=cython.Py_ssize_t, left=cython.Py_ssize_t, right=cython.Py_ssize_t)
    cython.declare(i=cython.Py_ssize_t, j=cython.Py_ssize_t, i_end=cython.Py_ssize_t)
    cython.declare(j_end=cython.Py_ssize_t, top=cython.Py_ssize_t, bottom=cython.Py_ssize_t)
    cython.declare(base=cython.Py_ssize_t, above=cython.Py_ssize_t)
    base = ends[below]
    above = ends[first]
    top = 0
    with cython.nogil:
        for block in range(first, end):
            if block % LOOK_EVERY == 0:
                interrupted()
            left = below + 2 * (block - first)
            right = min(left + 1, first)
            i = ends[left] - base
            i_end = j = ends[right] - base
            j_end = ends[min(right + 1, first)] - base
            bottom = top
            while i < i_end or j < j_end:
                if j == j_end or (i < i_end and rises[i] <= rises[j]):
                    top = _put(m, b, bottom, top, rises[i], heights[i])
                    i += 1
                else:
                    top = _put(m, b, bottom, top, rises[j], heights[j])
                    j += 1
            ends[block + 1] = above + top
    return new_rises[:top].copy(), new_heights[:top].copy()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put(
    m: cython.double[::1],
    b: cython.double[::1],
    first: cython.Py_ssize_t,
    top: cython.Py_ssize_t,
    slope: cython.double,
    intercept: cython.double,
) -> cython.Py_ssize_t:
    """Add a line after those of an envelope from `first` to `top`, whose slopes are not greater.
    Returns where the envelope ends then."""
    while top > first:
        if m[top - 1] == slope:
            if b[top - 1] >= intercept:
                return top
        elif top - 1 == first or not (
            (b[top - 2] - intercept) * (m[top - 1] - m[top - 2])
            <= (b[top - 2] - b[top - 1]) * (slope - m[top - 2])
        ):
            break
        top -= 1
    m[top] = slope
    b[top] = intercept
    return top + 1
