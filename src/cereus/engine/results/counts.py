"""`SELECT COUNT(*), SUM(b.volume)`: how many matches end at each event, and totals over them."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.ingest.clock import as_times
from cereus.engine.match.runner import Runner
from cereus.engine.results.event_rows import EventShape
from cereus.engine.results.match_chunks import Floats, MatchChunk
from cereus.engine.results.results import Results
from cereus.expr.tree import Aggregate
from cereus.plan.plan import Total

EXACT = 2.0**53
"""Counts and totals are float64: every whole number up to here is exact."""


class CountRows(Results):
    """Rows of (key columns, end, end_time, count, totals …, exact): one per event where matches
    end. `exact` is false where a number has grown past 2**53 and is the nearest float64.

    With a shape, only the rows of events that are to be reported.
    """

    def __init__(self, runner: Runner, schema: pa.Schema, shape: EventShape | None = None) -> None:
        self.shape = shape
        super().__init__(runner, schema)

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        fields = [pa.field("end", pa.int64())]
        if self.time_type is not None:
            fields.append(pa.field("end_time", self.time_type))
        fields.append(pa.field("count", pa.float64()))
        fields += [pa.field(total_name(total), pa.float64()) for total in self.plan.query.totals]
        return [*fields, pa.field("exact", pa.bool_())]

    @property
    def may_repeat(self) -> bool:
        """False: counting is refused where a match may arise twice (`CountingRunner`)."""
        return False

    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        history = self.history
        ends = chunk.at - history.first
        columns = [*self._key_columns(chunk), pa.array(history.rows[ends])]
        if self.time_type is not None:
            columns.append(as_times(history.times[ends], self.time_type))
        counts = np.array(chunk.counts)
        exact = (counts <= EXACT) & np.all(np.abs(self._sums(chunk)) <= EXACT, axis=1)
        columns.append(pa.array(counts))
        columns += [
            pa.array(self._total(chunk, node), from_pandas=True) for node in self.plan.query.totals
        ]
        batch = pa.RecordBatch.from_arrays([*columns, pa.array(exact)], schema=self.schema)
        return batch if self.shape is None else self.shape.only_reported(batch, chunk.at, history)

    def _sums(self, chunk: MatchChunk) -> Floats:
        sums = [place for place, total in enumerate(self.plan.totals) if total.kind == "sum"]
        return np.array(chunk.totals)[:, sums]

    def _total(self, chunk: MatchChunk, node: Aggregate) -> Floats:
        """One total for every row; NaN (NULL) where no value took part."""

        def kept(kind: str, ones: bool = False) -> Floats:
            wanted = Total(kind, node.variable, node.attribute or (), ones)
            return np.array(chunk.totals[:, self.plan.totals.index(wanted)])

        if node.function == "avg":
            with np.errstate(invalid="ignore", divide="ignore"):
                return kept("sum") / kept("sum", True)
        values = kept(node.function)
        if node.function == "sum":
            return values
        nothing = np.inf if node.function == "min" else -np.inf  # the kernel's initial value
        return np.where(values == nothing, np.nan, values)


def counted(batches: Iterable[pa.RecordBatch]) -> int | float:
    """The number of matches that the rows count; past 2**53 the nearest float."""
    # a plain sum would be rounded with every batch, and so would depend on where these end
    total = fsum(float(pc.sum(batch.column("count")).as_py() or 0) for batch in batches)
    return exact_count(total)


def exact_count(total: float) -> int | float:
    """A number of matches as an integer, if it is exact."""
    return int(total) if total <= EXACT else total


def total_name(total: Aggregate) -> str:
    """The column of a total: `sum(a.volume)`."""
    return f"{total.function}({'.'.join((total.variable, *(total.attribute or ())))})"
