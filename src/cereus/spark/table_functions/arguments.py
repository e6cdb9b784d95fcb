"""The arguments of a call of `cereus` in SQL: a table, a query, and named ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Row
from pyspark.sql import types as st
from pyspark.sql.udtf import AnalyzeArgument

from cereus.errors import CereusError, DataError, did_you_mean
from cereus.language.registry import default_name, language, options_of
from cereus.query import Query, compile
from cereus.spark.schemas import arrow_schema
from cereus.stream import Stream

DEFAULT_TYPE = "type"
COLUMNS = ("type", "time", "key", "stream", "unit", "where")
NAMES = ("query", "dialect", *COLUMNS, "columns", "events", "params")
USAGE = "cereus(TABLE(events) PARTITION BY k ORDER BY ts, query => 'SELECT …')"
TIMES = (st.TimestampType, st.TimestampNTZType)


@dataclass(frozen=True)
class SqlCall:
    query: Query
    table: st.StructType
    events: bool
    columns: tuple[str, ...] | None


def parsed_call(
    arguments: Sequence[AnalyzeArgument], named: Mapping[str, AnalyzeArgument]
) -> SqlCall:
    """Read the arguments of a call. The table may be at any place; NULL means that an argument is
    missing."""
    table = _table([*arguments, *named.values()])
    values = {name: _value(each, name) for name, each in named.items() if not each.isTable}
    unnamed = [_value(each, "query") for each in arguments if not each.isTable]
    if len(unnamed) > 1 or (unnamed and "query" in values):
        raise CereusError("one query is enough; everything else is given by name", hint=USAGE)
    text = unnamed[0] if unnamed else values.pop("query", None)
    if not isinstance(text, str):
        raise CereusError("which query?", hint=USAGE)
    dialect = values.pop("dialect", default_name())
    _check_names(values, dialect)
    columns = values.pop("columns", None)
    events = values.pop("events", True)
    params = _params(values.pop("params", None))
    if not language(dialect).typed:
        values.setdefault("type", None)
    stream, schema = _stream(table, values), arrow_schema(table)
    query = compile(text, dialect=dialect, stream=stream, schema=schema, params=params, **values)
    return SqlCall(query, table, bool(events), None if columns is None else _names(columns))


def _params(value: Any) -> Mapping[str, Any] | None:
    """A map of values of one type, or a struct of any: `params => named_struct('limit', 5)`."""
    params = value.asDict() if isinstance(value, Row) else value
    if params is not None and not isinstance(params, Mapping):
        raise CereusError(
            "params is a struct or a map", hint="write params => named_struct('limit', 5)"
        )
    return params


def _table(arguments: Sequence[AnalyzeArgument]) -> st.StructType:
    tables = [each.dataType for each in arguments if each.isTable]
    if len(tables) != 1:
        raise CereusError(f"cereus needs one table, and was given {len(tables)}", hint=USAGE)
    assert isinstance(tables[0], st.StructType)
    return tables[0]


def _value(argument: AnalyzeArgument, name: str) -> Any:
    if not argument.isConstantExpression:
        raise CereusError(
            f"the argument {name!r} is not a constant",
            hint="the columns that come out depend on it, so it must be known before any row is",
        )
    return argument.value


def _check_names(values: Mapping[str, Any], dialect: str) -> None:
    language(dialect)  # refuses one that is not known
    known = [*NAMES, *options_of(dialect)]
    for name in values:
        if name not in known:
            raise CereusError(f"cereus has no argument {name!r}", hint=did_you_mean(name, known))


def _stream(table: st.StructType, values: dict[str, Any]) -> Stream:
    """The roles of the columns: as declared, or guessed from their names and types."""
    type_column = values.pop("type", DEFAULT_TYPE)
    if type_column is not None and type_column not in table.names:
        raise DataError(
            f"the table has no column {type_column!r} that says the types of its events",
            hint=did_you_mean(type_column, table.names)
            if type_column != DEFAULT_TYPE
            else "name it: type => 'column', or say type => NULL when every event is an EVENT",
        )
    return Stream(
        type=type_column,
        time=values.pop("time") if "time" in values else _time(table),
        keys=_names(values.pop("key", None) or ()),
        stream=values.pop("stream", None),
        unit=values.pop("unit", None),
        where=values.pop("where", None),
    )


def _time(table: st.StructType) -> str | None:
    """The one column with timestamps; None if there is none."""
    times = [field.name for field in table if isinstance(field.dataType, TIMES)]
    if len(times) > 1:
        raise DataError(
            f"which column is the time of an event: {', '.join(times)}?",
            hint=f"say it: time => '{times[0]}', or time => NULL",
        )
    return times[0] if times else None


def _names(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
