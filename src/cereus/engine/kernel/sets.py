"""Sets of values that partial matches remember: each set once, under a number.

Equal sets have the same number, so that a slot with the number of a set is compared, hashed and
merged like one with a value. The members of set n are `size[n]` cells of `members` from `begin[n]`
on, in ascending order (NULL is the smallest value). A set is found by its `code`, a sum over its
members that is the same in whatever order they came; the sets of a bucket are chained.

A set is never changed, and its number stays while some configuration has it; `forget` frees the
others. No set is empty: a size of 0 is a number that is free.
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

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
LOW_62 = cython.declare(cython.longlong, (1 << 62) - 1)
LOW_63 = cython.declare(cython.longlong, (1 << 63) - 1)
RECENT = cython.declare(cython.longlong, 1 << 10)
"""How many answers are remembered to the question which set a set becomes with one more value."""
SWEEP_SETS = cython.declare(cython.longlong, 1 << 12)
"""Look for sets that are no longer needed once this many members are kept."""


@cython.cclass
class ValueSets:
    """The sets of one kernel."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.clear()

    def clear(self) -> None:
        """Forget all sets."""
        self.begin = np.zeros(layout.FIRST_ROOM, np.int64)
        self.size = np.zeros(layout.FIRST_ROOM, np.int32)
        self.code = np.zeros(layout.FIRST_ROOM, np.int64)
        self.chain = np.full(layout.FIRST_ROOM, -1, np.int32)
        self.buckets = np.full(2 * layout.FIRST_ROOM, -1, np.int32)
        self.made = 0
        self.free = -1
        self.used = 0
        self.sweep_at = SWEEP_SETS
        self.recent_set = np.full(RECENT, -1, np.int32)
        self.recent_value = np.zeros(RECENT, np.int64)
        self.recent_with = np.zeros(RECENT, np.int32)
        self._use_members(np.zeros(4 * layout.FIRST_ROOM, np.int64))

    def _use_members(self, members: npt.NDArray[np.int64]) -> cython.int:
        self.members = members
        self.terms.use_members(members)
        return 0

    # ------------------------------------------------------------ one value more

    def with_value(self, n: cython.longlong, value: cython.longlong) -> cython.int:
        """The set of a value and the members of set n (-1: none)."""
        below: cython.longlong = 0
        size: cython.longlong = 0
        at: cython.longlong = 0
        if n >= 0:
            below = self._place(n, value)
            size = self.size[n]
            if below < size and self.members[self.begin[n] + below] == value:
                return cython.cast(cython.int, n)
            mixed: cython.ulonglong = self._mixed(value) + cython.cast(cython.ulonglong, n)
            if not cython.compiled:
                mixed = mixed * PRIME & ((1 << 64) - 1)
            else:
                mixed = mixed * PRIME
            at = cython.cast(cython.longlong, mixed >> 40) & (RECENT - 1)
            if self.recent_set[at] == n and self.recent_value[at] == value:
                return self.recent_with[at]
        made: cython.int = self._added(n, value, size, below)
        if n >= 0:
            self.recent_set[at] = cython.cast(cython.int, n)
            self.recent_value[at] = value
            self.recent_with[at] = made
        return made

    def has(self, n: cython.longlong, value: cython.longlong) -> cython.bint:
        """Whether a value is a member of set n."""
        below: cython.longlong = self._place(n, value)
        return below < self.size[n] and self.members[self.begin[n] + below] == value

    def has_null(self, n: cython.longlong) -> cython.bint:
        return self.members[self.begin[n]] == layout.NULL

    def _place(self, n: cython.longlong, value: cython.longlong) -> cython.longlong:
        """The number of members of set n below a value."""
        first: cython.longlong = self.begin[n]
        low: cython.longlong = 0
        high: cython.longlong = self.size[n]
        while low < high:
            middle: cython.longlong = (low + high) // 2
            if self.members[first + middle] < value:
                low = middle + 1
            else:
                high = middle
        return low

    def _mixed(self, value: cython.longlong) -> cython.ulonglong:
        mixed: cython.ulonglong = cython.cast(cython.ulonglong, value & LOW_63)
        mixed = (mixed ^ (mixed >> 29)) * PRIME
        if not cython.compiled:
            mixed = mixed & ((1 << 64) - 1)
        return mixed ^ (mixed >> 32)

    def _share(self, value: cython.longlong) -> cython.longlong:
        """The part of a set's code that comes from one member."""
        return cython.cast(cython.longlong, self._mixed(value) >> 16)

    def _added(
        self,
        n: cython.longlong,
        value: cython.longlong,
        size: cython.longlong,
        below: cython.longlong,
    ) -> cython.int:
        """The set of a value and the `size` members of set n, of which `below` are smaller. It is
        written behind all others, and stays there if it is new."""
        if self.used + size + 1 > self.members.shape[0]:
            with cython.gil:
                self._use_members(longer(self.members, 2 * (self.used + size + 1), 0))
        k: cython.longlong
        first: cython.longlong = self.begin[n] if n >= 0 else 0
        for k in range(below):
            self.members[self.used + k] = self.members[first + k]
        self.members[self.used + below] = value
        for k in range(below, size):
            self.members[self.used + k + 1] = self.members[first + k]
        code: cython.longlong = self._share(value)
        if n >= 0:
            code = (code + self.code[n]) & LOW_62
        known: cython.int = self._known(code, size + 1)
        return known if known >= 0 else self._kept(code, size + 1)

    def _known(self, code: cython.longlong, size: cython.longlong) -> cython.int:
        """The known set with the members that were written last, or -1."""
        n: cython.int = self.buckets[code & (self.buckets.shape[0] - 1)]
        while n >= 0:
            if self.code[n] == code and self.size[n] == size:
                k: cython.longlong = 0
                first: cython.longlong = self.begin[n]
                while k < size and self.members[first + k] == self.members[self.used + k]:
                    k += 1
                if k == size:
                    return n
            n = self.chain[n]
        return -1

    def _kept(self, code: cython.longlong, size: cython.longlong) -> cython.int:
        """Keep the members that were written last as a set, and return its number."""
        n: cython.int = self.free
        if n >= 0:
            self.free = self.chain[n]
        else:
            if self.made == self.begin.shape[0]:
                with cython.gil:
                    self._room_for(2 * self.made)
            n = self.made
            self.made += 1
        self.begin[n] = self.used
        self.size[n] = cython.cast(cython.int, size)
        self.code[n] = code
        self.used += size
        self._enter(n)
        return n

    def _enter(self, n: cython.int) -> cython.int:
        b: cython.longlong = self.code[n] & (self.buckets.shape[0] - 1)
        self.chain[n] = self.buckets[b]
        self.buckets[b] = n
        return 0

    def _room_for(self, sets: cython.int) -> cython.int:
        self.begin = longer(self.begin, sets, 0)
        self.size = longer(self.size, sets, 0)
        self.code = longer(self.code, sets, 0)
        self.chain = longer(self.chain, sets, -1)
        self._find_anew()
        return 0

    def _find_anew(self) -> cython.int:
        """Put all sets into buckets again, and free all other numbers."""
        self.buckets = np.full(2 * self.begin.shape[0], -1, np.int32)
        self.free = -1
        n: cython.int
        for n in range(self.made - 1, -1, -1):
            if self.size[n]:
                self._enter(n)
            else:
                self.chain[n] = self.free
                self.free = n
        return 0

    # ------------------------------------------------------------ forgetting

    def forget(self, needed: npt.NDArray[np.int64]) -> None:
        """Keep only these sets."""
        live = np.zeros(self.made, np.bool_)
        live[needed] = True
        begin = np.asarray(self.begin)[: self.made]
        size = np.asarray(self.size)[: self.made]
        size[~live] = 0
        ends = np.cumsum(size, dtype=np.int64)
        self.used = int(ends[-1]) if len(ends) else 0
        places = ranges(begin, size)
        members = np.zeros(max(4 * layout.FIRST_ROOM, 2 * self.used), np.int64)
        members[: self.used] = np.asarray(self.members)[places]
        begin[:] = ends - size
        self._use_members(members)
        self._find_anew()
        self.recent_set = np.full(RECENT, -1, np.int32)
        self.sweep_at = max(SWEEP_SETS, 2 * self.used)

    # ------------------------------------------------------------ snapshots

    def values(self) -> npt.NDArray[np.int64]:
        """All members of sets (call `forget` before)."""
        return np.unique(np.asarray(self.members)[: self.used])

    def save(self) -> dict[str, Any]:
        """The sets as arrays (call `forget` before, so that they lie in the order of their
        numbers)."""
        return {
            "set_sizes": np.asarray(self.size)[: self.made].astype(np.int64),
            "set_members": np.asarray(self.members)[: self.used].copy(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        sizes, members = saved["set_sizes"], saved["set_members"]
        self.clear()
        self.made = len(sizes)
        room = max(layout.FIRST_ROOM, 1 << (self.made - 1).bit_length() if self.made else 1)
        self.size = longer(sizes.astype(np.int32), room, 0)
        self.begin = longer(np.cumsum(sizes) - sizes, room, 0)
        self.code = np.zeros(room, np.int64)
        self.chain = np.full(room, -1, np.int32)
        self.used = len(members)
        self._use_members(longer(members, max(4 * layout.FIRST_ROOM, 2 * self.used), 0))
        n: cython.int
        k: cython.longlong
        for n in range(self.made):
            for k in range(self.begin[n], self.begin[n] + self.size[n]):
                self.code[n] = (self.code[n] + self._share(self.members[k])) & LOW_62
        self._find_anew()
        self.sweep_at = max(SWEEP_SETS, 2 * self.used)
