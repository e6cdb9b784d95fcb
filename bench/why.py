"""What `why` costs, compared with the run that it explains: `python -m bench why`, or `python -m
bench.why WORD …` for the queries whose names contain one of the words. Target: at most 5 runs. On a
short stream a run is mostly set-up, so it also says which take more than 50 milliseconds.

Figures are CPU time of one process with all its threads, the best of a few runs. A query keeps its
plans from one run to the next, and so does `why`. The time of the first run of both, which includes
compiling, is printed beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa

import cereus
from bench.data import stocks
from bench.timing import best
from bench.why_queries import ASKED, Asked
from cereus.demo import stock_stream

TARGET, QUICK = 5.0, 0.05
RUNS = 7
GENERATED = (1_000, 10_000, 1_000_000)


def compiled(asked: Asked, schema: pa.Schema) -> cereus.Query:
    kind = None if asked.dialect == "match_recognize" else "type"
    stream = cereus.Stream(type=kind, time="stock_time", unit="ms", keys=asked.keys)
    if asked.dialect == "algebra":  # whose ticks have one event of a kind: every event is a tick
        stream = cereus.Stream(type=kind, keys=asked.keys)
    return cereus.compile(asked.text, dialect=asked.dialect, stream=stream, schema=schema)


def measured(asked: Asked, table: pa.Table) -> tuple[float, float, float, int | float]:
    """CPU seconds of a run and of `why`, what the first `why` takes in first runs, and how many
    matches there are."""

    def run(query: cereus.Query) -> None:
        for _ in query.batches(table, threads=1):
            pass

    query = compiled(asked, table.schema)
    first = best(lambda: compiled(asked, table.schema).why(table), RUNS) / best(
        lambda: run(compiled(asked, table.schema)), RUNS
    )
    answer = query.why(table)
    ran = best(lambda: run(query), RUNS)
    return ran, best(lambda: query.why(table), RUNS), first, answer.matches


def tables() -> Iterator[tuple[str, pa.Table]]:
    yield "stock events", stocks()[0]
    for size in GENERATED:
        yield "generated events", stock_stream(size)


def main(words: tuple[str, ...] = ()) -> None:
    chosen = [each for each in ASKED if not words or any(word in each.name for word in words)]
    for title, table in tables():
        print(f"{table.num_rows:,} {title}")
        above, slow = [], []
        for asked in chosen:
            ran, took, first, matches = measured(asked, table)
            if took > TARGET * ran:
                above.append(asked.name)
                slow += [asked.name] if took > QUICK else []
            print(
                f"  {asked.name:34} {1e3 * ran:9.1f} ms   why {1e3 * took:9.1f} ms   "
                f"{took / ran:6.1f} runs   the first {first:5.1f}   {matches:>8,} matches",
                flush=True,
            )
        print(
            f"  {len(above)} of {len(chosen)} above {TARGET:g} runs: {', '.join(above) or 'none'}\n"
            f"  {len(slow)} of these above {1e3 * QUICK:g} ms: {', '.join(slow) or 'none'}"
        )


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
