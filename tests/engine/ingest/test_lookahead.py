"""Events that no match can have are left out, and it makes no difference to the matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.clauses.tree import TimeWindow
from cereus.engine.ingest import events as events_module
from cereus.engine.ingest import lookahead
from cereus.engine.ingest.lookahead import LookAhead
from cereus.languages.ceql.text import parse, to_text
from tests.languages.ceql import correlated, strategies
from tests.languages.ceql.harness import assert_agrees, compiled, rows
from tests.volume import volume

SECOND = 1_000_000
STREAM = Stream(time="t", unit="s")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Look through batches of any size, whether it pays or not; how many events each time went."""
    gone: list[int] = []
    look = LookAhead.rows

    def rows(self: LookAhead, letters: Any, classes: Any, *others: Any) -> Any:
        found = look(self, letters, classes, *others)
        gone.append(0 if found is None else len(classes) - len(found))
        return found

    monkeypatch.setattr(lookahead, "WORTH_IT", 1)
    monkeypatch.setattr(lookahead, "SAMPLE", 1 << 30)
    monkeypatch.setattr(LookAhead, "rows", rows)
    monkeypatch.setattr(events_module, "MOST_KEPT", 1)
    yield gone


def kept(text: str, types: str, times: list[int]) -> tuple[list[list[int]], int]:
    """What is found, and how many events the engine has read for it."""
    events = pa.table({"type": list(types), "t": times})
    executor = cereus.compile(text, stream=STREAM, schema=events.schema).executor(events.schema)
    (batch,) = events.to_batches()
    found = [row for part in executor.push(batch) for row in part.column("positions").to_pylist()]
    return found, len(executor.event_rows)


def test_an_event_is_left_out_when_what_has_to_follow_comes_too_late(always: list[int]) -> None:
    text = "SELECT * WHERE A ; B ; C WITHIN 10 seconds"
    found, read = kept(text, "ABABCABCXXXX", [0, 1, 50, 51, 61, 70, 71, 72, 90, 91, 92, 200])
    assert found == [[5, 6, 7]]
    assert read == 3
    assert kept(text, "ABABC", [0, 1, 50, 51, 60]) == ([[2, 3, 4]], 3)


def test_beyond_the_end_of_a_batch_anything_may_come(always: list[int]) -> None:
    text = "SELECT * WHERE A ; B ; C WITHIN 10 seconds"
    assert kept(text, "AAABA", [0, 5, 20, 21, 22]) == ([], 3)


def test_events_that_forbid_a_match_are_never_left_out(always: list[int]) -> None:
    text = "SELECT * WHERE (A ; B) UNLESS C WITHIN 10 seconds"
    assert kept(text, "ABCAB", [0, 1, 2, 20, 21])[0] == [[0, 1]]
    assert not any(always)


def test_short_batches_and_rich_ones_are_read_as_they_are() -> None:
    text = "SELECT * WHERE A ; B WITHIN 10 seconds"
    sparse, dense = list(range(4000)), [i // 100 for i in range(4000)]
    assert kept(text, "A" * 500, sparse[:500])[1] == 500
    assert kept(text, "A" * 4000, sparse)[1] == 11
    assert kept(text, "AB" * 2000, dense)[1] == 4000


def test_a_short_batch_and_a_snapshot_do_not_end_it() -> None:
    text = "SELECT * WHERE A ; B ; C WITHIN 10 seconds"
    types = ["A" if i % 1000 == 0 else "BC"[i % 2] for i in range(30_500)]
    events = pa.table({"type": types, "t": range(len(types))})
    query = cereus.compile(text, stream=STREAM, schema=events.schema)
    executor, read = query.executor(events.schema), []
    for begin, end in [(0, 500), (500, 10_500), (10_500, 20_500), (20_500, 30_500)]:
        (batch,) = events.slice(begin, end - begin).to_batches()
        before = executor.runner.history.next_ordinal  # type: ignore[attr-defined]
        list(executor.push(batch))
        read.append(executor.runner.history.next_ordinal - before)  # type: ignore[attr-defined]
        saved, executor = executor.save(), query.executor(events.schema)
        executor.restore(saved)
    assert read[0] == 500
    assert max(read[1:]) < 200


def test_looking_ahead_uses_up_no_states_that_runs_need() -> None:
    either = "(D ; (F OR (G ; G) OR (H ; H) OR (I ; I) OR (J ; J))) OR (A ; B ; E)"
    types = [*("F" * 1100), *"GHIJABED"]
    events = pa.table({"type": types, "t": range(len(types))})
    text = f"SELECT * WHERE {either} WITHIN 30 seconds"
    query = cereus.compile(text, stream=STREAM, limits=cereus.Limits(states=7))
    for _ in range(2):
        assert len(query.run(events)) == 1


@pytest.mark.parametrize("block", range(4))
def test_the_matches_are_those_of_the_definition(block: int, always: list[int]) -> None:
    for seed in range(block * 60, block * 60 + volume(20, 60)):
        draw = Random(seed)
        case = (correlated if draw.randrange(2) else strategies).case(draw)
        window = TimeWindow(draw.choice([1, 2, 3, 5]) * SECOND)
        asked = parse(to_text(replace(case.query, window=window, partition_by=())))
        query = compiled(asked, case.stream)
        for events in case.streams:
            found = rows(query.run(strategies.table(events)), asked)
            assert_agrees(found, asked, case.stream, events)
            recognizer, parts = query.recognizer(schema=strategies.SCHEMA), []
            for at in range(0, len(events), 3):
                parts += list(recognizer.push(strategies.table(events[at : at + 3])))
                if draw.randrange(3) == 0:
                    recognizer = query.restore(recognizer.snapshot())
            if asked.limit is None:
                assert rows(parts, asked) == found, (seed, to_text(asked))
    assert any(always)
