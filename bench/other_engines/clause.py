"""The question, as a clause and as the SQL that people write by hand, and the clock."""

import json
import time
from collections.abc import Callable

CLAUSE = """
    MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(ts) AS opened, LAST(down.ts) AS bottom, LAST(ts) AS closed
      AFTER MATCH SKIP TO LAST up
      PATTERN (strt down+ up)
      DEFINE down AS price < PREV(price), up AS price > PREV(price)
    )
"""
BY_HAND = """
    WITH moved AS (
      SELECT *, lag(price) OVER w AS before, lead(price) OVER w AS behind, lead(ts) OVER w AS later
      FROM trades WINDOW w AS (PARTITION BY sym ORDER BY ts)
    ), falls AS (
      SELECT *, sum(CASE WHEN price < before THEN 0 ELSE 1 END) OVER (
        PARTITION BY sym ORDER BY ts ROWS UNBOUNDED PRECEDING) AS fall
      FROM moved
    )
    SELECT sym, min(ts) AS opened, max(ts) AS bottom, max_by(later, ts) AS closed
    FROM falls GROUP BY sym, fall
    HAVING count(*) > 1 AND max_by(behind, ts) > max_by(price, ts)
"""


def timed(work: Callable[[], int], runs: int = 3) -> None:
    """Print how many rows there are, and the seconds of the fastest run, as JSON."""
    fastest, rows = float("inf"), 0
    for _ in range(runs):
        begin = time.perf_counter()
        rows = work()
        fastest = min(fastest, time.perf_counter() - begin)
    print(json.dumps({"rows": rows, "seconds": fastest}))


def missing(reason: str) -> None:
    """Print why there is no answer."""
    print(json.dumps({"missing": reason}))
