"""A thousand rules on Spark: together, and one by one; in batch and live.

    python -m bench.spark.rules batch
    python -m bench.spark.rules live

The rules are those of `bench.spark.live --rules`: ten shapes, which differ in the types of their
events, with thresholds that few events pass. Together they are one `match` of history, or one
`match_rules` of a stream. One by one, each is a job or a live query of its own: one rule of each
shape runs alone (--sample), and the time is scaled to all rules. CPU seconds are those of the JVM
without its compiler, of the Python workers, and of this process.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cereus
from bench.spark.batch import EVENTS_IN_WINDOW
from bench.spark.live import SCHEMA, _rule, generated, matches_of_rules, measured
from bench.spark.processes import Processes
from cereus import spark as cs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STREAM = cereus.Stream(time="ts", keys=["k"])
PROCESSES = Processes()


def queries(number: int, window: str) -> dict[str, cereus.Query]:
    texts = {f"rule {n}": _rule(n, window) for n in range(number)}
    return cereus.compile_many(texts, stream=STREAM).queries


def cpu(work: Callable[[], int]) -> tuple[float, int]:
    """CPU seconds of Spark and of this process, and how many matches there are."""
    before, here = PROCESSES.cpu(), time.process_time()
    matches = work()
    return PROCESSES.cpu().since(before).both + time.process_time() - here, matches


def of_history(events: DataFrame, rules: Mapping[str, cereus.Query]) -> int:
    return cs.match(events, rules, columns=["id"]).count()


def batch(spark: SparkSession, folder: Path, rules: dict[str, cereus.Query], sample: int) -> None:
    events = spark.read.schema(SCHEMA).parquet(str(folder))
    some = dict(list(rules.items())[:sample])
    of_history(events, some)  # the first job pays for the JVM's own compiler
    together, matches = min(cpu(lambda: of_history(events, rules)) for _ in range(2))
    alone = [
        min(cpu(partial(of_history, events, {name: query})) for _ in range(2))
        for name, query in some.items()
    ]
    report(len(rules), together, sum(spent for spent, _ in alone), sample)
    print(f"{matches:,} matches together; {sum(n for _, n in alone):,} of the sample")


def live(folder: Path, rules: dict[str, cereus.Query], window: str, sample: int, warm: int) -> None:
    def alone(query: cereus.Query) -> Callable[[DataFrame], DataFrame]:
        return lambda events: cs.match(events, query, watermark="2 seconds")

    some = list(rules.values())[:sample]
    stream(folder, alone(some[0]), warm)  # the JVM's own compiler
    every = partial(matches_of_rules, window=window, buckets=None, number=len(rules))
    together = stream(folder, every, warm)
    report(len(rules), together, sum(stream(folder, alone(each), warm) for each in some), sample)


def stream(folder: Path, job: Callable[[DataFrame], DataFrame], warm: int) -> float:
    """CPU seconds of a micro-batch, after some that do not count."""
    where = Path(tempfile.mkdtemp(prefix="cereus-rules-"))
    try:
        found = measured(folder, where, job, warm, 2, float("inf"))
    finally:
        shutil.rmtree(where)
    spent = found.cpu.both / len(found.counted)
    print(f"  {spent:.3f} CPU s a micro-batch, {found.observed('matches'):,} matches", flush=True)
    return spent


def report(number: int, together: float, sampled: float, sample: int) -> None:
    scaled = sampled * number / sample
    print(f"{number:,} rules together {together:.2f} CPU s; {sample} one by one {sampled:.2f},")
    print(f"which is {scaled:.1f} for all of them: {scaled / together:.1f} times", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("mode", choices=["batch", "live"])
    parser.add_argument("--rules", type=int, default=1000)
    parser.add_argument("--sample", type=int, default=10, help="rules that are run one by one")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--batch", type=int, default=250_000, help="events in a micro-batch")
    parser.add_argument(
        "--warm", type=int, default=3, help="micro-batches at the start that do not count"
    )
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--data", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    spark = cs.session("local[2]", "cereus-bench")
    folder = generated(options.data, options.rows, options.keys, options.batch, 2)
    window = f"{EVENTS_IN_WINDOW * options.keys} milliseconds"
    rules = queries(options.rules, window)
    if options.mode == "batch":
        batch(spark, folder, rules, options.sample)
    else:
        live(folder, rules, window, options.sample, options.warm)
    spark.stop()


if __name__ == "__main__":
    main()
