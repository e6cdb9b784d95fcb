"""One thread against several: `python -m bench threads`, or `python -m bench.threads 4 WORD …` for
so many threads and the queries whose names have one of the words.

The stock stream comes many times over, one after the other, so that runs take longer than 50 ms.
Beside the wall clock there is what each thread had to compute: on a machine that is busy with other
things, the longest of these says what a quiet one would take (`ideal`). Target with two: 1.7 times.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import cereus
from bench.data import STREAM, stocks
from bench.stocks import partitioned, sequence
from cereus.engine.parallel import workers
from cereus.engine.parallel.run import ParallelRun
from cereus.sources import source

TIMES_OVER = 8
ROUNDS = 3
KEYED = cereus.Stream(type="type", time="stock_time", unit="ms", keys="name")
PATTERNS = {
    "3 names, 10 s": sequence(3, "10 seconds"),
    "6 names, 2 s": sequence(6, "2 seconds"),
    "3 names with +, 1 s": sequence(3, "1 second", plus=True),
    "partitioned by name, 10 s": partitioned("10 seconds"),
    "partitioned, no window": partitioned("10 seconds").replace("WITHIN 10 seconds", "LIMIT 1"),
    "partitioned, 50 events": partitioned("50 events"),
    "equality, 5 s": "SELECT * WHERE SELL AS a ; BUY AS b FILTER a.volume = b.volume AND "
    "a[volume > 900] WITHIN 5 seconds",
    "NEXT, 10 s": sequence(3, "10 seconds").replace("SELECT *", "SELECT NEXT *"),
    "COUNT(*) per name, 2 s": "SELECT COUNT(*) WHERE SELL ; BUY+ ; SELL PARTITION BY name "
    "WITHIN 2 seconds",
}
OTHERS = {
    "SASE+, per name": ("sase", "PATTERN SEQ(SELL a, BUY b) WHERE [name] AND a.volume > 4000 AND "
                        "b.price > a.price WITHIN 10 seconds"),
    "PAR, per name": ("par", "repeat (SELL ; BUY[X])"),
}  # fmt: skip


class Cost(NamedTuple):
    """Seconds by the clock, of all threads together, and of main thread and longest worker."""

    wall: float
    cpu: float
    ideal: float


class _Timed(workers.Workers):
    """Workers that note how long each thread has computed."""

    spent: dict[int, float] = {}  # noqa: RUF012

    def _work(self, work, arguments):  # type: ignore[no-untyped-def]
        begun = time.thread_time()
        try:
            return super()._work(work, arguments)
        finally:
            here = threading.get_ident()
            self.spent[here] = self.spent.get(here, 0.0) + time.thread_time() - begun


def long_stream(times_over: int) -> pa.Table:
    """The stock stream again and again, each time later than before."""
    events, _ = stocks()
    times = events.column("stock_time").to_numpy()
    span = int(times.max() - times.min()) + 60_000
    later = [
        events.set_column(
            events.schema.get_field_index("stock_time"),
            "stock_time",
            pa.array(times + n * span, events.schema.field("stock_time").type),
        )
        for n in range(times_over)
    ]
    return pa.concat_tables(later).combine_chunks()


def cost(query: cereus.Query, table: pa.Table, threads: int) -> tuple[Cost, ParallelRun, int]:
    """The least of some rounds."""
    costs = []
    for _ in range(ROUNDS):
        _Timed.spent = {}
        run = query._start(source(table, query.stream), None, threads)
        wall, cpu, main = time.perf_counter(), time.process_time(), time.thread_time()
        kept = list(run.batches())
        main = time.thread_time() - main
        rows = sum(batch.num_rows for batch in kept)
        longest = max(_Timed.spent.values(), default=0.0)
        costs.append(Cost(time.perf_counter() - wall, time.process_time() - cpu, main + longest))
    return Cost(*np.min(np.array(costs), axis=0)), run, rows


def main(threads: int = 2, words: tuple[str, ...] = ()) -> None:
    from cereus.engine.parallel import run as parallel

    parallel.Workers = _Timed  # type: ignore[misc]
    table = long_stream(TIMES_OVER)
    cases = {name: ("ceql", text, STREAM) for name, text in PATTERNS.items()}
    cases |= {name: (kind, text, KEYED if kind == "par" else STREAM)
              for name, (kind, text) in OTHERS.items()}  # fmt: skip
    print(f"{table.num_rows:,} events, one thread and {threads}; CPU is that of all threads")
    print(f"{'':28}{'matches':>12}{'1: ms':>8}{'CPU':>8}{f'{threads}: ms':>8}{'CPU':>8}"
          f"{'ideal':>8}{'wall ×':>8}{'ideal ×':>8}  cut by")  # fmt: skip
    for name, (kind, text, stream) in cases.items():
        if words and not any(word in name for word in words):
            continue
        query = cereus.compile(text, dialect=kind, stream=stream, schema=table.schema)
        one, _, _ = cost(query, table, 1)
        several, run, rows = cost(query, table, threads)
        figures = (one.wall, one.cpu, several.wall, several.cpu, several.ideal)
        shown = "".join(f"{1000 * each:8.0f}" for each in figures)
        print(f"{name:28}{rows:12,}{shown}{one.wall / several.wall:8.2f}"
              f"{one.cpu / several.ideal:8.2f}  {run.how or 'nothing'}", flush=True)  # fmt: skip


if __name__ == "__main__":
    numbers = [word for word in sys.argv[1:] if word.isdecimal()]
    main(int(numbers[0]) if numbers else 2, tuple(w for w in sys.argv[1:] if not w.isdecimal()))
