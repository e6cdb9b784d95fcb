"""How long the parts of a run take, on one core: reading and testing, the kernel, listing."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

import cereus
from cereus.bench.measuring import best, tests_only


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
    reading = tests_only(query, table)
    assert reading is not None
    letters = best(reading, runs)
    without = best(lambda: [None for _ in silent.batches(table)], runs)
    return Measured(matches, seconds, letters, max(0.0, without - letters))


def row(name: str, found: Measured, events: int) -> str:
    share = [found.letters, found.kernel, found.listing]
    parts = " ".join(f"{100 * part / found.seconds:5.0f}%" for part in share)
    rate = found.matches / found.seconds / 1e6
    return (
        f"{name:28} {events / found.seconds / 1e6:8.1f} M events/s {found.matches:>12,} matches "
        f"{rate:7.1f} M/s   {parts}"
    )


HEADER = f"{'':28} {'':8}            {'':>12}         {'':7}       letters kernel listing"
