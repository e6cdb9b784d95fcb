"""Remembers the events that can still be part of a match.

Every event that comes to the kernel has an *ordinal*, counted over the run; the forest refers to
events by it. From ordinal `first` on, the history holds what a result needs about each event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.memory import NO_CODES, NO_INTS, empty
from cereus.state import checked

Ints = npt.NDArray[np.int64]


class Growing:
    """An array that grows at its end and forgets values at its front. It is copied once per
    doubling."""

    def __init__(self, none: npt.NDArray[Any]) -> None:
        self.replace(none)

    def replace(self, values: npt.NDArray[Any]) -> None:
        """Hold these values and no others."""
        self._buffer, self._begin, self._end = values, 0, len(values)

    @property
    def values(self) -> npt.NDArray[Any]:
        return self._buffer[self._begin : self._end]

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end. The buffer grows by doubling, so that each is moved seldom."""
        size = self._end - self._begin + len(values)
        if not len(values):
            return
        if size == len(values):
            self.replace(values)
            return
        if self._end + len(values) > len(self._buffer):
            buffer = empty(2 * size, self._buffer.dtype)
            buffer[: self._end - self._begin] = self.values
            self._buffer, self._begin, self._end = buffer, 0, self._end - self._begin
        self._buffer[self._end : self._end + len(values)] = values
        self._end += len(values)

    def forget(self, count: int) -> None:
        """Drop this many values at the front. Free their memory when most are gone."""
        self._begin = min(self._begin + count, self._end)
        if self._end - self._begin < len(self._buffer) // 4:
            self.replace(self.values.copy())


class GrowingTable:
    """A table that grows at its end. Adding rows copies nothing. Reading it joins pieces until each
    is at least twice as long as the next: so a row is moved once per doubling, and there are few
    pieces."""

    def __init__(self) -> None:
        self.replace(None)

    def replace(self, table: pa.Table | None) -> None:
        """Hold these rows and no others."""
        self._pieces = [] if table is None else [table]
        self._table = table

    def append(self, table: pa.Table) -> None:
        self._pieces.append(table)
        self._table = None

    @property
    def table(self) -> pa.Table | None:
        """All rows; None if none were ever added."""
        if self._table is None and self._pieces:
            self._pieces = _fewer(self._pieces)
            self._table = _joined(self._pieces)
        return self._table

    def forget(self, count: int) -> None:
        """Drop this many rows at the front, and free their memory."""
        table = self.table
        if table is not None:
            self.replace(table.slice(count).combine_chunks())


def _fewer(pieces: list[pa.Table]) -> list[pa.Table]:
    kept: list[pa.Table] = []
    for piece in pieces:
        while kept and kept[-1].num_rows < 2 * piece.num_rows:
            piece = _joined([kept.pop(), piece]).combine_chunks()
        kept.append(piece)
    return kept


def _joined(pieces: list[pa.Table]) -> pa.Table:
    """One table of pieces with the same columns; some of their schemas may say that there are no
    nulls."""
    return pa.concat_tables(pieces, promote_options="default")


class History:
    """What is remembered about the events from ordinal `first` on."""

    def __init__(self) -> None:
        self.first = 0
        self._rows, self._times, self._floors = Growing(NO_INTS), Growing(NO_INTS), Growing(NO_INTS)
        self._keys = Growing(NO_CODES)
        self._payload = GrowingTable()

    @property
    def payload(self) -> pa.Table | None:
        """The columns that are kept of the events."""
        return self._payload.table

    @property
    def rows(self) -> Ints:
        return self._rows.values

    @property
    def times(self) -> Ints:
        return self._times.values

    @property
    def floors(self) -> Ints:
        return self._floors.values

    @property
    def keys(self) -> npt.NDArray[np.int32]:
        return self._keys.values

    @keys.setter
    def keys(self, keys: npt.NDArray[np.int32]) -> None:
        self._keys.replace(keys)

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
        """Add events. The events that are there are copied only once per doubling."""
        for array, values in self._arrays(rows, times, floors, keys):
            array.append(values)
        if payload is not None:
            self._payload.append(payload)

    def _arrays(self, *values: Any) -> Iterator[tuple[Growing, Any]]:
        return zip((self._rows, self._times, self._floors, self._keys), values, strict=True)

    def forget_before(self, ordinal: int) -> None:
        """Drop the events before this ordinal: no live partial match refers to them."""
        gone = min(max(0, ordinal - self.first), len(self.rows))
        if gone:
            self.first += gone
            for array, count in self._arrays(gone, gone, gone, gone):
                array.forget(count)
            self._payload.forget(gone)

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
        known_keys: int,
        *,
        timed: bool,
        with_floors: bool,
        payload: pa.Schema | None,
    ) -> None:
        """Take up saved events of `known_keys` keys (-1 is the key of events whose key was
        forgotten)."""
        rows = checked.integers(saved["rows"], "the rows of events")
        size = len(rows)
        self.first = checked.count(saved["first"], "the first event")
        times = checked.integers(saved["times"], "the times of events", size * timed)
        floors = checked.integers(saved["floors"], "the floors of events", size * with_floors)
        keys = checked.codes(saved["keys"], "the keys of events", size)
        checked.within(keys, -1, known_keys, "the key of an event")
        for array, values in self._arrays(rows, times, floors, keys):
            array.replace(values)
        self._payload.replace(saved["payload"])
        if payload is None or (size == 0 and self.payload is None):
            checked.refuse_unless(self.payload is None, "it remembers columns of events")
        else:
            what = "what is remembered of events"
            self._payload.replace(checked.table(self.payload, what, payload, size))
