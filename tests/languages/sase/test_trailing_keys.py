"""Trailing absence under `Stream(keys=…)`: every event of a key shows how far its time has come."""

from __future__ import annotations

import random
from typing import Any

import pytest

import cereus
from cereus.errors import DataError
from tests.volume import volume

STREAM = cereus.Stream(time="ts", unit="s", keys=("k",))
TEXT = "PATTERN SEQ(A a, ~(B b)) WITHIN 10 seconds"


def event(kind: str, ts: int, k: int) -> dict[str, Any]:
    return {"type": kind, "ts": ts, "k": k}


def counts(events: list[dict[str, Any]]) -> list[int]:
    recognizer = cereus.compile(TEXT, dialect="sase", stream=STREAM).recognizer()
    return [*(len(recognizer.push([each])) for each in events), len(recognizer.finish())]


def test_events_of_types_that_the_pattern_does_not_name_emit_what_waited() -> None:
    events = [event("A", 0, 1), event("X", 9, 1), event("X", 10, 1), event("X", 11, 1)]
    assert counts(events) == [0, 0, 0, 1, 0]


def test_other_keys_may_run_ahead() -> None:
    """Time is ordered within a key only, so an event of another key shows nothing."""
    events = [event("A", 0, 1), event("X", 50, 2), event("B", 5, 1), event("X", 60, 1)]
    assert counts(events) == [0, 0, 0, 0, 0]


def test_time_that_goes_back_within_a_key_is_refused() -> None:
    with pytest.raises(DataError, match="goes backwards"):
        counts([event("A", 0, 1), event("X", 30, 1), event("B", 5, 1)])


@pytest.mark.parametrize("seed", range(volume(6, 37)))
def test_how_the_stream_is_cut_makes_no_difference(seed: int) -> None:
    draw = random.Random(seed)
    clocks = {1: 0, 2: 0, 3: 0}
    events = []
    for _ in range(60):
        key = draw.choice(list(clocks))
        clocks[key] += draw.randint(0, 8)
        events.append(event(draw.choice("AABXX"), clocks[key], key))
    query = cereus.compile(TEXT, dialect="sase", stream=STREAM)
    all_at_once = sorted(tuple(match["positions"]) for match in query.run(events))
    recognizer, pieces, at = query.recognizer(), [], 0
    while at < len(events):
        size = draw.randint(1, 9)
        pieces += list(recognizer.push(events[at : at + size]))
        at += size
        recognizer = query.restore(recognizer.snapshot())
    pieces += list(recognizer.finish())
    assert sorted(tuple(match["positions"]) for match in pieces) == all_at_once
