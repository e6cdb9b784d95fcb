"""A hundred million events with keys that come and go, in every language:

    python -m bench.growth.soak [MILLIONS [NAME …]]

Each recognizer runs in a process of its own. After the first fifth of the events nothing may grow:
not the memory of the process, not the state (the bytes of a snapshot), not the steps, nodes and CPU
seconds of a push. If something grows, the run names it and fails. The figures go to
bench/results/soak.json. `tests/safety/test_soak.py` does the same on fewer events, with counts.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import cereus
from bench.growth.memory import resident

RESULTS = Path(__file__).parents[1] / "results"
BATCH = 500_000
KEYS = 2_000
"""Alive at a time; each lives for a window, and another one takes its place."""
PER_SECOND = 10_000
WINDOW = 10
WARM = 0.2
"""The share of the events after which nothing may grow."""
GROWTH = {"resident": 1.1, "state": 1.25, "steps": 1.25, "nodes": 1.25, "cpu": 1.3}
"""What the second half of the rest may be of the first."""
SCHEMA = pa.schema(
    [("type", pa.string()), ("ts", pa.timestamp("us")), ("x", pa.int64()), ("k", pa.int64())]
)


class Soaked(NamedTuple):
    """A query. Its keys go for ever, or are `returning`, where something is remembered of each key
    because no time says that it has gone. Where rows are in order for each key only, `advanced`
    tells the recognizer after each push how far time has come."""

    dialect: str
    text: str
    keys: str = ""
    returning: bool = False
    advanced: bool = False


QUERIES = {
    "CEQL, keyed": Soaked(
        "ceql",
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x < b.x AND b[x > 90] "
        f"PARTITION BY k WITHIN {WINDOW} seconds",
    ),
    "CEQL, window of events": Soaked(
        "ceql", "SELECT * WHERE A ; B : C PARTITION BY k WITHIN 20 EVENTS", returning=True
    ),
    "CEQL, counted": Soaked("ceql", f"SELECT COUNT(*) WHERE A ; B+ ; C WITHIN {WINDOW} seconds"),
    "SREMO": Soaked(
        "sremo", f"{{A: x > 90}} -> r . SKIP* . {{B: x < r.x AND x > 95}} WITHIN {WINDOW} seconds"
    ),
    "SASE+": Soaked(
        "sase",
        "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_next_match(a, b) "
        f"{{ [k] AND a.x < b.x }} WITHIN {WINDOW} seconds",
    ),
    "PAR": Soaked("par", "repeat (A(x > 50)[X] ; B[Y])", "k", returning=True),
    "event algebra": Soaked(
        "algebra", f"(A(x > 50) ; B)_{{{WINDOW} seconds}} - C", "k", returning=True
    ),
    "MATCH_RECOGNIZE": Soaked(
        "match_recognize",
        "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(a.x) AS low, LAST(b.x) AS high "
        f"PATTERN (a b+ c) WITHIN INTERVAL '{WINDOW}' SECOND "
        "DEFINE a AS type = 'A', b AS x > 50, c AS type = 'C')",
        advanced=True,
    ),
}


@dataclass(frozen=True)
class Sample:
    """One push: what the process and the recognizer hold behind it, and what it took."""

    events: int
    matches: int
    resident: float
    state: int
    steps: int
    nodes: int
    cpu: float


def batches(events: int, returning: bool) -> Iterator[pa.RecordBatch]:
    draw = np.random.default_rng(3)
    kinds = pa.array(list("ABCDEFGH"))
    for first in range(0, events, BATCH):
        rows = np.arange(first, first + BATCH)
        of_type = pa.DictionaryArray.from_arrays(draw.integers(0, 8, BATCH, np.int8), kinds)
        round_ = rows // (WINDOW * PER_SECOND) % (2 if returning else events)
        columns = [
            of_type.cast(pa.string()),
            pa.array(rows * (1_000_000 // PER_SECOND), pa.timestamp("us")),
            pa.array(draw.integers(0, 100, BATCH)),
            pa.array(round_ * KEYS + draw.integers(0, KEYS, BATCH)),
        ]
        yield pa.record_batch(columns, schema=SCHEMA)


def soak(name: str, millions: int) -> list[Sample]:
    query = QUERIES[name]
    stream = cereus.Stream(time="ts", keys=query.keys or ())
    compiled = cereus.compile(query.text, dialect=query.dialect, stream=stream, schema=SCHEMA)
    recognizer = compiled.recognizer(schema=SCHEMA)
    read = matches = 0
    samples = []
    for batch in batches(millions * 1_000_000, query.returning):
        before, begun = recognizer.costs, time.process_time()
        matches += len(recognizer.push(batch))
        if query.advanced:
            matches += len(recognizer.advance(batch.column("ts")[-1].as_py()))
        cpu = time.process_time() - begun
        read += batch.num_rows
        spent = recognizer.costs
        samples.append(
            Sample(
                read,
                matches,
                round(resident(), 1),
                len(recognizer.snapshot()),
                spent.steps - before.steps,
                spent.nodes - before.nodes,
                round(cpu, 4),
            )
        )
    return samples


def grown(samples: list[Sample]) -> list[str]:
    """What grows after the warm-up: the second half of the rest, as so many times the first."""
    rest = samples[int(WARM * len(samples)) :]
    halves = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    found = []
    for name, most in GROWTH.items():
        early, late = (median(getattr(each, name) for each in half) for half in halves)
        if late > most * early + (name in ("steps", "nodes")) * 20:
            found.append(f"{name} {late / max(early, 1e-9):.2f} ×")
    return found


def line(name: str, sample: Sample) -> str:
    return (
        f"{name:24} {sample.events / 1e6:6.1f} M events {sample.matches:>12,} matches "
        f"{sample.resident:6.0f} MB {sample.state / 1e6:6.2f} MB state {sample.steps:>9,} steps "
        f"{sample.nodes:>9,} nodes {sample.cpu * 1000:6.0f} ms"
    )


def shown(samples: list[Sample]) -> Iterator[Sample]:
    """The first push, and each that is the last of so many million events."""
    step = max(1, samples[-1].events // 5)
    yield samples[0]
    for before, after in pairwise(samples):
        if after.events // step > before.events // step:
            yield after


def main(millions: int = 100, *names: str) -> None:
    chosen = [
        name for name in QUERIES if not names or any(n.lower() in name.lower() for n in names)
    ]
    context = multiprocessing.get_context("spawn")
    results, failed = {}, []
    for name in chosen:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            samples = pool.submit(soak, name, millions).result()
        for sample in shown(samples):
            print(line(name, sample), flush=True)
        results[name] = [asdict(sample) for sample in samples]
        growing = grown(samples)
        failed += [f"{name}: {each}" for each in growing]
        print(f"{'':24} {'grows: ' + ', '.join(growing) if growing else 'flat'}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "soak.json").write_text(json.dumps(results))
    if failed:
        raise SystemExit("after the warm-up there grows: " + "; ".join(failed))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
