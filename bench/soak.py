"""`python -m bench soak [millions]`: a hundred million events with keys that come and go.

The memory of the process is flat after a warm-up, and so are the bytes of a snapshot, and the steps
and nodes of a push. `tests/safety/test_soak.py` has the same on fewer events, in more languages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import cereus
from bench.memory import resident

BATCH = 500_000
KEYS = 2_000
"""Alive at a time; each lives for a window, and another one takes its place."""
PER_SECOND = 10_000
WINDOW = 10
QUERIES = {
    "keyed": f"SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x < b.x AND b[x > 90] "
    f"PARTITION BY k WITHIN {WINDOW} seconds",
    "events": "SELECT * WHERE A ; B : C PARTITION BY k WITHIN 20 EVENTS",
}
SCHEMA = pa.schema(
    [("type", pa.string()), ("ts", pa.timestamp("us")), ("x", pa.int64()), ("k", pa.int64())]
)


def batches(events: int) -> Iterator[pa.RecordBatch]:
    draw = np.random.default_rng(3)
    kinds = pa.array(list("ABCDEFGH"))
    for first in range(0, events, BATCH):
        rows = np.arange(first, first + BATCH)
        of_type = pa.DictionaryArray.from_arrays(draw.integers(0, 8, BATCH, np.int8), kinds)
        keys = rows // (WINDOW * PER_SECOND) * KEYS + draw.integers(0, KEYS, BATCH)
        columns = [
            of_type.cast(pa.string()),
            pa.array(rows * (1_000_000 // PER_SECOND), pa.timestamp("us")),
            pa.array(draw.integers(0, 100, BATCH)),
            pa.array(keys),
        ]
        yield pa.record_batch(columns, schema=SCHEMA)


def soak(name: str, millions: int) -> None:
    stream = cereus.Stream(time="ts")
    recognizer = cereus.compile(QUERIES[name], stream=stream).recognizer(schema=SCHEMA)
    read = matches = 0
    for batch in batches(millions * 1_000_000):
        before = recognizer.costs
        matches += len(recognizer.push(batch))
        read += batch.num_rows
        if read % 10_000_000 == 0 or read in (BATCH, 4 * BATCH):
            spent = recognizer.costs
            print(
                f"{name:8} {read / 1e6:6.1f} M events {matches:>12,} matches {resident():6.0f} MB "
                f"{len(recognizer.snapshot()) / 1e6:6.2f} MB state "
                f"{spent.steps - before.steps:>9,} steps {spent.nodes - before.nodes:>9,} nodes",
                flush=True,
            )


def main() -> None:
    given = [each for each in sys.argv[1:] if each.isdigit()]
    for name in QUERIES:
        soak(name, int(given[0]) if given else 100)


if __name__ == "__main__":
    main()
