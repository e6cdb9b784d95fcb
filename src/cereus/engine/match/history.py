"""Remembers the events that can still be part of a match.

An event that comes to the kernel has an *ordinal*, counted over the run; the forest refers to
events by it. The history holds, from `first` on, what a result needs to say about each event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.match.memory import empty
from cereus.state import checked

Ints = npt.NDArray[np.int64]


@dataclass
class History:
    first: int = 0
    rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    times: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    floors: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    keys: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    payload: pa.Table | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def next_ordinal(self) -> int:
        return self.first + len(self.rows)

    def append(
        self,
        rows: Ints,
        times: Ints,
        floors: Ints,
        keys: npt.NDArray[np.int32],
        payload: pa.Table | None,
    ) -> None:
        self.rows = _joined(self.rows, rows)
        self.times = _joined(self.times, times)
        self.floors = _joined(self.floors, floors)
        self.keys = np.concatenate([self.keys, keys]) if len(self.keys) else keys
        if payload is not None:
            self.payload = (
                payload if self.payload is None else pa.concat_tables([self.payload, payload])
            )

    def forget_before(self, ordinal: int) -> None:
        """Drop what no live partial match refers to."""
        gone = min(max(0, ordinal - self.first), len(self.rows))
        if gone:
            self.first += gone
            self.rows = self.rows[gone:].copy()
            self.times = self.times[gone:].copy()
            self.floors = self.floors[gone:].copy()
            self.keys = self.keys[gone:].copy()
            if self.payload is not None:
                self.payload = self.payload.slice(gone).combine_chunks()

    def save(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "rows": self.rows,
            "times": self.times,
            "floors": self.floors,
            "keys": self.keys,
            "payload": self.payload,
        }

    def restore(
        self,
        saved: dict[str, Any],
        keys: int,
        *,
        timed: bool,
        with_floors: bool,
        payload: pa.Schema | None,
    ) -> None:
        """Take up saved events of so many keys (-1: of one that was forgotten)."""
        self.rows = checked.integers(saved["rows"], "the rows of events")
        size = len(self.rows)
        self.first = checked.count(saved["first"], "the first event")
        self.times = checked.integers(saved["times"], "the times of events", size * timed)
        self.floors = checked.integers(saved["floors"], "the floors of events", size * with_floors)
        self.keys = checked.codes(saved["keys"], "the keys of events", size)
        checked.within(self.keys, -1, keys, "the key of an event")
        self.payload = saved["payload"]
        if payload is None or (size == 0 and self.payload is None):
            checked.refuse_unless(self.payload is None, "it remembers columns of events")
        else:
            checked.table(self.payload, "what is remembered of events", payload, size)


def _joined(old: Ints, new: Ints) -> Ints:
    if not len(old):
        return new
    return np.concatenate([old, new], out=empty(len(old) + len(new), old.dtype))
