"""Random clauses on Spark, many in one job: they give what a run here gives."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import reduce
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import Phase, given, settings

import cereus
from cereus import spark as cs
from cereus.errors import CereusError
from tests.languages.match_recognize.random_clauses import (
    OF_AGGREGATES,
    OF_ROW,
    OF_SEARCH,
    OF_SLOTS,
    START,
    clauses,
)
from tests.spark.files import write

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

CONDITIONS = OF_ROW + OF_SLOTS + OF_AGGREGATES + OF_SEARCH
ROWS = 60


def table() -> pa.Table:
    """Rows whose times differ: Spark has no other order."""
    return pa.table(
        {
            "k": pa.array([("a", "b", None)[n * 7 % 3] for n in range(ROWS)], pa.string()),
            "ts": pa.array([START + timedelta(seconds=n) for n in range(ROWS)], pa.timestamp("us")),
            "x": pa.array([(0, 1, 2, 3, None)[n * 11 % 13 % 5] for n in range(ROWS)], pa.int64()),
            "y": pa.array([("p", "q", None)[n * 5 % 7 % 3] for n in range(ROWS)], pa.string()),
            "z": pa.array([(0.0, 0.5, 1.25, None)[n * 3 % 11 % 4] for n in range(ROWS)]),
        }
    )


def queries(count: int) -> list[cereus.Query]:
    """Random clauses that emit something over the table, all of them different."""
    found: dict[str, cereus.Query] = {}
    rows = table()

    @settings(
        max_examples=20 * count,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
    )
    @given(text=clauses(CONDITIONS))
    def collect(text: str) -> None:
        query = cereus.compile(text.replace("LAST(A.ts) - FIRST(ts) AS length", "1 AS length"),
                               dialect="match_recognize")  # fmt: skip
        try:
            if len(query.run(rows)):
                found[text] = query
        except CereusError:  # SKIP TO goes nowhere
            pass

    collect()
    every = list(found.values())  # neighbours are much alike
    return every[:: max(1, len(every) // count)][:count]


def together(frame: DataFrame, chosen: list[cereus.Query], **options: Any) -> DataFrame:
    """The rows of all queries, as texts, with the number of the query. Live ones have names of
    their own."""
    from pyspark.sql import functions as f

    spelled = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss"}
    parts = [
        cs.match(frame, query, **options, name=f"mr_{number}").select(
            f.lit(number).alias("query"), f.to_json(f.struct("*"), spelled).alias("row")
        )
        for number, query in enumerate(chosen)
    ]
    return reduce(lambda one, other: one.union(other), parts)


def by_query(rows: list[Any], chosen: list[cereus.Query]) -> list[list[str]]:
    found: list[list[str]] = [[] for _ in chosen]
    for row in rows:
        found[row["query"]].append(plain(json.loads(row["row"])))
    return [sorted(each) for each in found]


def plain(row: dict[str, Any]) -> str:
    def spelled(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.replace(tzinfo=None).isoformat()
        return round(value, 9) if isinstance(value, float) else value

    return repr(sorted((name, spelled(value)) for name, value in row.items()))


def test_batches_give_what_a_run_here_gives(spark: SparkSession) -> None:
    chosen = queries(10)
    found = together(spark.createDataFrame(table()), chosen).collect()
    wanted = [sorted(plain(row) for row in query.run(table())) for query in chosen]
    for here, there, query in zip(wanted, by_query(found, chosen), chosen, strict=True):
        assert there == here, query.text


FILES = 4


def streamed(spark: SparkSession, chosen: list[cereus.Query], where: Path) -> list[Any]:
    """What one streaming query emits for all of them, over files whose rows come in any order."""
    rows, size = table(), ROWS // FILES
    orders = (Random(n).sample(range(n * size, (n + 1) * size), size) for n in range(FILES))
    folder = write(where / "rows", map(rows.take, orders))
    schema = spark.createDataFrame(rows).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    running = (
        together(stream, chosen, watermark="0 seconds", buckets=1)
        .writeStream.format("memory")
        .queryName("mr_random")
        .option("checkpointLocation", str(where / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    return spark.table("mr_random").collect()


def so_far(query: cereus.Query) -> list[str]:
    """What is decided once time has passed the last row, and the stream may go on."""
    rows = table()
    recognizer = query.recognizer(schema=rows.schema)
    emitted = list(recognizer.push(rows))
    emitted += list(recognizer.advance(START + timedelta(seconds=ROWS - 1, microseconds=1)))
    return sorted(plain(row) for row in emitted)


def test_streams_give_what_is_decided_here(spark: SparkSession, tmp_path: Path) -> None:
    chosen = [query for query in queries(8) if "PARTITION BY" in query.text]
    found = by_query(streamed(spark, chosen, tmp_path), chosen)
    for there, query in zip(found, chosen, strict=True):
        assert there == so_far(query), query.text
    assert any(found)
