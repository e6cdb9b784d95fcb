"""Queries that differ in constants only run as one: every one of them answers as it does alone."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.rules import group
from cereus.engine.rules.shape import shaped
from cereus.expr import tree as ex
from cereus.language import together
from cereus.languages.ceql.text import to_text
from tests.languages.ceql import correlated, strategies
from tests.languages.ceql.harness import rows
from tests.volume import volume


@pytest.fixture(autouse=True)
def grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are made of whatever has a shape, and batches are cut after a few pairs."""
    monkeypatch.setattr(together, "FEWEST", 1)
    monkeypatch.setattr(group, "MOST_PAIRS", 8)
    monkeypatch.setattr(group.RuleGroup, "pays", lambda self, plan: True)


def varied(node: Any, draw: Random) -> Any:
    """The same tree with other constants."""
    if isinstance(node, ex.Literal):
        if isinstance(node.value, bool) or node.value is None:
            return node
        drawn = draw.choice(["u", "v", "w", "é"]) if isinstance(node.value, str) else None
        kind = type(node.value)
        return ex.Literal(drawn if drawn is not None else kind(draw.randrange(-1, 4)))
    if isinstance(node, tuple):
        return tuple(varied(each, draw) for each in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = {each.name: varied(getattr(node, each.name), draw) for each in fields(node)}
    return replace(node, **changed)


def in_pieces(events: pa.Table, draw: Random) -> pa.Table:
    """The same events in several chunks."""
    cut = draw.randrange(events.num_rows + 1)
    return pa.concat_tables([events.slice(0, cut), events.slice(cut)])


@pytest.mark.parametrize("source", [strategies, correlated], ids=["plain", "correlated"])
def test_a_query_among_others_of_its_shape_answers_as_it_does_alone(source: Any) -> None:
    met, number = 0, volume(8, 62)
    for seed in range(number):
        draw = Random(seed)
        case = source.case(draw)
        stream = cereus.Stream(time="t", unit="s", keys=draw.choice([(), ("k",)]))
        if case.streamed or ("k" in str(case.query.partition_by) and stream.keys):
            continue
        queries = [replace(case.query, formula=varied(case.query.formula, draw)) for _ in range(5)]
        texts = [to_text(query) for query in (case.query, *queries)]
        events = in_pieces(strategies.table(strategies.events(draw, 12)), draw)
        found = cereus.compile_many(texts, stream=stream).run(events)
        for place, text in enumerate(texts):
            query = cereus.compile(text, stream=stream)
            plan = query.compiled.plan(events.schema)
            met += shaped(plan, events.schema, query.limits) is not None
            alone = rows(query.run(events), case.query)
            assert rows(found[str(place)], case.query) == alone, (seed, text)
    assert met > 2 * number
