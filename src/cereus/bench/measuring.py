"""The clock of benchmarks: CPU time of this process, the best of several runs that take turns.

Machines are shared and noisy. Other work on a machine slows a run down and never speeds it up, so
the fastest of several runs is the nearest to the real cost. Runs that are compared take turns, so
that both see the same machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from cereus.query import Query
from cereus.sources import source

AT_LEAST = 0.25
"""Short work is repeated for at least this many CPU seconds."""
AT_MOST = 20.0
"""No further round begins after this many CPU seconds."""


def best_of_each(works: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """CPU seconds of the fastest run of each; one round runs each of them once."""
    fastest = dict.fromkeys(works, float("inf"))
    spent = 0.0
    while (rounds > 0 and spent < AT_MOST) or spent < AT_LEAST * len(works):
        for name, work in works.items():
            begin = time.process_time()
            work()
            taken = time.process_time() - begin
            fastest[name] = min(fastest[name], taken)
            spent += taken
        rounds -= 1
    return fastest


def best(work: Callable[[], object], runs: int = 5) -> float:
    """CPU seconds of the fastest run."""
    return best_of_each({"": work}, runs)[""]


def listed(query: Query, table: pa.Table) -> int:
    """Run a query on one core, from Arrow to Arrow, chunk by chunk, and return the number of
    rows."""
    return sum(batch.num_rows for batch in query.batches(table, threads=1))


def tests_only(query: Query, table: pa.Table) -> Callable[[], None] | None:
    """The floor of a query: only reading the batches and testing their events. None if a language
    has no tests apart from its matching."""
    if not query.executor(table.schema).readers:
        return None
    columns = query.columns(table.schema)

    def work() -> None:
        readers = query.executor(table.schema).readers
        for batch in source(table, query.stream).batches(columns):
            for reader in readers:
                reader.read(batch)

    return work


def measured(name: str, query: Query, table: pa.Table, rounds: int = 5) -> dict[str, Any]:
    """One query over one table, as a row of a page of results."""
    matches = listed(query, table)
    works: dict[str, Callable[[], object]] = {"run": lambda: listed(query, table)}
    floor = tests_only(query, table)
    if floor is not None:
        works["floor"] = floor
    seconds = best_of_each(works, rounds)
    return {
        "query": name,
        "language": query.dialect,
        "events": table.num_rows,
        "matches": matches,
        "CPU ms": seconds["run"] * 1000,
        "M events/s": table.num_rows / seconds["run"] / 1e6,
        "× floor": seconds["run"] / seconds["floor"] if "floor" in seconds else None,
    }
