"""Queries in Spark SQL, as table functions.

    SELECT * FROM cereus(TABLE(events) PARTITION BY k ORDER BY ts, query => '…')

`cereus` takes any query. Spark tells it the columns of the table, and it answers with those of the
result; Spark gives such functions rows one by one. A function of one query for one kind of table
gets Arrow batches instead, and is much faster.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st
from pyspark.sql.conversion import ArrowTableToRowsConversion, LocalDataToArrowConversion
from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult, SelectedColumn

from cereus.errors import CereusError
from cereus.query import Query
from cereus.spark.quoting import backticked
from cereus.spark.raised import quiet_loggers
from cereus.spark.table_functions.arguments import SqlCall, parsed_call
from cereus.spark.table_functions.table_function import FunctionRun, TableFunction, table_function

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "cereus"
ROWS_AT_ONCE = 1 << 13
"""The number of rows that are collected before the engine reads them."""


def register(
    spark: SparkSession,
    *,
    schema: st.StructType | DataFrame | str | None = None,
    **queries: Query,
) -> None:
    """Make `cereus` a table function of this session, and so every named query.

    `schema` says what the tables of the named queries look like: a schema, a DataFrame or the
    name of a table.
    """
    quiet_loggers()
    spark.udtf.register(NAME, F.udtf(CereusFunction, useArrow=False))  # type: ignore[arg-type]
    for name, query in queries.items():
        if not isinstance(query, Query):
            raise CereusError(
                f"{name}: a compiled query is needed, not a {type(query).__name__}",
                hint=f'register(spark, {name}=cereus.compile("…"), schema="events")',
            )
        function = table_function(query, _schema(spark, schema, name))
        made = F.arrow_udtf(_named(name, function), returnType=function.schema)
        spark.udtf.register(name, made)  # type: ignore[arg-type]


def _schema(
    spark: SparkSession, schema: st.StructType | DataFrame | str | None, name: str
) -> st.StructType:
    if schema is None:
        raise CereusError(
            f"what are the columns of the tables that {name} is called with?",
            hint=f'register(spark, {name}=query, schema="events"), or a DataFrame or its schema',
        )
    if isinstance(schema, st.StructType):
        return schema
    table = spark.table(schema) if isinstance(schema, str) else schema
    return table.schema


# ---------------------------------------------------------------- any query


@dataclass
class CallAnalysis(AnalyzeResult):
    """The analysis of a call for Spark, and what the workers run."""

    run: FunctionRun | None = None


class CereusFunction:
    """`cereus(TABLE(…) …, '<query>', …)`"""

    @staticmethod
    def analyze(*arguments: AnalyzeArgument, **named: AnalyzeArgument) -> AnalyzeResult:
        try:
            return _analysis(parsed_call(arguments, named))
        except CereusError as error:  # Spark shows the traceback, which says nothing useful here
            raise error.with_traceback(None) from None

    def __init__(self, analysis: CallAnalysis) -> None:
        assert analysis.run is not None
        self._run, self._checked = analysis.run, False
        self._rows: list[st.Row] = []
        self._run.begin()

    def eval(self, *arguments: Any, **named: Any) -> Iterator[Any] | None:
        if not self._checked:
            check_arranged(sys._getframe(1).f_locals.get("self"))
            self._checked = True
        every = (*arguments, *named.values())
        self._rows.append(next(each for each in every if isinstance(each, st.Row)))
        return self._flushed() if len(self._rows) >= ROWS_AT_ONCE else None

    def terminate(self) -> Iterator[Any]:
        if self._rows:
            yield from self._flushed()
        yield from self._as_rows(self._run.finish())

    def _flushed(self) -> Iterator[Any]:
        schema = self._run.function.read
        table = LocalDataToArrowConversion.convert(self._rows, schema, False)
        self._rows = []
        for batch in table.combine_chunks().to_batches():
            yield from self._as_rows(self._run.push(batch))

    def _as_rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
        schema = self._run.function.schema
        for batch in batches:
            table = pa.Table.from_batches([batch])
            yield from ArrowTableToRowsConversion.convert(table, schema)


def _analysis(call: SqlCall) -> CallAnalysis:
    function = table_function(call.query, call.table, events=call.events, columns=call.columns)
    chosen = [SelectedColumn(backticked(name)) for name in function.columns]
    return CallAnalysis(schema=function.schema, select=chosen, run=FunctionRun(function))


def check_arranged(caller: object) -> None:
    """Refuse a call without PARTITION BY or WITH SINGLE PARTITION: Spark would distribute the rows
    to tasks as they lie, and matches would be missed. It does not tell a function so; but its
    caller knows the partitions, if there are any."""
    task = TaskContext.get()
    if hasattr(caller, "_partition_child_indexes") or task is None or task.partitionId() == 0:
        return
    raise CereusError(
        "the rows of the table are spread over several tasks: how do they belong together?",
        hint="write TABLE(…) PARTITION BY key ORDER BY time, "
        "or TABLE(…) WITH SINGLE PARTITION ORDER BY time",
    )


# ---------------------------------------------------------------- one query


def _named(name: str, function: TableFunction) -> type:
    """The class of a function of Arrow batches; it is sent to the workers with its query."""

    class NamedFunction:
        run = FunctionRun(function)

        def __init__(self) -> None:
            self.run.begin()
            self.checked = False

        def eval(self, table: pa.RecordBatch) -> Iterator[pa.Table]:
            if not self.checked:
                check_arranged(sys._getframe(1).f_locals.get("self"))
                self.checked = True
            return as_tables(self.run.push(arriving(table, self.run.function)))

        def terminate(self) -> Iterator[pa.Table]:
            return as_tables(self.run.finish())

    NamedFunction.__name__ = NamedFunction.__qualname__ = name
    return NamedFunction


def as_tables(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    for batch in batches:
        yield pa.Table.from_batches([batch])


def arriving(batch: pa.RecordBatch, function: TableFunction) -> pa.RecordBatch:
    """The columns of a batch that the query reads; they are those it was registered for."""
    missing = [name for name in function.columns if name not in batch.schema.names]
    if missing:
        raise CereusError(
            f"the table has no column {missing[0]!r}",
            hint="the function was registered for tables with the columns "
            + ", ".join(function.table.names),
        )
    return batch.select(list(function.columns))
