"""A job on a cluster, in a process of its own: `python standalone.py MASTER DIRECTORY SETTINGS`.

Batch, live and batch again; it waits for a line before each of the last two, and says what it has
found as lines of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

import cereus
from cereus import spark as cs

PATTERN = "SELECT * WHERE A ; B+ ; C PARTITION BY k WITHIN 20 seconds"
SCHEMA = "id long, type string, k string, ts timestamp"


def main(master: str, where: Path, settings: dict[str, Any]) -> None:
    spark = cs.session(master, "cereus-standalone", **settings)
    spark.sparkContext.setLogLevel("ERROR")
    query = cereus.compile(PATTERN, stream=cereus.Stream(time="ts"))
    history = spark.read.schema(SCHEMA).parquet(str(where / "history"))
    say(batch=ids(cs.match(history, query, tie="id", parallelism=4)), shipped=shipped(spark))
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    events = reader.parquet(str(where / "events"))
    found = cs.match(events, query, watermark="6 seconds", tie="id", buckets=4)
    stream = (
        found.writeStream.format("parquet")
        .option("path", str(where / "found"))
        .option("checkpointLocation", str(where / "checkpoint"))
        .start()
    )
    stream.processAllAvailable()
    say(running=stream.lastProgress["batchId"])
    sys.stdin.readline()
    stream.processAllAvailable()
    stream.stop()
    written = spark.read.parquet(str(where / "found"))
    say(live=ids(written), batch=ids(cs.match(history, query, tie="id", parallelism=4)))


def ids(found: Any) -> list[list[int]]:
    return sorted([each["id"] for each in row["events"]] for row in found.toArrow().to_pylist())


def shipped(spark: Any) -> list[str]:
    """Where the workers have Cereus from, one for each of them."""

    def asked(batches: Any) -> Any:
        import cereus

        for _ in batches:
            yield pa.record_batch({"path": [cereus.__file__]})

    rows = spark.range(16).repartition(16).mapInArrow(asked, "path string").distinct()
    return sorted(row["path"] for row in rows.collect())


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]))
