"""Spark batch: events per second, compared with the floor that Spark sets.

    python -m bench.spark.batch --rows 20000000 --keys 1 100 100000

The floor is the same job without matching: read the columns, shuffle by key, sort, count. `match`
gets the same rows (nothing is filtered before the shuffle). `pushed` lets Catalyst drop the events
that cannot matter. With one key, `sliced` cuts it into slices of time. `both` runs the two queries
in one pass.

Seconds are elapsed time. CPU seconds are those of Spark and its Python workers together (on Linux,
from /proc); they are comparable on a busy machine too.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cereus
from bench.comparing.environments import LOOKING
from bench.spark.processes import Processes, allowed
from cereus import spark as cs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Job = Callable[[], DataFrame]

STREAM = cereus.Stream(time="ts")
SPARK = Processes()
TYPES = 12
PATTERNS = {
    "sequence": "SELECT * WHERE T1 ; T2 ; T3 PARTITION BY k WITHIN {window}",
    "selective": "SELECT * WHERE (T1 AS a ; T2 AS b) FILTER a[price > 98] AND b[price < 2]"
    " PARTITION BY k WITHIN {window}",
}
WARM_UP = 200_000
GROUP = "cereus-bench"
"""What Spark's jobs are cancelled by."""
EVENTS_IN_WINDOW = 20
"""The window is so long that a key has about so many events in it."""


def generated(
    spark: SparkSession, rows: int, keys: int, where: Path, *, skewed: bool = False
) -> DataFrame:
    """Events of twelve types, a thousand a second in all; written once. Where they are skewed, nine
    in ten are of one key."""
    from pyspark.sql import functions as F  # noqa: N812

    path = where.absolute() / f"events-{rows}-{keys}{'-skewed' if skewed else ''}"
    key = F.pmod(F.xxhash64("id", F.lit(1)), F.lit(keys))
    if skewed:
        often = F.pmod(F.xxhash64("id", F.lit(4)), F.lit(10)) < 9
        key = F.when(often, F.lit(0)).otherwise(key)
    if not (path / "_SUCCESS").exists():
        events = spark.range(rows).select(
            "id",
            F.concat(F.lit("T"), F.pmod(F.xxhash64("id"), F.lit(TYPES))).alias("type"),
            key.alias("k"),
            (F.pmod(F.xxhash64("id", F.lit(2)), F.lit(10_000)) / 100).alias("price"),
            F.pmod(F.xxhash64("id", F.lit(3)), F.lit(500)).alias("volume"),
            F.timestamp_millis("id").alias("ts"),
        )
        events.write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def floor(events: DataFrame, columns: list[str]) -> DataFrame:
    """What matching cannot do without."""
    return events.select(*columns).repartition("k").sortWithinPartitions("k", "ts", *columns)


def jobs(events: DataFrame, keys: int) -> Iterator[tuple[str, Job]]:
    window = f"{max(1, EVENTS_IN_WINDOW * keys)} milliseconds"
    length = f"{EVENTS_IN_WINDOW * 50} milliseconds"
    texts = {name: text.format(window=window) for name, text in PATTERNS.items()}
    queries = {name: cereus.compile(text, stream=STREAM) for name, text in texts.items()}
    yield "floor", partial(floor, events, ["id", "type", "k", "price", "ts"])
    for name, query in queries.items():
        match = partial(cs.match, events, query, columns=["id", "price"])
        yield f"{name}, match", partial(match, push_down=False)
        yield f"{name}, pushed", match
        if keys == 1:
            yield f"{name}, sliced", partial(match, split=length)
    both = partial(cs.match, events, queries, columns=["id", "price"])
    yield "both, match", partial(both, push_down=False)
    yield "both, pushed", both


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu: float
    rows: int


class TooSlow(Exception):
    """A job did not end in the time that it had."""


def cost(job: Job, limit: float | None = None) -> Cost:
    """Every row that comes out is counted on its way to nowhere. A job that takes more than `limit`
    CPU seconds is stopped."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F  # noqa: N812

    counted = Observation()
    begin, used = time.perf_counter(), SPARK.cpu()
    with stopped_after(limit):
        rows = job().observe(counted, F.count(F.lit(1)).alias("rows"))
        rows.write.format("noop").mode("overwrite").save()
    spent = SPARK.cpu().since(used)
    return Cost(time.perf_counter() - begin, spent.both, int(counted.get["rows"]))


@contextmanager
def stopped_after(seconds: float | None) -> Iterator[None]:
    """Jobs of Spark that take more CPU seconds are cancelled, which is TooSlow."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None or seconds is None:
        yield
        return
    context, within, ended = active.sparkContext, allowed(seconds), threading.Event()

    def watch() -> None:
        while not ended.wait(LOOKING):
            if not within():
                context.cancelJobGroup(GROUP)

    context.setJobGroup(GROUP, "one job of a benchmark", interruptOnCancel=True)
    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    except Exception as error:
        if within():
            raise
        raise TooSlow from error
    finally:
        ended.set()
        watching.join()


def best(jobs: Mapping[str, Job], rounds: int, limit: float | None = None) -> dict[str, Cost]:
    """What each job costs at least. They take turns, so that all of them run on a JVM that is as
    warm, and beside the same other load. Those that are too slow are left out."""
    took: dict[str, list[Cost]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name in tuple(took):
            try:
                took[name].append(cost(jobs[name], limit))
            except TooSlow:
                del took[name]
    return {
        name: Cost(min(c.seconds for c in costs), min(c.cpu for c in costs), costs[0].rows)
        for name, costs in took.items()
    }


def report(keys: int, rows: int, costs: Mapping[str, Cost]) -> None:
    base = costs["floor"]
    for name, took in costs.items():
        print(
            f"{keys:>8}  {name:<20} {took.seconds:>8.2f} {rows / took.seconds:>12,.0f}"
            f" {took.seconds / base.seconds:>9.2f} {took.cpu / rows * 1e6:>8.2f}"
            f" {took.cpu / base.cpu:>9.2f} {took.rows:>11,}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, nargs="+", default=[1, 100, 100_000])
    parser.add_argument("--repeat", type=int, default=2, help="rounds; the best of each job counts")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--data", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    spark = cs.session(options.master, "cereus-bench")
    print(
        f"{'keys':>8}  {'job':<20} {'seconds':>8} {'events/s':>12} {'of floor':>9}"
        f" {'CPU s/M':>8} {'of floor':>9} {'rows out':>11}"
    )
    for _, job in jobs(generated(spark, WARM_UP, 100, options.data), 100):
        cost(job)  # the first job of its kind pays for the JVM's own compiler
    for keys in options.keys:
        events = generated(spark, options.rows, keys, options.data)
        report(keys, options.rows, best(dict(jobs(events, keys)), options.repeat))
    spark.stop()


if __name__ == "__main__":
    main()
