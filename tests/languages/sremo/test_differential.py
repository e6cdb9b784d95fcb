"""The engine gives what the definitions give, on random queries and streams."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.clauses.tree import ParsedQuery
from cereus.languages.sremo.query import SremoQuery
from cereus.languages.sremo.text import parse, to_text
from cereus.query import Query
from cereus.reference import sremo as reference
from tests.volume import volume

from .random_queries import SCHEMA, Events, absence, chain, events, query, table

STREAM = cereus.Stream(time="t", unit="s")
BLOCKS, PER_BLOCK = 16, volume(3, 18)
CHAINS = volume(20, 120)
COMPILED = volume(60, 400)


def expected(asked: ParsedQuery, stream: Events) -> list[tuple[int, ...]]:
    def span(first: reference.Event, last: reference.Event) -> int:
        return int((last["t"] - first["t"]) * 1_000_000)

    return reference.matches(asked, stream, span=span)


def found(asked: ParsedQuery, stream: Events, cuts: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    recognizer = Query(SremoQuery(asked, STREAM, cereus.Limits())).recognizer(schema=SCHEMA)
    rows: list[tuple[int, ...]] = []
    for begin, end in zip((0, *cuts), (*cuts, len(stream)), strict=True):
        part = recognizer.push(table(stream[begin:end]))
        rows += map(tuple, part.table["positions"].to_pylist())
    return sorted(rows)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_engine_agrees_with_the_definitions(block: int) -> None:
    random = Random(block)
    for _ in range(PER_BLOCK):
        asked, stream = query(random, simple=block % 2 == 0), events(random)
        text = to_text(asked)
        assert parse(text) == asked, text
        cuts = tuple(sorted(random.sample(range(len(stream) + 1), min(2, len(stream)))))
        assert found(asked, stream, cuts) == expected(asked, stream), (text, stream)


def test_single_events_compared_in_any_way_are_decided_by_slots() -> None:
    random, ways = Random(3), Counter[bool]()
    for _ in range(CHAINS):
        asked, stream = chain(random), events(random, 5)
        text = to_text(asked)
        plan = cereus.compile(text, dialect="sremo", stream=STREAM).compiled.plan(SCHEMA)
        assert plan.why_values is None, text
        ways[plan.traits.registers] += 1
        assert found(asked, stream) == expected(asked, stream), (text, stream)
    assert ways[True] > CHAINS // 2


def test_a_series_that_must_not_occur_is_watched_beside_the_slots() -> None:
    random, ways = Random(5), Counter[str]()
    for _ in range(CHAINS):
        asked, stream = absence(random), events(random)
        text = to_text(asked)
        assert parse(text) == asked, text
        made = cereus.compile(text, dialect="sremo", stream=STREAM)
        plan = made.compiled.plan(SCHEMA)
        ways["watched"] += plan.watching is not None
        ways["values"] += plan.traits.remembers_values
        cuts = tuple(sorted(random.sample(range(len(stream) + 1), min(2, len(stream)))))
        assert found(asked, stream, cuts) == expected(asked, stream), (text, stream)
        recognizer = made.recognizer(schema=SCHEMA)
        cut = len(stream) // 2
        rows = recognizer.push(table(stream[:cut])).table["positions"].to_pylist()
        restored = made.restore(recognizer.snapshot())
        rows += restored.push(table(stream[cut:])).table["positions"].to_pylist()
        assert sorted(map(tuple, rows)) == expected(asked, stream), text
    assert ways["watched"] > CHAINS // 3 > ways["values"], ways


def test_the_random_queries_take_every_way_through_the_engine() -> None:
    random = Random(1)
    ways: Counter[str] = Counter()
    for _ in range(COMPILED):
        plan = cereus.compile(to_text(query(random, simple=True)), dialect="sremo", stream=STREAM)
        made = plan.compiled.plan(SCHEMA)
        ways["slots"] += made.traits.registers
        ways["values"] += made.traits.remembers_values
        ways["neither"] += not made.compared
        ways["loose"] += not made.traits.position_sensitive
    assert min(ways.values()) > COMPILED // 20, ways


def test_a_snapshot_goes_on_where_it_was_taken() -> None:
    random = Random(7)
    for _ in range(volume(10, 60)):
        asked, stream = query(random), events(random)
        whole = cereus.compile(to_text(asked), dialect="sremo", stream=STREAM)
        recognizer = whole.recognizer(schema=SCHEMA)
        cut = len(stream) // 2
        rows = recognizer.push(table(stream[:cut])).table["positions"].to_pylist()
        restored = whole.restore(recognizer.snapshot())
        rows += restored.push(table(stream[cut:])).table["positions"].to_pylist()
        assert sorted(map(tuple, rows)) == expected(asked, stream), to_text(asked)


def test_pushing_nothing_finds_nothing() -> None:
    nothing = pa.Table.from_batches([], SCHEMA)
    assert cereus.compile("{A:}+", dialect="sremo").run(nothing).table.num_rows == 0
