"""MATCH_RECOGNIZE on Spark gives what it gives in one process."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import cereus
from cereus import spark as cs
from cereus.spark.pipeline import Pipeline
from tests.spark.files import write

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

TIMEOUTS = """
    MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(a.ts) AS opened, LAST(price) AS latest, MATCH_NUMBER() AS number
      PATTERN (a b) WITHIN INTERVAL '4' SECOND WITH TIMEOUTS
      DEFINE a AS price BETWEEN 0 AND 9, b AS price > 18
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


def closed(table: pa.Table) -> pa.Table:
    """With one more row of each key a day later, which ends whatever is open and begins nothing."""
    keys = table["sym"].unique().to_pylist()
    later = datetime(2024, 1, 2)
    last = {"sym": keys, "ts": [later] * len(keys), "price": [-1.0] * len(keys)}
    return pa.concat_tables([table, pa.table(last, schema=table.schema)])


def streamed(spark: SparkSession, query: cereus.Query, table: pa.Table, where: Path) -> list[str]:
    """What a stream of five files emits; the rows of a file come in any order."""
    size = -(-table.num_rows // 5)
    parts = [table.slice(n * size, size) for n in range(5)]
    orders = [Random(n).sample(range(len(part)), len(part)) for n, part in enumerate(parts)]
    folder = write(where / "rows", map(pa.Table.take, parts, orders))
    schema = spark.createDataFrame(table.to_pandas()).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    matches = cs.match(stream.parquet(str(folder)), query, watermark="0 seconds")
    name = f"mr_{where.name.replace('-', '_')}"
    running = (
        matches.writeStream.format("memory")
        .queryName(name)
        .outputMode("append")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(where / "checkpoint"))
        .start()
    )
    running.awaitTermination()
    return plain([row.asDict() for row in spark.table(name).collect()])


@pytest.mark.long
@pytest.mark.parametrize("text", [EVERY_ROW, WINDOW, TIMEOUTS], ids=["rows", "window", "timeouts"])
def test_a_stream_gives_all_that_the_table_gives(
    spark: SparkSession, text: str, tmp_path: Path
) -> None:
    table = closed(trades())
    query = cereus.compile(text, dialect="match_recognize")
    expected = plain(list(query.run(table)))
    assert expected
    assert streamed(spark, query, table, tmp_path) == expected


def test_the_table_function_runs_a_clause(spark: SparkSession) -> None:
    spark.createDataFrame(trades().to_pandas()).createOrReplaceTempView("mr_events")
    cs.register(spark)
    statement = f"""
        SELECT * FROM cereus(
          TABLE(mr_events) PARTITION BY sym ORDER BY ts,
          query => '{V_SHAPE}', events => false, dialect => 'match_recognize'
        )
    """
    found = [row.asDict() for row in spark.sql(statement).collect()]
    assert plain(found) == local(V_SHAPE)


PIPELINE = """
mode = "batch"
[sources.trades]
format = "parquet"
path = "trades"
[streams.market]
source = "trades"
time = "ts"
[queries.v]
from = "market"
file = "v.sql"
[sinks.shapes]
from = "v"
format = "parquet"
path = "shapes"
"""


def test_a_pipeline_runs_a_clause(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "trades").mkdir()
    pa.parquet.write_table(trades(), tmp_path / "trades" / "1.parquet")
    (tmp_path / "v.sql").write_text(V_SHAPE)
    (tmp_path / "market.toml").write_text(PIPELINE)
    Pipeline.load(tmp_path / "market.toml").run(spark)
    found = pa.parquet.read_table(tmp_path / "shapes").select(["sym", "opened", "top", "length"])
    assert len(found) == len(local(V_SHAPE))
    tops = sorted(round(row["top"]) for row in found.to_pylist())
    assert tops == sorted(
        round(row["top"])
        for row in cereus.compile(V_SHAPE, dialect="match_recognize").run(trades())
    )
