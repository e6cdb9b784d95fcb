"""`SELECT COUNT(*), SUM(b.volume)`: how many matches end at each event, and totals over them,
without listing any of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.results.match_chunks import Found
from cereus.engine.results.rows import Results, times_of
from cereus.expr.tree import Aggregate
from cereus.plan.plan import Total

EXACT = 2.0**53
"""Counts and totals are float64: every whole number up to here is exact."""
Floats = npt.NDArray[np.float64]


class CountResults(Results):
    """Rows of (key columns, end, end_time, count, totals …, exact): one per event that matches
    end at. `exact` is false where a number has grown past 2**53 and is the nearest float64."""

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        fields = [pa.field("end", pa.int64())]
        if self.time_type is not None:
            fields.append(pa.field("end_time", self.time_type))
        fields.append(pa.field("count", pa.float64()))
        fields += [pa.field(total_name(total), pa.float64()) for total in self.plan.query.totals]
        return [*fields, pa.field("exact", pa.bool_())]

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
        exact = (counts <= EXACT) & np.all(np.abs(self._sums(found)) <= EXACT, axis=1)
        columns.append(pa.array(counts))
        columns += [
            pa.array(self._total(found, node), from_pandas=True) for node in self.plan.query.totals
        ]
        return pa.RecordBatch.from_arrays([*columns, pa.array(exact)], schema=self.schema)

    def _sums(self, found: Found) -> Floats:
        kept = [p for p, total in enumerate(self.plan.totals) if total.kind == "sum"]
        return np.array(found.totals)[:, kept]

    def _total(self, found: Found, node: Aggregate) -> Floats:
        """One total of every row; NaN (NULL) where no value took part."""

        def kept(kind: str, ones: bool = False) -> Floats:
            wanted = Total(kind, node.variable, node.attribute or (), ones)
            return np.array(found.totals[:, self.plan.totals.index(wanted)])

        if node.function == "avg":
            with np.errstate(invalid="ignore", divide="ignore"):
                return kept("sum") / kept("sum", True)
        values = kept(node.function)
        if node.function == "sum":
            return values
        nothing = np.inf if node.function == "min" else -np.inf  # what the kernel begins with
        return np.where(values == nothing, np.nan, values)


def total_name(total: Aggregate) -> str:
    """The column of a total: `sum(a.volume)`."""
    return f"{total.function}({'.'.join((total.variable, *(total.attribute or ())))})"
