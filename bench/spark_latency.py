"""Spark live: how soon after its last event a match comes out, with state and checkpoints on.

    python -m bench.spark_latency --rate 20000 --seconds 60

Events are written as files of a tenth of a second, with the time of the clock, and Spark takes
micro-batches as fast as it can. A match is told in the micro-batch after the one that moved the
watermark past its last event, so what is measured is about two micro-batches. Seconds are those of
the clock: only a machine with nothing else to do says something.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cereus
from cereus import spark as cs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TEXT = "SELECT * WHERE T1 ; T2 PARTITION BY k WITHIN 1 second"
SCHEMA = "id long, type string, k long, ts timestamp"
EVERY = 0.1
"""Seconds of events in one file."""


def produced(where: Path, rate: int, keys: int, over: threading.Event) -> None:
    """Write files until it is over; each appears as a whole."""
    dice, number, size = np.random.default_rng(1), 0, int(rate * EVERY)
    kinds = pa.array([f"T{n}" for n in range(12)])
    due = time.time()
    while not over.is_set():
        due += EVERY
        over.wait(max(0.0, due - time.time()))
        times = np.linspace(due - EVERY, due, size, endpoint=False) * 1e6
        table = pa.table(
            {
                "id": np.arange(number * size, (number + 1) * size),
                "type": kinds.take(pa.array(dice.integers(0, 12, size))),
                "k": dice.integers(0, keys, size),
                "ts": pa.array(times.astype(np.int64)).cast(pa.timestamp("us", "UTC")),
            }
        )
        pq.write_table(table, where / f".{number}")
        (where / f".{number}").rename(where / f"{number:06}.parquet")
        number += 1


def measured(where: Path, seconds: float, buckets: int | None) -> list[float]:
    """Seconds from the last event of a match until it came out, of all matches after the first
    half of the time."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    spark = SparkSession.getActiveSession()
    assert spark is not None
    waits: list[float] = []
    begin = time.time()

    def take(batch: DataFrame, number: int) -> None:
        ends = batch.select(F.unix_micros("end_time").alias("end")).toArrow()["end"].to_numpy()
        if time.time() > begin + seconds / 2:
            waits.extend((time.time() - ends / 1e6).tolist())

    query = cereus.compile(TEXT, stream=cereus.Stream(time="ts"))
    events = spark.readStream.schema(SCHEMA).parquet(str(where / "events"))
    matches = cs.match(events, query, watermark="0 seconds", columns=["id"], buckets=buckets)
    writer = matches.writeStream.foreachBatch(take)
    running = writer.option("checkpointLocation", str(where / "checkpoint")).start()
    running.awaitTermination(seconds)
    running.stop()
    return waits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rate", type=int, default=20_000, help="events per second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--buckets", type=int)
    arguments = parser.parse_args()
    cs.session("local[2]", "cereus-bench")
    where, over = Path(tempfile.mkdtemp(prefix="cereus-latency-")), threading.Event()
    (where / "events").mkdir()
    producer = threading.Thread(
        target=produced, args=(where / "events", arguments.rate, arguments.keys, over)
    )
    producer.start()
    try:
        waits = measured(where, arguments.seconds, arguments.buckets)
    finally:
        over.set()
        producer.join()
        shutil.rmtree(where, ignore_errors=True)
    if not waits:
        raise SystemExit("no match in the second half: give it more --seconds")
    told = ", ".join(f"p{p} {np.percentile(waits, p):.2f} s" for p in (50, 95, 99))
    print(f"{arguments.rate:,} events/s, {len(waits):,} matches: {told}")


if __name__ == "__main__":
    main()
