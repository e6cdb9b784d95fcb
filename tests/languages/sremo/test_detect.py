"""DETECT: where matches end, without making any of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.clauses.tree import AttributeWindow, TimeWindow
from cereus.engine.executor import PatternExecutor
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.text import to_text
from tests.volume import volume

from .random_queries import SCHEMA, Events, events, query, table
from .test_differential import expected

MANY = 60
"""So many events in the middle of a pattern have 2 to this power matches."""


def detected(text: str, rows: pa.Table, **stream: Any) -> list[tuple[int, int]]:
    """(start, end) of every row."""
    found = cereus.compile(f"DETECT {text}", dialect="sremo", stream=cereus.Stream(**stream))
    shown = found.run(rows).table
    assert shown["positions"].to_pylist() == [[end] for end in shown["end"].to_pylist()]
    return list(zip(shown["start"].to_pylist(), shown["end"].to_pylist(), strict=True))


def test_every_end_once_with_the_latest_start() -> None:
    random, seen = Random(3), 0
    for _ in range(volume(60, 180)):
        asked, stream = query(random, simple=random.random() < 0.5), events(random)
        assert isinstance(asked.formula, sremo.Pattern)
        asked = replace(asked, formula=replace(asked.formula, detect=False))
        latest: dict[int, int] = {}
        for match in expected(asked, stream):
            latest[match[-1]] = max(match[0], latest.get(match[-1], 0))
        rows = detected(to_text(asked), table(stream), time="t", unit="s")
        whole = asked.window or getattr(asked.formula.expression, "window", None)
        timed = isinstance(whole, TimeWindow | AttributeWindow)
        # where the window goes by times, starts of one time are one
        when = [event["t"] for event in stream] if timed else range(len(stream))
        assert {end: when[start] for start, end in rows} == {
            end: when[start] for end, start in latest.items()
        }, (to_text(asked), stream)
        assert len(rows) == len(latest)
        seen += len(rows)
    assert seen > volume(60, 180) // 3


def stocks(middle: int = MANY) -> Events:
    first = [{"type": "A", "k": 0, "x": 1, "w": 1.0, "t": 0}]
    between = [{"type": "B", "k": 0, "x": 2, "w": 1.0, "t": 1 + n} for n in range(middle)]
    last = [{"type": "C", "k": 0, "x": x, "w": 1.0, "t": middle + 1} for x in (2, 0, 3)]
    return [*first, *between, *last]


@pytest.mark.parametrize(
    "text",
    [
        "any({A:}, any({B:}+), {C: x > 1})",
        "any({A:} -> r, any({B:}+), {C: x > r.x})",
        "any({A:} -> r, any({B: x > r.x}+), {C: x > r.x}) WITHIN 100 EVENTS",
        "(any({A:} -> r, any({B:}+)) WITHIN 100 [t]) . skip* . {C: x > r.x}",
    ],
)
def test_it_does_not_depend_on_the_number_of_matches(text: str) -> None:
    rows = table(stocks())
    assert detected(text, rows) == [(0, MANY + 1), (0, MANY + 3)]


def test_it_makes_no_partial_match_but_where_one_begins() -> None:
    compiled = cereus.compile("DETECT any({A:} -> r, any({B:}+), {C: x > r.x})", dialect="sremo")
    assert compiled.compiled.plan(SCHEMA).traits.registers, "not on the compiled path"
    executor = compiled.compiled.executor(SCHEMA)
    assert isinstance(executor, PatternExecutor)
    for batch in table(stocks()).to_batches():
        for _ in executor.push(batch):
            pass
    assert executor.runner.kernel.node_count < 10


def test_limit_and_count() -> None:
    rows = table(stocks(2))
    assert detected("any({A:}, {C:}) LIMIT 0", rows) == []
    assert len(detected("any({A:}, {C:}) LIMIT 5", rows)) == 3
    assert cereus.compile("DETECT any({A:}, any({B:}*), {C:})", dialect="sremo").count(rows) == 3


def test_explain_says_that_no_match_is_made() -> None:
    asked = cereus.compile("DETECT any({A:} -> r, {C: x > r.x}) WITHIN 5 EVENTS", dialect="sremo")
    said = asked.explain(SCHEMA)
    assert "once, with the latest start; no match is listed" in said
    assert "with registers: at most 1 value" in said
