"""Results that carry their events, for places where rows have no numbers: Spark and files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.results.event_rows import EVENTS, EventShape
from cereus.language.compiled import CompiledQuery, EventwiseQuery
from cereus.language.pattern import PatternQuery

if TYPE_CHECKING:
    from cereus.language.together import Running

ROW_OF_COUNT = "end"
"""The column of a count that holds a row number, beside its time."""


@dataclass(frozen=True)
class EventResults:
    """A query whose results hold events in place of row numbers.

    shown   the columns of an event
    listed  all events of a match are in its column `events`
    """

    query: CompiledQuery
    shown: tuple[str, ...]
    listed: bool = True

    def executor(self, schema: pa.Schema) -> Executor:
        if isinstance(self.query, PatternQuery):
            plan = self.query.plan(schema)
            return PatternExecutor(plan, schema, limits=self.query.limits, shape=self.shape)
        return self.query.executor(schema, keep=self.shown if self.listed else ())

    @property
    def shape(self) -> EventShape:
        return EventShape(self.shown, self.listed and not self.query.counts)

    def schema(self, matches: pa.Schema, events: pa.Schema) -> pa.Schema:
        """The columns of the results over `events`; `matches` are the columns that an executor
        gives."""
        names = self._names(matches.names)
        if not isinstance(self.query, EventwiseQuery):
            return pa.schema([matches.field(name) for name in names])
        event = pa.struct([events.field(name) for name in self.shown])
        fields = []
        for name in names:
            field = matches.field(name)
            if name not in self.query.row_columns:
                fields.append(field)
            elif self.listed:
                kind = pa.list_(event) if pa.types.is_list(field.type) else event
                fields.append(pa.field(self.query.row_columns[name], kind))
        return pa.schema(fields)

    def batch(self, matches: pa.RecordBatch, executor: Executor) -> pa.RecordBatch:
        shown = matches.select(self._names(matches.schema.names))
        if not isinstance(self.query, EventwiseQuery):
            return shown
        return with_events(shown, self.query.row_columns, executor if self.listed else None)

    def _names(self, matched: Iterable[str]) -> list[str]:
        if isinstance(self.query, EventwiseQuery):
            return result_order(self.query, matched)
        hidden = {ROW_OF_COUNT} if self.query.counts else set()
        return [name for name in matched if name not in hidden]


@dataclass(frozen=True)
class EventRun:
    """A running query whose results hold events; `schema` is that of the results."""

    results: EventResults
    executor: Executor
    schema: pa.Schema

    @classmethod
    def of(cls, results: EventResults, events: pa.Schema) -> EventRun:
        executor = results.executor(events)
        executor.defer()
        return cls(results, executor, results.schema(executor.schema, events))


@dataclass(frozen=True)
class EventRuns:
    """Several running queries on one stream, whose results hold events."""

    results: Mapping[str, EventResults]
    runs: Sequence[Running]
    schemas: Mapping[str, pa.Schema]
    """The schemas of the results, by the name of the query."""

    @classmethod
    def of(cls, results: Mapping[str, EventResults], events: pa.Schema) -> EventRuns:
        from cereus.language.together import run_together

        by_query = {id(each.query): each for each in results.values()}

        def alone(query: CompiledQuery) -> Executor:
            executor = by_query[id(query)].executor(events)
            executor.defer()
            return executor

        runs = run_together(
            {name: each.query for name, each in results.items()},
            events,
            alone,
            shape=lambda query: by_query[id(query)].shape,
        )
        made = {name: run.schema for run in runs for name in run.names.values()}
        schemas = {name: each.schema(made[name], events) for name, each in results.items()}
        return cls(results, runs, schemas)

    def batch(self, run: Running, name: str, matches: pa.RecordBatch) -> pa.RecordBatch:
        return self.results[name].batch(matches, run.executor)


def result_order(query: EventwiseQuery, names: Iterable[str]) -> list[str]:
    """The columns of a result that are shown, the events of a match last."""
    shown = [name for name in names if name not in query.unshown]
    return sorted(shown, key=lambda name: query.row_columns.get(name) == EVENTS)


def with_events(
    matches: pa.RecordBatch, row_columns: Mapping[str, str], executor: Executor | None
) -> pa.RecordBatch:
    """Results with events in place of row numbers; without an executor, with neither."""
    columns = {}
    for name, column in zip(matches.schema.names, matches.columns, strict=True):
        if name not in row_columns:
            columns[name] = column
        elif executor is not None:
            columns[row_columns[name]] = _events(column, executor)
    return pa.RecordBatch.from_pydict(columns, metadata=matches.schema.metadata)


def _events(rows: pa.Array, executor: Executor) -> pa.Array:
    """The events with these row numbers, each a struct; lists stay lists."""
    listed = pa.types.is_list(rows.type)
    assert executor.events is not None
    order = np.argsort(executor.event_rows)
    places = np.searchsorted(executor.event_rows[order], (rows.flatten() if listed else rows))
    taken = executor.events.take(pa.array(order[places])).combine_chunks().to_struct_array()
    events = taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
    return pa.ListArray.from_arrays(rows.offsets, events) if listed else events
