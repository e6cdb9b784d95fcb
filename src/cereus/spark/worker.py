"""The part that runs inside Spark's Python workers: the sorted rows of one partition → its
matches."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.ingest.clock import read
from cereus.engine.results.event_rows import EventShape
from cereus.language.pattern import PatternQuery
from cereus.language.result_counts import ResultCounts

CLEAR_AT = 1 << 16
"""After this many rows the state of finished keys is dropped, at the next change of the key."""
ROWS_AT_ONCE = 1 << 16
"""Spark's batches are joined to at least this many rows: each turn of the engine has a fixed
cost."""


@dataclass(frozen=True)
class Task:
    """A query with all that a worker needs to run it.

    sorted_by  the key columns that the rows are sorted by before time; () if by time alone
    names      the columns that the matches have

    The plan is made in the worker, for the schema that really arrives there.
    """

    query: PatternQuery[Any]
    shape: EventShape
    sorted_by: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of one partition.

        A key is over when the next one begins. So the buffer holds the window of the key at hand,
        and what came since the last clearing.
        """
        return results(self, batches, self.sorted_by)

    def executor(self, schema: pa.Schema) -> Executor:
        plan = self.query.plan(schema)
        made = PatternExecutor(plan, schema, limits=self.query.limits, shape=self.shape)
        if not self.sorted_by and plan.keys:  # in the order of time over all keys
            made.forget_idle()
        return made

    def result(self, matches: pa.RecordBatch, executor: Executor) -> pa.RecordBatch:
        return matches.select(list(self.names))

    def counts(self, results: pa.RecordBatch) -> ResultCounts:
        return ResultCounts.of([results], self.query)


class Matching(Protocol):
    """The work of a worker: an executor for the schema that arrives, and its results as shown."""

    def executor(self, schema: pa.Schema) -> Executor: ...

    def result(self, matches: pa.RecordBatch, executor: Executor) -> pa.RecordBatch: ...

    def counts(self, results: pa.RecordBatch) -> ResultCounts:
        """What some results of the executor are."""


class PartitionRun:
    """A running query on the rows of one partition."""

    def __init__(self, matching: Matching, schema: pa.Schema) -> None:
        self.matching = matching
        self.executor = matching.executor(schema)
        self.executor.defer()

    def push(self, batch: pa.RecordBatch, keys_are_over: bool) -> Iterator[pa.RecordBatch]:
        """The results that the end of all keys so far completes (with `keys_are_over`), then those
        that a batch completes."""
        if keys_are_over:
            yield from self.finish()
            self.executor.forget()
        for matches in self.executor.push(batch):
            yield self.matching.result(matches, self.executor)

    def finish(self) -> Iterator[pa.RecordBatch]:
        for matches in self.executor.finish():
            yield self.matching.result(matches, self.executor)


def results(
    matching: Matching,
    batches: Iterator[pa.RecordBatch],
    sorted_by: tuple[tuple[str, ...], ...],
) -> Iterator[pa.RecordBatch]:
    """The matches in rows that are sorted by key."""
    run: PartitionRun | None = None
    for batch, keys_are_over in stretches(joined(batches), sorted_by):
        run = run or PartitionRun(matching, batch.schema)
        yield from run.push(batch, keys_are_over)
    if run is not None:
        yield from run.finish()


def joined(
    batches: Iterator[pa.RecordBatch], rows_at_once: int | None = None
) -> Iterator[pa.RecordBatch]:
    """The same rows in fewer batches, of ROWS_AT_ONCE or more."""
    rows_at_once = rows_at_once or ROWS_AT_ONCE
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= rows_at_once:
            yield pa.concat_batches(waiting)
            waiting = []
    if any(each.num_rows for each in waiting):
        yield pa.concat_batches(waiting)


def stretches(
    batches: Iterator[pa.RecordBatch], keys: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[pa.RecordBatch, bool]]:
    """The same rows. Now and then a batch is cut where the key changes, and the second part is
    marked: all keys before it are over."""
    since = 0
    for batch in batches:
        change = first_change(batch, keys) if keys and since >= CLEAR_AT else None
        if change is None:
            yield batch, False
            since += batch.num_rows
        else:
            yield batch.slice(0, change), False
            yield batch.slice(change), True
            since = batch.num_rows - change


def first_change(batch: pa.RecordBatch, keys: tuple[tuple[str, ...], ...]) -> int | None:
    """The first row whose key is not that of the row before it, by binary search, since rows are
    sorted by key."""
    columns = values_of(batch, keys)
    rows = range(batch.num_rows)
    row = bisect_left(rows, True, key=lambda row: differ(columns, 0, row))
    return row if row < len(rows) else None


def values_of(batch: pa.RecordBatch, paths: tuple[tuple[str, ...], ...]) -> list[pa.Array]:
    """The columns that rows are compared by; -0.0 and 0.0 are one value."""
    columns = [read(batch, path, "the column") for path in paths]
    return [pc.add(c, 0.0) if pa.types.is_floating(c.type) else c for c in columns]


def differ(columns: list[pa.Array], one: int, other: int) -> bool:
    """Whether two rows have different values; NULL is a value, and so is NaN."""
    pairs = (column.take(pa.array([one, other])) for column in columns)
    return any(len(p.dictionary_encode(null_encoding="encode").dictionary) > 1 for p in pairs)
