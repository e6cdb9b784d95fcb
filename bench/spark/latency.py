"""Spark live: how soon a match is emitted, with state and checkpoints on.

    python -m bench.spark.latency --rate 20000 --seconds 60

Every tenth of a second a file with the events of that time appears in a folder. The stream matches
them, and writes the matches as Parquet. With --eager it matches events as soon as they come,
otherwise when the watermark of Spark has passed them. The latency of a match is the time from the
file with its last event to the commit of the file that contains the match, from the log of the
sink. The first seconds do not count: Spark and the workers start, and the JVM compiles its byte
code. The latency is one and a half micro-batches with --eager and two and a half without. So the
benchmark also prints the time of a micro-batch and its CPU seconds, which are comparable on a busy
machine too.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import cereus
from bench.spark.batch import EVENTS_IN_WINDOW, TYPES
from bench.spark.live import SCHEMA, TEXT
from bench.spark.processes import Processes
from cereus import spark as cs

TICK = 0.1
"""Seconds between two files."""


def events(begin: int, number: int, keys: int, now: int) -> pa.Table:
    """Events of the tick that ends now, in microseconds."""
    dice = np.random.default_rng(begin)
    times = now - np.linspace(TICK * 1e6, 0, number, endpoint=False).astype(np.int64)
    kinds = pa.array([f"T{n}" for n in range(TYPES)])
    return pa.table(
        {
            "id": np.arange(begin, begin + number),
            "type": kinds.take(pa.array(dice.integers(0, TYPES, number))),
            "k": dice.integers(0, keys, number),
            "price": dice.integers(0, 10_000, number) / 100,
            "volume": dice.integers(0, 500, number),
            "ts": pa.array(times).cast(pa.timestamp("us", "UTC")),
        }
    )


def feed(folder: Path, rate: int, keys: int, seconds: float, over: threading.Event) -> None:
    """Write the events of each tick when it is over."""
    number, begin = int(rate * TICK), time.time()
    for tick in range(int(seconds / TICK)):
        if over.wait(max(0.0, begin + (tick + 1) * TICK - time.time())):
            return
        table = events(tick * number, number, keys, int(time.time() * 1e6))
        hidden = folder / f".{tick:06}"
        pq.write_table(table, hidden)
        hidden.rename(folder / f"{tick:06}.parquet")


def latencies(sink: Path, since: float) -> npt.NDArray[np.float64]:
    """Seconds from the last event of each match to its commit, of matches that end later."""
    found = [np.zeros(0)]
    seen: set[str] = set()
    logs = (sink / "_spark_metadata").glob("[0-9]*")
    for log in sorted(logs, key=lambda each: int(each.stem)):
        lines = log.read_text().splitlines()[1:]
        # every tenth log tells again what those before it have told
        new = {json.loads(line)["path"].removeprefix("file://") for line in lines} - seen
        seen |= new
        for path in new:
            column = pq.read_table(path, columns=["end_time"]).column(0)
            times = column.cast(pa.int64()).to_numpy() / 1e6
            found.append(log.stat().st_mtime - times[times > since])
    return np.concatenate(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rate", type=int, default=20_000, help="events per second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--warm", type=float, default=120, help="seconds that do not count")
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--eager", action="store_true", help="do not wait for Spark's watermark")
    options = parser.parse_args()
    spark = cs.session(f"local[{options.cores}]", "cereus-bench")
    window = f"{EVENTS_IN_WINDOW * options.keys * 1000 // options.rate} milliseconds"
    query = cereus.compile(TEXT.format(window=window), stream=cereus.Stream(time="ts"))
    with tempfile.TemporaryDirectory(prefix="cereus-latency-") as place:
        folder, sink, over = Path(place, "events"), Path(place, "matches"), threading.Event()
        folder.mkdir()
        stream = spark.readStream.schema(SCHEMA).parquet(str(folder))
        found = cs.match(
            stream, query, watermark="0 seconds", columns=["id", "price"], eager=options.eager
        )
        written = found.writeStream.format("parquet").option("path", str(sink))
        running = written.option("checkpointLocation", f"{place}/checkpoint").start()
        told = (folder, options.rate, options.keys, options.warm + options.seconds, over)
        feeding = threading.Thread(target=feed, args=told)
        begin, processes = time.time(), Processes()
        feeding.start()
        try:
            running.awaitTermination(int(options.warm))
            warm, first = processes.cpu(), running.lastProgress
            running.awaitTermination(int(options.seconds))
            used, last = processes.cpu().since(warm), running.lastProgress
            took = [each["durationMs"]["triggerExecution"] for each in running.recentProgress]
        finally:
            over.set()
            feeding.join()
            running.stop()
        waited = latencies(sink, begin + options.warm)
        batches = (last["batchId"] if last else 0) - (first["batchId"] if first else 0)
        quantiles = np.quantile(waited, [0.5, 0.95, 0.99]) if len(waited) else [float("nan")] * 3
        print(
            f"{len(waited):,} matches in {batches} micro-batches; seconds until they are there: "
            + ", ".join(f"p{p} {q:.2f}" for p, q in zip((50, 95, 99), quantiles, strict=True))
            + f"; half of the micro-batches take less than {np.median(took) / 1000:.2f}"
            + f"; CPU seconds per micro-batch: JVM {used.java / max(1, batches):.2f}, "
            f"its compiler {used.compiler / max(1, batches):.2f}, "
            f"Python {used.python / max(1, batches):.2f}"
        )
    spark.stop()


if __name__ == "__main__":
    main()
