"""Spark batch: events per second, next to the floor that Spark sets.

    python -m bench.spark_batch --rows 20000000 --keys 1 100 100000

The floor is the same job without matching: read the columns, shuffle by key, sort, write nowhere.
`match` is given the same rows (nothing is filtered before the shuffle); `pushed` lets Catalyst
drop the events that cannot matter. With one key, `sliced` cuts it into slices of time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import cereus
from cereus import spark as cs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STREAM = cereus.Stream(time="ts")
TYPES = 12
PATTERNS = {
    "sequence": "SELECT * WHERE T1 ; T2 ; T3 PARTITION BY k WITHIN {window}",
    "selective": "SELECT * WHERE (T1 AS a ; T2 AS b) FILTER a[price > 98] AND b[price < 2]"
    " PARTITION BY k WITHIN {window}",
}
EVENTS_IN_WINDOW = 20
"""The window is so long that a key has about so many events in it."""


def generated(spark: SparkSession, rows: int, keys: int, where: Path) -> DataFrame:
    """Events of twelve types, a thousand a second in all; written once."""
    from pyspark.sql import functions as F  # noqa: N812

    path = where / f"events-{rows}-{keys}"
    if not (path / "_SUCCESS").exists():
        events = spark.range(rows).select(
            "id",
            F.concat(F.lit("T"), F.pmod(F.xxhash64("id"), F.lit(TYPES))).alias("type"),
            F.pmod(F.xxhash64("id", F.lit(1)), F.lit(keys)).alias("k"),
            (F.pmod(F.xxhash64("id", F.lit(2)), F.lit(10_000)) / 100).alias("price"),
            F.pmod(F.xxhash64("id", F.lit(3)), F.lit(500)).alias("volume"),
            F.timestamp_millis("id").alias("ts"),
        )
        events.write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def floor(events: DataFrame, columns: list[str]) -> DataFrame:
    return events.select(*columns).repartition("k").sortWithinPartitions("k", "ts", *columns)


def jobs(events: DataFrame, keys: int) -> Iterator[tuple[str, Callable[[], DataFrame]]]:
    window = f"{max(1, EVENTS_IN_WINDOW * keys)} milliseconds"
    yield "floor", lambda: floor(events, ["id", "type", "k", "price", "ts"])
    for name, text in PATTERNS.items():
        query = cereus.compile(text.format(window=window), stream=STREAM)

        def match(query: cereus.Query = query, **options: object) -> DataFrame:
            return cs.match(events, query, columns=["id", "price"], **options)  # type: ignore[arg-type]

        yield f"{name}, match", lambda match=match: match(push_down=False)
        yield f"{name}, pushed", match
        if keys == 1:
            length = f"{EVENTS_IN_WINDOW * 50} milliseconds"
            yield f"{name}, sliced", lambda match=match, at=length: match(split=at)


def seconds(job: Callable[[], DataFrame]) -> float:
    begin = time.perf_counter()
    job().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, nargs="+", default=[1, 100, 100_000])
    parser.add_argument("--repeat", type=int, default=2, help="the fastest run counts")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--data", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    spark = cs.session(options.master, "cereus-bench")
    print(
        f"{'keys':>8}  {'job':<20} {'seconds':>8} {'events/s':>12} {'of floor':>9} {'matches':>10}"
    )
    for keys in options.keys:
        events = generated(spark, options.rows, keys, options.data)
        base = 0.0
        for name, job in jobs(events, keys):
            took = min(seconds(job) for _ in range(options.repeat))
            base = base or took
            found = "" if name == "floor" else f"{job().count():,}"
            print(
                f"{keys:>8}  {name:<20} {took:>8.2f} {options.rows / took:>12,.0f}"
                f" {took / base:>9.2f} {found:>10}",
                flush=True,
            )
    spark.stop()


if __name__ == "__main__":
    main()
