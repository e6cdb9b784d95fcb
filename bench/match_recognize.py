"""How fast MATCH_RECOGNIZE runs, from Arrow to Arrow: `python -m bench.match_recognize [ROWS]`.

On one core, by CPU time, the best of three runs, over 1, 100 and 100,000 partitions. `A+ B` without
any B shows that the cost is linear: ten times the rows may take eleven times as long.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

import cereus

PARTITIONS = (1, 100, 100_000)
CLAUSES = {
    "V-shape": """
        MEASURES FIRST(ts) AS opened, LAST(down.ts) AS bottom, LAST(ts) AS closed
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
    "bins (aggregates)": """
        MEASURES count(*) AS n, sum(size) AS total
        PATTERN (a+) DEFINE a AS sum(a.size) <= 100""",
}


def rows(count: int, partitions: int) -> pa.Table:
    """Rows in the order of time; a partition's rows come in bursts of about ten."""
    random = np.random.default_rng(7)
    burst = random.integers(0, partitions, count // 10 + 1).repeat(10)[:count]
    return pa.table(
        {
            "sym": burst.astype(np.int32),
            "ts": pa.array(np.cumsum(random.integers(0, 2_000_000, count)), pa.timestamp("us")),
            "price": random.uniform(0, 100, count).round(2),
            "status": (random.random(count) < 0.25).astype(np.int32),
            "size": random.integers(1, 30, count),
        }
    )


def seconds(query: cereus.Query, table: pa.Table) -> tuple[float, int]:
    best, found = float("inf"), 0
    for _ in range(3):
        begin = time.process_time()
        found = sum(batch.num_rows for batch in query.batches(table))
        best = min(best, time.process_time() - begin)
    return best, found


def main(count: int) -> None:
    pa.set_cpu_count(1)
    print(f"{count:,} rows, million rows/s on one core:")
    for partitions in PARTITIONS:
        table, small = rows(count, partitions), rows(count // 10, partitions)
        print(f"  {partitions:,} partitions")
        for name, text in CLAUSES.items():
            clause = f"MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts {text})"
            query = cereus.compile(clause, dialect="match_recognize", schema=table.schema)
            taken, found = seconds(query, table)
            tenth, _ = seconds(query, small)
            rate = count / taken / 1e6
            print(f"    {rate:6.1f}  {name:34} {found:>9,} out, {taken / tenth:4.1f} × a tenth")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
