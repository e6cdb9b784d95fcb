"""Events on their way to dialects that test them one by one: letters, keys, times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import Rows, as_integers, read
from cereus.engine.ingest.letters import Letters
from cereus.engine.ingest.substreams import Codes, Ints, Substreams, longer, moved
from cereus.plan.tests import EventTest
from cereus.stream import Stream

NO_EVENT = EventTest(negated=True)


class Arrived(NamedTuple):
    """The events of a batch that satisfy some test, in the order of their keys.

    places   their rows in the batch
    letters  the number of each event's letter (its set of satisfied tests)
    times    their times as integers; without a time column their positions within the key, where
             these were asked for, else empty
    keys     which keys there are, and `starts`: where the events of each begin
    """

    places: Ints
    letters: Codes
    times: Ints
    keys: Codes
    starts: Ints


class InOrder(NamedTuple):
    """The same in the order of time, with the key of each event in `keys`."""

    places: Ints
    letters: Codes
    times: Ints
    keys: Codes


class Arrivals:
    """Reads batches of one schema; remembers keys, letters and how far time has come."""

    def __init__(
        self,
        tests: Sequence[EventTest],
        stream: Stream,
        schema: pa.Schema,
        row_numbers: Ints | None = None,
        *,
        count: bool = False,
    ) -> None:
        self.stream = stream
        self.row_numbers = row_numbers
        type_path = (stream.type,) if stream.type else None
        self.reader = Letters(tests or [NO_EVENT], type_path, None, schema)
        self.known: dict[int, int] = {}
        """The letters seen so far, numbered."""
        paths = tuple((name,) for name in stream.keys)
        self.substreams = Substreams(paths, schema, ("time",))
        self.row = 0
        self.seen = np.zeros(1, np.int64)
        self._counts = count and stream.time is None

    def read(self, batch: pa.RecordBatch) -> Arrived:
        places, letters, times, keys = self.read_in_order(batch)
        if not self.stream.keys:
            return Arrived(places, letters, times, np.zeros(1, np.int32), np.zeros(1, np.int64))
        to, present, ends = codes.group_rows(keys, len(self.substreams))
        times = moved(times, to) if len(times) else times
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]]) if len(ends) else ends
        return Arrived(moved(places, to), moved(letters, to), times, present, starts)

    def read_in_order(self, batch: pa.RecordBatch) -> InOrder:
        first_row = self.row
        self.row += batch.num_rows
        places, letters = self.reader.classify(batch, self.known)
        if self._counts:
            everyone = self.substreams.codes(batch)
            keys, times = everyone[places], self._positions(everyone)[places]
        else:
            rows = Rows(first_row, numbers=self.row_numbers)
            times = self._times(batch, rows)
            keys = self.substreams.codes(batch, places)
            name = self.stream.time
            self.substreams.check_order("time", name, times, keys, places, rows)
            if len(places) < len(times):
                times = times[places]
        return InOrder(places, letters, times, keys)

    def rows(self, places: Ints, batch: pa.RecordBatch) -> Ints:
        """What rows of the batch just read are called."""
        rows: Ints = places + (self.row - int(batch.num_rows))
        return rows if self.row_numbers is None else self.row_numbers[rows]

    def _times(self, batch: pa.RecordBatch, rows: Rows) -> Ints:
        name = self.stream.time
        if name is None:
            return np.zeros(0, np.int64)
        what = f"the time column {name!r}"
        return as_integers(read(batch, (name,), "the time column"), what, rows)

    def _positions(self, keys: Codes) -> Ints:
        """The position of every row within its key."""
        self.seen = longer(self.seen, len(self.substreams), 0)
        positions: Ints = codes.count_positions(keys, self.seen)
        return positions

    def forget(self) -> None:
        """No key has been seen; the numbers of the letters stay."""
        self.substreams.forget()
        self.seen = np.zeros(1, np.int64)

    def key_columns(self, keys: npt.NDArray[Any]) -> list[pa.Array]:
        """The key columns of results that belong to these keys."""
        return self.substreams.index.columns(keys.astype(np.int32))

    def save(self) -> dict[str, Any]:
        return {
            "row": self.row,
            "seen": self.seen[: len(self.substreams)] if self._counts else None,
            "substreams": self.substreams.save(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.row = saved["row"]
        if self._counts:
            self.seen = saved["seen"].copy()
        self.substreams.restore(saved["substreams"])
