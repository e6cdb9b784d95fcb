"""What `why` costs, compared with the run that it explains: `python -m bench why`, or `python -m
bench.kinds.why WORD …` for the queries whose names contain one of the words. Target: at most 5
runs. On a short stream a run is mostly set-up, so it also says which take more than 50
milliseconds.

Figures are CPU time of one process with all its threads, the best of a few runs that take turns. A
query keeps its plans from one run to the next, and so does `why`. The time of the first run of
both, which includes compiling, is printed beside it.

--events 1000 takes only the stream of so many events. --instructions FOLDER counts instructions
(`bench.comparing.instructions`), in millions instead of milliseconds, on all but the longest
stream.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

import cereus
from bench.comparing.instructions import ALIKE, Counter, counting_python
from bench.data import stocks
from bench.kinds.why_queries import ASKED, Asked
from cereus.bench.measuring import best_of_each
from cereus.demo import stock_stream

TARGET, QUICK = 5.0, 0.05
RUNS = 7
GENERATED = (1_000, 10_000, 1_000_000)
MOST_COUNTED = 300_000
"""The most events of a stream on which instructions are counted: that is 50 times as slow."""
Costs = tuple[float, float, float | None]
"""Of a run, of `why`, and how many first runs the first `why` takes."""


def compiled(asked: Asked, schema: pa.Schema) -> cereus.Query:
    kind = None if asked.dialect == "match_recognize" else "type"
    stream = cereus.Stream(type=kind, time="stock_time", unit="ms", keys=asked.keys)
    if asked.dialect == "algebra":  # whose ticks have one event of a kind: every event is a tick
        stream = cereus.Stream(type=kind, keys=asked.keys)
    return cereus.compile(asked.text, dialect=asked.dialect, stream=stream, schema=schema)


def run(query: cereus.Query, table: pa.Table) -> None:
    deque(query.batches(table, threads=1), maxlen=0)


def timed(asked: Asked, table: pa.Table) -> Costs:
    """In milliseconds of CPU time."""
    query = compiled(asked, table.schema)
    fastest = best_of_each(
        {
            "first run": lambda: run(compiled(asked, table.schema), table),
            "first why": lambda: compiled(asked, table.schema).why(table),
            "run": lambda: run(query, table),
            "why": lambda: query.why(table),
        },
        RUNS,
    )
    first = fastest["first why"] / fastest["first run"]
    return 1e3 * fastest["run"], 1e3 * fastest["why"], first


def counted(counter: Counter) -> Callable[[Asked, pa.Table], Costs]:
    """In millions of instructions."""

    def measured(asked: Asked, table: pa.Table) -> Costs:
        query = compiled(asked, table.schema)
        run(query, table)
        query.why(table)
        ran = counter.of(lambda: run(query, table))
        return ran / 1e6, counter.of(lambda: query.why(table)) / 1e6, None

    return measured


def tables() -> Iterator[tuple[str, pa.Table]]:
    yield "stock events", stocks()[0]
    for size in GENERATED:
        yield "generated events", stock_stream(size)


def report(title: str, table: pa.Table, chosen: list[Asked], counter: Counter | None) -> None:
    measured, unit = (counted(counter), "M") if counter else (timed, "ms")
    print(f"{table.num_rows:,} {title}")
    above, slow = [], []
    for asked in chosen:
        ran, took, first = measured(asked, table)
        if took > TARGET * ran:
            above.append(asked.name)
            slow += [asked.name] if took > 1e3 * QUICK else []
        beside = "" if first is None else f"   the first {first:5.1f}"
        print(
            f"  {asked.name:34} {ran:9.1f} {unit}   why {took:9.1f} {unit}   "
            f"{took / ran:6.1f} runs{beside}",
            flush=True,
        )
    print(f"  {len(above)} of {len(chosen)} above {TARGET:g} runs: {', '.join(above) or 'none'}")
    if counter is None:
        print(f"  {len(slow)} of these above {1e3 * QUICK:g} ms: {', '.join(slow) or 'none'}")


def under_valgrind(folder: Path, arguments: list[str]) -> int:
    command, _ = counting_python(folder)
    counting = [*command, "-m", "bench.kinds.why", *arguments, "--counting", str(folder)]
    return subprocess.run(counting, env=os.environ | ALIKE, check=False).returncode


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What `why` costs, in runs of the query.")
    parser.add_argument("words", nargs="*", help="queries whose names contain one of these")
    parser.add_argument("--events", type=int, help="only the stream of so many events")
    parser.add_argument("--instructions", type=Path, metavar="FOLDER", help="count, not time")
    parser.add_argument("--counting", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments or [])
    if options.instructions:
        rest = [*options.words, *(["--events", str(options.events)] if options.events else [])]
        raise SystemExit(under_valgrind(options.instructions.resolve(), rest))
    counter = Counter(options.counting) if options.counting else None
    chosen = [
        each
        for each in ASKED
        if not options.words or any(word in each.name for word in options.words)
    ]
    for title, table in tables():
        if options.events in (None, table.num_rows) and (
            counter is None or table.num_rows <= MOST_COUNTED
        ):
            report(title, table, chosen, counter)


if __name__ == "__main__":
    main(sys.argv[1:])
