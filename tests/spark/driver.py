"""A live query in a process of its own, to be killed: `python -m tests.spark.driver DIRECTORY`.

It waits for a line before it starts the query, so that the next one can get ready while this one
runs, and for another before it ends the query; it says what it does: ready, running, done.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cereus
from cereus import spark as cs

PATTERN = "SELECT * WHERE A ; B+ ; C PARTITION BY k WITHIN 20 seconds"
SCHEMA = "id long, type string, k string, ts timestamp"


def main(where: Path) -> None:
    settings = {"spark.sql.shuffle.partitions": 2, "spark.driver.memory": "600m"}
    spark = cs.session("local[2,8]", "cereus-killed", **settings)
    print("ready", flush=True)
    sys.stdin.readline()
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    found = cs.match(
        reader.parquet(str(where / "events")),
        cereus.compile(PATTERN, stream=cereus.Stream(time="ts")),
        watermark="6 seconds",
        tie="id",
        buckets=3,
    )
    query = (
        found.writeStream.format("parquet")
        .option("path", str(where / "found"))
        .option("checkpointLocation", str(where / "checkpoint"))
        .start()
    )
    print("running", flush=True)
    sys.stdin.readline()
    query.processAllAvailable()
    query.stop()
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
