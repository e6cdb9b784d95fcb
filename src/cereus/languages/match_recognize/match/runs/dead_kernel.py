"""Remembers where runs of earlier starts were that led to no match.

The future of a run depends on the row and the state that it waits for and on its live slots. If a
run of an earlier start was in the same place, and no match came of it, a run that gets there is
dead too. So starts that wait long for nothing read only some rows: their extremes or last rows are
soon those of the starts before them.

Invariants: an entry is written when a run comes to a place; it counts for later starts only. Of a
start without a match all entries are dead, and of one with a match those after its last row: the
next start of SKIP PAST LAST ROW lies there. Where the search goes on inside a match, or where
conditions read its number, entries up to then do not count (`since`). Places collide: the later one
stays, and only time is lost.

The choice of rows where places are looked up affects only the time (`looks_up`, `count_start`).
"""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.runs.waiting_kernel import (
        WaitingRuns,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.runs.waiting_kernel import WaitingRuns

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
STARTS = cython.declare(cython.longlong, 512)
FEWEST = cython.declare(cython.longlong, 16)
PAUSE = cython.declare(cython.longlong, 1 << 16)
"""After this many starts, check whether as many runs were dead. If not, none is looked up for as
many rows, and the next time for four times as many."""
NEAR = cython.declare(cython.Py_ssize_t, 64)
"""Up to this many rows after its start, every place of a run is remembered; then of every second
row, after twice as many of every fourth, and so on."""


@cython.cclass
class RememberingRuns(WaitingRuns):
    """Runs, and a table of the places where earlier ones were."""

    def __init__(self, tables: Any, rows: Any) -> None:
        WaitingRuns.__init__(self, tables, rows)
        self.remembers = False
        self.since = 0
        self.pause = 0
        self.next_pause = PAUSE
        self.last_start = -1
        self.starts_seen = 0
        self.hits = 0
        self.sparse = 1

    def remember(self, places: Any, numbered: bool) -> None:
        """Drop runs that came to nothing before. All rows are known. `places` has the arrays of the
        same names; with `numbered`, conditions read the number of the match."""
        self.entries = places.entries
        self.float_entries = places.float_entries
        self.back = places.back
        self.numbered = numbered
        self.remembers = True

    def forget_before(self, start: cython.Py_ssize_t) -> cython.void:
        """From here on ignore places of starts before this one."""
        self.since = start

    def is_dead(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether a run of `start` that waits for `row` in a state came to nothing before. If it is
        not known, its place is noted."""
        cython.declare(at=cython.Py_ssize_t, j=cython.Py_ssize_t)
        at = cython.cast(
            cython.Py_ssize_t,
            (
                (self.hashed_slots(side, run, state) + cython.cast(cython.ulonglong, row)) * PRIME
                >> 7
            )
            & cython.cast(cython.ulonglong, self.entries.shape[0] - 1),
        )
        if self.is_place(at, side, run, state, start, row):
            self.hits += 1
            return True
        self.count_start(start)
        self.entries[at, codes.DEAD_START] = start
        self.entries[at, codes.DEAD_ROW] = row
        self.entries[at, codes.DEAD_STATE] = state
        for j in range(self.slots):
            self.entries[at, codes.DEAD_SLOTS + j] = self.keys[j]
        for j in range(self.float_slots):
            self.float_entries[at, j] = self.float_cells[side, run, j]
        return False

    def is_place(
        self,
        at: cython.Py_ssize_t,
        side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether an entry is the place of this run, which is in `keys`, at an earlier start."""
        j: cython.Py_ssize_t
        if self.entries[at, codes.DEAD_ROW] != row or self.entries[at, codes.DEAD_STATE] != state:
            return False
        if not self.since <= self.entries[at, codes.DEAD_START] < start:
            return False
        for j in range(self.slots):
            if self.entries[at, codes.DEAD_SLOTS + j] != self.keys[j]:
                return False
        for j in range(self.float_slots):
            if self.float_entries[at, j] != self.float_cells[side, run, j]:
                return False
        return True

    def looks_up(self, start: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.bint:
        """Whether runs are looked up at a row: not where a few rows decide, nor in a pause. The
        farther from the start, the fewer rows are looked up."""
        if row - start < self.back:
            self.sparse = 1
            return False
        if row - start >= NEAR * self.sparse:
            self.sparse *= 2
        if self.pause > 0:
            self.pause -= 1
            return False
        return row & (self.sparse - 1) == 0

    def count_start(self, start: cython.Py_ssize_t) -> cython.void:
        """Pause if looking up is of no use."""
        if start == self.last_start:
            return
        self.last_start = start
        self.starts_seen += 1
        if self.starts_seen > STARTS:
            if self.hits < FEWEST:
                self.pause = self.next_pause
                self.next_pause *= 4
            self.starts_seen = self.hits = 0

    def still_open(
        self,
        side: cython.int,
        count: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Drop the runs that came to nothing before, and return how many are left."""
        cython.declare(k=cython.Py_ssize_t, left=cython.Py_ssize_t)
        left = 0
        for k in range(count):
            if self.is_dead(side, k, self.states[side, k], start, row):
                continue
            if left < k:
                self.states[side, left] = self.states[side, k]
                self.nodes_of[side, left] = self.nodes_of[side, k]
                self.copy_slots(side, k, side, left)
            left += 1
        return left
