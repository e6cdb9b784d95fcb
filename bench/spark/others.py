"""Spark batch, compared with what people write instead, as multiples of the floor, in one run.

    python -m bench.spark.others --rows 20000000 --keys 1 100 100000

The query finds all pairs of an event of one kind, and a later event of another kind with the same
key within a window.

    floor          read, shuffle by key, sort, count
    cereus         `cs.match` with its defaults
    self-join      a join on the key and a range of times
    window         a list of the earlier events in a range window of SQL, exploded
    applyInPandas  a loop over the events of a key, written by hand
    Flink SQL      a join over a CSV file in batch mode
    Flink interval an interval join in streaming mode
    Flink CEP      `followedByAny` within the window, in Java, over the same file

Flink runs in an environment that is made for it; if it cannot be made, the row says why.
MATCH_RECOGNIZE of Flink finds one pair for each beginning, not all, so it is not here. A run of
Flink starts a JVM, and its seconds are those of the whole JVM. For Spark, the time of the JVM
compiler is left out.

All methods must find the same number of pairs, or the run stops. `uniform` keys have equally many
events. With `skewed` keys, one key has 90 % of the events. A job that takes more than --limit CPU
seconds is stopped, and the row says so. --without leaves jobs out.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as ds

import cereus
from bench.comparing.environments import Missing, answer, python_of
from bench.spark.batch import EVENTS_IN_WINDOW, STREAM, Cost, best, cost, floor, generated
from cereus import spark as cs

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame

    from bench.spark.batch import Job

TEXT = """
    SELECT * WHERE (T1 AS a ; T2 AS b) FILTER a[price > 80] AND b[price < 20]
    PARTITION BY k WITHIN {window} milliseconds
"""
WARM_UP = 100_000
PAIR = "k long, first long, second long"
FLINK = {"Flink SQL": "join", "Flink interval": "interval", "Flink CEP": "cep"}
"""What runs on Flink, and its mode in `other_engines/flink_pairs.py`."""
SPREADS = ("uniform", SKEWED := "skewed")
"""How events are spread over the keys: as many for each, or nine in ten for one."""


def jobs(events: DataFrame, window: int) -> Iterator[tuple[str, Job]]:
    query = cereus.compile(TEXT.format(window=window), stream=STREAM)
    yield "floor", partial(floor, events, ["id", "type", "k", "price", "ts"])
    yield "cereus", partial(cs.match, events, query, columns=["id"])
    yield "self-join", partial(joined, events, window)
    yield "window", partial(windowed, events, window)
    yield "applyInPandas", partial(looped, events, window)


def _kinds() -> tuple[Column, Column]:
    from pyspark.sql import functions as F  # noqa: N812

    first = (F.col("type") == "T1") & (F.col("price") > 80)
    return first, (F.col("type") == "T2") & (F.col("price") < 20)


def joined(events: DataFrame, window: int) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    is_first, is_second = _kinds()
    first = events.filter(is_first).select("k", F.col("id").alias("first"), "ts").alias("a")
    second = events.filter(is_second).select("k", F.col("id").alias("second"), "ts").alias("b")
    later = F.col("b.ts") > F.col("a.ts")
    near = F.col("b.ts") <= F.col("a.ts") + F.make_dt_interval(secs=F.lit(window / 1000))
    pairs = first.join(second, (F.col("a.k") == F.col("b.k")) & later & near)
    return pairs.select("a.k", "first", "second")


def windowed(events: DataFrame, window: int) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    is_first, is_second = _kinds()
    before = Window.partitionBy("k").orderBy("millis").rangeBetween(-window, -1)
    some = events.filter(is_first | is_second).withColumn("millis", F.unix_millis("ts"))
    firsts = F.collect_list(F.when(is_first, F.col("id"))).over(before)
    seen = some.withColumn("firsts", firsts).filter(is_second)
    return seen.select("k", F.explode("firsts").alias("first"), F.col("id").alias("second"))


def looped(events: DataFrame, window: int) -> DataFrame:
    is_first, is_second = _kinds()
    some = events.filter(is_first | is_second).select("k", "id", "type", "ts")

    def pairs(rows: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        rows = rows.sort_values("ts")
        begun: deque[tuple[int, int]] = deque()
        found: list[tuple[int, int, int]] = []
        times = rows["ts"].astype("int64") // 1_000_000
        columns = (rows["id"], rows["type"], times, rows["k"])
        for number, kind, time, key in zip(*columns, strict=True):
            while begun and time - begun[0][1] > window:
                begun.popleft()
            if kind == "T1":
                begun.append((number, time))
            else:
                found += [(key, other, number) for other, _ in begun]
        return pd.DataFrame(found, columns=["k", "first", "second"])

    return some.groupBy("k").applyInPandas(pairs, PAIR)


def on_flink(
    events: DataFrame, window: int, limit: int, modes: Mapping[str, str]
) -> dict[str, Cost | str]:
    """The CPU seconds of each; or why there are none."""
    if not modes:
        return {}
    try:
        python = python_of("apache-flink")
    except Missing as reason:
        return dict.fromkeys(modes, str(reason))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/events.csv"
        as_csv(events.inputFiles(), path)
        return {
            name: _flink([python, "flink_pairs.py", path, str(window), mode], limit)
            for name, mode in modes.items()
        }


def as_csv(files: Iterable[str], path: str) -> None:
    """Write events to a CSV file, in the order of time: that of the files, which is that of ids."""
    columns = {name: ds.field(name) for name in ("id", "type", "k", "price")}
    columns["millis"] = ds.field("ts").cast(pa.timestamp("ms")).cast(pa.int64())
    events = ds.dataset(sorted(urlsplit(file).path for file in files))
    schema = events.scanner(columns).projected_schema
    options = csv.WriteOptions(include_header=False, quoting_style="none")
    with csv.CSVWriter(path, schema, write_options=options) as writer:
        last = -1
        for batch in events.to_batches(columns=columns):
            first = batch["id"][0].as_py() if len(batch) else last + 1
            if first != last + 1:
                raise SystemExit(f"events are not in order: {first} follows {last}")
            writer.write_batch(batch)
            last += len(batch)


def _flink(command: list[str], limit: int) -> Cost | str:
    begin = perf_counter()
    try:
        found = answer(command, limit, cpu=True)
    except Missing as reason:
        return str(reason)
    if "missing" in found:
        return str(found["missing"])
    return Cost(perf_counter() - begin, found["seconds"], found["rows"])


def report(keys: str, rows: int, costs: Mapping[str, Cost]) -> None:
    base = costs["floor"]
    pairs = {took.rows for name, took in costs.items() if name != "floor"}
    if len(pairs) > 1:
        raise SystemExit(f"they do not find the same: { {n: t.rows for n, t in costs.items()} }")
    for name, took in costs.items():
        print(
            f"{keys:>18}  {name:<14} {took.cpu / rows * 1e6:>8.2f} {took.cpu / base.cpu:>9.2f}"
            f" {took.seconds / base.seconds:>9.2f} {took.rows:>11,}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--keys", type=int, nargs="+", default=[1, 100, 100_000])
    parser.add_argument(
        "--spread",
        nargs="+",
        choices=SPREADS,
        default=SPREADS,
        help="how events are spread over keys",
    )
    parser.add_argument("--repeat", type=int, default=2, help="rounds; the best of each job counts")
    parser.add_argument("--without", nargs="*", default=[], help="jobs to leave out")
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds that a job may take")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--data", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    spark = cs.session(options.master, "cereus-bench")
    print(
        f"{'keys':>18}  {'job':<14} {'CPU s/M':>8} {'of floor':>9} {'by clock':>9} {'rows out':>11}"
    )
    for name, job in jobs(generated(spark, WARM_UP, 100, options.data), 100 * EVENTS_IN_WINDOW):
        if name not in options.without:
            cost(job)  # the first job of its kind pays for the JVM's own compiler
    for keys in options.keys:
        for spread in options.spread if keys > 1 else SPREADS[:1]:
            skewed = spread == SKEWED
            events = generated(spark, options.rows, keys, options.data, skewed=skewed)
            window = EVENTS_IN_WINDOW * (1 if skewed else keys)
            chosen = {n: job for n, job in jobs(events, window) if n not in options.without}
            name = f"{keys:,} {spread}"
            costs = best(chosen, options.repeat, options.limit)
            slow = [each for each in chosen if each not in costs]
            missing = dict.fromkeys(slow, f"no answer in {options.limit} CPU s")
            modes = {each: mode for each, mode in FLINK.items() if each not in options.without}
            for each, flink in on_flink(events, window, options.limit, modes).items():
                if isinstance(flink, str):
                    missing[each] = flink
                else:
                    costs[each] = flink
            report(name, options.rows, costs)
            for each, reason in missing.items():
                print(f"{name:>18}  {each:<14} {reason}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
