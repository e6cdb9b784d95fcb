"""Spark batch with rows that do not fit into memory: sorted by key, and by time alone.

    python -m bench.spark.memory --rows 4000000 --keys 100000

Java gets so little memory (--heap) that Spark sorts on disk. Each order runs in a process of its
own. Peak memory is the most that a Python worker has held; CPU seconds are those of the JVM without
its compiler, and of the Python workers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cereus
from bench.spark.batch import EVENTS_IN_WINDOW, PATTERNS, STREAM, cost, generated
from bench.spark.processes import below
from cereus import spark as cs
from cereus.spark.batch.pattern import Batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = {"by key": False, "by time": True}
TASKS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--heap", default="600m", help="the memory of Java")
    parser.add_argument("--data", type=Path, default=Path("build/bench"))
    parser.add_argument("--order", choices=ORDERS, help="only this one, as JSON")
    options = parser.parse_args()
    if options.order is not None:
        print(json.dumps(measured(options)))
        return
    print(f"{options.rows:,} rows of {options.keys:,} keys, a heap of {options.heap}")
    for order in ORDERS:
        alone = [sys.executable, "-m", "bench.spark.memory", *sys.argv[1:], "--order", order]
        answer = subprocess.run(alone, stdout=subprocess.PIPE, text=True, check=True)
        told = json.loads(answer.stdout.splitlines()[-1])
        print(f"{order:8}", ", ".join(f"{name} {value:,}" for name, value in told.items()))


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """The cost of a match in one order."""
    settings = {
        "spark.driver.memory": options.heap,
        "spark.sql.adaptive.enabled": False,
        "spark.sql.shuffle.partitions": TASKS,
        "spark.ui.enabled": True,
    }
    spark = cs.session(f"local[{TASKS}]", "cereus-bench", **settings)
    events = generated(spark, options.rows, options.keys, options.data)
    window = f"{EVENTS_IN_WINDOW * options.keys} milliseconds"
    query = cereus.compile(PATTERNS["sequence"].format(window=window), stream=STREAM)
    Batch.by_time = ORDERS[options.order]  # type: ignore[assignment,method-assign]
    spent = cost(lambda: cs.match(events, query, columns=["id", "price"], push_down=False))
    told = {
        "matches": spent.rows,
        "CPU seconds": round(spent.cpu, 1),
        "MB spilled to disk": sum(each["diskBytesSpilled"] for each in stages(spark)) // 10**6,
        "MB at most in a worker": max(peaks()) // 1000,
    }
    spark.stop()
    return told


def stages(spark: SparkSession) -> list[dict[str, Any]]:
    """What Spark's UI tells of every stage."""
    context = spark.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(address) as answer:
        found: list[dict[str, Any]] = json.load(answer)
    return found


def peaks() -> Iterator[int]:
    """The most memory in kB that each Python process below this one has held."""
    for pid, (name, _) in below().items():
        if name.startswith("python"):
            status = Path(f"/proc/{pid}/status").read_text()
            yield int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    main()
