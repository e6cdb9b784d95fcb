"""Rows of partial matches whose windows ended: the columns of matches, and how far they came."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.clauses.tree import TIMEOUTS, TimeWindow
from cereus.engine.ingest.clock import as_times
from cereus.engine.ingest.substreams import Ints
from cereus.engine.match.after.open_starts import Windows
from cereus.engine.match.after.timeouts import Timeouts
from cereus.engine.results.match_chunks import MatchChunk
from cereus.engine.results.results import Results
from cereus.plan.timeouts import StepPlan


class TimeoutRows:
    """The rows of a query WITH TIMEOUTS; `results` make rows of its matches."""

    def __init__(self, results: Results, timeouts: Timeouts) -> None:
        self.results, self.timeouts, self.starts = results, timeouts, timeouts.starts

    def read(self, chunks: Iterator[MatchChunk]) -> Iterator[pa.RecordBatch]:
        """Yield the matches of a batch, then the partial matches that it has ended."""
        yield from self.results.batches(self.starts.noting(chunks))
        yield from self._rows(self.starts.read())

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        yield from self._rows(self.starts.advance(time))

    def finish(self) -> Iterator[pa.RecordBatch]:
        yield from self._rows(self.starts.finish())

    def _rows(self, windows: Windows) -> Iterator[pa.RecordBatch]:
        for step, chunk in self.timeouts.in_windows(windows):
            history = self.results.runner.history
            columns = self._timeouts(step, chunk.first - history.first) | self._keys(chunk)
            batch = self.results.begun(chunk)
            for name, column in columns.items():
                if (place := batch.schema.get_field_index(name)) >= 0:
                    batch = batch.set_column(place, batch.schema.field(place), column)
            yield batch

    def _keys(self, chunk: MatchChunk) -> dict[str, pa.Array]:
        """The keys of events, also where they are returned: they are known at every step."""
        plan, history = self.results.plan, self.results.runner.history
        if not plan.keys:
            return {}
        keys = history.keys[chunk.first - history.first]
        every = zip(plan.keys, self.results.runner.reader.key_columns(keys), strict=True)
        return {".".join(path): each for path, each in every if path in self.results.key_paths}

    def _timeouts(self, step: StepPlan, places: Ints) -> dict[str, Any]:
        size = len(places)
        texts = (pa.array([text] * size, pa.string()) for text in (step.reached, step.waiting_for))
        columns = [pa.array(np.ones(size, bool)), *texts]
        if isinstance(self.timeouts.plans.window, TimeWindow):
            times = self.results.runner.history.times[places] + self.timeouts.span
            columns.append(as_times(times, self.results.time_type))
        return dict(zip(TIMEOUTS, columns, strict=False))


def count_timeouts(batches: Iterable[pa.RecordBatch]) -> int:
    """The number of rows that are partial matches whose window ended (WITH TIMEOUTS)."""
    return sum(
        int(pc.sum(batch.column(TIMEOUTS[0])).as_py() or 0)
        for batch in batches
        if has_timeouts(batch.schema.names)
    )


def has_timeouts(columns: Collection[str]) -> bool:
    """Whether these are the results of a query WITH TIMEOUTS."""
    return set(TIMEOUTS) <= set(columns)
