"""`SELECT COUNT(*)` where the kernel has to list matches, because it chooses among them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cereus.engine.ingest.substreams import Ints
from cereus.engine.memory import NO_CODES, NO_INTS
from cereus.engine.results.counts import CountRows
from cereus.engine.results.match_chunks import Floats, MatchChunk
from cereus.expr.paths import column_at
from cereus.plan.plan import Total

JOINED = {"sum": np.add, "min": np.minimum, "max": np.maximum}
NOTHING = {"sum": 0.0, "min": np.inf, "max": -np.inf}
"""The functions that combine values to a total, with their initial values."""


class ListedCountRows(CountRows):
    """The rows of `CountRows`, from matches that are listed and added up."""

    @property
    def may_repeat(self) -> bool:
        """True: a match that is found in several ways counts once."""
        return self.runner.table.ambiguous

    def _distinct(self, chunks: Iterator[MatchChunk]) -> Iterator[MatchChunk]:
        """Yield a row for each event where matches end. The last row is kept back, as more matches
        of its event may come."""
        last: MatchChunk | None = None
        for chunk in super()._distinct(chunks):
            rows = self._added_up(chunk)
            if last is not None:
                rows = self._joined(last, rows)
            last = _rows(rows, slice(len(rows) - 1, None))
            if len(rows) > 1:
                yield _rows(rows, slice(len(rows) - 1))
        if last is not None:
            yield last

    def _added_up(self, chunk: MatchChunk) -> MatchChunk:
        """The matches added up to one row for each event where they end."""
        begins = np.flatnonzero(np.diff(chunk.at, prepend=-1))
        counts = np.diff(np.append(begins, len(chunk))).astype(np.float64)
        event = np.repeat(np.arange(len(begins)), counts.astype(np.int64))
        of_cells = np.repeat(event, np.diff(chunk.offsets))
        totals = np.zeros((len(begins), len(self.plan.totals)))
        for column, total in enumerate(self.plan.totals):
            totals[:, column] = self._totalled(chunk, total, of_cells, len(begins))
        return _counted(chunk.at[begins], counts, totals)

    def _totalled(self, chunk: MatchChunk, total: Total, event: Ints, rows: int) -> Floats:
        """A total over the cells of a variable, for every event where matches end."""
        read = column_at(self.payload, total.attribute).cast(pa.float64(), safe=False)
        values = read.fill_null(np.nan).to_numpy()[chunk.cells - self.history.first]
        known = self._in_variable(chunk, total.variable) & ~np.isnan(values)
        made = np.full(rows, NOTHING[total.kind])
        JOINED[total.kind].at(made, event[known], 1.0 if total.ones else values[known])
        return made

    def _joined(self, last: MatchChunk, rows: MatchChunk) -> MatchChunk:
        """A row and the rows after it; the first of those may be of the same event and is added to
        it."""
        counts, totals = np.array(rows.counts), np.array(rows.totals)
        if last.at[0] != rows.at[0]:
            return _counted(
                np.append(last.at, rows.at),
                np.append(last.counts, counts),
                np.concatenate([last.totals, totals]),
            )
        counts[0] += last.counts[0]
        for column, total in enumerate(self.plan.totals):
            totals[0, column] = JOINED[total.kind](totals[0, column], last.totals[0, column])
        return _counted(rows.at, counts, totals)


def _counted(at: Ints, counts: Floats, totals: Floats) -> MatchChunk:
    offsets = np.zeros(len(at) + 1, np.int32)
    return MatchChunk(NO_INTS, NO_CODES, offsets, at, at, at, counts, totals)


def _rows(chunk: MatchChunk, rows: slice) -> MatchChunk:
    return _counted(chunk.at[rows], chunk.counts[rows], chunk.totals[rows])
