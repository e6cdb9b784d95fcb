"""How long things take: CPU time of this process, the best of a few runs, as machines are shared
and noisy. What is measured here runs on one core."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

import cereus
from cereus.engine.executor import PatternExecutor
from cereus.sources import source

AT_LEAST = 0.25
"""CPU seconds for which short work is done again and again."""


def best(work: Callable[[], object], runs: int = 5) -> float:
    """CPU seconds of the fastest run."""
    fastest, spent = float("inf"), 0.0
    while runs > 0 or spent < AT_LEAST:
        begin = time.process_time()
        work()
        taken = time.process_time() - begin
        fastest, spent, runs = min(fastest, taken), spent + taken, runs - 1
    return fastest


@dataclass(frozen=True)
class Measured:
    """One query over one table, end to end from Arrow to Arrow, chunk by chunk."""

    matches: int
    seconds: float
    letters: float
    kernel: float

    @property
    def listing(self) -> float:
        return max(0.0, self.seconds - self.letters - self.kernel)


def measure(text: str, table: pa.Table, stream: cereus.Stream, runs: int = 5) -> Measured:
    query = cereus.compile(text, stream=stream, schema=table.schema)
    silent = cereus.compile(f"{text} LIMIT 0", stream=stream, schema=table.schema)
    matches = sum(batch.num_rows for batch in query.batches(table))
    seconds = best(lambda: [None for _ in query.batches(table)], runs)
    letters = best(lambda: _letters(query, table), runs)
    without = best(lambda: [None for _ in silent.batches(table)], runs)
    return Measured(matches, seconds, letters, max(0.0, without - letters))


def _letters(query: cereus.Query, table: pa.Table) -> None:
    """Only reading the batches: their columns, and the tests."""
    executor = query.executor(table.schema)
    assert isinstance(executor, PatternExecutor)
    for batch in source(table, query.stream).batches(query.columns(table.schema)):
        executor.runner.reader.read(batch)


def row(name: str, found: Measured, events: int) -> str:
    share = [found.letters, found.kernel, found.listing]
    parts = " ".join(f"{100 * part / found.seconds:5.0f}%" for part in share)
    rate = found.matches / found.seconds / 1e6
    return (
        f"{name:28} {events / found.seconds / 1e6:8.1f} M events/s {found.matches:>12,} matches "
        f"{rate:7.1f} M/s   {parts}"
    )


HEADER = f"{'':28} {'':8}            {'':>12}         {'':7}       letters kernel listing"
