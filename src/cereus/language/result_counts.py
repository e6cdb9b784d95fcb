"""Counts the rows of a result: how many are matches, and how many are something else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.results.counts import counted
from cereus.engine.results.timeout_rows import count_timeouts
from cereus.language.compiled import CompiledQuery

MATCHES = b"cereus.matches"
"""The key of schema metadata that holds the number of matches of a batch, if a match has several
rows. The rows themselves do not show where a match begins."""


@dataclass(frozen=True)
class ResultCounts:
    """The numbers of rows and of matches of a result.

    rows         the number of all rows
    matches      the number of matches; None if it is not known, because a match has several rows
    timeouts     the rows that are partial matches whose window ended (`WITH TIMEOUTS`)
    completions  the rows that report only that a program completes, without output
    counted      whether a row is a count of matches (`COUNT(*)`)
    several      whether a match has several rows
    """

    rows: int = 0
    matches: int | float | None = 0
    timeouts: int = 0
    completions: int = 0
    counted: bool = False
    several: bool = False

    @staticmethod
    def of(batches: Iterable[pa.RecordBatch], query: CompiledQuery) -> ResultCounts:
        """The counts of some result batches of a query."""
        results = list(batches)
        rows = sum(batch.num_rows for batch in results)
        timeouts, completions = count_timeouts(results), _completions(results, query)
        matches: int | float | None = rows - timeouts - completions
        if query.counts:
            matches = counted(results)
        elif query.has_several_rows:
            matches = _known_matches(results)
        return ResultCounts(
            rows, matches, timeouts, completions, query.counts, query.has_several_rows
        )

    def __add__(self, other: ResultCounts) -> ResultCounts:
        known = self.matches is not None and other.matches is not None
        return ResultCounts(
            self.rows + other.rows,
            (self.matches or 0) + (other.matches or 0) if known else None,
            self.timeouts + other.timeouts,
            self.completions + other.completions,
            self.counted or other.counted,
            self.several or other.several,
        )

    @property
    def called(self) -> str:
        """The name of the rows, for titles."""
        return "matches" if self.rows == self.matches and not self.counted else "rows"

    def __str__(self) -> str:
        """`15 matches`; `15 matches counted in 5 rows`; `3 matches in 12 rows`, or `12 rows` if the
        number of matches is not known; `15 matches and 2 time-outs`; `15 matches and 1
        completion`."""
        if self.matches is None:
            return _some(self.rows, "row", "rows")
        text = _some(self.matches, "match", "matches")
        if self.several and self.rows:
            return f"{text} in {_some(self.rows, 'row', 'rows')}"
        if self.timeouts:
            text += f" and {_some(self.timeouts, 'time-out', 'time-outs')}"
        if self.completions:
            text += f" and {_some(self.completions, 'completion', 'completions')}"
        return f"{text} counted in {_some(self.rows, 'row', 'rows')}" if self.counted else text


def _some(count: int | float, one: str, many: str) -> str:
    number = f"{count:.6g}" if isinstance(count, float) else f"{count:,}"
    return f"{number} {one if count == 1 else many}"


def _completions(batches: Iterable[pa.RecordBatch], query: CompiledQuery) -> int:
    if not query.notifies:
        return 0
    silent = (pc.equal(pc.list_value_length(batch.column("outputs")), 0) for batch in batches)
    return sum(int(pc.sum(each).as_py() or 0) for each in silent)


def _known_matches(batches: Iterable[pa.RecordBatch]) -> int | None:
    """The number of matches that the metadata of the batches gives, if all of them have it."""
    known = [(batch.schema.metadata or {}).get(MATCHES) for batch in batches if batch.num_rows]
    return None if None in known else sum(int(each) for each in known if each is not None)


def some_rows(batch: pa.RecordBatch, most: int) -> pa.RecordBatch:
    """The first rows of a batch, without the number of matches, which is not known for a part."""
    kept = {k: value for k, value in (batch.schema.metadata or {}).items() if k != MATCHES}
    return batch.slice(0, most).replace_schema_metadata(kept or None)


def of_matches(batch: pa.RecordBatch, count: int) -> pa.RecordBatch:
    """The batch, with the number of its matches in the metadata."""
    kept = batch.schema.metadata or {}
    return batch.replace_schema_metadata({**kept, MATCHES: str(count)})
