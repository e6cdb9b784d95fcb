"""Remembers earlier events by key, for conditions on events that must not have come (negated
components).

A *kind* of such events has a test (a bit of the letter) and the columns that are kept of each. The
events of key k and kind h are the rows `begin[i]` to `end[i]` of `rows`, i = k · kinds + h, in the
order in which they came; there is room for `room[i]`. So a binary search finds those before an
event, and those that have left the window are at the front.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.memory import longer
from cereus.engine.ranges import ranges

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cereus.engine.kernel.terms_vm import Terms
else:
    from cereus.engine.kernel import layout
    from cereus.engine.kernel.terms_vm import Terms

LEAST_ROOM = cython.declare(cython.longlong, 8)


@cython.cclass
class PastEvents:
    """The remembered events of all keys."""

    def __init__(self, columns: tuple[tuple[int, ...], ...], terms: Terms) -> None:
        self.kinds = len(columns)
        self.terms = terms
        self.width = layout.PAST_VALUES + max(map(len, columns))
        kept = np.full((self.kinds, self.width), -1, np.int32)
        for kind, numbers in enumerate(columns):
            kept[kind, : len(numbers)] = numbers
        self.kept = kept
        self.clear()

    def clear(self) -> None:
        """Forget all events and keys."""
        self.begin = self.end = self.room = np.zeros(0, np.int64)
        self.used = 0
        self._use_rows(np.zeros((64, self.width), np.int64))

    def _use_rows(self, rows: npt.NDArray[np.int64]) -> cython.int:
        self.rows = rows
        self.terms.use_past(rows)
        return 0

    def know_keys(self, keys: cython.longlong) -> None:
        size: cython.longlong = keys * self.kinds
        if size > self.begin.shape[0]:
            self.begin = longer(self.begin, size, 0)
            self.end = longer(self.end, size, 0)
            self.room = longer(self.room, size, 0)

    # ------------------------------------------------------------ one event more

    def record(
        self,
        i: cython.longlong,
        ordinal: cython.longlong,
        measure: cython.longlong,
        floor: cython.longlong,
        columns: cython.longlong[:, ::1],
        e: cython.longlong,
    ) -> cython.int:
        """Remember event e as the last of list i. Events before the floor may go."""
        k: cython.int
        if self.end[i] - self.begin[i] == self.room[i]:
            self._make_room(i, floor)
        row: cython.longlong = self.end[i]
        kind: cython.longlong = i % self.kinds
        self.rows[row, layout.PAST_ORDINAL] = ordinal
        self.rows[row, layout.PAST_MEASURE] = measure
        for k in range(self.width - layout.PAST_VALUES):
            if self.kept[kind, k] < 0:
                break
            self.rows[row, layout.PAST_VALUES + k] = columns[self.kept[kind, k], e]
        self.end[i] = row + 1
        return 0

    def drop(self, i: cython.longlong) -> cython.int:
        """Forget the events of list i."""
        self.end[i] = self.begin[i]
        return 0

    def _make_room(self, i: cython.longlong, floor: cython.longlong) -> cython.int:
        """Make room in list i. Events that have left the window go; if they are less than half, the
        list moves to where it has twice the room."""
        first: cython.longlong = self.begin[i]
        while first < self.end[i] and self.rows[first, layout.PAST_MEASURE] < floor:
            first += 1
        live: cython.longlong = self.end[i] - first
        to: cython.longlong = self.begin[i]
        if 2 * live > self.room[i] or self.room[i] == 0:
            room: cython.longlong = max(LEAST_ROOM, 2 * live)
            if self.used + room > self.rows.shape[0]:
                self.end[i] = first + live
                self.begin[i] = first
                with cython.gil:
                    self._gather(room)
                first = self.begin[i]
            to = self.used
            self.used += room
            self.room[i] = room
        r: cython.longlong
        k: cython.int
        for r in range(live):
            for k in range(self.width):
                self.rows[to + r, k] = self.rows[first + r, k]
        self.begin[i] = to
        self.end[i] = to + live
        return 0

    def _gather(self, more: cython.longlong) -> cython.int:
        """Move all lists next to each other, each with the room that it had, and make room for more
        rows."""
        begin, end = np.asarray(self.begin), np.asarray(self.end)
        room = np.asarray(self.room)
        sizes = end - begin
        room[sizes == 0] = 0
        room[:] = np.maximum(room, sizes)
        rows = np.zeros((2 * (int(room.sum()) + more) + 64, self.width), np.int64)
        to = np.cumsum(room) - room
        rows[ranges(to, sizes)] = np.asarray(self.rows)[ranges(begin, sizes)]
        begin[:] = to
        end[:] = to + sizes
        self.used = int(room.sum())
        self._use_rows(rows)
        return 0

    # ------------------------------------------------------------ what is asked

    def none(
        self,
        i: cython.longlong,
        after: cython.longlong,
        before: cython.longlong,
        floor: cython.longlong,
        program: cython.int,
        c: cython.int,
        e: cython.longlong,
    ) -> cython.bint:
        """Whether no event of list i between two ordinals, and not before the floor, makes a term
        true. Without a term, every event counts."""
        low: cython.longlong = self.begin[i]
        high: cython.longlong = self.end[i]
        while low < high:
            middle: cython.longlong = (low + high) // 2
            if self.rows[middle, layout.PAST_ORDINAL] < before:
                low = middle + 1
            else:
                high = middle
        row: cython.longlong
        self.looked = 0
        for row in range(low - 1, self.begin[i] - 1, -1):
            if (
                self.rows[row, layout.PAST_ORDINAL] <= after
                or self.rows[row, layout.PAST_MEASURE] < floor
            ):
                return True
            self.looked += 1
            if program < 0 or self.terms.is_true_of_past(program, c, e, row):
                return False
        return True

    # ------------------------------------------------------------ keys and snapshots

    def save(self, floors: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The events that are not before the floors of their keys."""
        begin, end = np.asarray(self.begin), np.asarray(self.end)
        places = ranges(begin, end - begin)
        lists = np.repeat(np.arange(len(begin)), end - begin)
        rows = np.asarray(self.rows)[places]
        inside = rows[:, layout.PAST_MEASURE] >= floors[lists // self.kinds]
        return {
            "past": rows[inside],
            "past_sizes": np.bincount(lists[inside], minlength=len(begin)),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        rows, sizes = saved["past"], saved["past_sizes"]
        ends = np.cumsum(sizes)
        self.begin, self.end, self.room = ends - sizes, ends, sizes.astype(np.int64)
        self.used = len(rows)
        made = np.zeros((2 * len(rows) + 64, self.width), np.int64)
        made[: len(rows)] = rows
        self._use_rows(made)

    def values(self) -> npt.NDArray[np.int64]:
        """All values that are kept of events."""
        begin = np.asarray(self.begin)
        places = ranges(begin, np.asarray(self.end) - begin)
        return np.unique(np.asarray(self.rows)[places, layout.PAST_VALUES :])
