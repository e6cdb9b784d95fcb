"""ALL of single events of different types, whose events are gathered part by part: against the
definition, however the stream is cut."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.languages.ceql.text import parse
from cereus.plan import gathering
from tests.languages.ceql import strategies
from tests.languages.ceql.harness import assert_agrees, rows, sizes
from tests.languages.ceql.pieces import TIMED, cut, events
from tests.volume import volume

PATTERNS = (
    "A ALL B",
    "A AS a ALL B AS b ALL C AS c",
    "A AS a ALL B AS b FILTER a[x > 0] AND b[w < 3]",
    "(A AS a FILTER a[x > 0]) ALL (B OR D) ALL C",
    "A AS a ALL (B AS b FILTER b[x = 1] OR b[x = 2]) ALL (C AS c) AS d",
    "(A AS a ALL B) ; C AS c FILTER c[x > 0]",
    "(A ALL B AS b ALL D) ; C",
)
CLAUSES = (
    "",
    "",
    "WITHIN 4 EVENTS",
    "WITHIN 3 seconds",
    "WITHIN 2 [t]",
    "WITHIN 3 seconds CONSUME BY ANY",
    "PARTITION BY x WITHIN 4 seconds",
    "PARTITION BY x CONSUME BY PARTITION",
    "PARTITION BY x WITHIN 4 seconds CONSUME BY ANY",
    "LIMIT 1",
    "WITHIN 5 seconds LIMIT 2",
    "WITHIN 5 seconds LIMIT 0",
)


@pytest.fixture(autouse=True)
def of_few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "FEWEST_PARTS", 2)


def _stream(draw: Random) -> list[dict[str, object]]:
    return [event | {"type": draw.choice("AABBCCD")} for event in events(draw, 12)]


def _text(pattern: str, draw: Random) -> str:
    every = {"A ALL B": "A, B", PATTERNS[1]: "c, a, b", PATTERNS[2]: "a, b"}.get(pattern, "*")
    selected = draw.choice(("*", "*", every))
    returned = " RETURN a.x AS z, a.x + 1 AS y" if "AS a" in pattern and draw.random() < 0.3 else ""
    return f"SELECT {selected} WHERE {pattern} {draw.choice(CLAUSES)}{returned}"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_gathered_events_are_combined_as_the_definition_says(pattern: str) -> None:
    for seed in range(volume(8, 75)):
        draw = Random(seed)
        text = _text(pattern, draw)
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        assert query.compiled.plan(strategies.SCHEMA).gathering is not None
        stream = _stream(draw)
        with sizes(chunk=draw.choice((1, 1000)), sweep=draw.choice((1, 1000))):
            found = rows(cut(query, stream, draw), query.tree)
        try:
            assert_agrees(found, parse(text), TIMED, stream)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {text}\n{error}") from None


@pytest.mark.parametrize("pattern", PATTERNS)
def test_gathered_events_are_counted_as_they_are_listed(pattern: str) -> None:
    for seed in range(volume(8, 75)):
        draw = Random(seed)
        rest = f"WHERE {pattern} {draw.choice(CLAUSES)}"
        query = cereus.compile(f"SELECT COUNT(*) {rest}", stream=TIMED, schema=strategies.SCHEMA)
        assert query.compiled.plan(strategies.SCHEMA).gathering is not None
        stream = _stream(draw)
        listed = Counter(
            row["end"]
            for row in cereus.compile(f"SELECT * {rest}", stream=TIMED).run(
                strategies.table(stream)
            )
        )
        with sizes(sweep=draw.choice((1, 1000))):
            counted = {row["end"]: row["count"] for row in cut(query, stream, draw)}
        assert counted == listed, f"seed {seed}: {rest}"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A ALL A AS a",  # an event may belong to both
        "SELECT * WHERE A ALL *",
        "SELECT * WHERE A ALL B?",
        "SELECT * WHERE A ALL (B ; C)",
        "SELECT * WHERE A ALL NOT(B)",
        "SELECT A WHERE A ALL B",  # what is not shown makes no match of its own
        "SELECT * WHERE (A ALL B) : C",
        "SELECT * WHERE (A ALL B) ; C?",
        "SELECT * WHERE (A ALL B) ; C ; D",
        "SELECT * WHERE (A ALL B) ; A",
        "SELECT * WHERE C ; (A ALL B)",
        "SELECT * WHERE A ALL B FILTER A.x = B.x",
        "SELECT NEXT * WHERE A ALL B",
        "SELECT COUNT(*), SUM(A.x) WHERE A ALL B",
        "SELECT p, q, A WHERE A ALL (B AS p OR B AS q)",  # one event in two ways
    ],
)
def test_an_automaton_follows_what_is_more_than_a_choice_of_events(text: str) -> None:
    query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
    assert query.compiled.plan(strategies.SCHEMA).gathering is None


def test_twelve_types_cost_a_step_or_two_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    types = [f"T{number}" for number in range(12)]
    draw = Random(1)
    table = pa.table({"type": [draw.choice(types) for _ in range(2000)], "t": list(range(2000))})
    text = f"SELECT * WHERE {' ALL '.join(types)} LIMIT 1"
    query = cereus.compile(text, stream=TIMED, schema=table.schema)
    found = query.run(table)
    assert not any("slow" in warning for warning in query.warnings)
    assert len(found) > 1900
    assert all(len(set(row["positions"])) == 12 for row in found)
    assert found.costs.steps <= 2 * table.num_rows
