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
    times = sorted(draw.choices(range(120), k=120))  # some windows begin at the same event
    return pa.table({"type": types, "t": times, "k": draw.choices("uvw", k=120)})


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


def test_windows_that_begin_at_the_same_event_are_read_once() -> None:
    query = cereus.compile("SELECT MAX * WHERE A+ ; B+ WITHIN 9 [t]", stream=Stream(time="t"))
    # in one batch: each batch reads the windows that its events are in
    steps = [query.recognizer().push(at_two_times(size)).costs.steps for size in (100, 200, 400)]
    assert steps[2] - steps[1] == 2 * (steps[1] - steps[0])


def at_two_times(size: int) -> pa.Table:
    """A few windows, each with many ends."""
    return pa.table({"type": ["A", "B"] * size, "t": [0] * size + [20] * size})


def test_events_where_no_run_begins_are_not_read_once_more() -> None:
    """The windows of all ends begin at another of these, and the same run begins in them."""
    query = cereus.compile("SELECT MAX * WHERE A+ ; B+ WITHIN 45 [t]", stream=Stream(time="t"))
    types = ["C", "B"] * 20 + ["A"] + ["B"] * 40
    table = pa.table({"type": types, "t": range(len(types))})
    found = query.run(table)
    assert [row["positions"][0] for row in found] == [40] * 40
    assert found.costs.steps < 5 * len(types)
