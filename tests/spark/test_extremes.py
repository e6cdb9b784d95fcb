"""Values at the extremes of every type that Spark has: compared, as keys, and in sums, as Python
does it exactly."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from cereus import spark as cs

from ..engine.test_extremes import OPERATORS, TYPES, exact_sum, is_ordered
from .market import OPENING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ROWS = 12
STREAM = cereus.Stream(time="ts")


def has_spark(type_: pa.DataType) -> bool:
    """What Spark reads from Arrow as it is."""
    unsupported = (
        pa.types.is_unsigned_integer,
        pa.types.is_dictionary,
        pa.types.is_decimal256,
        pa.types.is_decimal32,
        pa.types.is_decimal64,
        pa.types.is_float16,
        pa.types.is_date64,
        pa.types.is_duration,
    )
    if any(check(type_) for check in unsupported):
        return False
    return not pa.types.is_timestamp(type_) or type_.unit == "us"


ON_SPARK = [(type_, values) for type_, values in TYPES if has_spark(type_)]


def drawn() -> tuple[pa.Table, dict[str, list[Any]]]:
    """A column for every type, with nulls; the types A and B in turn, then one Z."""
    draw = Random(3)
    columns = {
        f"c{number}": [draw.choice((None, *values, *values)) for _ in range(ROWS)]
        for number, (_, values) in enumerate(ON_SPARK)
    }
    kinds = {name: type_ for name, (type_, _) in zip(columns, ON_SPARK, strict=True)}
    table = pa.table(
        {
            "id": range(ROWS + 1),
            "type": ["AB"[row % 2] for row in range(ROWS)] + ["Z"],
            "ts": [OPENING + timedelta(seconds=row) for row in range(ROWS + 1)],
            **{name: pa.array([*values, None], kinds[name]) for name, values in columns.items()},
        }
    )
    plain = {name: table.column(name).to_pylist()[:ROWS] for name in columns}
    return table, plain


def expected_pairs(values: list[Any], op: str) -> list[list[int]]:
    return [
        [i, j]
        for i in range(0, ROWS, 2)
        for j in range(i + 1, ROWS, 2)
        if values[i] is not None and values[j] is not None and OPERATORS[op](values[i], values[j])
    ]


def expected_keys(values: list[Any]) -> list[list[int]]:
    pairs = [[i, j] for i in range(0, ROWS, 2) for j in range(i + 1, ROWS, 2)]
    return [[i, j] for i, j in pairs if values[i] == values[j]]


def ways(type_: pa.DataType, number: int) -> list[str]:
    """How the values of a type are compared: between events, and one of the other ways."""
    between = "=" if pa.types.is_boolean(type_) else ("<", ">=", "!=")[number % 3]
    return [between, ("=", "key", "alone")[number % 3]]


def ask(name: str, how: str, values: list[Any]) -> tuple[str, list[list[int]]]:
    """A query, and the ids of the events of its matches; `=` over all variables is a key."""
    if how == "key":
        return f"SELECT * WHERE A ; B PARTITION BY {name}", expected_keys(values)
    if how == "alone":
        known = [[i] for i in range(0, ROWS, 2) if values[i] is not None]
        return f"SELECT * WHERE A AS a FILTER a[{name} = {name}]", known
    text = f"SELECT * WHERE A AS a ; B AS b FILTER a.{name} {how} b.{name}"
    return text, expected_pairs(values, how)


@pytest.mark.long
def test_every_type_compared_and_as_a_key(spark: SparkSession) -> None:
    """One job for all: each query's matches, by the ids of their events."""
    table, columns = drawn()
    asked = {
        f"{name} {how}": ask(name, how, values)
        for number, (name, values) in enumerate(columns.items())
        for how in ways(ON_SPARK[number][0], number)
    }
    wanted = {name: ids for name, (_, ids) in asked.items()}
    frame = spark.createDataFrame(table)
    found: dict[str, list[list[int]]] = {name: [] for name in asked}
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    parts = [
        cs.match(frame, cereus.compile(text, stream=STREAM), columns=["id"], tie="id").selectExpr(
            f"'{name}' AS query", "transform(events, e -> e.id) AS ids"
        )
        for name, (text, _) in asked.items()
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    for row in whole.toArrow().to_pylist():
        found[row["query"]].append(row["ids"])
    spark.conf.unset("spark.sql.codegen.wholeStage")
    assert {name: sorted(ids) for name, ids in found.items()} == wanted


def test_sums(spark: SparkSession) -> None:
    """Of the integers that do not fit 64 bits when they are added."""
    table, columns = drawn()
    number = next(n for n, (type_, _) in enumerate(ON_SPARK) if type_ == pa.int64())
    name, values = f"c{number}", columns[f"c{number}"]
    query = cereus.compile(
        f"""PATTERN SEQ(ANY(A, B)+ a[], Z z) WHERE sum(a[].{name}) < 0 OR sum(a[].{name}) >= 0
        RETURN sum(a[].{name}) AS R(total)""",
        dialect="sase",
        stream=STREAM,
    )
    rows = cs.match(spark.createDataFrame(table), query, tie="id").toArrow().to_pylist()
    runs = [values[i : j + 1] for i in range(ROWS) for j in range(i, ROWS)]
    sums = [exact_sum(run, pa.int64()) for run in runs]
    assert None in sums
    assert Counter(row["total"] for row in rows) == Counter(filter(is_ordered, sums))
