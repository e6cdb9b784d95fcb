"""A query as a function of a table: its columns are known before any row, and its rows come in
pieces that Spark cuts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import types as st

from cereus.engine.executor import Executor
from cereus.engine.results.event_rows import EventShape
from cereus.errors import CereusError, DataError, did_you_mean
from cereus.language.compiled import EventwiseQuery
from cereus.language.pattern import PatternQuery
from cereus.query import Query
from cereus.spark.batch.eventwise import EventwiseTask
from cereus.spark.schemas import (
    arrow_schema,
    check_arrow,
    check_once,
    eventwise_schema,
    pattern_schema,
)
from cereus.spark.worker import Matching, Task


@dataclass(frozen=True)
class TableFunction:
    """A query over tables with the columns `table`, of which it reads `columns`; `schema` is
    what comes out."""

    matching: Matching
    table: st.StructType
    columns: tuple[str, ...]
    schema: st.StructType

    @property
    def read(self) -> st.StructType:
        """The part of the table that the query reads or shows."""
        return st.StructType([self.table[name] for name in self.columns])


def table_function(
    query: Query,
    table: st.StructType,
    *,
    events: bool = True,
    columns: Iterable[str] | None = None,
) -> TableFunction:
    """A query as a function for tables with these columns; `events` and `columns` are as in
    `match`."""
    check_once(table.names, "the table has two columns {}", "rename or drop one of them")
    shown = _shown(table, columns)
    known = arrow_schema(table)
    compiled = query.compiled
    compiled.check(known)
    matching: Matching
    if isinstance(compiled, EventwiseQuery):
        shown = shown if events else ()
        matching = EventwiseTask(compiled, shown, ())
        schema = eventwise_schema(compiled, table, shown)
        payload = shown
    elif isinstance(compiled, PatternQuery):
        plan = compiled.plan(known)
        shape = EventShape(shown, events and not plan.query.count)
        schema = pattern_schema(plan, table, shown, listed=shape.listed)
        names = tuple(schema.names)
        matching = Task(compiled, shape, (), names)
        payload = shape.payload(plan.query)
    else:
        raise CereusError(f"queries in {query.dialect} are no table functions")
    hint = "rename the variable or the column; events => false leaves the column 'events' out"
    check_once(schema.names, "the matches would have two columns {}", hint)
    needed = {path[0] for path in compiled.columns(known)}.union(payload)
    read = tuple(name for name in table.names if name in needed) or (table.names[0],)
    check_arrow(read, table)
    return TableFunction(matching, table, read, schema)


def _shown(table: st.StructType, columns: Iterable[str] | None) -> tuple[str, ...]:
    shown = tuple(table.names if columns is None else columns)
    if not shown:
        raise CereusError("no column of an event would be shown", hint="use events => false")
    for name in shown:
        if name not in table.names:
            hint = did_you_mean(name, table.names)
            raise DataError(f"the table has no column {name!r}", hint=hint)
    return shown


class FunctionRun:
    """A running table function in one task. Spark makes an instance of its class for every
    partition of the table, one after the other; they share one executor, which forgets."""

    def __init__(self, function: TableFunction) -> None:
        self.function = function
        self.executor: Executor | None = None

    def begin(self) -> None:
        """Begin another partition of the table."""
        if self.executor is not None:
            self.executor.forget()

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if self.executor is None:
            self.executor = self.function.matching.executor(batch.schema)
        return self._shown(self.executor.push(batch))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """End the partition of the table."""
        return iter(()) if self.executor is None else self._shown(self.executor.finish())

    def _shown(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        assert self.executor is not None
        for batch in batches:
            yield self.function.matching.result(batch, self.executor)

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "executor": None}
