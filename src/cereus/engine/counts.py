"""`SELECT COUNT(*)`: how many matches end at each event, without listing any of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cereus.engine.kernel import CountingKernel, Kernel
from cereus.engine.results import Results, times_of
from cereus.engine.runner import Found, Options, Runner
from cereus.errors import RefusedError

EXACT = 2.0**53
"""Counts are float64: every whole number up to here is exact."""


class AmbiguousCount(RefusedError):
    """A match may be found in several ways, so that counting the ways is not counting matches."""


class CountingRunner(Runner):
    def _new_kernel(self) -> Kernel:
        return CountingKernel(self.table, Options.of(self.plan, self.limits))

    def push(self, batch: pa.RecordBatch) -> Iterator[Found]:
        for found in super().push(batch):
            if self.table.ambiguous:
                raise AmbiguousCount(
                    "this pattern may find a match in several ways, so counting would count it "
                    "more than once",
                    hint="list the matches and count them: SELECT *, then len(q.run(…))",
                )
            yield found


class CountResults(Results):
    """Rows of (key columns, end, end_time, count, exact): one per event that matches end at.

    `exact` is false where a count has grown past 2**53 and is the nearest float64.
    """

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        fields = [pa.field("end", pa.int64())]
        if self.time_type is not None:
            fields.append(pa.field("end_time", self.time_type))
        return [*fields, pa.field("count", pa.float64()), pa.field("exact", pa.bool_())]

    def batches(self, found: Iterator[Found]) -> Iterator[pa.RecordBatch]:
        for chunk in found:
            yield self.batch(chunk)

    def batch(self, found: Found) -> pa.RecordBatch:
        history = self.runner.history
        ends = found.at - history.first
        columns = [*self._keys(found, history), pa.array(history.rows[ends])]
        if self.time_type is not None:
            columns.append(times_of(history.times[ends], self.time_type))
        counts = np.array(found.counts)
        columns += [pa.array(counts), pa.array(counts <= EXACT)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)
