"""MATCH_RECOGNIZE on Spark gives what it gives in one process."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import cereus
from cereus import spark as cs

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

V_SHAPE = """
    MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(ts) AS opened, LAST(price) AS top, count(*) AS length
      PATTERN (strt down+ up+)
      DEFINE down AS price < PREV(price), up AS price > PREV(price)
    )
"""
EVERY_ROW = V_SHAPE.replace("PATTERN", "ALL ROWS PER MATCH PATTERN")
WINDOW = """
    MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(a.ts) AS opened, sum(price) AS total
      PATTERN (a+ b) WITHIN INTERVAL '20' SECOND
      DEFINE a AS sum(a.price) < 30, b AS price > FIRST(a.price)
    )
"""


def trades(rows: int = 400) -> pa.Table:
    start = datetime(2024, 1, 1)
    return pa.table(
        {
            "sym": [("a", "b", "c")[n * 7 % 3] for n in range(rows)],
            "ts": [start + timedelta(seconds=n) for n in range(rows)],
            "price": [float(n * 37 % 23) for n in range(rows)],
        }
    )


def plain(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def local(text: str) -> list[str]:
    return plain(list(cereus.compile(text, dialect="match_recognize").run(trades())))


@pytest.mark.parametrize("text", [V_SHAPE, EVERY_ROW, WINDOW], ids=["one", "all", "window"])
def test_a_dataframe_is_matched_as_a_table_is(spark: SparkSession, text: str) -> None:
    query = cereus.compile(text, dialect="match_recognize")
    found = cs.match(spark.createDataFrame(trades().to_pandas()), query)
    assert plain([row.asDict() for row in found.collect()]) == local(text)


def test_a_statement_is_rewritten(spark: SparkSession) -> None:
    spark.createDataFrame(trades().to_pandas()).createOrReplaceTempView("mr_trades")
    statement = f"""
        WITH cheap AS (SELECT * FROM mr_trades WHERE price < 22),
             v AS (SELECT * FROM cheap {V_SHAPE} AS m)
        SELECT v.sym, count(*) AS n, any_value(k) AS k
        FROM v JOIN mr_trades MATCH_RECOGNIZE (
            PARTITION BY sym ORDER BY ts MEASURES count(*) AS k PATTERN (a+)
        ) AS r ON r.sym = v.sym
        GROUP BY v.sym
    """
    found = cs.sql(spark, statement)
    wanted = cereus.sql(statement, mr_trades=trades())
    assert plain([row.asDict() for row in found.collect()]) == plain(wanted.to_pylist())


@pytest.mark.parametrize("text", [V_SHAPE, WINDOW], ids=["rows", "window"])
def test_a_stream_gives_what_the_table_gives(
    spark: SparkSession, text: str, tmp_path: Path
) -> None:
    table = trades()
    for n in range(4):
        part = table.slice(n * 100, 100)
        pa.parquet.write_table(part, tmp_path / f"{n}.parquet")
    schema = spark.createDataFrame(table.to_pandas()).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    found = cs.match(
        stream.parquet(str(tmp_path)),
        cereus.compile(text, dialect="match_recognize"),
        watermark="0 seconds",
    )
    name = f"mr_live_{'window' if text is WINDOW else 'rows'}"
    running = (
        found.writeStream.format("memory")
        .queryName(name)
        .outputMode("append")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    running.awaitTermination()
    emitted = plain([row.asDict() for row in spark.table(name).collect()])
    decided = local(text)
    assert set(emitted) <= set(decided)
    assert len(emitted) >= len(decided) - 6  # what the end of the stream decides is not emitted
