"""Runs queries with their own executors on DataFrames: filter in Catalyst, arrange by key and time,
run.

Results in one process have row numbers; here they have the events themselves, since the rows of a
DataFrame have no numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as st

from cereus.engine.executor import Executor
from cereus.errors import CereusError
from cereus.language.compiled import EventwiseQuery
from cereus.language.event_results import result_order, with_events
from cereus.language.result_counts import ResultCounts
from cereus.spark.batch.arranging import Arrangement, kept
from cereus.spark.batch.naming import named, warn_of_one_task
from cereus.spark.quoting import map_in_arrow
from cereus.spark.relevance import passing, types_of, where
from cereus.spark.schemas import (
    Path,
    arrow_schema,
    check_arrow,
    check_once,
    chosen_columns,
    eventwise_schema,
    orderable,
)
from cereus.spark.slices import Split
from cereus.spark.worker import results

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class EventwiseTask:
    """A query with all that a worker needs to run it; `shown` are the columns of an event."""

    query: EventwiseQuery
    shown: tuple[str, ...]
    sorted_by: tuple[tuple[str, ...], ...]

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return results(self, batches, self.sorted_by)

    def executor(self, schema: pa.Schema) -> Executor:
        return self.query.executor(schema, keep=self.shown)

    def result(self, matches: pa.RecordBatch, executor: Executor) -> pa.RecordBatch:
        shown = matches.select(result_order(self.query, matches.schema.names))
        return with_events(shown, self.query.row_columns, executor if self.shown else None)

    def counts(self, results: pa.RecordBatch) -> ResultCounts:
        return ResultCounts.of([results], self.query)


# ---------------------------------------------------------------- on the driver


def eventwise(
    df: DataFrame,
    query: EventwiseQuery,
    *,
    events: bool,
    columns: Iterable[str] | None,
    tie: str | Iterable[str],
    order: str | None,
    parallelism: int | None,
    split: Split,
    push_down: bool,
) -> Eventwise:
    """Prepares `match` for a query with a special executor."""
    if split:
        raise CereusError(f"queries in {query.dialect} cannot be cut by time", hint="use keys")
    ties, shown = chosen_columns(df, tie, columns, order)
    known = arrow_schema(df.schema)
    query.check(known)
    query = query.spread(known)
    by = order_of(query, order)
    carried = shown if events else ()
    made = Eventwise(df, query, known, carried, by, ties, parallelism, push_down)
    check_arrow(made.shown, df.schema)
    message = "the result would have two columns {}"
    check_once(made.schema.names, message, "rename the key column")
    return made


@dataclass(frozen=True)
class Eventwise:
    """A query over a DataFrame, and how it is going to be run; `known` is its Arrow schema."""

    df: DataFrame
    query: EventwiseQuery
    known: pa.Schema
    shown: tuple[str, ...]
    order: Path
    ties: tuple[str, ...]
    parallelism: int | None
    push_down: bool

    cut = cut_by = None
    """These queries are not cut by time."""
    by_time = False
    """The rows of a task are sorted by key: these queries forget a key when the next one begins."""

    @property
    def groups(self) -> tuple[Path, ...]:
        """The columns that decide which task gets an event; () for one task."""
        return self.query.keys

    @property
    def needed(self) -> list[str]:
        """The columns that the query and the order read."""
        read = {path[0] for path in self.query.columns(self.known)} | {*self.order, *self.ties}
        return [name for name in self.df.columns if name in read]

    @property
    def travelling(self) -> list[str]:
        return [name for name in self.df.columns if name in {*self.needed, *self.shown}]

    def filters(self) -> list[Column]:
        """Filters that drop events that cannot matter, before anything moves."""
        there = [where(self.query.stream, self.df.schema)]
        if self.push_down and not self.query.counts_events:
            tests = self.query.tests(self.known)
            there.append(passing(tests, self.query.stream, self.df.schema))
        return [each for each in there if each is not None]

    def types(self) -> set[str] | None:
        """The types of events that can matter; None if it may be all."""
        anything = not self.push_down or self.query.counts_events
        return None if anything else types_of(self.query.tests(self.known), self.query.stream)

    def order_by(self) -> list[Path]:
        """Key, time, and then values, so that the order of equal times is always the same."""
        keys = [(path[0],) for path in self.groups]
        return list(dict.fromkeys((*keys, *self.order_in_key())))

    def order_in_key(self) -> list[Path]:
        names = [*self.order, *self.ties, *self.needed, *self.travelling]
        return [(n,) for n in dict.fromkeys(names) if orderable(self.df.schema[n].dataType)]

    @cached_property
    def arrangement(self) -> Arrangement:
        """The events that matter, together by key, in the order of time."""
        events = kept(self.df, self.filters(), self.travelling)
        order = tuple(self.order_in_key())
        return Arrangement(events, self.groups, order, tasks=self.parallelism)

    @property
    def schema(self) -> st.StructType:
        return eventwise_schema(self.query, self.df.schema, self.shown)

    def task(self, sorted_by: tuple[Path, ...] | None = None) -> EventwiseTask:
        """The task of a worker, over rows that are sorted by these columns first (the keys)."""
        return EventwiseTask(
            self.query, self.shown, self.groups if sorted_by is None else sorted_by
        )

    @property
    def one_task(self) -> str | None:
        """Why all events go to one task; None if they do not."""
        return None if self.groups else f"no keys, and {self.query.dialect} is not cut by time"

    def warn(self) -> None:
        warn_of_one_task(self.one_task, self.query.text)

    def run(self) -> DataFrame:
        self.warn()
        named_run = named(self.task().run, self.query.text, self.one_task)
        return map_in_arrow(self.arrangement.rows(), named_run, self.schema)


def order_of(query: EventwiseQuery, order: str | None) -> Path:
    name = query.stream.time or order
    if name is None:
        raise CereusError(
            "the rows of a DataFrame have no order: which column says it?",
            hint='say Stream(time="…"), or match(…, order="…")',
        )
    return (name,)
