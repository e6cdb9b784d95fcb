"""Forgets keys that behave like new ones from now on. So an endless stream of short-lived keys
needs only the memory of those that are alive.

A key may go when all its partial matches have left the window and its evaluation is where that of a
new key begins. That takes a *horizon*: a time before which no event comes any more. It is what
`advance` has promised, or, while the events have come in the order of time over all keys, one
window before the latest of them. (Otherwise the order of time is known only within keys.) Once
something was forgotten, an event before the horizon is refused: matches are never lost silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.engine.kernel import layout

FORGET_AT = 1 << 16
"""Look for keys that are no longer needed once this many are known."""

NEVER = layout.NO_BOUND
Ints = npt.NDArray[np.int64]


@dataclass
class Progress:
    """How far time has come over all keys.

    latest    the latest time of any event
    in_order  whether no event so far was earlier than one before it
    promised  no event before this time will come
    closed    what is before this time was forgotten: an event from there is refused
    """

    latest: int = NEVER
    in_order: bool = True
    promised: int = NEVER
    closed: int = NEVER

    def see(self, times: Ints, ascending: bool) -> None:
        self.in_order &= ascending and int(times[0]) >= self.latest
        self.latest = max(self.latest, int(times[-1] if ascending else times.max()))


def begun_nowhere(kernel: dict[str, Any], initial: int) -> npt.NDArray[np.bool_]:
    """The keys whose saved evaluation is where that of a new key begins."""
    carry, starts = kernel["carry"], kernel["carry_from"]
    keys = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    state = carry[:, layout.CARRY_STATE]
    root, empty = carry[:, layout.CARRY_ROOT], carry[:, layout.CARRY_EMPTY]
    waits = empty == layout.UNSTARTED
    fresh = waits & (state == initial) & (root == 0)
    busy = (root > 0) | (empty > 0) | (waits & ~fresh)
    counted = len(starts) - 1
    has_fresh = np.bincount(keys[fresh], minlength=counted) > 0
    is_busy = np.bincount(keys[busy], minlength=counted) > 0
    if "past_sizes" in kernel:  # events that later matches are compared with
        is_busy |= _past_by_key(kernel, counted).sum(axis=1) > 0
    unread: npt.NDArray[np.bool_] = kernel["last_position"] < 0
    return (has_fresh & ~is_busy) | unread


def _past_by_key(kernel: dict[str, Any], keys: int) -> Ints:
    """How many events of each kind every key remembers."""
    sizes: Ints = kernel["past_sizes"]
    return sizes.reshape(keys, len(sizes) // max(keys, 1))


def only(kernel: dict[str, Any], kept: Ints) -> dict[str, Any]:
    """The saved kernel with these keys alone, numbered in their order."""
    starts, sizes = kernel["carry_from"], np.diff(kernel["carry_from"])
    chosen = np.zeros(len(sizes), np.bool_)
    chosen[kept] = True
    past = {}
    if "past_sizes" in kernel:
        by_key = _past_by_key(kernel, len(sizes))
        of_rows = np.repeat(chosen, by_key.sum(axis=1))
        past = {"past": kernel["past"][of_rows], "past_sizes": by_key[kept].ravel()}
    return {
        **kernel,
        **past,
        "carry": kernel["carry"][np.repeat(chosen, sizes)],
        "carry_from": np.concatenate([starts[:1], np.cumsum(sizes[kept])]),
        "last_position": kernel["last_position"][kept],
        "last_floor": kernel["last_floor"][kept],
    }


def numbers_of(kept: Ints, keys: int) -> npt.NDArray[np.int32]:
    """The new number of every key; -1 for forgotten keys and for key -1."""
    numbers = np.full(keys + 1, -1, np.int32)
    numbers[kept] = np.arange(len(kept), dtype=np.int32)
    return numbers
