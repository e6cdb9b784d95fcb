"""Keys are forgotten when what they remember is too old for the restrictions around it."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import cereus
from cereus.engine.match import forgetting
from cereus.languages.algebra.detect.layout import lay_out
from cereus.languages.algebra.text import parse

from .drawing import expression

SCHEMA = pa.schema([("type", pa.string()), ("t", pa.int64()), ("k", pa.int64())])
STREAM = cereus.Stream(type="type", time="t", keys="k")


def ever_new_keys(draw: random.Random, size: int) -> list[pa.Table]:
    """Events in the order of time; keys come, pause, and mostly never come again."""
    time, events = 0, []
    for n in range(size):
        time += draw.choice((0, 1, 1, 2))
        key = n // 6 + draw.randrange(4) if draw.random() < 0.9 else draw.randrange(n // 6 + 1)
        events.append({"type": draw.choice("ABCD"), "t": time, "k": key})
    return [pa.Table.from_pylist(events[n : n + 20], SCHEMA) for n in range(0, size, 20)]


def results(
    query: cereus.Query, batches: list[pa.Table], *, forgets: bool, promised: bool
) -> list[str]:
    """All instances; with `promised`, it is told after each batch how far time has come."""
    recognizer = query.recognizer(forget_idle=forgets)
    rows: list[str] = []
    for batch in batches:
        rows += map(str, recognizer.push(batch))
        if promised:
            rows += map(str, recognizer.advance(batch["t"][-1].as_py()))
    return sorted([*rows, *map(str, recognizer.finish())])


@pytest.mark.parametrize("seed", range(30))
def test_whatever_is_restricted_keys_are_forgotten_without_a_trace(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "FORGET_AT", 3)
    draw = random.Random(seed)
    drawn = expression(draw, draw.randint(3, 9))
    restricted = drawn.within(draw.choice((2, 5, 9))) if draw.random() < 0.7 else drawn
    query = cereus.compile(
        restricted, dialect="algebra", stream=STREAM, merge_ties=True, values=seed % 2 == 0
    )
    batches, promised = ever_new_keys(draw, 240), draw.random() < 0.5
    kept = results(query, batches, forgets=False, promised=promised)
    assert results(query, batches, forgets=True, promised=promised) == kept


@pytest.mark.parametrize("text", ["(A ; B)_5", "(A + B)_5", "((A ; B) ; (C ; D))_5", "A_0 - B"])
def test_memory_is_that_of_the_keys_that_are_alive(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every key begins something, and never ends it."""
    monkeypatch.setattr(forgetting, "FORGET_AT", 100)
    recognizer = cereus.compile(text, dialect="algebra", stream=STREAM).recognizer()
    sizes, keys = [], []
    for n in range(0, 6_000, 60):
        times = list(range(n, n + 60))
        recognizer.push(pa.table({"type": ["A"] * 60, "t": times, "k": times}, schema=SCHEMA))
        recognizer.advance(times[-1] - 3)
        keys.append(recognizer._executor.detector.keys)  # type: ignore[union-attr]
        sizes.append(len(recognizer.snapshot()))
    assert max(keys) <= 2 * 100
    assert max(sizes[50:]) <= max(sizes[:50]) + 100  # row numbers have more digits


def test_what_no_restriction_bounds_is_remembered() -> None:
    assert lay_out(parse("A ; B"), values=False).longest_age is None
    assert lay_out(parse("(A ; B)_5"), values=False).longest_age == 5
    inner = lay_out(parse("A ; (B ; (C + D)_9)_5"), values=False)
    assert sorted({each.age or 0 for each in inner.lasting}) == [0, 5]
    shared = lay_out(parse("(A ; B)_5 | (A ; B)_7"), values=False)
    assert {each.age for each in shared.lasting} == {7}


def test_an_event_from_before_what_was_forgotten_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forgetting, "FORGET_AT", 3)
    recognizer = cereus.compile("(A ; B)_5", dialect="algebra", stream=STREAM).recognizer()
    times = [0, 10, 20, 30]
    recognizer.push(pa.table({"type": ["A"] * 4, "t": times, "k": times}, schema=SCHEMA))
    late = pa.table({"type": ["B"], "t": [24], "k": [20]}, schema=SCHEMA)
    with pytest.raises(cereus.CereusError, match="goes back too far"):
        recognizer.push(late)
    near = pa.table({"type": ["B"], "t": [25], "k": [20]}, schema=SCHEMA)
    recognizer.push(near)
    assert [row["start"] for row in recognizer.finish()] == [20]
