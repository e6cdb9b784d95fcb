"""Streams of hundreds of events: however they are cut, and whenever the forest is swept, the
answers are the same, and memory follows the window."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, note, settings

import cereus
from cereus import Stream
from cereus.clauses.tree import AttributeWindow, EventWindow, ParsedQuery
from cereus.engine.executor import PatternExecutor
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.text import to_text
from tests.languages.ceql import strategies as random_
from tests.languages.ceql.harness import Row, compiled, rows, sizes
from tests.volume import volume

STREAM = Stream(time="t", unit="s")
LENGTH = 300


def windowed(draw: Random) -> ParsedQuery:
    """A query whose matches stay few: a small window, and no more than one iteration."""
    while True:
        query = random_.query(draw, draw.randint(2, 6), False)
        repeated = sum(isinstance(n, cel.Iteration) for n in query.formula.walk())
        if repeated <= 1:
            break
    if query.window is None or isinstance(query.window, AttributeWindow):
        query = replace(query, window=EventWindow(draw.randint(2, 6)))
    return replace(query, limit=None)


def in_pieces(
    query: ParsedQuery, events: random_.Events, draw: Random, *, largest: int
) -> Counter[Row]:
    asked = compiled(query, STREAM)
    recognizer = asked.recognizer()
    found: Counter[Row] = Counter()
    at = 0
    while at < len(events):
        size = draw.randint(1, largest)
        found += rows(recognizer.push(random_.table(events[at : at + size])), query)
        at += size
        if draw.randrange(10) == 0:
            recognizer = asked.restore(recognizer.snapshot())
    return found


@settings(max_examples=volume(6, 18), deadline=None, suppress_health_check=list(HealthCheck))
@given(random_.randoms)
def test_cuts_and_sweeps_change_nothing(draw: Random) -> None:
    query = windowed(draw)
    note(to_text(query))
    # one drawn number is enough to shrink by; the events themselves are not worth shrinking
    seeded = Random(draw.randrange(1 << 16))
    events = random_.events(seeded, LENGTH, keys=5)
    whole = rows(compiled(query, STREAM).run(random_.table(events)), query)
    for at, largest in ((1, 40), (100, 9)):
        with sizes(sweep=at):
            assert in_pieces(query, events, seeded, largest=largest) == whole


# ---------------------------------------------------------------- memory follows the window


def executor_after(text: str, batches: int, size: int = 200) -> PatternExecutor:
    query = cereus.compile(text, stream=STREAM, schema=random_.SCHEMA)
    executor = query.executor(random_.SCHEMA)
    assert isinstance(executor, PatternExecutor)
    draw = Random(7)
    events = random_.events(draw, batches * size, keys=5)
    for at in range(0, len(events), size):
        for batch in random_.table(events[at : at + size]).to_batches():
            for _ in executor.push(batch):
                pass
    return executor


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A ; B ; C WITHIN 5 EVENTS",
        "SELECT * WHERE A+ ; B WITHIN 5 seconds",
        "SELECT a WHERE A AS a ; B ; C WITHIN 5 seconds",
        "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 5 seconds",
        "SELECT NEXT * WHERE A ; B ; C WITHIN 5 seconds",
    ],
)
def test_nodes_and_remembered_events_do_not_grow_with_the_stream(text: str) -> None:
    held = []
    for batches in (5, 40):
        with sizes(sweep=64):
            executor = executor_after(text, batches)
        executor.runner.tidy(at=0)
        held.append((executor.runner.kernel.node_count, len(executor.runner.history)))
    assert max(held[1]) <= 2 * max(held[0]) + 60


def test_a_sweep_happens_when_the_forest_has_grown() -> None:
    with sizes(sweep=64):
        executor = executor_after("SELECT * WHERE A ; B WITHIN 5 EVENTS", 5)
    assert executor.runner.kernel.sweep_count
