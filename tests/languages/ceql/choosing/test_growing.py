"""MAX where one run has all the events of others (`automata.growing`): against the definition,
however the stream is cut."""

from __future__ import annotations

from random import Random

import pytest

import cereus
from cereus.plan.traits import ChosenBy
from tests.languages.ceql import strategies
from tests.languages.ceql.pieces import TIMED, assert_agrees_in_pieces
from tests.volume import volume

GROWING = (
    "(A AS a ; B+ AS b ; C AS c FILTER a.x = b.x) WITHOUT (C AS n FILTER n.x > 1)",
    "A AS a ; B+ AS b ; C AS c FILTER a.x <= b.x AND a.w < c.w",
    "A AS a ; B+ AS b ; A AS c",
    "A AS a : B+ AS b",
    "A AS a ; B+ AS b ; A AS c FILTER a.x = c.x",
    "A AS a ; B+ AS b ; A AS c FILTER a.x < b.x",
    "A AS a ; B+ AS b",
    "A AS a ; B+ AS b ; C AS c",
    "A AS a ; B+ AS b FILTER a.x = b.x",
    "A AS a ; B+ AS b FILTER a.x < b.x",
    "A AS a ; B+ AS b FILTER a.x + b.w > 1",
    "A AS a ; B+ AS b ; C AS c FILTER a.x = c.x",
    "A AS a ; (B OR C)+ AS b FILTER a.x != b.x",
    "A AS a ; B+ AS b ; C AS c FILTER a[x > 0]",
)
"""What the kernel decides so, or may decide so."""
NESTED = (
    "A+ AS a ; B AS b",
    "A+ AS a",
    "*+ AS a ; C AS b",
    "A:+ AS a : B AS b",
    "A+ AS a : B AS b",
    "A AS a ; (A OR B)+ AS b ; C AS c",
    "A{2,} AS a ; B AS b",
    "A+ AS a ; B AS b FILTER a[x > 0]",
    "(A+ AS a ; B AS b) OR (A+ AS a ; C AS b)",
    "START(A+ AS a ; B AS b)",
)
"""Where what begins first contains what begins later."""
NOT_NESTED = (
    "A+ AS a ; B AS b ; A+ AS c",
    "A+ AS a ; A AS b ; B AS c",
    "(A OR B) AS a ; A+ AS b ; C AS c",
    "A+ AS a ; B AS b FILTER a.x < b.x",
)
OTHERS = (
    "(A AS a ; B{2,} AS b FILTER a.x != b.x OR a.w = 1)",
    "A AS a ; *+ AS b",
    "A AS a ; *+ AS b FILTER a.x < b.x",
    "A AS a ; *+ AS b ; C AS c FILTER a.x = c.x",
    "A AS a ; B+ AS b ; C+ AS c FILTER a.x = c.x",
    "A+ AS a ; B+ AS b",
    "A AS a ; B:+ AS b",
    "A AS a ; B:+ AS b FILTER a.x = b.x",
    "A AS a ; B+ AS b FILTER b.x > prev(b.x)",
    "A AS a ; B+ AS b ; C AS c FILTER b.x < c.x",
    "A AS a ; B+ AS b FILTER sum(b.x) > 2",
    "A AS a ; (B AS b OR (B AS b ; C AS c))",
    "(A AS a ; B+ AS b) OR (A AS a ; C+ AS b)",
    "A AS a ; (B ; C)+ AS b FILTER a.x = b.x",
    "A AS a ; B+ AS b ; (C AS c)? FILTER a.x = b.x",
    "A AS a ; B{2,3} AS b FILTER a.x <= b.x",
    "START(A AS a ; B+ AS b)",
    "((A AS a ; B+ AS b) WITHIN 3 seconds)",
    "A AS a ;[2 seconds] B+ AS b",
    "(A AS a ; B+ AS b ; C AS c) UNLESS (C ; B)",
)
INSIDE = (
    "MAX({part}) ; C",
    "C ; MAX({part})",
    "MAX({part})",
)
CLAUSES = (
    "",
    "WITHIN 3 seconds",
    "WITHIN 5 EVENTS",
    "WITHIN 6 seconds CONSUME BY ANY",
    "PARTITION BY x WITHIN 5 seconds",
    "PARTITION BY x WITHIN 7 seconds CONSUME BY PARTITION",
    "PARTITION BY x WITHIN 7 seconds CONSUME BY ANY",
    "WITHIN 5 seconds LIMIT 1",
    "WITHIN 8 seconds LIMIT 2",
)


def chosen_by(query: cereus.Query) -> ChosenBy:
    return query.compiled.plan(strategies.SCHEMA).traits.chosen_by


@pytest.mark.parametrize("pattern", [*GROWING, *NESTED, *NOT_NESTED, *OTHERS])
def test_max_is_what_the_definition_says(pattern: str) -> None:
    names = [name for name in "ab" if f" AS {name}" in pattern]
    for seed in range(volume(4, 60)):
        draw = Random(seed)
        shown = draw.choice(("*", "*", "*", names[-1], ", ".join(names)))
        text = f"SELECT MAX {shown} WHERE {pattern} {draw.choice(CLAUSES)}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        assert_agrees_in_pieces(query, draw, seed, draw.choice(("ABBBC", "AAABC")))


@pytest.mark.parametrize("pattern", NESTED)
def test_what_begins_first_contains_the_others(pattern: str) -> None:
    text = f"SELECT MAX * WHERE {pattern} WITHIN 3 seconds"
    query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
    assert chosen_by(query) is ChosenBy.LONGEST


@pytest.mark.parametrize("pattern", NOT_NESTED)
def test_what_begins_first_may_lack_the_first_event_of_another(pattern: str) -> None:
    text = f"SELECT MAX * WHERE {pattern} WITHIN 3 seconds"
    query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
    assert chosen_by(query) in (ChosenBy.REPLAY, ChosenBy.CONTAINMENT)


@pytest.mark.parametrize("pattern", GROWING)
def test_one_run_has_all_the_events(pattern: str) -> None:
    text = f"SELECT MAX * WHERE {pattern} WITHIN 3 seconds"
    query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
    assert chosen_by(query) is ChosenBy.GROWTH


@pytest.mark.parametrize("pattern", OTHERS[:10])
def test_where_several_runs_are_left_they_are_compared(pattern: str) -> None:
    text = f"SELECT MAX * WHERE {pattern} WITHIN 3 seconds"
    query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
    assert chosen_by(query) is not ChosenBy.GROWTH


@pytest.mark.parametrize("pattern", [OTHERS[2], OTHERS[3], GROWING[2], GROWING[3]])
def test_max_inside_a_pattern_is_what_the_definition_says(pattern: str) -> None:
    for seed in range(volume(8, 60)):
        draw = Random(seed)
        around = draw.choice(INSIDE).format(part=pattern)
        text = f"SELECT * WHERE {around} {draw.choice(CLAUSES)}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        assert_agrees_in_pieces(query, draw, seed, "ABBBC")
