"""How work grows: the cost of a run as a power of one size, and the power that is expected.

`bench.growth.scaling` measures seconds. `tests/test_laws.py` counts steps and nodes on fewer
events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

import cereus
from cereus.engine.costs import Costs

STREAM = cereus.Stream(time="ts")
MICROSECONDS = 1_000_000
MOST_IN_MEMORY = 1_000_000
"""Events of which longer streams are made."""


@dataclass(frozen=True)
class Case:
    """What is run: `work` chunk by chunk, nothing is kept; `costs` says what a run did."""

    work: Callable[[], object]
    costs: Callable[[], Costs]


@dataclass(frozen=True)
class Law:
    """`case(size, events)` makes what is run. Its cost grows at most with `size ** power`; the
    sizes are those of a benchmark and those of a test, each with so many events."""

    name: str
    size: str
    power: float
    case: Callable[[int, int], Case]
    sizes: tuple[int, ...]
    events: int
    few_sizes: tuple[int, ...]
    few_events: int
    why: str


@cache
def stream(events: int, kinds: int = 8, keys: int = 1, per_second: int = 100) -> pa.Table:
    """Events of several types by chance, evenly in time."""
    draw = np.random.default_rng(5)
    names = pa.array([chr(ord("A") + kind) for kind in range(kinds)])
    types = pa.DictionaryArray.from_arrays(draw.integers(0, kinds, events, np.int8), names)
    times = np.arange(events) * (MICROSECONDS // per_second)
    return pa.table(
        {
            "type": types.cast(pa.string()),
            "ts": pa.array(times, pa.timestamp("us")),
            "x": draw.integers(0, 1000, events),
            "k": draw.integers(0, keys, events),
        }
    )


def listed(text: str, table: pa.Table, dialect: str = "ceql", threads: int = 1) -> Case:
    query = cereus.compile(text, dialect=dialect, stream=STREAM, schema=table.schema)
    return Case(
        lambda: [None for _ in query.batches(table, threads=threads)],
        lambda: query.run(table, threads=threads).costs,
    )


def batches(events: int) -> pa.RecordBatchReader:
    """A million events again and again, each time later, so that any number of them fits."""
    table = stream(min(events, MOST_IN_MEMORY))
    times = table.column("ts").to_numpy().astype(np.int64)
    per_round = len(table) * (int(times[1]) - int(times[0]))

    def later() -> Iterator[pa.RecordBatch]:
        for number in range(-(-events // len(table))):
            shifted = pa.array(times + number * per_round, pa.timestamp("us"))
            round_ = table.set_column(1, "ts", shifted)
            yield from round_.slice(0, events - number * len(table)).to_batches()

    return pa.RecordBatchReader.from_batches(table.schema, later())


def by_events(size: int, _: int) -> Case:
    text = "SELECT * WHERE A ; B ; C WITHIN 0.2 seconds"
    query = cereus.compile(text, stream=STREAM, schema=stream(2).schema)
    return Case(
        lambda: [None for _ in query.batches(batches(size), threads=1)],
        lambda: query.run(batches(size), threads=1).costs,
    )


def by_window(size: int, events: int) -> Case:
    """Nothing is listed, so that only what is remembered grows."""
    return listed(f"SELECT * WHERE A ; B ; C WITHIN {size} EVENTS LIMIT 0", stream(events))


def by_length(size: int, events: int) -> Case:
    parts = " ; ".join("ABCDEFGH"[place % 8] for place in range(size))
    return listed(f"SELECT * WHERE {parts} WITHIN 1 second LIMIT 0", stream(events))


def by_nesting(size: int, events: int) -> Case:
    pattern = "A"
    for depth in range(size):
        pattern = f"({pattern} ; {'BCDEFGH'[depth % 7]})+"
    return listed(f"SELECT * WHERE {pattern} WITHIN 0.5 seconds LIMIT 0", stream(events))


def by_keys(size: int, events: int) -> Case:
    """Each key has events all the time, and its window holds a few of them."""
    text = f"SELECT * WHERE A ; B PARTITION BY k WITHIN {max(size // 20, 1)} seconds LIMIT 0"
    return listed(text, stream(events, keys=size))


def by_queries(size: int, events: int) -> Case:
    """They are of one shape, so they run as one, and each of them has the costs of that run."""
    texts = {
        f"q{number}": f"SELECT * WHERE A AS a ; B AS b FILTER a[x = {number % 1000}] AND "
        f"b[x = {(number * 7) % 1000}] PARTITION BY k WITHIN 10 seconds"
        for number in range(size)
    }
    table = stream(events, keys=100)
    queries = cereus.compile_many(texts, stream=STREAM, schema=table.schema)
    return Case(
        lambda: [None for _ in queries.batches(table)],
        lambda: next(iter(queries.run(table).values())).costs,
    )


def by_matches(size: int, events: int) -> Case:
    """A window with `size` As: so many matches at a B."""
    table = stream(events, kinds=2)
    return listed(f"SELECT * WHERE A ; B WITHIN {2 * size} EVENTS", table)


def by_threads(size: int, events: int) -> Case:
    text = "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 10 seconds"
    return listed(text, stream(events, keys=1000), threads=size)


LAWS = (
    Law("events", "events", 1.0, by_events, (100_000, 1_000_000, 10_000_000, 100_000_000),
        0, (2_000, 8_000, 32_000), 0, "Each event is read once."),
    Law("window", "events in the window", 0.3, by_window, (100, 1_000, 10_000, 100_000),
        1_000_000, (10, 100, 1_000), 20_000,
        "A longer window remembers more and does not work more; caches hold less of it."),
    Law("pattern length", "events of the pattern", 1.0, by_length, (3, 6, 12, 24, 48),
        300_000, (3, 6, 12, 24), 4_000, "A state for each event of the pattern."),
    Law("nesting", "iterations inside each other", 1.0, by_nesting, (1, 2, 4, 8),
        100_000, (1, 2, 4, 8), 4_000, "A state for each event of the pattern."),
    Law("keys", "keys", 0.3, by_keys, (10, 1_000, 100_000, 1_000_000),
        2_000_000, (10, 100, 1_000), 20_000,
        "An event costs what its key costs; tables of more keys miss more caches."),
    Law("queries at once", "queries", 1.0, by_queries, (1, 10, 100, 1_000),
        200_000, (1, 10, 100), 4_000,
        "Less than one by one: an index says whom an event concerns."),
    Law("matches", "matches of an event", 1.0, by_matches, (1, 10, 100, 1_000),
        50_000, (1, 10, 100), 2_000, "Matches are listed one by one."),
    Law("threads", "threads", 0.35, by_threads, (1, 2, 4),
        2_000_000, (), 0, "CPU time of all threads together: what sharing the work costs."),
)  # fmt: skip


def power(sizes: tuple[int, ...], costs: list[float]) -> float:
    """The power of size that costs grow with: the slope in logarithms over the larger half, where
    what a run costs whatever its size weighs least."""
    half = max(2, (len(sizes) + 1) // 2)
    slope, _ = np.polyfit(np.log(sizes[-half:]), np.log(np.maximum(costs[-half:], 1e-9)), 1)
    return float(slope)
