"""Several queries in one pass: the answers of each alone, and each test asked once."""

from __future__ import annotations

from random import Random

import pytest

import cereus
from cereus.engine.ingest.shared_letters import SharedLetters
from cereus.errors import CereusError
from cereus.languages.ceql.text import to_text
from tests.languages.ceql import correlated, strategies
from tests.languages.ceql.harness import rows
from tests.volume import volume

STREAM = cereus.Stream(time="t", unit="s")


def test_each_query_of_a_set_answers_as_it_does_alone() -> None:
    for seed in range(volume(15, 40)):
        draw = Random(seed)
        drawn = [correlated.case(draw) for _ in range(4)]
        cases = [case for case in drawn if not case.streamed and case.query.limit is None]
        if not cases:
            continue
        texts = [to_text(case.query) for case in cases]
        events = strategies.table(strategies.events(draw, 7))
        found = cereus.compile_many(texts, stream=STREAM).run(events)
        for place, case in enumerate(cases):
            alone = cereus.compile(texts[place], stream=STREAM).run(events)
            assert rows(found[str(place)], case.query) == rows(alone, case.query), texts[place]


def test_a_test_that_two_queries_share_is_asked_once() -> None:
    queries = cereus.compile_many(
        {
            "one": "SELECT * WHERE A ; B FILTER A[x > 1]",
            "two": "SELECT * WHERE B ; A FILTER A[x > 1]",
        },
        stream=STREAM,
    )
    plans = [queries[name].compiled.plan(strategies.SCHEMA) for name in ("one", "two")]
    assert len(SharedLetters(plans, strategies.SCHEMA).numbers) == 2
    assert sum(len(plan.tests) for plan in plans) == 4


def test_no_query_at_all_is_an_error() -> None:
    with pytest.raises(CereusError, match="no query was given"):
        cereus.compile_many([])
