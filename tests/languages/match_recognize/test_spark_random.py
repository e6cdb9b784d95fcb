"""Random clauses on Spark, many in one job: batch and live give what a run here gives."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import reduce
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

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

CONDITIONS = OF_ROW + OF_SLOTS + OF_AGGREGATES + OF_SEARCH
ROWS = 60
LATER = START + timedelta(days=1)
EPOCH = datetime(1970, 1, 1)


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
    """Random clauses that put something out over the table, all of them different."""
    found: dict[str, cereus.Query] = {}
    rows = table()

    @settings(max_examples=20 * count, database=None, derandomize=True, phases=[Phase.generate])
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
    """The rows of all queries, as texts, with the number of the query."""
    from pyspark.sql import functions as f

    spelled = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss"}
    parts = [
        cs.match(frame, query, **options).select(
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


def test_streams_give_what_is_decided_here(spark: SparkSession, tmp_path: Path) -> None:
    chosen = queries(4)
    rows = table()
    last = pa.table({"k": ["a"], "ts": [LATER], "x": [0], "y": ["p"], "z": [0.0]}, rows.schema)
    for n, part in enumerate([rows.slice(0, 25), rows.slice(25), last]):
        pa.parquet.write_table(part, tmp_path / f"{n}.parquet")
    schema = spark.createDataFrame(rows).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    matches = together(stream.parquet(str(tmp_path)), chosen, watermark="0 seconds")
    running = (
        matches.writeStream.format("memory")
        .queryName("mr_random")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    running.awaitTermination()
    found = by_query(spark.table("mr_random").collect(), chosen)
    for here, there, query in zip(map(decided, chosen), found, chosen, strict=True):
        assert there == here, query.text


def decided(query: cereus.Query) -> list[str]:
    """What is put out here until the time of the last row, which has not been read by then."""
    recognizer = query.recognizer()
    rows = list(recognizer.push(table()))
    rows += recognizer.advance((LATER - EPOCH) // timedelta(microseconds=1))
    return sorted(plain(row) for row in rows)
