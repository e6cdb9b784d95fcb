"""Spark live: events per second that a stream sustains, with state and checkpoints on.

    python -m bench.spark_live --rows 5000000 --keys 1000 10000

Files of events are read one per micro-batch, matched, and the matches written as Parquet. The
first two micro-batches, in which Spark and the workers start, are not counted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cereus
from cereus import spark as cs

from .spark_batch import EVENTS_IN_WINDOW, TYPES

TEXT = "SELECT * WHERE T1 ; T2 ; T3 PARTITION BY k WITHIN {window}"
START = 1_700_000_000_000_000
SCHEMA = "id long, type string, k long, price double, volume long, ts timestamp"
WARMING = 2
"""Micro-batches that are not counted."""


def generated(where: Path, rows: int, keys: int, batch: int) -> None:
    """Events of twelve types, a thousand a second in all, up to a second out of order."""
    dice = np.random.default_rng(keys)
    for number in range(rows // batch):
        ids = np.arange(number * batch, (number + 1) * batch)
        table = pa.table(
            {
                "id": ids,
                "type": pa.array([f"T{n}" for n in range(TYPES)]).take(
                    pa.array(dice.integers(0, TYPES, batch))
                ),
                "k": dice.integers(0, keys, batch),
                "price": dice.integers(0, 10_000, batch) / 100,
                "volume": dice.integers(0, 500, batch),
                "ts": pa.array(START + ids * 1000 - dice.integers(0, 10**6, batch)).cast(
                    pa.timestamp("us", "UTC")
                ),
            }
        )
        path = where / f"{number:05}.parquet"
        pq.write_table(table, path)
        os.utime(path, (10**9 + number, 10**9 + number))


def measured(where: Path, keys: int, window: str) -> list[dict[str, Any]]:
    """The progress of every micro-batch."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    assert spark is not None
    query = cereus.compile(TEXT.format(window=window), stream=cereus.Stream(time="ts"))
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    found = cs.match(
        source.parquet(str(where / "events")),
        query,
        watermark="2 seconds",
        columns=["id", "price"],
        push_down=False,
    )
    stream = (
        found.writeStream.format("parquet")
        .option("path", str(where / "matches"))
        .option("checkpointLocation", str(where / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    stream.awaitTermination()
    return [dict(each) for each in stream.recentProgress]


def report(keys: int, progress: list[dict[str, Any]]) -> str:
    counted = [each for each in progress[WARMING:] if each["numInputRows"]]
    rows = sum(each["numInputRows"] for each in counted)
    seconds = sum(each["durationMs"]["triggerExecution"] for each in counted) / 1000
    matches = sum(each["observedMetrics"]["cereus"]["matches"] for each in progress)
    late = sum(each["observedMetrics"]["cereus"]["late"] for each in progress)
    state = progress[-1]["stateOperators"][0]["memoryUsedBytes"]
    return (
        f"{keys:>8,} {rows:>12,} {rows / seconds:>12,.0f} {seconds / len(counted):>10.2f}"
        f" {matches:>10,} {late:>6,} {state / 2**20:>8.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--batch", type=int, default=250_000, help="events in a micro-batch")
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--cores", type=int, default=2)
    arguments = parser.parse_args()
    cs.session(f"local[{arguments.cores}]", "cereus-bench")
    print(
        f"{'keys':>8} {'events':>12} {'events/s':>12} {'s/batch':>10} {'matches':>10} late state MB"
    )
    for keys in arguments.keys:
        where = Path(tempfile.mkdtemp(prefix="cereus-live-"))
        try:
            (where / "events").mkdir()
            generated(where / "events", arguments.rows, keys, arguments.batch)
            window = f"{max(1, EVENTS_IN_WINDOW * keys)} milliseconds"
            print(report(keys, measured(where, keys, window)), flush=True)
        finally:
            shutil.rmtree(where)


if __name__ == "__main__":
    main()
