"""MAX under a window, where windows are read once more: many of them in one call of a kernel."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.engine.match.strategies import replay
from cereus.stream import Stream

QUERIES = (
    "A+ ; B+ WITHIN 9 [t]",
    "A+ ; B ; A+ WITHIN 9 EVENTS",
    "A:+ ; B:+ PARTITION BY k WITHIN 9 [t]",
    "A+ ; B+ PARTITION BY k WITHIN 30 [t] CONSUME BY PARTITION",
    "A+ ; B+ PARTITION BY k WITHIN 30 [t] CONSUME BY ANY",
    "A+ ; B+ WITHIN 9 [t] AFTER MATCH SKIP PAST LAST EVENT",
)


def stream(seed: int) -> pa.Table:
    draw = Random(seed)
    types = draw.choices("ABC", k=120)
    return pa.table({"type": types, "t": range(120), "k": draw.choices("uvw", k=120)})


@pytest.mark.parametrize("text", QUERIES)
def test_windows_that_are_read_together_have_the_matches_of_each(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for together in (1 << 14, 20, 0):
        monkeypatch.setattr(replay, "MOST_TOGETHER", together)
        query = cereus.compile(f"SELECT MAX * WHERE {text}", stream=Stream(time="t"))
        found.append([query.run(stream(seed)).table.to_pylist() for seed in range(3)])
    assert found[0] == found[1] == found[2]
    assert all(found[0])
