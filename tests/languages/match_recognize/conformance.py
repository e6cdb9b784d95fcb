"""The public cases of MATCH_RECOGNIZE, where they are at hand, and how each is run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from cereus.languages.match_recognize.statement import Embedded, check_alias, rewritten

ROOT = Path(__file__).resolve().parents[3]
PLACES = (
    ROOT.parent / "shared" / "conformance" / "match_recognize.jsonl",
    ROOT.parent.parent / "shared" / "conformance" / "match_recognize.jsonl",
)
TYPES: tuple[tuple[str, pa.DataType], ...] = (
    (r".*(?:timestamp|proctime|event time)", pa.timestamp("us")),
    (r"date", pa.date32()),
    (r"bigint|int64|long", pa.int64()),
    (r"int", pa.int32()),
    (r"double|real|float", pa.float64()),
    (r"varchar|string|char|text", pa.string()),
    (r"bool", pa.bool_()),
    (r"array\(", pa.list_(pa.int32())),
)

TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z?)?")
STANDARD = re.compile(r"standard SQL gives (\[.*\])")

Run = Callable[[str, pa.Table], pa.Table]
"""A clause over a table."""


@cache
def cases() -> list[dict[str, Any]]:
    path = next((path for path in PLACES if path.exists()), None)
    if path is None:
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def of_scope(*scopes: str) -> list[dict[str, Any]]:
    return [case for case in cases() if case["scope"] in scopes]


def type_of(name: str) -> pa.DataType:
    decimal = re.match(r"(?:decimal|numeric)\((\d+),\s*(\d+)\)", name, re.IGNORECASE)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if name.lower() in ("decimal", "numeric"):
        return pa.decimal128(18, 3)
    for pattern, kind in TYPES:
        if re.match(pattern, name, re.IGNORECASE):
            return kind
    raise ValueError(name)


def table_of(case: dict[str, Any]) -> pa.Table:
    schema = {k: v for k, v in (case["schema"] or {}).items() if k != "WATERMARK"}
    rows = case["rows"] or []
    columns = []
    for name, type_name in schema.items():
        kind = type_of(type_name)
        cells = [row.get(name) for row in rows]
        computed = re.match(r"AS TO_TIMESTAMP\(`(\w+)`\)", type_name)
        if computed:
            cells = [row.get(computed[1]) for row in rows]
        if "proctime" in type_name.lower():  # the order of arrival
            cells = [datetime(2020, 1, 1) + timedelta(seconds=n) for n in range(len(rows))]
        columns.append((pa.field(name, kind), pa.array([_value(c, kind) for c in cells], kind)))
    return pa.Table.from_arrays([c for _, c in columns], schema=pa.schema([f for f, _ in columns]))


def _value(cell: Any, kind: pa.DataType) -> Any:
    if cell is None:
        return None
    if isinstance(cell, datetime):
        return cell
    if pa.types.is_timestamp(kind):
        if isinstance(cell, int | float):
            return datetime(1970, 1, 1) + timedelta(milliseconds=cell)
        return datetime.fromisoformat(cell.replace("Z", "")).replace(tzinfo=None)
    if pa.types.is_date(kind):
        return date.fromisoformat(cell)
    if pa.types.is_decimal(kind):
        return Decimal(str(cell))
    return cell


@cache
def duck() -> Any:
    """One database for all cases, which name their tables anew: to make one takes longer."""
    import duckdb

    return duckdb.connect(config={"threads": 1})


def answer(case: dict[str, Any], run: Run) -> list[list[Any]]:
    """The rows of a whole statement: the clause runs in `run`, the rest in DuckDB."""
    connection, table = duck(), table_of(case)
    connection.register("input rows", table)
    name = case["table"] or "t"
    columns = ", ".join(f'"{column}"' for column in table.column_names)
    connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT {columns} FROM "input rows"')

    def source(embedded: Embedded) -> pa.Table:
        return connection.sql(embedded.source).to_arrow_table()

    def made(name: str, result: pa.Table) -> None:
        connection.register(name, result)

    statement = _rewritten(case, run, source, made)
    return [list(row) for row in connection.execute(statement).fetchall()]


def run_clauses(case: dict[str, Any], run: Run) -> None:
    """The clauses of a statement alone, over the table that the case names."""
    _rewritten(case, run, lambda embedded: _renamed(case, embedded), lambda name, result: None)


def _renamed(case: dict[str, Any], embedded: Embedded) -> pa.Table:
    """The table of a case, with the names that `AS t(q, r)` gives to its columns."""
    table = table_of(case)
    alias = re.search(r"\bAS\s+\w+\s*\(([\w,\s]+)\)\s*$", embedded.source, re.IGNORECASE)
    if alias is None:
        return table
    names = [name.strip() for name in alias[1].split(",")]
    if (
        not table.num_columns
    ):  # a table of the engine's own tests, of which only the names are known
        return pa.table({name: pa.array([], pa.int64()) for name in names})
    return table.rename_columns(names)


def _rewritten(
    case: dict[str, Any],
    run: Run,
    source: Callable[[Embedded], pa.Table],
    made: Callable[[str, pa.Table], None],
) -> str:
    count = 0

    def replaced(embedded: Embedded) -> str:
        nonlocal count
        count += 1
        result = run(embedded.clause, source(embedded))
        check_alias(embedded, result.num_columns)
        made(f"result_{count}", result)
        return f"result_{count}"

    query = re.sub(r"^\s*insert\s+into\s+\w+\s+", "", case["query"], flags=re.IGNORECASE)
    return rewritten(query, replaced)


def expected(case: dict[str, Any]) -> list[list[Any]]:
    """The expected rows; where an engine differs from the standard, those of the standard."""
    standard = STANDARD.search(case["notes"] or "")
    rows: list[list[Any]] = json.loads(standard[1]) if standard else case["expected"]
    return rows


def plain(value: Any) -> Any:
    """A value as both sides can be compared."""
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
        return value.isoformat()
    if isinstance(value, date):
        return f"{value.isoformat()}T00:00:00"
    if isinstance(value, str) and TIME.fullmatch(value):
        return datetime.fromisoformat(value.replace("Z", "")).isoformat()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return round(float(value), 6)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def same(found: list[list[Any]], expected: list[list[Any]], ordered: bool) -> bool:
    ours = [repr(plain(row)) for row in found]
    theirs = [repr(plain(row)) for row in expected]
    return ours == theirs if ordered else sorted(ours) == sorted(theirs)
