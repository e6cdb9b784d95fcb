"""Where runs of earlier starts were that led to no match.

What becomes of a run depends on the row and the state that it waits for and on its live slots. If a
run of an earlier start was in the same place, and no match came of it, a run that gets there is as
good as dead. So starts that wait long for nothing, with extremes or last rows that soon are those
of the starts before them, read only some rows.

Invariants: an entry is written when a run comes to a place; it counts for later starts only. Of a
start without a match all entries are dead, and of one with a match those behind its last row: the
next start of SKIP PAST LAST ROW lies there. Where the search goes on inside a match, or where
conditions ask for its number, entries up to then do not count (`since`). Places collide: the
later one stays, and nothing but time is lost.
"""

from typing import Any

import cython

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
STARTS = cython.declare(cython.longlong, 512)
FEWEST = cython.declare(cython.longlong, 16)
PAUSE = cython.declare(cython.longlong, 1 << 16)
"""After so many starts it is seen whether so many runs were found dead. If not, none is looked up
for so many rows, and the next time for four times as many."""


@cython.ccall
def number_alike(
    rows: Any,
    columns: cython.const[cython.int][::1],
    table: cython.int[::1],
    found: cython.int[::1],
) -> None:
    """For every row the first one that has the same values in these columns. `table` is filled
    with -1, and has more entries than there are rows, a power of two.

    The last entry is that of no row, and is like no other: a slot for the first row of a variable
    is filled while it holds none, and not while it holds a row of NULLs."""
    ints: cython.const[cython.longlong][:, ::1] = rows.ints
    bits: cython.const[cython.longlong][:, ::1] = rows.floats.view("int64")
    valid: cython.const[cython.uchar][:, ::1] = rows.valid
    mask: cython.ulonglong = table.shape[0] - 1
    cython.declare(r=cython.Py_ssize_t, k=cython.Py_ssize_t, c=cython.int, other=cython.int)
    cython.declare(hash_=cython.ulonglong, at=cython.Py_ssize_t, same=cython.bint)
    last: cython.Py_ssize_t = found.shape[0] - 1
    found[last] = last
    with cython.nogil:
        for r in range(last):
            hash_ = 1
            for k in range(columns.shape[0]):
                c = columns[k]
                if valid[c, r]:
                    hash_ = hash_ ^ cython.cast(cython.ulonglong, ints[c, r] ^ bits[c, r])
                hash_ = hash_ * PRIME
                hash_ = hash_ ^ (hash_ >> 29)
            at = cython.cast(cython.Py_ssize_t, (hash_ >> 7) & mask)
            while True:
                other = table[at]
                if other < 0:
                    table[at] = r
                    found[r] = r
                    break
                same = True
                for k in range(columns.shape[0]):
                    c = columns[k]
                    if valid[c, r] != valid[c, other] or (
                        valid[c, r]
                        and (ints[c, r] != ints[c, other] or bits[c, r] != bits[c, other])
                    ):
                        same = False
                        break
                if same:
                    found[r] = other
                    break
                at = cython.cast(cython.Py_ssize_t, cython.cast(cython.ulonglong, at + 1) & mask)


@cython.cclass
class DeadRuns:
    """A table of places; `places` has the arrays of the same names."""

    def __init__(self, places: Any, alike: Any) -> None:
        self.alike_of = alike.of
        self.alike = alike.rows
        self.entries = places.entries
        self.float_entries = places.float_entries
        self.back = places.back
        self.since = 0
        self.pause = 0
        self.next_pause = PAUSE
        self.last_start = -1
        self.starts = 0
        self.hits = 0

    def use_runs(self, cells: Any, float_cells: Any) -> None:
        """The slots of runs."""
        self.cells = cells
        self.float_cells = float_cells

    def key(
        self, side: cython.int, run: cython.Py_ssize_t, slot: cython.Py_ssize_t
    ) -> cython.longlong:
        """What tells a slot from others: a row by what is read there."""
        cell: cython.longlong = self.cells[side, run, slot]
        return cell if self.alike_of[slot] < 0 else self.alike[self.alike_of[slot], cell]

    def is_dead(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether a run of `start` that waits for `row` in a state came to nothing before. If that
        is not known, its place is noted."""
        slots: cython.Py_ssize_t = self.cells.shape[2]
        float_slots: cython.Py_ssize_t = self.float_cells.shape[2]
        cython.declare(j=cython.Py_ssize_t, at=cython.Py_ssize_t, same=cython.bint)
        hash_: cython.ulonglong = cython.cast(cython.ulonglong, row * 64 + state) * PRIME
        for j in range(slots):
            hash_ = (hash_ ^ cython.cast(cython.ulonglong, self.key(side, run, j))) * PRIME
            hash_ = hash_ ^ (hash_ >> 29)
        at = cython.cast(
            cython.Py_ssize_t,
            (hash_ >> 7) & cython.cast(cython.ulonglong, self.entries.shape[0] - 1),
        )
        same = (
            self.entries[at, 1] == row
            and self.entries[at, 2] == state
            and self.since <= self.entries[at, 0] < start
        )
        if same:
            for j in range(slots):
                if self.entries[at, 3 + j] != self.key(side, run, j):
                    same = False
                    break
        if same:
            for j in range(float_slots):
                if self.float_entries[at, j] != self.float_cells[side, run, j]:
                    same = False
                    break
        if same:
            self.hits += 1
            return True
        if start != self.last_start:
            self.last_start = start
            self.starts += 1
            if self.starts > STARTS:
                if self.hits < FEWEST:
                    self.pause = self.next_pause
                    self.next_pause *= 4
                self.starts = self.hits = 0
        self.entries[at, 0] = start
        self.entries[at, 1] = row
        self.entries[at, 2] = state
        for j in range(slots):
            self.entries[at, 3 + j] = self.key(side, run, j)
        for j in range(float_slots):
            self.float_entries[at, j] = self.float_cells[side, run, j]
        return False
