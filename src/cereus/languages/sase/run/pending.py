"""Holds events between SASE+ queries until they are in the order of time.

With a *frontier* F, a time before which no event of the input comes any more, a query that emits
matches at their last event has emitted everything before F. A query that waits for their windows (a
trailing negation, a Kleene plus at the end) has emitted everything before F - window. Without
times, the numbers of the events' arrivals are used instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cereus.engine.ingest.clock import ordered
from cereus.engine.results.aggregates import Ints
from cereus.languages.sase.run.output import BINDING, ORDER, TIME
from cereus.state import checked

Time = int | float
NEVER = float("-inf")
OVER = float("inf")
"""Frontiers before all times and after them."""
HIDDEN = (*ORDER, BINDING)
"""The columns that order the events; the query that reads them does not see these."""


class Piece(NamedTuple):
    """Events that were emitted together, and the earliest of their times."""

    first: int
    events: pa.RecordBatch


@dataclass
class PendingEvents:
    """Output events of a query that wait for earlier ones; `released` counts those that have been
    passed on."""

    pieces: list[Piece] = field(default_factory=list)
    released: int = 0

    def add(self, batches: Iterable[pa.RecordBatch]) -> None:
        for batch in batches:
            if batch.num_rows:
                self.pieces.append(Piece(int(_times(batch).min()), batch))

    def release(self, frontier: Time, *, real: bool) -> pa.RecordBatch | None:
        """The events before the frontier, in order; `real`: times are floating-point numbers."""
        measure = _measure(frontier, real)
        ready = [piece.events for piece in self.pieces if piece.first < measure]
        if not ready:
            return None
        self.pieces = [piece for piece in self.pieces if piece.first >= measure]
        table = pa.Table.from_batches(ready)
        now = _times(table) < measure
        self.add(table.filter(pa.array(~now)).combine_chunks().to_batches())
        chosen = table.filter(pa.array(now)).combine_chunks()
        (batch,) = chosen.take(pa.array(in_order(chosen))).combine_chunks().to_batches()
        self.released += batch.num_rows
        return batch.drop_columns(list(HIDDEN))

    def save(self) -> dict[str, Any]:
        events = [pa.Table.from_batches([piece.events]) for piece in self.pieces]
        return {"events": events, "released": self.released}

    @classmethod
    def restored(cls, saved: dict[str, Any], schema: pa.Schema) -> PendingEvents:
        """The saved events, if they have the columns of the query's output."""
        pending = cls(released=checked.count(saved["released"], "the number of events passed on"))
        for events in checked.of_type(saved["events"], list, "what is pending"):
            table = checked.table(events, "what is pending", schema)
            for name in HIDDEN:
                checked.without_nulls(table.column(name), "the order of what is pending")
            pending.add(table.to_batches())
        return pending


def _times(events: pa.RecordBatch | pa.Table) -> Ints:
    times: Ints = events.column(TIME).to_numpy()
    return times


def _measure(frontier: Time, real: bool) -> Time:
    """A frontier as one of the integers by which times are compared."""
    if not real or frontier in (NEVER, OVER):
        return frontier
    return int(ordered(np.array([float(frontier)]))[0])


def first_before(times: Ints, frontier: Time, *, real: bool) -> int | None:
    """The index of the first of these times that is before a frontier; None if there is none."""
    early = np.flatnonzero(times < _measure(frontier, real))
    return int(early[0]) if len(early) else None


def in_order(events: pa.Table) -> Ints:
    """The order of events: by time, by the input's last event, by block, by the last event that the
    block has read, and then by the events of the variables."""
    keys = [events.column(name).to_numpy() for name in reversed(ORDER)]
    order = np.lexsort(keys)
    new = np.ones(len(order), bool)
    new[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    begins = np.append(np.flatnonzero(new), len(order))
    alike = np.flatnonzero(np.diff(begins) > 1)
    members = np.flatnonzero(np.isin(np.cumsum(new) - 1, alike))
    bindings = dict(
        zip(
            order[members].tolist(),
            events.column(BINDING).take(pa.array(order[members])).to_pylist(),
            strict=True,
        )
    )
    for begin, end in zip(begins[alike], begins[alike + 1], strict=True):
        order[begin:end] = sorted(order[begin:end].tolist(), key=bindings.__getitem__)
    return order
