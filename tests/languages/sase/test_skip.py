"""AFTER MATCH SKIP in SASE+: where to go on after a match, of each key."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.clauses.tree import Skip
from cereus.engine.match.after import skipping
from cereus.errors import CereusError, RefusedError
from cereus.languages.sase import tree as sase
from cereus.languages.sase.text import parse, to_text
from cereus.reference.sase.evaluate import matches
from cereus.reference.sase.nfa import Input
from tests.volume import volume

from .strategies import AGGREGATES, SCHEMA, STRATEGIES, events, query
from .test_engine import pieces

STREAM = cereus.Stream(time="time")
PAST, NEXT = "AFTER MATCH SKIP PAST LAST EVENT", "AFTER MATCH SKIP TO NEXT EVENT"
TRADES = pa.table(
    {
        "type": ["A", "A", "B", "A", "B", "B"],
        "k": [1, 1, 1, 2, 2, 1],
        "time": pa.array(range(6)),
    }
)


def found(text: str, table: pa.Table = TRADES) -> list[list[int]]:
    query = cereus.compile(text, dialect="sase", stream=STREAM)
    return sorted(row["positions"] for row in query.run(table))


def test_past_the_last_event_and_to_the_next_event() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { } WITHIN 10 [time]"
    assert len(found(text)) == 8
    assert found(f"{text} {PAST}") == [[0, 2], [3, 4]]
    assert found(f"{text} {NEXT}") == [[0, 2], [1, 2], [3, 4]]


def test_keys_skip_on_their_own() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] } WITHIN 10 [time]"
    assert found(f"{text} {PAST}") == [[0, 2], [3, 4]]
    assert found(f"{text} {NEXT}") == [[0, 2], [1, 2], [3, 4]]


def test_having_comes_first() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { } WITHIN 10 [time]"
    assert found(f"{text} HAVING b.time > 3 {PAST} RETURN a.time") == [[0, 4]]


def test_it_prints_and_what_waits_for_its_end_is_refused() -> None:
    tree = parse(f"PATTERN SEQ(A a, B b) WITHIN 5 seconds {NEXT} RETURN a.x")
    assert parse(to_text(tree)) == tree
    with pytest.raises(RefusedError, match="complete at their last event"):
        cereus.compile(f"PATTERN SEQ(A a, B+ b[]) WITHIN 5 [time] {NEXT}", dialect="sase")
    with pytest.raises(CereusError, match="unknown skip mode"):
        cereus.compile("PATTERN SEQ(A a) AFTER MATCH SKIP TO LAST B", dialect="sase")


@pytest.mark.parametrize("part", range(2))
def test_random_queries_cut_into_pieces(part: int) -> None:
    """Against the reference, in pieces, across snapshots."""
    number, compared, dropped = volume(100, 300), 0, 0
    for seed in range(number * part, number * (part + 1)):
        draw = Random(seed)
        text = query(draw, strategy=("skip_till_any_match", None, *STRATEGIES)[seed % 6])
        stream = events(draw, 9)
        skip = draw.choice(list(Skip))
        program = parse(text, AGGREGATES)
        block = replace(program.queries[0].blocks[0], skip=skip)
        made = sase.Program((sase.Union((block,)),))
        try:
            compiled = cereus.compile(made, stream=STREAM, aggregates=AGGREGATES)
            compiled.compiled.check(SCHEMA)
        except CereusError:
            continue
        wanted = Counter(match.positions for match in matches(block, Input(stream), AGGREGATES))
        every = matches(replace(block, skip=None), Input(stream), AGGREGATES)
        assert _run(compiled, stream, draw) == wanted, f"{to_text(made)}\n{stream}"
        compared += 1
        dropped += len(every) - wanted.total()
    assert compared > number // 3
    assert dropped > number // 50


def _run(query: cereus.Query, stream: list[Any], draw: Random) -> Counter[tuple[int, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skipping, "PIECE", draw.choice((1, 3, 100)))
        recognizer = query.recognizer(schema=SCHEMA)
        rows: list[dict[str, Any]] = []
        for batch in pieces(draw, stream):
            rows += list(recognizer.push(batch))
            if draw.random() < 0.4:
                recognizer = query.restore(recognizer.snapshot())
        rows += list(recognizer.finish())
    return Counter(tuple(row["positions"]) for row in rows)
