"""AFTER MATCH SKIP: where to go on after a match."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from hypothesis import note

import cereus
from cereus.clauses.tree import Consume, Skip
from cereus.engine.match.after import skipping
from cereus.errors import CereusError, RefusedError
from cereus.translate.translate import translated
from tests.languages.ceql import strategies as random_
from tests.languages.ceql.harness import Row, assert_agrees, compiled, positions, rows, spelled
from tests.languages.ceql.test_differential import FEWER, examples, given, pieces

PAST, NEXT = "AFTER MATCH SKIP PAST LAST EVENT", "AFTER MATCH SKIP TO NEXT EVENT"


def test_past_the_last_event_matches_do_not_overlap() -> None:
    events = spelled("A A B A B B A")
    assert positions(f"SELECT * WHERE A ; B {PAST}", events) == [[0, 2], [3, 4]]
    assert positions(f"SELECT * WHERE A+ ; B {PAST}", events) == [[0, 1, 2], [3, 4]]


def test_to_the_next_event_each_first_event_has_one_match() -> None:
    events = spelled("A A B A B B A")
    assert positions(f"SELECT * WHERE A ; B {NEXT}", events) == [[0, 2], [1, 2], [3, 4]]
    assert positions(f"SELECT * WHERE A+ ; B {NEXT}", events) == [[0, 1, 2], [1, 2], [3, 4]]


def test_first_events_only_move_on() -> None:
    """A match that began earlier and is complete later is left out."""
    events = spelled("A C A B C", x="0 0 1 1 0")
    text = f"SELECT * WHERE (A ; B) OR (A ; C ; C) FILTER A.x = B.x {NEXT}"
    assert positions(text, events) == [[2, 3]]
    assert [0, 1, 4] in positions(text.removesuffix(NEXT), events)


def test_skipping_is_done_key_by_key() -> None:
    events = spelled("A A B B A B", k="1 2 2 1 1 1")
    for mode in (PAST, NEXT):
        text = f"SELECT * WHERE A ; B PARTITION BY k {mode}"
        assert positions(text, events) == [[0, 3], [1, 2], [4, 5]]


def test_what_shows_nothing_is_no_match_to_begin_anew_after() -> None:
    """SELECT A projects the match of B away, so nothing is reported there and START still stands
    for the first event of the key; PAST LAST EVENT is short for NEXT with CONSUME BY PARTITION."""
    events = spelled("B A", k="1 1")
    pattern = "WHERE START(A OR B) PARTITION BY k"
    for text, found in (
        (f"SELECT A {pattern} {PAST}", []),
        (f"SELECT NEXT A {pattern} CONSUME BY PARTITION", []),
        (f"SELECT * {pattern} {PAST}", [[0], [1]]),
    ):
        assert positions(text, events) == found
        made = cereus.compile(text)
        listed = rows(made.run(pa.Table.from_pylist(events)), made.tree)
        assert_agrees(listed, made.tree, cereus.Stream(), events)


def test_to_the_next_event_shows_every_event() -> None:
    with pytest.raises(RefusedError, match="does not go with a list after SELECT"):
        cereus.compile(f"SELECT B WHERE (A ; B) OR A {NEXT}")


@pytest.mark.parametrize("clause", ["PAST LAST EVENT", "TO NEXT EVENT"])
def test_as_many_are_counted_as_are_listed(clause: str) -> None:
    query = cereus.compile(f"SELECT * WHERE B+ AFTER MATCH SKIP {clause}")
    table = pa.table({"type": ["B", "B", "A", "B"]})
    assert query.count(table) == len(query.run(table)) == 3


def test_sql_calls_events_rows() -> None:
    query = cereus.compile("SELECT * WHERE A after match skip past last row")
    assert query.tree.skip is Skip.PAST_LAST
    with pytest.raises(CereusError, match="unknown skip mode"):
        cereus.compile("SELECT * WHERE A AFTER MATCH SKIP TO FIRST EVENT")


def test_nothing_else_decides_what_becomes_of_matches() -> None:
    for clause in ("CONSUME BY ANY", "LIMIT 1"):
        with pytest.raises(RefusedError, match="does not go with"):
            cereus.compile(f"SELECT * WHERE A {clause} {PAST}")
    with pytest.raises(RefusedError, match=r"does not go with COUNT\(\*\)"):
        cereus.compile(f"SELECT COUNT(*) WHERE A {NEXT}")


def test_it_is_explained_and_refused_in_sremo_by_name() -> None:
    query = cereus.compile(f"SELECT * WHERE A ; B WITHIN 5 EVENTS {NEXT}")
    assert "begin after" in query.explain()
    with pytest.raises(RefusedError, match="AFTER MATCH SKIP compares matches"):
        translated(query.compiled, "sremo")
    past = cereus.compile(f"SELECT * WHERE A ; B WITHIN 5 EVENTS {PAST}")
    assert "SELECT NEXT *" in past.explain()


@examples(FEWER)
@given(random_.randoms)
def test_random_queries_cut_into_pieces(draw: Random) -> None:
    case = random_.case(draw)
    skip = draw.choice((Skip.PAST_LAST, Skip.TO_NEXT, Skip.TO_NEXT))
    query = replace(case.query, skip=skip, limit=None, consume=Consume.NONE)
    if skip is Skip.TO_NEXT:
        query = replace(query, select=None)
    note(str(replace(case, query=query)))
    made = compiled(query, case.stream)
    for events in case.streams:
        recognizer = made.recognizer()
        found: Counter[Row] = Counter()
        for piece in pieces(draw, random_.table(events)):
            if draw.randrange(3) == 0 and found:
                recognizer = made.restore(recognizer.snapshot())
            found += rows(recognizer.push(piece), query)
        recognizer.finish()
        assert_agrees(found, query, case.stream, events)


@examples(FEWER // 4)
@given(random_.randoms)
def test_many_keys_in_small_pieces(draw: Random) -> None:
    query = random_.query(draw, draw.randint(2, 5), False)
    query = replace(
        query,
        partition_by=(("k",),),
        select=None,
        returned=(),
        limit=None,
        consume=Consume.NONE,
        skip=Skip.TO_NEXT,
    )
    note(str(query))
    stream = cereus.Stream(time="t", unit="s")
    events = random_.events(draw, 40, keys=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skipping, "PIECE", draw.randint(1, 9))
        found = rows(compiled(query, stream).run(random_.table(events)), query)
    assert_agrees(found, query, stream, events)


def test_what_is_passed_is_dropped_inside_a_batch() -> None:
    """A thousand starts and a thousand ends are no million matches."""
    events = pa.table({"type": ["A"] * 2000 + ["B"] * 4000, "t": range(6000)})
    query = cereus.compile(
        f"SELECT * WHERE A ; B WITHIN 2 hours {NEXT}", stream=cereus.Stream(time="t", unit="s")
    )
    assert len(query.run(events)) == 2000
