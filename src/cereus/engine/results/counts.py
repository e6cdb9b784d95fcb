"""`SELECT COUNT(*), SUM(b.volume)`: how many matches end at each event, and totals over them,
without listing any of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.batch_reader import Events
from cereus.engine.ingest.clock import read
from cereus.engine.match.kernel import CountingKernel, Kernel
from cereus.engine.match.runner import Options, Runner
from cereus.engine.results.match_chunks import Found
from cereus.engine.results.rows import Results, times_of
from cereus.errors import RefusedError
from cereus.expr.tree import Aggregate
from cereus.plan.plan import Total

EXACT = 2.0**53
"""Counts and totals are float64: every whole number up to here is exact."""
Floats = npt.NDArray[np.float64]


class AmbiguousCount(RefusedError):
    """A match may be found in several ways, so that counting the ways is not counting matches."""


class CountingRunner(Runner):
    def _new_kernel(self) -> Kernel:
        return CountingKernel(self.table, Options.of(self.plan, self.limits))

    def _remember(self, events: Events, batch: pa.RecordBatch) -> None:
        super()._remember(events, batch)
        rows = pa.array(events.places)
        events.amounts = np.ones((len(events), len(self.plan.totals)))
        for place, total in enumerate(self.plan.totals):
            column = read(batch, total.attribute, "the attribute").take(rows)
            floats = column.cast(pa.float64(), safe=False).fill_null(np.nan)
            values = floats.to_numpy(zero_copy_only=False)
            events.amounts[:, place] = np.where(
                np.isnan(values), np.nan, 1 if total.ones else values
            )

    def _know_letters(self, events: Events) -> None:
        super()._know_letters(events)
        if self.plan.totals:
            assert isinstance(self.kernel, CountingKernel)
            self.kernel.use_totals(events.amounts, self._adds)

    @property
    def _adds(self) -> npt.NDArray[np.uint8]:
        """Which labels count for which total. The room is for all labels there can be."""
        names = sorted({total.variable for total in self.plan.totals})
        labels = [
            frozenset({"", *(n for i, n in enumerate(names) if bits >> i & 1)})
            for bits in range(2 ** len(names))
        ]
        numbers = [self.labels.number_shown(label) for label in labels]
        adds = np.zeros((max(numbers) + 1, len(self.plan.totals)), np.uint8)
        for number, label in zip(numbers, labels, strict=True):
            adds[number] = [total.variable in label for total in self.plan.totals]
        return adds

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
