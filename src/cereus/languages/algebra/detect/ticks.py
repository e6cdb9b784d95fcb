"""Rows → ticks: the rows of one time form one tick, in which several primitives may occur.

Rows are sorted by key and then by time. The primitives that a row is an instance of are a mask,
bit i of word i // 64 for primitive number i; rows without any are best left out beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cereus.engine.ranges import ranges
from cereus.errors import DataError
from cereus.languages.algebra.detect.instructions import LONGEST

Int64s = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]
Repeated = Literal["refuse", "merge"]

MERGE_HINT = (
    "instances of one primitive are separated in time; use a finer time column, tell the events "
    "apart with a condition, or say merge_ties=True, which takes the first of a tick"
)


@dataclass(frozen=True, eq=False)
class Ticks:
    """Ticks of one or more keys, and the rows they are made of."""

    times: Int64s
    masks: Masks
    """One row of words per tick: the primitives that occur in it."""
    tick_rows: Int64s
    """Tick i is the rows from tick_rows[i] to tick_rows[i + 1]."""
    row_masks: Masks
    rows: Int64s
    """The input's own number of each row."""
    key_ticks: Int64s
    """Key k has the ticks from key_ticks[k] to key_ticks[k + 1]."""
    stops: Int64s
    """The ticks of key k from stops[k] on may not be over, and are not run."""

    def __len__(self) -> int:
        return len(self.times)

    def without_pending(self, *, until: int | None = None) -> tuple[Ticks, Int64s]:
        """The ticks without each key's last tick, which is pending unless time has passed it
        (`until` is the earliest time that can still come); and the rows of the pending ticks."""
        keys = np.flatnonzero(np.diff(self.key_ticks))
        last = self.key_ticks[keys + 1] - 1
        if until is not None:
            is_open = self.times[last] >= until
            keys, last = keys[is_open], last[is_open]
        stops = self.stops.copy()
        stops[keys] -= 1
        begins, sizes = self.tick_rows[last], self.tick_rows[last + 1] - self.tick_rows[last]
        return replace(self, stops=stops), ranges(begins, sizes)


def group(
    times: npt.ArrayLike,
    masks: npt.ArrayLike,
    *,
    rows: npt.ArrayLike | None = None,
    key_rows: npt.ArrayLike | None = None,
    repeated: Repeated = "refuse",
) -> Ticks:
    """Form the ticks of rows given by time and mask.

    `key_rows` are the bounds of each key's rows (without: one key has all); `rows` are the
    numbers under which instances report their rows (without: 0, 1, 2, …). One primitive twice in
    a tick is an error, or, with `repeated="merge"`, one instance: the first.
    """
    time = np.ascontiguousarray(times, np.int64)
    mask = as_masks(masks)
    number = np.arange(len(time)) if rows is None else np.ascontiguousarray(rows, np.int64)
    bounds = np.asarray([0, len(time)] if key_rows is None else key_rows, np.int64)
    begins = _tick_begins(time, bounds)
    if begins.all():  # no two rows share a tick
        return Ticks(time, mask, np.arange(len(time) + 1), mask, number, bounds, bounds[1:])
    first = np.flatnonzero(begins)
    tick_masks = np.bitwise_or.reduceat(mask, first, axis=0)
    if repeated == "refuse":
        _refuse_repeated(time[first], mask, tick_masks, first)
    tick_rows = np.append(first, len(time))
    key_ticks = np.searchsorted(first, bounds)
    return Ticks(time[first], tick_masks, tick_rows, mask, number, key_ticks, key_ticks[1:])


def as_masks(masks: npt.ArrayLike) -> Masks:
    """Masks as rows of words."""
    array = np.ascontiguousarray(masks, np.uint64)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _tick_begins(time: Int64s, bounds: Int64s) -> npt.NDArray[np.bool_]:
    """Which rows begin a tick; refuses a time that goes backwards within a key."""
    if len(time) and (time.min() <= -LONGEST or time.max() >= LONGEST):
        raise DataError(
            "a time is too far from zero to compute durations with",
            hint="times are integers below 2**62, in whatever unit the query counts",
        )
    follows = np.ones(len(time), np.bool_)  # whether the row before is of the same key
    follows[bounds[:-1][bounds[:-1] < len(time)]] = False
    refuse_backwards(time, follows)
    begins = np.ones(len(time), np.bool_)
    begins[1:] = (time[1:] != time[:-1]) | ~follows[1:]
    return begins


def refuse_backwards(time: Int64s, follows: npt.NDArray[np.bool_]) -> None:
    backwards = np.flatnonzero((time[1:] < time[:-1]) & follows[1:])
    if len(backwards):
        row = int(backwards[0])
        raise DataError(
            f"time goes backwards: {time[row + 1]} after {time[row]}",
            hint="sort the events by key and time",
        )


def _refuse_repeated(times: Int64s, masks: Masks, united: Masks, first: Int64s) -> None:
    """Refuse a primitive that occurs twice in a tick. A sum equals the union exactly if nothing was
    counted twice. Halves of a word are used, because the sum of whole words could overflow."""
    half = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    for part, union in ((masks & low, united & low), (masks >> half, united >> half)):
        repeated = np.flatnonzero((np.add.reduceat(part, first, axis=0) != union).any(axis=1))
        if len(repeated):
            raise DataError(
                f"one primitive has two instances in one tick, at time {times[repeated[0]]}",
                hint=MERGE_HINT,
            )


# ---------------------------------------------------------------- ticks that may not be over


@dataclass(frozen=True, eq=False)
class TickRows:
    """Rows that have not become ticks yet, in the order of their keys and times."""

    times: Int64s
    masks: Masks
    rows: Int64s
    keys: Int64s
    """The number of the key of each row."""

    def __len__(self) -> int:
        return len(self.times)

    def at(self, chosen: npt.NDArray[Any] | slice) -> TickRows:
        return TickRows(
            self.times[chosen], self.masks[chosen], self.rows[chosen], self.keys[chosen]
        )

    def followed_by(self, others: TickRows) -> TickRows:
        """These rows, followed by the others key by key."""
        both = self.joined(others)
        if (both.keys[1:] < both.keys[:-1]).any():
            both = both.at(np.argsort(both.keys, kind="stable"))
        refuse_backwards(both.times, np.append(False, both.keys[1:] == both.keys[:-1]))
        return both

    def joined(self, others: TickRows) -> TickRows:
        if len(self) == 0:
            return others
        return TickRows(
            np.concatenate([self.times, others.times]),
            np.concatenate([self.masks, others.masks]),
            np.concatenate([self.rows, others.rows]),
            np.concatenate([self.keys, others.keys]),
        )

    def ticks(self, keys: int, *, repeated: Repeated = "refuse") -> Ticks:
        """The ticks of keys 0, 1, … `keys` - 1."""
        bounds = np.searchsorted(self.keys, np.arange(keys + 1))
        return group(self.times, self.masks, rows=self.rows, key_rows=bounds, repeated=repeated)


def no_rows(words: int = 1) -> TickRows:
    nothing = np.zeros(0, np.int64)
    return TickRows(nothing, np.zeros((0, words), np.uint64), nothing, nothing)


def condensed(rows: TickRows, keys: int, *, repeated: Repeated) -> TickRows:
    """The rows that their ticks need: the first one for each primitive. So a tick never has more
    rows than the expression has primitives."""
    ticks = rows.ticks(keys, repeated=repeated)
    needed = np.zeros(len(rows), np.bool_)
    nowhere = len(rows)
    for word in range(rows.masks.shape[1]):
        for bit in range(64):
            occurs = (rows.masks[:, word] >> np.uint64(bit)) & np.uint64(1) == 1
            if occurs.any():
                at = np.where(occurs, np.arange(len(rows)), nowhere)
                first = np.minimum.reduceat(at, ticks.tick_rows[:-1])
                needed[first[first < nowhere]] = True
    return rows.at(needed)
