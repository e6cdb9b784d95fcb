"""No kind of query may be slow: `python -m bench cliffs`, or `python -m bench.kinds.cliffs WORD …`
for the queries whose names contain one of the words.

Each query runs on one core, in a process of its own that is stopped after a while. The target is 2
million events/s, or 20 million matches/s if an event has more than ten matches on average. With
CEREUS_THREADS=2, the time of a run is the CPU time of the main thread plus that of the busiest
other thread, as if they never worked at the same time (`bench.threads`).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import cereus
from bench.data import stocks
from bench.kinds.columns import COLUMNS, columns
from bench.kinds.combinations import COMBINATIONS
from bench.kinds.crossings import CROSSINGS
from bench.kinds.queries import CASES, Case
from bench.threads import cost, watch_workers
from bench.timing import best

THREADS = int(os.environ.get("CEREUS_THREADS", "1"))
TIMEOUT = float(os.environ.get("CLIFFS_TIMEOUT", "20"))
"""CPU seconds after which a query that has not ended is given up."""
EVENTS_PER_SECOND, MATCHES_PER_SECOND, MANY = 2e6, 20e6, 10
TYPES = 12


class Outcome(NamedTuple):
    """CPU seconds of a run (None: it did not end, or failed), its rows, and who runs the query."""

    seconds: float | None
    matches: int
    reason: str


def twelve_types(events: pa.Table) -> pa.Table:
    """The same events with types T0 … T11, by chance."""
    drawn = np.random.default_rng(7).integers(0, TYPES, events.num_rows).astype(np.int32)
    names = pa.array([f"T{number}" for number in range(TYPES)])
    types = pa.DictionaryArray.from_arrays(drawn, names)
    return events.set_column(events.schema.get_field_index("type"), "type", types)


def tables() -> dict[str, pa.Table]:
    events, _ = stocks()
    return {"stocks": events, "types": twelve_types(events), "columns": columns(events)}


def reason(query: cereus.Query) -> str:
    """What runs the query, as `explain` has it."""
    lines = [line.strip() for line in query.explain().splitlines()]
    kernel = [line.removeprefix("kernel").strip() for line in lines if line.startswith("kernel ")]
    chosen = [line for line in lines if " is decided by " in line]
    return "; ".join(dict.fromkeys(filter(None, [*kernel, *chosen, *query.warnings[:1]])))


def measured(case: Case, table: pa.Table) -> Outcome:
    stream = cereus.Stream(
        type=None if case.dialect == "match_recognize" else "type", keys=case.keys or ()
    )
    if case.dialect != "algebra":  # whose ticks have one event of a kind: every event is a tick
        stream = replace(stream, time="stock_time", unit="ms")
    try:
        query = cereus.compile(case.text, dialect=case.dialect, stream=stream, schema=table.schema)
        why = reason(query)
        found = 0

        def run() -> None:
            nonlocal found
            found = sum(batch.num_rows for batch in query.batches(table, threads=1))

        def threaded(runs: int) -> float:
            nonlocal found
            costs = [cost(query, table, THREADS, counted=False) for _ in range(runs)]
            found = int(costs[0].rows)
            return min(each.main + each.busiest for each in costs)

        taken = threaded if THREADS > 1 else partial(best, run)
        first = taken(1)
        return Outcome(min(first, taken(2)) if first < 0.5 else first, found, why)
    except cereus.CereusError as error:
        return Outcome(None, 0, f"{type(error).__name__}: {error}".splitlines()[0])


def _serve(pipe: Connection) -> None:
    """In a process of its own: cases come in, outcomes go out."""
    pa.set_cpu_count(1)
    watch_workers()
    events = tables()
    while True:
        case = pipe.recv()
        signal.setitimer(signal.ITIMER_PROF, TIMEOUT)  # ends the process, in a kernel call too
        outcome = measured(case, events[case.reads])
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send(outcome)


def outcomes(cases: tuple[Case, ...]) -> Iterator[tuple[Case, Outcome]]:
    context = multiprocessing.get_context("spawn")
    worker = None
    for case in cases:
        if worker is None:
            near, far = context.Pipe()
            worker = context.Process(target=_serve, args=(far,), daemon=True)
            worker.start()
            far.close()
        near.send(case)
        print(f"\r{case.name:60}", end="\r", file=sys.stderr, flush=True)
        try:
            yield case, near.recv()
        except EOFError:  # its CPU time was used up
            worker.join()
            worker = None
            yield case, Outcome(None, 0, f"did not end in {TIMEOUT:g} s")
    if worker is not None:
        worker.kill()


def rates(outcome: Outcome, events: int) -> tuple[float, float]:
    """Events and matches per second."""
    if outcome.seconds is None:
        return 0.0, 0.0
    seconds = max(outcome.seconds, 1e-9)  # clocks of CPU time may stand still for a while
    return events / seconds, outcome.matches / seconds


def is_slow(outcome: Outcome, events: int) -> bool:
    read, found = rates(outcome, events)
    if outcome.matches > MANY * events:
        return found < MATCHES_PER_SECOND
    return read < EVENTS_PER_SECOND


def main(*words: str) -> None:
    table, which = stocks()
    every = (*CASES, *COMBINATIONS, *CROSSINGS, *COLUMNS)
    cases = tuple(c for c in every if not words or any(word in c.name for word in words))
    used = f"{THREADS} threads" if THREADS > 1 else "one core"
    print(f"{len(cases)} kinds of queries over {table.num_rows:,} of {which}, {used}\n")
    measured = sorted(outcomes(cases), key=lambda pair: rates(pair[1], table.num_rows)[0])
    print(f"  {'M events/s':>10} {'M matches/s':>11} {'matches':>12}  query")
    for case, outcome in measured:
        read, found = (rate / 1e6 for rate in rates(outcome, table.num_rows))
        mark = "✗" if is_slow(outcome, table.num_rows) else " "
        name = f"{case.name:44} {outcome.reason[:110]}".rstrip()
        print(f"{mark} {read:10.2f} {found:11.2f} {outcome.matches:12,}  {name}")
    slow = sum(is_slow(outcome, table.num_rows) for _, outcome in measured)
    print(f"\n{slow} of {len(cases)} are below the target")


if __name__ == "__main__":
    main(*sys.argv[1:])
