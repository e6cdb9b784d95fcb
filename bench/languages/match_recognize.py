"""How fast MATCH_RECOGNIZE runs, from Arrow to Arrow: `python -m bench.languages.match_recognize
[ROWS]`.

It measures CPU time on one core, the best of several runs, over the stock stream and over generated
rows. The generated rows have 1, 100 and 100,000 partitions, and come in bursts of ten, one by one
(random keys), or sorted by key. Beside each figure it prints the time of the conditions alone in
the same run, because a slow moment of the machine affects both. `A+ B` without any B shows that the
cost is linear: ten times the rows may take eleven times as long, and read ten times as many rows.
Other engines are in `bench.comparing.row_patterns_elsewhere`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection

import numpy as np
import pyarrow as pa

import cereus
from bench.data import stocks
from cereus.languages.match_recognize.match.letters import letters
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.query import MatchRecognizeQuery

PARTITIONS = (1, 100, 100_000)
CLAUSES = {
    "V-shape": """
        MEASURES FIRST(ts) AS opened, LAST(down.ts) AS bottom, LAST(ts) AS closed
        PATTERN (strt down+ up+)
        DEFINE down AS price < PREV(price), up AS price > PREV(price)""",
    "V-shape with min": """
        MEASURES FIRST(ts) AS opened, min(down.price) AS bottom, LAST(ts) AS closed
        PATTERN (strt down+ up+)
        DEFINE down AS price < PREV(price), up AS price > PREV(price)""",
    "sessions": """
        MEASURES FIRST(ts) AS opened, LAST(ts) AS closed, count(*) AS n
        PATTERN (a b*) DEFINE b AS ts <= PREV(ts) + INTERVAL '1' MINUTE""",
    "runs": """
        MEASURES FIRST(ts) AS opened, FIRST(status) AS status, count(*) AS n
        PATTERN (a b*) DEFINE b AS status = PREV(status)""",
    "A+ B, no B": """
        MEASURES count(*) AS n PATTERN (a+ b) DEFINE a AS price > 0, b AS price < 0""",
    "window from the first row (slots)": """
        MEASURES FIRST(bad.ts) AS opened, count(bad.*) AS tries
        PATTERN (bad{3,} good)
        DEFINE bad AS status = 0 AND ts <= FIRST(bad.ts) + INTERVAL '1' HOUR,
               good AS status = 1""",
    "window, long stretches (slots)": """
        MEASURES FIRST(bad.ts) AS opened, count(bad.*) AS tries
        PATTERN (bad{5,} good)
        DEFINE bad AS price > 0.01 AND ts <= FIRST(bad.ts) + INTERVAL '1' HOUR,
               good AS price <= 0.01 AND ts <= FIRST(bad.ts) + INTERVAL '1' HOUR""",
    "bins (aggregates)": """
        MEASURES count(*) AS n, sum(size) AS total
        PATTERN (a+) DEFINE a AS sum(a.size) <= 100""",
}

OF_ROWS = ("V-shape", "V-shape with min", "sessions", "runs")
"""Clauses whose conditions are about rows at a constant distance."""


def rows(count: int, partitions: int, burst: int = 10) -> pa.Table:
    """Rows in the order of time; a partition's rows come in bursts of so many."""
    random = np.random.default_rng(7)
    keys = random.integers(0, partitions, count // burst + 1).repeat(burst)[:count]
    return pa.table(
        {
            "sym": keys.astype(np.int32),
            "ts": pa.array(np.cumsum(random.integers(0, 2_000_000, count)), pa.timestamp("us")),
            "price": random.uniform(0, 100, count).round(2),
            "status": (random.random(count) < 0.25).astype(np.int32),
            "size": random.integers(1, 30, count),
        }
    )


RUNS = 5


def seconds(work: Callable[[], int]) -> tuple[float, int]:
    """CPU seconds of the fastest run, and what it gave."""
    best, found = float("inf"), 0
    for _ in range(RUNS):
        begin = time.process_time()
        found = work()
        best = min(best, time.process_time() - begin)
    return best, found


def rows_of(query: cereus.Query, table: pa.Table) -> int:
    return sum(batch.num_rows for batch in query.batches(table))


def conditions(query: cereus.Query, table: pa.Table) -> int:
    """The truth of every condition on every row, and nothing else."""
    compiled = query.compiled
    assert isinstance(compiled, MatchRecognizeQuery)
    bound = compiled.bound(table.schema)
    rows = SortedRows(table, bound.partition, bound.order)
    return sum(len(letters(bound, piece).numbers) for piece in rows.pieces())


STOCKS = """
    MATCH_RECOGNIZE (
      PARTITION BY name ORDER BY stock_time
      MEASURES FIRST(stock_time) AS opened, LAST(down.price) AS bottom, LAST(price) AS closed
      PATTERN (strt down+ up+)
      DEFINE down AS price < PREV(price), up AS price > PREV(price)
    )
"""


def shown(name: str, query: cereus.Query, table: pa.Table, small: pa.Table | None = None) -> None:
    taken, found = seconds(lambda: rows_of(query, table))
    alone, _ = seconds(lambda: conditions(query, table))
    line = f"    {table.num_rows / taken / 1e6:6.1f}  {name:34} {found:>9,} out"
    line += f", conditions alone {table.num_rows / alone / 1e6:6.1f}"
    if small is not None:
        tenth, _ = seconds(lambda: rows_of(query, small))
        line += f", {taken / tenth:4.1f} × a tenth"
    print(line, flush=True)


def measure_stocks() -> None:
    table, which = stocks()
    query = cereus.compile(STOCKS, dialect="match_recognize", schema=table.schema)
    shown(f"V-shape per symbol, {which}", query, table)


def measure(table: pa.Table, small: pa.Table, names: Collection[str]) -> None:
    for name in names:
        clause = f"MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts {CLAUSES[name]})"
        query = cereus.compile(clause, dialect="match_recognize", schema=table.schema)
        shown(name, query, table, small)


def main(count: int = 10_000_000) -> None:
    pa.set_cpu_count(1)
    print(f"{count:,} rows, million rows/s on one core:")
    measure_stocks()
    for partitions in PARTITIONS:
        print(f"  {partitions:,} partitions")
        measure(rows(count, partitions), rows(count // 10, partitions), CLAUSES)
    print(f"  {PARTITIONS[-1]:,} partitions, random keys")
    table, small = (rows(size, PARTITIONS[-1], burst=1) for size in (count, count // 10))
    measure(table, small, OF_ROWS)
    print(f"  {PARTITIONS[-1]:,} partitions, sorted by key")
    table, small = (
        each.sort_by([("sym", "ascending"), ("ts", "ascending")]) for each in (table, small)
    )
    measure(table, small, OF_ROWS)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
