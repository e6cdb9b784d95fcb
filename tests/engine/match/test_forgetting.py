"""Keys that have left the window are forgotten, and it makes no difference to the matches."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.engine.match import forgetting
from cereus.errors import DataError

STREAM = Stream(time="t", keys="k")
WINDOW = 50
PATTERNS = {
    "all": "SELECT * FROM S WHERE A ; B ; C WITHIN {} [t]",
    "variables": "SELECT b FROM S WHERE A ; B AS b ; C WITHIN {} [t]",
    "strict": "SELECT STRICT * FROM S WHERE A ; B WITHIN {} [t]",
    "next": "SELECT NEXT * FROM S WHERE A ; B ; C WITHIN {} [t]",
    "consumed": "SELECT LAST * FROM S WHERE A ; B ; C WITHIN {} [t] CONSUME BY PARTITION",
    "consumed by any": "SELECT MAX * FROM S WHERE A ; B ; C WITHIN {} [t] CONSUME BY ANY",
    "registers": "SELECT * FROM S WHERE (A AS a ; B AS b) FILTER a.x = b.x WITHIN {} [t]",
    "values": "SELECT * FROM S WHERE (A AS a ; B AS b) FILTER a.x + b.x = 3 WITHIN {} [t]",
    "count": "SELECT COUNT(*) FROM S WHERE A ; B ; C WITHIN {} [t]",
    "at the start": "SELECT * FROM S WHERE START(A ; B) WITHIN {} [t]",
}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "FORGET_AT", 16)


@cache
def stream(size: int = 1_200, *, real: bool = False, returning: bool = True) -> pa.Table:
    """Keys that come, live for a while, and mostly go for good; a few come back much later."""
    draw = np.random.default_rng(7)
    times = np.sort(draw.integers(0, 4 * size, size))
    keys = times // 40 + draw.integers(0, 3, size)
    if returning:
        keys = np.where(draw.random(size) < 0.1, keys % 7, keys)
    return pa.table(
        {
            "type": draw.choice(list("ABCD"), size),
            "t": pa.array(times, pa.float64() if real else pa.int64()),
            "k": keys,
            "x": draw.integers(0, 4, size),
        }
    )


def pushed(recognizer: cereus.Recognizer, events: pa.Table, size: int = 50) -> list[dict[str, Any]]:
    return [
        match
        for at in range(0, events.num_rows, size)
        for match in recognizer.push(events.slice(at, size))
    ]


def in_order(matches: Any) -> list[str]:
    return sorted(map(repr, matches))


@pytest.mark.parametrize("real", [False, True], ids=["whole", "real"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_matches_are_those_without_forgetting(pattern: str, real: bool) -> None:
    query = cereus.compile(PATTERNS[pattern].format(WINDOW), stream=STREAM)
    events = stream(real=real)
    recognizer = query.recognizer()
    found = pushed(recognizer, events.slice(0, 700))
    recognizer = query.restore(recognizer.snapshot())
    found += pushed(recognizer, events.slice(700))
    assert in_order(found) == in_order(query.run(events))
    assert found


@pytest.mark.parametrize("pattern", ["all", "next", "registers", "values", "count"])
def test_snapshots_over_very_many_keys_stay_small(pattern: str) -> None:
    query = cereus.compile(PATTERNS[pattern].format(WINDOW), stream=STREAM)
    recognizer = query.recognizer()
    events = stream(10_000, returning=False)
    sizes = []
    for at in range(0, events.num_rows, 400):
        recognizer.push(events.slice(at, 400))
        sizes.append(len(recognizer.snapshot()))
    assert len(set(events.column("k").to_pylist())) > 1_000
    assert max(sizes[5:]) < 1.5 * max(sizes[:5])


def test_memory_is_bounded_between_snapshots_as_well() -> None:
    query = cereus.compile(PATTERNS["all"].format(WINDOW), stream=STREAM)
    recognizer = query.recognizer()
    known = []
    for at in range(0, 10_000, 100):
        recognizer.push(stream(10_000, returning=False).slice(at, 100))
        executor: Any = recognizer._executor
        known.append(executor.runner.key_count)
    assert max(known) < 100


def test_an_event_from_before_what_was_forgotten_is_refused() -> None:
    query = cereus.compile(PATTERNS["all"].format(WINDOW), stream=STREAM)
    events = stream()
    late = pa.table({"type": ["A"], "t": [3], "k": [99_999], "x": [0]})
    recognizer = query.recognizer()
    pushed(recognizer, events)
    with pytest.raises(DataError, match=r"goes back too far at row 1200 in k=99999"):
        recognizer.push(late)
    assert len(recognizer.push(events.slice(1_199))) >= 0  # a refused event leaves no trace
    remembering = query.recognizer(forget_idle=False)
    pushed(remembering, events)
    restored = query.restore(remembering.snapshot())
    assert len(restored.push(late)) == 0


def test_nothing_is_forgotten_where_time_is_in_order_within_keys_only() -> None:
    query = cereus.compile(PATTERNS["all"].format(WINDOW), stream=STREAM)
    events = stream().sort_by([("k", "ascending"), ("t", "ascending")])
    assert in_order(pushed(query.recognizer(), events)) == in_order(query.run(events))


def test_what_was_promised_is_enough_to_forget() -> None:
    query = cereus.compile(PATTERNS["all"].format(WINDOW), stream=STREAM)
    recognizer = query.recognizer(forget_idle=False)
    pushed(recognizer, stream())
    before = len(recognizer.snapshot())
    assert len(recognizer.advance(6_000)) == 0
    assert len(recognizer.snapshot()) < before / 4
    with pytest.raises(DataError, match="goes back too far"):
        recognizer.push(pa.table({"type": ["A"], "t": [5_999], "k": [5], "x": [0]}))


def test_a_key_that_has_begun_with_an_event_of_no_use_is_not_new_again() -> None:
    query = cereus.compile("SELECT * WHERE START(A) WITHIN 5 [t]", stream=STREAM)
    recognizer = query.recognizer()
    columns = {"type": ["D", "A"], "t": [0, 100], "k": [1, 2]}
    assert len(recognizer.push(pa.table(columns))) == 1
    recognizer = query.restore(recognizer.snapshot())
    assert not recognizer.push(pa.table({"type": ["A"], "t": [101], "k": [1]}))


AT_ONCE = {
    "contiguous": "SELECT * FROM S WHERE A : B",
    "a window in events": "SELECT * FROM S WHERE A ; B WITHIN 3 EVENTS",
    "counted": "SELECT COUNT(*) FROM S WHERE A : B : C",
    "compared": "SELECT * FROM S WHERE (A AS a : B AS b) FILTER a.x = b.x",
    "consumed": "SELECT * FROM S WHERE A ; B CONSUME BY PARTITION",
    "at the start": "SELECT * FROM S WHERE START(A : B)",
    "max": "SELECT MAX * FROM S WHERE A : B:+ WITHIN 4 EVENTS",
}


@pytest.mark.parametrize("text", AT_ONCE.values(), ids=AT_ONCE)
@pytest.mark.parametrize("timed", [True, False])
def test_keys_with_nothing_begun_are_forgotten_without_a_window_in_time(
    text: str, timed: bool
) -> None:
    query = cereus.compile(text, stream=STREAM if timed else Stream(keys="k"))
    forgetting_keys, keeping = query.recognizer(), query.recognizer(forget_idle=False)
    found, expected = pushed(forgetting_keys, stream()), pushed(keeping, stream())
    assert sorted(map(str, found)) == sorted(map(str, expected))
    assert found or "START" in text


def test_keys_that_have_matched_are_not_kept_for_ever() -> None:
    """Of a thousand keys with an A and a B, which can begin nothing more, few are remembered."""
    query = cereus.compile("SELECT * FROM S WHERE A : B", stream=STREAM)
    keys = np.repeat(np.arange(1_000), 2)
    events = pa.table({"type": ["A", "B"] * 1_000, "t": np.arange(2_000), "k": keys})
    recognizer = query.recognizer()
    assert len(pushed(recognizer, events)) == 1_000
    assert len(recognizer.snapshot()) < len(_kept_for_ever(query, events)) / 3


def _kept_for_ever(query: cereus.Query, events: pa.Table) -> bytes:
    recognizer = query.recognizer(forget_idle=False)
    pushed(recognizer, events)
    return recognizer.snapshot()
