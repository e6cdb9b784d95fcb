"""A live query in a process of its own, to be killed:
`python -m tests.spark.live.driver DIRECTORY query`, or `rules` for rules that change.

It waits for a line before it starts the query, so that the next one can get ready while this one
runs, and for another before it ends the query; it says what it does: ready, running, done.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import cereus
from cereus import spark as cs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PATTERN = "SELECT * WHERE A ; B+ ; C PARTITION BY k WITHIN 20 seconds"
SCHEMA = "id long, type string, k string, ts timestamp"
KEYED = cereus.Stream(time="ts", keys=["k"])
RULES = "name string, text string, enabled boolean, removed boolean, at long"


def query(spark: SparkSession, where: Path) -> DataFrame:
    return cs.match(
        events(spark, where),
        cereus.compile(PATTERN, stream=cereus.Stream(time="ts")),
        watermark="6 seconds",
        tie="id",
        buckets=3,
    )


def rules(spark: SparkSession, where: Path) -> DataFrame:
    reader = spark.readStream.schema(RULES).option("maxFilesPerTrigger", 1)
    changes = reader.json(str(where / "rules"))
    stream = events(spark, where)
    return cs.match_rules(stream, changes, stream=KEYED, watermark="6 seconds", buckets=3)


def events(spark: SparkSession, where: Path) -> DataFrame:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(where / "events"))


def main(where: Path, what: str) -> None:
    settings = {"spark.sql.shuffle.partitions": 2, "spark.driver.memory": "600m"}
    spark = cs.session("local[2,8]", "cereus-killed", **settings)
    print("ready", flush=True)
    sys.stdin.readline()
    found = {"query": query, "rules": rules}[what](spark, where)
    started = (
        found.writeStream.format("parquet")
        .option("path", str(where / "found"))
        .option("checkpointLocation", str(where / "checkpoint"))
        .start()
    )
    print("running", flush=True)
    sys.stdin.readline()
    started.processAllAvailable()
    started.stop()
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
