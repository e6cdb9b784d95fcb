"""Compare one thread with several: `python -m bench threads`. `python -m bench.threads 4 WORD …`
takes 4 threads and the queries whose names contain one of the words. `--clock` is for a machine
with nothing else to do, and `--small` for short runs there.

The stock stream is repeated many times, so that runs take longer than 50 ms. Elapsed time says
little on a busy machine, so the benchmark measures the CPU time of each thread. A run with several
threads takes at most the time of the main thread and the busiest worker together, as if they never
worked at the same time (column `at least`). It takes no less than the time of all threads divided
by their number (column `at best`). The target with two threads is a speed-up of 1.7.

`--clock` measures elapsed time instead: one thread and several threads run in turns, and the best
run of each counts. Beside it stands the speed-up of two threads that share nothing, measured at the
same time: it is less than 2 if others use the machine. `--small` does this with fewer and fewer
events, down to runs in which the default must not be slower than one thread.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from typing import NamedTuple

import pyarrow as pa

import cereus
from bench.data import STREAM, stocks
from bench.kinds.queries import ALGEBRA, MATCH_RECOGNIZE, PAR, SASE, SREMO
from bench.languages.stocks import partitioned, sequence
from cereus.engine.parallel import workers
from cereus.engine.parallel.run import ParallelRun

TIMES_OVER = 16
ROUNDS = 3
CLOCK_ROUNDS = 5
SMALL_ROUNDS = 7
SMALL = (131_072, 262_144, 524_288, 1_048_576)
KEYED = cereus.Stream(type="type", time="stock_time", unit="ms", keys="name")
ROWS = cereus.Stream(time="stock_time", unit="ms")


class Case(NamedTuple):
    """A query; `counted` asks for the number of its matches."""

    name: str
    text: str
    dialect: str = "ceql"
    stream: cereus.Stream = STREAM
    counted: bool = False


SELECTIVE = "SELL AS a ; BUY AS b ; SELL AS c FILTER a[volume > 4000] AND b[volume > 4000]"
CEQL = (
    Case("3 names, 10 s", sequence(3, "10 seconds")),
    Case("6 names, 2 s", sequence(6, "2 seconds")),
    Case("3 names with +, 1 s", sequence(3, "1 second", plus=True)),
    Case("partitioned by name, 10 s", partitioned("10 seconds")),
    Case("partitioned, NEXT, no window", f"SELECT NEXT * WHERE {SELECTIVE} PARTITION BY name"),
    Case("partitioned, 50 events", partitioned("50 events")),
    Case("equality, 5 s", "SELECT * WHERE SELL AS a ; BUY AS b FILTER a.volume = b.volume AND "
         "a[volume > 900] WITHIN 5 seconds"),
    Case("NEXT, 10 s", sequence(3, "10 seconds").replace("SELECT *", "SELECT NEXT *")),
    Case("NEXT, no window", f"SELECT NEXT * WHERE {SELECTIVE}"),
    Case("window in events", sequence(3, "100 events")),
    Case("COUNT(*) per name, 2 s", "SELECT COUNT(*) WHERE SELL ; BUY+ ; SELL PARTITION BY name "
         "WITHIN 2 seconds"),
    Case("count, 10 s", sequence(3, "10 seconds"), counted=True),
    Case("count per name, no window", "SELECT * WHERE SELL ; BUY ; SELL PARTITION BY name",
         counted=True),
)  # fmt: skip


def _others() -> tuple[Case, ...]:
    plain, keyed = cereus.Stream(type="type"), cereus.Stream(type="type", keys="name")
    return (
        *(Case(each.name, each.text, "sremo") for each in SREMO[:3]),
        *(Case(each.name, each.text, "sase") for each in SASE),
        *(Case(each.name, each.text, "par") for each in PAR[:2]),
        *(Case(f"{each.name}, keyed", each.text, "par", KEYED) for each in PAR[:2]),
        *(Case(each.name, each.text, "algebra", plain) for each in ALGEBRA),
        *(Case(f"{each.name}, keyed", each.text, "algebra", keyed) for each in ALGEBRA),
        *(Case(each.name, each.text, "match_recognize", ROWS) for each in MATCH_RECOGNIZE),
    )


class Cost(NamedTuple):
    """CPU seconds of the main thread, the busiest worker and all threads; how work was shared."""

    main: float
    busiest: float
    all: float
    how: str
    rows: float


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


def cost(query: cereus.Query, table: pa.Table, threads: int, counted: bool) -> Cost:
    """What one run computes."""
    _Timed.spent, runs = {}, []
    start = cereus.Query._start

    def noted(self, *arguments):  # type: ignore[no-untyped-def]
        runs.append(start(self, *arguments))
        return runs[-1]

    cereus.Query._start = noted  # type: ignore[method-assign]
    try:
        begun = time.thread_time()
        if counted:
            rows = query.count(table, threads=threads)
        else:
            rows = sum(batch.num_rows for batch in list(query.batches(table, threads=threads)))
        main = time.thread_time() - begun
    finally:
        cereus.Query._start = start  # type: ignore[method-assign]
    run: ParallelRun = runs[-1]
    spent = list(_Timed.spent.values())
    return Cost(main, max(spent, default=0.0), main + sum(spent), run.how, rows)


def measured(case: Case, table: pa.Table, threads: int) -> tuple[Cost, Cost]:
    """With one thread, and with several: the least of some rounds, which take turns."""
    query = cereus.compile(case.text, dialect=case.dialect, stream=case.stream, schema=table.schema)
    rounds = [
        (cost(query, table, 1, case.counted), cost(query, table, threads, case.counted))
        for _ in range(ROUNDS)
    ]
    one = min((each for each, _ in rounds), key=lambda each: each.all)
    several = min((each for _, each in rounds), key=lambda each: each.main + each.busiest)
    return one, several


def watch_workers() -> None:
    """From now on it is noted how long each thread computes."""
    from cereus.engine.parallel import ahead, by_key, by_piece, by_time

    for module in (by_time, by_key, by_piece, ahead):
        module.Workers = _Timed  # type: ignore[attr-defined]


def _run(query: cereus.Query, case: Case, table: pa.Table, threads: int) -> float:
    if case.counted:
        return query.count(table, threads=threads)
    return float(sum(batch.num_rows for batch in list(query.batches(table, threads=threads))))


BYTES = bytes(1 << 23)


def machine() -> float:
    """How many times as fast two threads are here now that share nothing."""
    one, two = (min(_hashed(threads) for _ in range(CLOCK_ROUNDS)) for threads in (1, 2))
    return one / two


def _hashed(threads: int) -> float:
    """How long two pieces of work take that share nothing, one after the other or at once."""
    begun = time.perf_counter()
    if threads == 1:
        hashlib.sha256(BYTES).digest()
        hashlib.sha256(BYTES).digest()
    else:
        beside = threading.Thread(target=lambda: hashlib.sha256(BYTES).digest())
        beside.start()
        hashlib.sha256(BYTES).digest()
        beside.join()
    return time.perf_counter() - begun


class Clocked(NamedTuple):
    """The matches; seconds with one thread, and with several."""

    rows: float
    one: float
    several: float


def clocked(case: Case, table: pa.Table, threads: int, rounds: int) -> Clocked:
    """The best of rounds, in which one thread and several take turns."""
    query = cereus.compile(case.text, dialect=case.dialect, stream=case.stream, schema=table.schema)
    best, rows = {1: float("inf"), threads: float("inf")}, 0.0
    for turn in range(rounds):
        for number in (1, threads) if turn % 2 else (threads, 1):
            begun = time.perf_counter()
            rows = _run(query, case, table, number)
            best[number] = min(best[number], time.perf_counter() - begun)
    return Clocked(rows, best[1], best[threads])


def chosen(words: tuple[str, ...]) -> list[Case]:
    """The queries whose names have one of the words; all without any."""
    cases = (*CEQL, *_others())
    return [each for each in cases if not words or any(word in each.name for word in words)]


def clock(threads: int, words: tuple[str, ...]) -> None:
    """A table by the clock: runs of many events."""
    table = long_stream(TIMES_OVER)
    print(f"{table.num_rows:,} events; ms of one thread, and of {threads}, by the clock")
    print(f"{'':40}{'matches':>13}{'one':>8}{'several':>9}{'times':>8}{'machine':>9}")
    for case in chosen(words):
        rows, one, several = clocked(case, table, threads, CLOCK_ROUNDS)
        print(f"{case.name:40}{rows:13,.0f}{1e3 * one:8.1f}{1e3 * several:9.1f}"
              f"{one / several:7.2f}×{machine():8.2f}×", flush=True)  # fmt: skip


def small(threads: int, words: tuple[str, ...]) -> None:
    """A table by the clock: short runs."""
    whole = long_stream(-(-SMALL[-1] // stocks()[0].num_rows))
    print(f"ms of one thread, and how many times as fast {threads} are, by the clock")
    print(f"{'':40}" + "".join(f"{size:>18,}" for size in SMALL) + f"{'machine':>9}")
    for case in chosen(words):
        cells = []
        for size in SMALL:
            _, one, several = clocked(case, whole.slice(0, size), threads, SMALL_ROUNDS)
            cells.append(f"{1e3 * one:11.1f}{one / several:6.2f}×")
        print(f"{case.name:40}{''.join(cells)}{machine():8.2f}×", flush=True)


def main(threads: int = 2, words: tuple[str, ...] = ()) -> None:
    watch_workers()
    pa.set_cpu_count(1)  # Arrow's own threads would not be seen
    table = long_stream(TIMES_OVER)
    print(f"{table.num_rows:,} events; CPU ms of one thread, and of {threads}")
    print(f"{'':40}{'matches':>13}{'one':>7}{'main':>7}{'busiest':>9}{'all':>7}"
          f"{'at least':>10}{'at best':>9}  shared by")  # fmt: skip
    for case in chosen(words):
        one, several = measured(case, table, threads)
        least = one.all / (several.main + several.busiest)
        best = one.all / max(several.main, several.all / threads)
        print(f"{case.name:40}{one.rows:13,.0f}{1e3 * one.all:7.0f}{1e3 * several.main:7.0f}"
              f"{1e3 * several.busiest:9.0f}{1e3 * several.all:7.0f}{least:9.2f}×{best:8.2f}×  "
              f"{several.how or 'nothing'}", flush=True)  # fmt: skip


if __name__ == "__main__":
    numbers = [word for word in sys.argv[1:] if word.isdecimal()]
    named = tuple(w for w in sys.argv[1:] if not w.isdecimal() and not w.startswith("--"))
    by_clock = small if "--small" in sys.argv else clock if "--clock" in sys.argv else main
    by_clock(int(numbers[0]) if numbers else 2, named)
