"""Spark live: events per second that a stream sustains, with state and checkpoints on.

    python -m bench.spark.live --rows 5000000 --keys 1000 10000

The stream reads files of events, one for each core in a micro-batch, matches them, and writes the
matches as Parquet. The first micro-batches do not count (column `warm`): Spark and the workers
start, and the JVM compiles its byte code. The warm-up is over when the JVM has spent less than a
tenth of its CPU time on compiling in the last ten micro-batches. If a run does not get there, its
last third counts, marked with `<`: a longer stream is faster. --warm sets the number.

Seconds are elapsed time. CPU seconds are those of the JVM and of the Python workers, per
micro-batch; they are comparable on a busy machine too. Two quiet cores read up to twice the events
of a CPU second. The time of the JVM compiler (JIT) is shown separately, and not counted. The time
of garbage collection (GC) is shown separately, and counted.

The stream is matched with the defaults of `match`: Spark drops the events that cannot matter before
it hands events to Python. Three of the twelve types are in the pattern. --all-events hands every
event to Python, as for a pattern in which all of them count. --floor measures the same stream
without matching: all events are read, handed to Python, shuffled, and given to a stateful operator
that keeps and emits nothing. This is the cost of Spark itself. --rules 1000 matches that many rules
of ten shapes in place of the query, with thresholds that few events pass.

`state MB` is the size of the buckets at the end. The memory of RocksDB (--phases) is something
else: a write buffer keeps overwritten and deleted data until it is flushed.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import LongType, StructType

import cereus
from bench.spark.batch import EVENTS_IN_WINDOW, TYPES
from bench.spark.processes import CpuTime, Processes
from cereus import spark as cs
from cereus.spark.live.buckets import buckets_for
from cereus.spark.live.packing import PACKED_TYPE, Packing
from cereus.spark.live.processor import OUTPUT_TYPE
from cereus.spark.live.recipe import BUCKET
from cereus.spark.live.stream import PROVIDER, ROCKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Job = Callable[[DataFrame], DataFrame]

TEXT = "SELECT * WHERE T1 ; T2 ; T3 PARTITION BY k WITHIN {window}"
START = 1_700_000_000_000_000
STEADY, LOOK_BACK = 0.1, 10
"""Warm is what has spent less than this share of the JVM's CPU time on compiling, over so many
micro-batches."""
SCHEMA = "id long, type string, k long, price double, volume long, ts timestamp"


def generated(data: Path, rows: int, keys: int, batch: int, files: int) -> Path:
    """A folder of events of twelve types, a thousand a second in all, up to a second out of order;
    those of a micro-batch in some files, as those of a topic are in some partitions. They are
    written once."""
    where = (data / f"live-{rows}-{keys}-{batch}-{files}").absolute()
    if where.exists():
        return where
    beside = where.with_name(f".{where.name}")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
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
        for part in range(files):
            path = beside / f"{number:05}-{part}.parquet"
            pq.write_table(table.take(np.arange(part, batch, files)), path)
            os.utime(path, (10**9 + number, 10**9 + number))
    return beside.rename(where)


@dataclass(frozen=True)
class Measured:
    """The progress of every micro-batch, and the CPU time when it was over.

    asked    how many micro-batches do not count; None: those until the JVM has compiled
    """

    progress: list[dict[str, Any]]
    used: list[CpuTime]
    asked: int | None

    @cached_property
    def steady(self) -> int | None:
        """The first micro-batch by which the JVM has compiled; None if there is none."""
        for number in range(LOOK_BACK, len(self.used) - LOOK_BACK):
            cpu = self.used[number].since(self.used[number - LOOK_BACK])
            if cpu.compiler < STEADY * (cpu.java + cpu.compiler):
                return number
        return None

    @property
    def is_warm(self) -> bool:
        """There are micro-batches after those that were to pass."""
        return (self.asked or self.steady or math.inf) < len(self.used)

    @property
    def warming(self) -> int:
        """How many micro-batches do not count."""
        number = (self.asked or self.steady) if self.is_warm else 2 * len(self.used) // 3
        assert number, "too few micro-batches"
        return number

    @property
    def cpu(self) -> CpuTime:
        return self.used[-1].since(self.used[self.warming - 1])

    @property
    def counted(self) -> list[dict[str, Any]]:
        return [each for each in self.progress[self.warming :] if each["numInputRows"]]

    @property
    def rows(self) -> int:
        return sum(each["numInputRows"] for each in self.counted)

    def observed(self, name: str) -> int:
        return sum(each["observedMetrics"]["cereus"][name] for each in self.progress)

    def phases(self) -> dict[str, float]:
        """Milliseconds of a micro-batch by the clock: what Spark says of its own steps."""
        batches = self.counted
        told = [each["durationMs"] | _of_state(each["stateOperators"][0]) for each in batches]
        names = sorted({name for each in told for name in each})
        means = {n: sum(each.get(n, 0) for each in told) / len(batches) for n in names}
        return {name: mean for name, mean in means.items() if mean >= 1}

    def stored(self) -> str:
        """What Spark says of the state store, from the first to the last micro-batch."""
        stores = [each["stateOperators"][0] for each in self.progress]
        memory = [f"{each['memoryUsedBytes'] / 2**20:.1f}" for each in stores]
        rows = [str(each["numRowsTotal"]) for each in stores]
        return f"RocksDB's memory, MB: {' '.join(memory)}; its rows: {' '.join(rows)}"


def _of_state(operator: dict[str, Any]) -> dict[str, int]:
    """Milliseconds that the state took, added up over the tasks."""
    times = {"all updates": operator["allUpdatesTimeMs"], "commit": operator["commitTimeMs"]}
    custom = operator["customMetrics"].items()
    named = {name: value for name, value in custom if name.endswith(("Ms", "Latency"))}
    return {f"state: {name}": value for name, value in (times | named).items()}


def matches(
    events: DataFrame, window: str, buckets: int | None, push_down: bool = True
) -> DataFrame:
    query = cereus.compile(TEXT.format(window=window), stream=cereus.Stream(time="ts"))
    columns = ["id", "price"]
    options: dict[str, Any] = {"columns": columns, "push_down": push_down, "buckets": buckets}
    return cs.match(events, query, watermark="2 seconds", **options)


def matches_of_rules(events: DataFrame, window: str, buckets: int | None, number: int) -> DataFrame:
    rules = [cereus.Rule(f"rule {n}", _rule(n, window)) for n in range(number)]
    stream = cereus.Stream(time="ts", keys=["k"])
    return cs.match_rules(events, rules, stream=stream, watermark="2 seconds", buckets=buckets)


def _rule(number: int, window: str) -> str:
    """One of ten shapes, by its types; those of a shape differ in their threshold."""
    shape, threshold = number % 10, 99 + number % 997 / 1000
    pattern = "T{0} AS a ; T{1} AS b" if shape % 2 else "T{0} AS a ; T{1} AS b ; T{2} AS c"
    names = "ab" if shape % 2 else "abc"
    tests = " AND ".join(f"{name}[price > {threshold}]" for name in names)
    return (
        f"SELECT * WHERE {pattern.format(*range(shape, shape + 3))} FILTER {tests} WITHIN {window}"
    )


def floor(events: DataFrame, window: str, buckets: int | None) -> DataFrame:
    """What matching cannot do without."""
    from pyspark.sql import functions as F  # noqa: N812

    events.sparkSession.conf.set(PROVIDER, ROCKS)
    pieces = buckets_for(events.sparkSession, buckets)
    columns = ["id", "type", "k", "price", "ts"]
    kinds = [pa.int64(), pa.string(), pa.int64(), pa.float64(), pa.timestamp("us", "UTC")]
    packing = Packing(pieces, pa.schema(list(zip(columns, kinds, strict=True))), "ts")
    bucket = F.pmod(F.xxhash64("k"), F.lit(len(pieces))).cast("int").alias(BUCKET)
    rows = events.withWatermark("ts", "2 seconds").select(bucket, *columns)
    packed = rows.mapInArrow(packing.run, PACKED_TYPE).groupBy(BUCKET)
    nothing = packed.transformWithState(Nothing(), OUTPUT_TYPE, "Append", "EventTime")
    zero = F.coalesce(F.sum("matches"), F.lit(0))
    return nothing.observe("cereus", zero.alias("matches"), zero.alias("late"))


class Nothing(StatefulProcessor):
    """Takes what comes. Names of methods and arguments are Spark's."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("count", StructType().add("count", LongType()))

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        self.state.update((sum(1 for _ in rows),))
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


def measured(
    events: Path, where: Path, job: Job, warming: int | None, files: int, seconds: float
) -> Measured:
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    assert spark is not None
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files)
    stream = (
        job(source.parquet(str(events)))
        .writeStream.format("parquet")
        .option("path", str(where / "matches"))
        .option("checkpointLocation", str(where / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    processes, begin = Processes(), time.monotonic()
    used: list[CpuTime] = []
    while True:
        over = stream.awaitTermination(0.1)
        if time.monotonic() - begin > seconds:
            stream.stop()
        now = processes.cpu()  # also of workers that end meanwhile
        last = stream.lastProgress
        while last is not None and len(used) <= last["batchId"]:
            used.append(now)
        if over:
            break
    progress = [dict(each) for each in stream.recentProgress]
    assert len(progress) >= len(used), "Spark has dropped some reports of progress"
    return Measured(progress, used, warming)


def megabytes(checkpoint: Path) -> str:
    """What the buckets hold."""
    told = cs.state(str(checkpoint)).select("bucket", "bytes").distinct().collect()
    return f"{sum(row['bytes'] for row in told) / 2**20:.1f}"


def report(keys: int, found: Measured, kept: str) -> str:
    rows, batches = found.rows, len(found.counted)
    seconds = sum(each["durationMs"]["triggerExecution"] for each in found.counted) / 1000
    warm = f"{found.warming}{'' if found.is_warm else '<'}"
    cpu = found.cpu
    return (
        f"{keys:>8,} {warm:>5} {rows:>12,} {rows / seconds:>10,.0f} {rows / cpu.both:>13,.0f}"
        f" {seconds / batches:>8.2f} {cpu.java / batches:>7.2f} {cpu.collector / batches:>5.2f}"
        f" {cpu.compiler / batches:>5.2f} {cpu.python / batches:>7.2f}"
        f" {found.observed('matches'):>10,} {found.observed('late'):>5,} {kept:>8}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--batch", type=int, default=250_000, help="events in a micro-batch")
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--warm", type=int, help="micro-batches at the start that do not count")
    parser.add_argument("--seconds", type=float, default=math.inf, help="how long a stream may run")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--buckets", type=int, help="number of buckets; default: that of match")
    parser.add_argument("--all-events", action="store_true", help="hand every event to Python")
    parser.add_argument("--floor", action="store_true", help="the same without matching")
    parser.add_argument("--rules", type=int, help="match this many rules instead of the query")
    parser.add_argument("--phases", action="store_true", help="time of each step of Spark")
    parser.add_argument("--data", type=Path, default=Path("build/bench"))
    parser.add_argument("--conf", nargs="*", default=[], help="settings of Spark: name=value")
    arguments = parser.parse_args()
    reports = str(2 + arguments.rows // arguments.batch)  # Spark keeps the last hundred otherwise
    conf = {"spark.sql.streaming.numRecentProgressUpdates": reports}
    conf |= dict(each.split("=", 1) for each in arguments.conf)
    cs.session(f"local[{arguments.cores}]", "cereus-bench", **conf)
    print(
        f"{'keys':>8} {'warm':>5} {'events':>12} {'events/s':>10} {'events/CPU s':>13}"
        f" {'s/batch':>8} {'JVM CPU':>7} {'GC':>5} {'JIT':>5} {'Python':>7} {'matches':>10}"
        f" {'late':>5} state MB"
    )
    for keys in arguments.keys:
        size = (arguments.rows, keys, arguments.batch, arguments.cores)
        events = generated(arguments.data, *size)
        where = Path(tempfile.mkdtemp(prefix="cereus-live-"))
        try:
            window = f"{max(1, EVENTS_IN_WINDOW * keys)} milliseconds"
            matching = partial(matches, push_down=not arguments.all_events)
            if arguments.rules:
                matching = partial(matches_of_rules, number=arguments.rules)
            job = partial(floor if arguments.floor else matching, window=window)
            job = partial(job, buckets=arguments.buckets)
            settings = (arguments.warm, arguments.cores, arguments.seconds)
            found = measured(events, where, job, *settings)
            kept = "–" if arguments.floor else megabytes(where / "checkpoint")
            print(report(keys, found, kept), flush=True)
            if arguments.phases:
                told = (f"{name} {each:,.0f} ms" for name, each in found.phases().items())
                print(f"{'':8} {', '.join(told)}", flush=True)
                print(f"{'':8} {found.stored()}", flush=True)
        finally:
            shutil.rmtree(where)


if __name__ == "__main__":
    main()
