"""The matches of a query: how many, and which events they end at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.interrupts import sharing
from cereus.engine.match.counting_runner import AmbiguousCount
from cereus.errors import LimitError
from cereus.language.anatomy import Step
from cereus.language.compiled import CompiledQuery
from cereus.why.running.events import EventTable, Rows
from cereus.why.running.runs import Centres, Run
from cereus.why.running.tested import Mask

Result = TypeVar("Result")
MOST_LISTED = 500_000
"""The most partial matches that are listed where they cannot be counted."""
SHARES = 4
"""A query may use one of this many parts of the work that is left, so that some is left for the
others."""


@dataclass(frozen=True)
class Tally:
    """The matches of a query: how many, and which events they end at.

    exact    there are not more
    until    the place before which all that can matter was read; None for the end of the stream
    stopped  it would have taken too many steps: there may be more, and at other events
    """

    total: int | float
    ends: Mask
    exact: bool = True
    until: int | None = None
    stopped: bool = False

    @property
    def read(self) -> int:
        """How many events of the stream it covers."""
        if self.stopped:
            return 0
        return len(self.ends) if self.until is None else self.until


@dataclass
class Tallies:
    """Counts the matches of queries over some events; without listing them where that is
    possible."""

    events: EventTable
    _marked: dict[tuple[int, int | None], list[tuple[CompiledQuery, pa.RecordBatch]]] = field(
        default_factory=dict
    )

    def of(
        self,
        query: CompiledQuery,
        step: Step | None = None,
        *,
        centres: Centres | None = None,
        most: int | None = None,
    ) -> Tally:
        """The matches of a query that end at a step; `centres` and `most` as for a `Run`."""
        with sharing(SHARES):
            if step is not None and step.mark is not None:
                return self._at_mark(query, step.mark, most)
            column = None if step is None else step.column
            counting = query.counting(self.events.schema) if column is None else None
            if counting is not None:
                with suppress(AmbiguousCount):
                    return _counted(Run.of(counting, self.events, centres=centres, most=most))
            run = Run.of(query.ending(column), self.events, centres=centres, most=most)
            taken = run.taken(column)
            return _listed(run, column) if taken is None else _taken(run, taken)

    def _at_mark(self, query: CompiledQuery, mark: str, most: int | None) -> Tally:
        """The matches that end at a mark. The query is run once for all of its marks."""
        key = (id(query), most)
        run = Run.of(query, self.events, most=most)
        if key not in self._marked:
            self._marked[key] = [(query, batch) for batch in run.results()]
        marked = [query.marked_rows(batch, mark).to_numpy() for _, batch in self._marked[key]]
        ends = run.mask(marked)
        return Tally(int(np.count_nonzero(ends)), ends, until=run.until)


class _Results(Generic[Result]):
    """The results of a run until it has taken too many steps."""

    def __init__(self, run: Run, results: Iterator[Result]) -> None:
        self.run, self.results, self.stopped = run, results, False

    def __iter__(self) -> Iterator[Result]:
        try:
            yield from self.results
        except LimitError:
            self.stopped = True

    def tally(self, total: float, ends: list[Rows], *, all_listed: bool = True) -> Tally:
        """The results as a tally."""
        known = int(total) if total < 2**53 else total
        exact = all_listed and not self.stopped
        return Tally(known, self.run.mask(ends), exact, self.run.until, self.stopped)


def _counted(run: Run) -> Tally:
    ends, total, results = list[Rows](), 0.0, _Results(run, run.results())
    for batch in results:
        ends.append(batch.column("end").to_numpy())
        total += float(pc.sum(batch.column("count")).as_py() or 0)
    return results.tally(total, ends)


def _listed(run: Run, column: str | None) -> Tally:
    ends, total, results = list[Rows](), 0, _Results(run, run.results())
    for batch in results:
        rows = run.query.rows_of(batch)
        total += int(pc.sum(pc.greater(pc.list_value_length(rows), 0)).as_py() or 0)
        ends.append(_last_rows(rows) if column is None else _all_rows(batch.column(column)))
        if total >= MOST_LISTED:
            return results.tally(total, ends, all_listed=False)
    return results.tally(total, ends)


def _taken(run: Run, taken: Iterator[tuple[int, Rows]]) -> Tally:
    """The tally of matches that are not results."""
    ends, total, results = list[Rows](), 0, _Results(run, taken)
    for count, rows in results:
        if total >= MOST_LISTED:
            return results.tally(total, ends, all_listed=False)
        total += count
        ends.append(rows)
    return results.tally(total, ends)


def _all_rows(lists: pa.Array) -> Rows:
    rows: Rows = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    return rows


def _last_rows(lists: pa.Array) -> Rows:
    """The last row of every list that has one."""
    rows, of = _all_rows(lists), lists.value_parent_indices().to_numpy()
    if not len(rows):
        return rows
    begins = np.flatnonzero(np.diff(of, prepend=-1))
    last: Rows = np.maximum.reduceat(rows, begins)
    return last
