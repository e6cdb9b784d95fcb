"""The kernel against the reference evaluator, on random queries and streams: in one batch, in
pieces, across snapshots, without rewriting, with tiny chunks and constant sweeping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, note, settings

import cereus
from cereus.clauses.tree import ParsedQuery
from cereus.engine.executor import PatternExecutor
from cereus.languages.ceql.planning.build import RULES, build
from cereus.languages.ceql.planning.rewrite import Rule
from cereus.languages.ceql.text import to_text
from tests.volume import volume

from . import strategies as random_
from .harness import Row, assert_agrees, compiled, rows, sizes

CASES = volume(26, 187)
"""Of queries, with several streams each."""
FEWER = volume(11, 50)


def examples(number: int) -> settings:
    return settings(max_examples=number, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module", params=["roomy", "cramped"])
def rooms(request: pytest.FixtureRequest) -> Iterator[None]:
    """Cramped: matches leave the kernel two at a time, and every event sweeps the forest."""
    with sizes(chunk=2, sweep=1) if request.param == "cramped" else sizes():
        yield


@examples(CASES)
@given(random_.cases)
def test_the_kernel_finds_what_the_definition_says(case: random_.Case) -> None:
    query = compiled(case.query, case.stream)
    for events in case.streams:
        found = query.run(random_.table(events))
        assert_agrees(rows(found, case.query), case.query, case.stream, events)


# ---------------------------------------------------------------- in pieces


def pieces(draw: Random, table: pa.Table) -> list[pa.Table]:
    """A table cut at random places; some pieces are empty."""
    places = sorted(draw.randint(0, table.num_rows) for _ in range(draw.randint(1, 4)))
    ends = [*places, table.num_rows]
    return [table.slice(a, b - a) for a, b in zip([0, *ends], ends, strict=False)]


@pytest.mark.usefixtures("rooms")
@examples(FEWER)
@given(random_.randoms)
def test_how_the_stream_is_cut_makes_no_difference(draw: Random) -> None:
    case = random_.case(draw)
    note(str(case))
    query = compiled(case.query, case.stream)
    for events in case.streams:
        keep = draw.randrange(2) == 0
        recognizer = query.recognizer(keep_events=keep)
        found: Counter[Row] = Counter()
        for piece in pieces(draw, random_.table(events)):
            if draw.randrange(3) == 0 and found:
                recognizer = query.restore(recognizer.snapshot())
            matches = recognizer.push(piece)
            found += rows(matches, case.query)
            if keep:
                assert_events_are_those_of(matches, events)
        recognizer.finish()
        assert_agrees(found, case.query, case.stream, events)


def assert_events_are_those_of(matches: cereus.Matches, events: random_.Events) -> None:
    """`events()` lists the events of the matches, position by position."""
    listed = matches.events().to_pylist()
    expected = [(place, p) for place, row in enumerate(matches) for p in row["positions"]]
    assert [(row["match"], row["position"]) for row in listed] == expected
    for row in listed:
        assert {name: row[name] for name in random_.SCHEMA.names} == events[row["position"]]
        for name in row.get("variables", ()):
            assert row["position"] in matches[row["match"]][name]


# ---------------------------------------------------------------- without rewriting


def switched_off(rules: tuple[Rule, ...]) -> str:
    return "all" if rules == RULES else rules[0].__name__


@pytest.mark.parametrize("off", [RULES, *((rule,) for rule in RULES)], ids=switched_off)
@examples(FEWER)
@given(random_.cases)
def test_rewriting_changes_no_answer(off: tuple[Rule, ...], case: random_.Case) -> None:
    rules = tuple(rule for rule in RULES if rule not in off)
    plan = build(case.query, case.stream, random_.SCHEMA, rules=rules)
    for events in case.streams:
        executor = PatternExecutor(plan, random_.SCHEMA)
        parts = [
            row
            for batch in random_.table(events).to_batches()
            for part in executor.push(batch)
            for row in part.to_pylist()
        ]
        assert_agrees(rows(parts, case.query), case.query, case.stream, events)


# ---------------------------------------------------------------- many keys


@pytest.mark.usefixtures("rooms")
@examples(FEWER // 4)
@given(random_.randoms)
def test_many_keys(draw: Random) -> None:
    query = random_.query(draw, draw.randint(2, 6), False)
    query = ParsedQuery(
        query.formula,
        strategy=query.strategy,
        partition_by=(("k",),),
        window=query.window,
        consume=query.consume,
    )
    note(to_text(query))
    stream = cereus.Stream(time="t", unit="s")
    # Evenly dealt: 40 events of one key would have more matches than fit into memory.
    events = random_.events(Random(draw.getrandbits(32)), 40, keys=20)
    recognizer = compiled(query, stream).recognizer()
    found: Counter[Row] = Counter()
    for piece in pieces(draw, random_.table(events)):
        found += rows(recognizer.push(piece), query)
    assert_agrees(found, query, stream, events)
