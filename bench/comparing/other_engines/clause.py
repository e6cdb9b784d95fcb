"""The question, as a clause and as the SQL that people write by hand, and the clock.

Time is CPU time, of this process and of those that it started (a JVM, workers), as machines are
shared. Nothing but Python's own modules is needed here: other environments import it too.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

AT_LEAST = 0.5
"""Seconds of a run: the clock of processes has steps of a hundredth."""
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
    """Print how many rows there are, and the seconds of the fastest run, as JSON. Short work is
    done again and again in one run."""
    fastest, rows = float("inf"), 0
    for _ in range(runs):
        begin, times, spent = cpu_seconds(), 0, 0.0
        while spent < AT_LEAST:
            rows, times = work(), times + 1
            spent = cpu_seconds() - begin
        fastest = min(fastest, spent / times)
    print(json.dumps({"rows": rows, "seconds": fastest}))


def cpu_seconds() -> float:
    """CPU seconds so far; where there is no /proc, seconds."""
    if not Path("/proc/self/stat").exists():
        return time.perf_counter()
    return sum(_spent(pid) for pid in _family(os.getpid()))


def _family(parent: int) -> Iterator[int]:
    """A process, and all that it started and that are still there."""
    yield parent
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from _family(int(child))


def _spent(pid: int) -> float:
    """Of a process itself and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended in the meantime
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def missing(reason: str) -> None:
    """Print why there is no answer."""
    print(json.dumps({"missing": reason}))
