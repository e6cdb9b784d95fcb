"""Runs a query over batches, on as many threads as that is worth.

The rows are those of one thread, in the same order: by batch, by key where there are keys, and by
the event at which a match is complete. (Of the matches that are complete at one event the order is
that of the forest of partial matches, which differs with what the forest has forgotten.)

If a part cannot go on, because of its data or of a limit, all is run once more by one thread, so
that errors are those of one thread too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.parallel.ahead import ahead
from cereus.engine.parallel.base import BaseRun, Stretch
from cereus.engine.parallel.by_key import by_key
from cereus.engine.parallel.by_piece import by_piece
from cereus.engine.parallel.by_time import by_time
from cereus.engine.parallel.effort import SAMPLE, Effort
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.split import FEW
from cereus.errors import CereusError

Progress = Callable[[int, int], None]
FEW_ROWS, MANY_ROWS = 1 << 18, 1 << 20
"""Bounds on the rows of a table for a query that has not run yet. With fewer rows than FEW_ROWS one
thread runs; with MANY_ROWS several do, whatever the query is. In between, some rows are read twice
to see how much work they are."""


@dataclass
class ParallelRun(BaseRun):
    """The results of a query.

    shed    what one thread has left out because a limit was reached
    effort  the work that the query had with events so far, which says whether threads are worth it
    how     how threads shared the work in the end: "time", "key" or "piece", by which the input was
            cut, "ahead", or "" if there was one thread
    """

    progress: Progress | None = None
    shed: list[str] = field(default_factory=list)
    effort: Effort = field(default_factory=Effort)
    how: str = ""
    _read: int = 0
    _matches: int = 0

    @property
    def costs(self) -> Costs:
        """Counts of the work of all threads together; rows that several slices read count for
        each."""
        return sum((executor.costs for executor in self.at_work), Costs())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The results, in batches."""
        given = 0
        for how, attempt in self._attempts():
            self.how = how
            self._read = self._matches = 0
            self.at_work = []
            passed = 0
            try:
                for batch in self._noted(attempt(self)):
                    # the results of an earlier attempt are not given again
                    again = min(batch.num_rows, given - passed)
                    fresh = batch if again <= 0 else _rest(batch, again)
                    passed += batch.num_rows
                    given = max(given, passed)
                    if fresh.num_rows:
                        yield fresh
                    del batch, fresh  # their memory may be used again
                self.effort.note(self.costs, self._read, self._matches)
                return
            except (NotSplitError, CereusError):
                if not how:
                    raise

    def _attempts(self) -> Iterator[tuple[str, Callable[[BaseRun], Iterator[Stretch]]]]:
        if self.threads > 1 and self.split.shared and (self.always or self._worth()):
            if self.split.window is not None:
                yield "time", by_time
            shared = self.split.light and self.threads <= FEW
            if self.split.keys and not shared:
                yield "key", by_key
            if self.split.pieces:
                yield "piece", by_piece
            if self.split.ahead:
                yield "ahead", ahead
        yield "", self._by_one

    def _worth(self) -> bool:
        """Whether there is enough work for two threads. Then a part may be as short as what is
        worth a thread."""
        if self.rows is None:
            return True
        if self.effort.per_event is None and self.at_hand and FEW_ROWS <= self.rows < MANY_ROWS:
            self._read_sample()
        part = self.effort.rows_of_part
        if part is None:
            return self.rows >= (MANY_ROWS if self.at_hand else FEW_ROWS)
        self.least = min(self.least, part)
        return self.rows >= 2 * part

    def _read_sample(self) -> None:
        """Read the first rows only to measure their work. An error in them will come again."""
        first = self.work.first(SAMPLE)
        sample = ParallelRun(first, self.stream, self.schema, self.split, 1, effort=self.effort)
        with suppress(CereusError):
            for _ in sample.batches():
                pass

    def _noted(self, stretches: Iterator[Stretch]) -> Iterator[pa.RecordBatch]:
        """The results; progress is reported after each part of them."""
        for end, results in stretches:
            for batch in results:
                self._matches += batch.num_rows
                yield batch
                del batch
            rows, self._read = end - self._read, max(end, self._read)
            if self.progress is not None and rows > 0:
                self.progress(self._read, self._matches)

    def _by_one(self, run: BaseRun) -> Iterator[Stretch]:
        executor = run.started(1)
        executor.defer()
        row = 0
        for first, batch in run.work.batches():
            if first != row:
                executor.skip_to(first)
            row = first + batch.num_rows
            yield Stretch(row, executor.push(batch))
        yield Stretch(row, executor.finish())
        self.shed = executor.shed


def _rest(batch: pa.RecordBatch, begin: int) -> pa.RecordBatch:
    """The rows from one on. What is said about the whole batch is not true of them."""
    return batch.slice(begin).replace_schema_metadata(None)
