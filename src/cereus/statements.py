"""Runs SQL statements that contain clauses of Cereus: the clauses run here, the rest in DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError, DataError, QueryError
from cereus.language.protocol import Params
from cereus.language.registry import embedding_languages
from cereus.limits import Limits
from cereus.query import compile
from cereus.sources import to_table
from cereus.stream import Stream

MISSING_TABLE = re.compile(r"Table with name (\w+) does not exist!?")


def sql(
    statement: str,
    *,
    limits: Limits | None = None,
    params: Params | None = None,
    stream: Stream | None = None,
    connection: Any = None,
    **tables: Any,
) -> pa.Table:
    """Run a statement such as `SELECT … FROM trades MATCH_RECOGNIZE ( … ) AS m WHERE …`.

    tables      what the statement reads, by name: Arrow, pandas, polars, paths
    connection  a DuckDB connection with more tables (its own, otherwise a new one)
    limits, params, stream
                as `compile` takes them, for the clauses
    """
    options = {"limits": limits, "params": params, "stream": stream}
    return run_statement(statement, tables, connection, options)


def run_statement(
    statement: str, tables: Mapping[str, Any], connection: Any, options: dict[str, Any]
) -> pa.Table:
    """Run a statement over tables of any names; `options` are those of `compile`."""
    opened = connection is None
    duck = _duckdb().connect() if opened else connection
    run = _Statement(statement, duck, options)
    try:
        for name, table in tables.items():
            rows = to_table(table)
            _check_names(name, rows.column_names)
            duck.register(name, rows)
            run.registered.append(name)
        rewritten = statement
        for language in embedding_languages():
            run.dialect = language.name
            rewritten = language.rewritten(rewritten, run.replaced)
        return run.table(rewritten)
    finally:
        if opened:
            duck.close()
        else:
            for name in run.registered:
                duck.unregister(name)


def _check_names(table: str, columns: list[str]) -> None:
    """Refuse a table that DuckDB cannot take: one without columns, or one with two column names
    that differ only in case."""
    if not columns:
        raise DataError(f"the table {table} has no columns", hint="give a table that has some")
    seen: dict[str, str] = {}
    for name in columns:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise DataError(
                f"the columns {other!r} and {name!r} of {table} differ only in case, which names "
                "in SQL do not",
                hint="rename one of them",
            )


def with_durations(table: pa.Table) -> pa.Table:
    """The table with lengths of time as durations. DuckDB has intervals of months, days and
    nanoseconds for them, which neither Parquet nor CSV nor pandas can hold. A column in which some
    interval has months stays as it is: months have no fixed length."""
    for at, field in enumerate(table.schema):
        if field.type == pa.month_day_nano_interval():
            durations = _durations(table.column(at))
            if durations is not None:
                table = table.set_column(at, field.with_type(durations.type), durations)
    return table


def _durations(column: pa.ChunkedArray) -> pa.Array | None:
    intervals = column.to_pylist()
    if any(each is not None and each.months for each in intervals):
        return None
    try:
        lengths = [
            each and timedelta(days=each.days, microseconds=each.nanoseconds // 1000)
            for each in intervals
        ]
        return pa.array(lengths, pa.duration("us"))
    except (OverflowError, pa.ArrowInvalid):  # more than 292,000 years
        return None


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise CereusError(
            "cereus.sql runs the statement around a clause in DuckDB, which is not installed",
            hint='pip install duckdb, or run the clause alone: cereus.compile("MATCH_RECOGNIZE …", '
            'dialect="match_recognize").run(table)',
        ) from None
    return duckdb


class _Statement:
    """One statement at work: the results of its clauses become tables of DuckDB."""

    def __init__(self, statement: str, duck: Any, options: dict[str, Any]) -> None:
        self.statement = statement
        self.duck, self.dialect, self.options = duck, "", options
        self.registered: list[str] = []

    def replaced(self, source: str, clause: str) -> tuple[str, int]:
        rows = self.table(source)
        with self._shown_in_statement(clause):
            query = compile(clause, dialect=self.dialect, schema=rows.schema, **self.options)
            result = query.run(rows).table
        name = f"__cereus_{len(self.registered)}"
        self.duck.register(name, result)
        self.registered.append(name)
        return name, result.num_columns

    @contextmanager
    def _shown_in_statement(self, clause: str) -> Iterator[None]:
        """Errors in the clause show their line in the whole statement."""
        try:
            yield
        except QueryError as error:
            before = self.statement.find(clause)
            if error.text != clause or error.span is None or before < 0:
                raise
            span = (before + error.span[0], before + error.span[1])
            shown = type(error)(error.reason, text=self.statement, span=span, hint=error.hint)
            raise shown from error.__cause__

    def table(self, statement: str) -> pa.Table:
        try:
            relation = self.duck.sql(statement)
            return pa.table({}) if relation is None else with_durations(relation.to_arrow_table())
        except CereusError:
            raise
        except Exception as error:  # DuckDB has many kinds of errors
            raise _refused(error) from None


def _refused(error: Exception) -> CereusError:
    """The error of DuckDB; of a table that is not there, without the tables of DuckDB itself."""
    text, hint = str(error), "what stands around the clause is SQL of DuckDB"
    missing = MISSING_TABLE.search(text)
    if missing is not None:
        text = text[: missing.end()]
        name = missing[1]
        hint = f"name its events {name}=FILE on the command line, or cereus.sql(…, {name}=table)"
    return CereusError(f"DuckDB refuses the statement: {text}", hint=hint)
