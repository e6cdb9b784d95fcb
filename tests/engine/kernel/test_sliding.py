"""Counting by a DAG and by vectors gives the same rows: in every window, with totals, over keys,
however the stream is cut, through snapshots."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine import COMPILED
from cereus.engine.executor import PatternExecutor
from cereus.engine.kernel.counting import CountingKernel
from cereus.engine.match import counting_runner
from tests.volume import volume

STREAM = cereus.Stream(time="t", unit="ms")
PATTERNS = (
    "A+ AS a ; B AS b",
    "A AS a ; B+ AS b ; C",
    "(A AS a : B AS b):+ ; C",
    "A AS a ALL B AS b",
    "(A AS a ; B AS b)+ ; C+",
    "A AS a ; (B AS b OR C) ; A+",
)
WINDOWS = ("", "WITHIN 5 EVENTS", "WITHIN 6 [t]", "WITHIN 20 [t]", "WITHIN 12 EVENTS")
TOTALS = ("COUNT(*)", "COUNT(*), SUM(a.x)", "COUNT(*), SUM(a.x), MIN(b.x), MAX(a.x), AVG(b.x)")
CONSUME = ("", "", "CONSUME BY ANY", "CONSUME BY PARTITION")


def drawn_events(draw: Random) -> pa.Table:
    size = draw.randint(5, 60)
    return pa.table(
        {
            "type": draw.choices("ABC", k=size),
            "x": draw.choices([None, 1, 2, 3, 4], k=size),
            "k": draw.choices([0, 1, 2], k=size),
            "t": sorted(draw.choices(range(size), k=size)),
        }
    )


def drawn_query(draw: Random) -> str:
    parts = (PATTERNS, ("", "PARTITION BY k"), WINDOWS, CONSUME, ("", "", "LIMIT 2"))
    chosen = (draw.choice(part) for part in parts)
    return f"SELECT {draw.choice(TOTALS)} WHERE {' '.join(filter(None, chosen))}"


def rows(text: str, table: pa.Table, draw: Random) -> list[dict[str, Any]]:
    """What a recognizer finds that is given the stream in pieces, and restored now and then."""
    query = cereus.compile(text, stream=STREAM, schema=table.schema)
    recognizer, found = query.recognizer(schema=table.schema), []
    cuts = [0, *sorted(draw.sample(range(1, table.num_rows), 3)), table.num_rows]
    for begin, end in pairwise(cuts):
        found += list(recognizer.push(table.slice(begin, end - begin)))
        if draw.random() < 0.5:
            recognizer = query.restore(recognizer.snapshot())
    return sorted(found, key=lambda row: (row.get("k"), row["end"]))


@pytest.mark.filterwarnings("ignore::cereus.CereusWarning")
def test_a_dag_counts_what_vectors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(volume(15, 200)):
        table, text = drawn_events(Random(seed)), drawn_query(Random(seed))
        by_dag = rows(text, table, Random(seed))
        with monkeypatch.context() as patched:
            patched.setattr(counting_runner, "SlidingCountingKernel", CountingKernel)
            assert rows(text, table, Random(seed)) == by_dag, (seed, text)


@pytest.mark.skipif(not COMPILED, reason="takes minutes uncompiled")
def test_forms_of_many_bases_do_not_grow_for_as_long_as_others() -> None:
    """With 190 states a form has 191 numbers: 65,536 of them took 100 MB."""
    types = [f"T{n}" for n in range(190)]
    table = pa.table({"type": types * 160, "t": range(len(types) * 160)})
    pattern = " ; ".join(types)
    query = cereus.compile(
        f"SELECT COUNT(*) WHERE {pattern} WITHIN 100000 EVENTS", stream=STREAM, schema=table.schema
    )
    executor = query.executor(table.schema)
    assert isinstance(executor, PatternExecutor)
    for batch in (*table[:1_000].to_batches(), *table[1_000:].to_batches()):
        list(executor.push(batch))
    assert executor.runner.kernel.sweep_count > 0
