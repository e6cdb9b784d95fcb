"""A long stream with keys that come and go: what is remembered stays within its bound, and each
push costs what the first ones did. Counted, not measured; `bench/growth/soak.py` runs a hundred
million events and looks at the memory of the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.engine.costs import Costs
from tests.volume import volume

SECONDS = 8
"""The length of windows; a key lives for about a window."""
PER_SECOND = 50
BATCH = 2_000
QUERIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "keyed": (
        "ceql",
        f"SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x PARTITION BY k WITHIN {SECONDS} seconds",
        {},
    ),
    "counted": ("ceql", f"SELECT COUNT(*) WHERE A ; B+ ; C WITHIN {SECONDS} seconds", {}),
    "kept by events": ("ceql", "SELECT * WHERE A ; B : C WITHIN 40 EVENTS", {}),
    "values": (
        "ceql",
        "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x WITHIN 2 seconds",
        {},
    ),
    "SASE+": (
        "sase",
        "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_next_match(a, b) "
        f"{{ [k] AND a.x < b.x }} WITHIN {SECONDS} seconds",
        {},
    ),
    "SREMO": ("sremo", "({A: x > 5} . SKIP* . {B:})[1..30]", {}),
    "PAR": ("par", "repeat (A(x > 5)[X] ; try B[Y] unless (C ; C))", {}),
    "algebra": ("algebra", f"(A(x > 5) ; B)_{{{SECONDS} seconds}} - C", {}),
    "MATCH_RECOGNIZE": (
        "match_recognize",
        "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(a.x) AS low, LAST(b.x) AS high "
        f"PATTERN (a b+ c) WITHIN INTERVAL '{SECONDS}' SECOND "
        "DEFINE a AS type = 'A', b AS x > 5, c AS type = 'C')",
        {},
    ),
}
ADVANCED = {"MATCH_RECOGNIZE"}
"""Rows are in order for each key only, so that keys go when the time is said."""


def batches(count: int) -> Iterator[pa.RecordBatch]:
    """Keys are numbered by time: each is seen for about a window and never again."""
    draw = np.random.default_rng(1)
    for number in range(count):
        rows = np.arange(number * BATCH, (number + 1) * BATCH)
        times = rows * (1_000_000 // PER_SECOND)
        yield pa.record_batch(
            {
                "type": pa.array(np.array(list("ABCD"))[draw.integers(0, 4, BATCH)]),
                "ts": pa.array(times, pa.timestamp("us")),
                "x": pa.array(draw.integers(0, 10, BATCH)),
                "k": pa.array(rows // (SECONDS * PER_SECOND) * 7 + draw.integers(0, 7, BATCH)),
            }
        )


def sizes(recognizer: cereus.Recognizer) -> int:
    """How much is remembered: the bytes of a snapshot, which holds all of it and nothing else."""
    return len(recognizer.snapshot())


@pytest.mark.parametrize("name", QUERIES)
def test_memory_follows_the_window(name: str) -> None:
    """After a warm-up neither the state nor the work for a batch grows."""
    dialect, text, columns = QUERIES[name]
    query = cereus.compile(text, dialect=dialect, stream=cereus.Stream(time="ts", **columns))
    recognizer = query.recognizer()
    remembered: list[int] = []
    spent: list[Costs] = []
    results = 0
    for batch in batches(volume(8, 100)):
        results += len(recognizer.push(batch))
        if name in ADVANCED:
            results += len(recognizer.advance(batch.column("ts")[-1].as_py()))
        remembered.append(sizes(recognizer))
        spent.append(recognizer.costs)
    warm = len(remembered) // 2
    assert max(remembered[warm:]) <= 1.25 * max(remembered[:warm])
    steps = [after.steps - before.steps for before, after in pairwise(spent)]
    nodes = [after.nodes - before.nodes for before, after in pairwise(spent)]
    for counts in (steps, nodes):
        assert max(counts[warm:], default=0) <= 1.25 * max(counts[:warm], default=0) + 20
    assert results
