"""Repetitions of which nothing is selected: rows are those of the definition, and sets of events
are not listed."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from tests.languages.ceql import strategies
from tests.languages.ceql.pieces import TIMED, assert_agrees_in_pieces
from tests.volume import volume

PATTERNS = (
    "A+ AS a ; B AS b FILTER a.x < b.x",
    "A+ AS a ; B AS b FILTER a.x = b.x OR a.w < b.w",
    "C AS c ; A+ AS a ; B AS b FILTER a.x < b.x AND c.x <= a.x",
    "(A AS a ; C AS c FILTER a.x <= c.x)+ ; B AS b FILTER a.x < b.x",
    "(A+ AS a ; B AS b FILTER a.x != b.x) OR B AS b",
    "B AS b ; A+ AS a FILTER a.x < b.x",
    "(A OR C)+ AS a ; B AS b FILTER a.x <= b.x",
    "((A AS a ; B+ AS c) AS d ; B AS b) FILTER c.x < b.x",
    "A+ AS a ; B AS b FILTER a.x < b.x AND count(a) > 1",
    "A+ AS a ; B AS b FILTER a.x > prev(a.x) AND a.x < b.x",
    "A : A+ AS a : B AS b FILTER a.x < b.x",
    "(START(A AS a))+ ; B AS b FILTER a.x < b.x",
    "NEXT(A+ AS a ; B AS b FILTER a.x < b.x)",
)
CLAUSES = ("", "WITHIN 3 seconds", "WITHIN 4 EVENTS", "WITHIN 4 seconds CONSUME BY ANY", "LIMIT 1",
           "PARTITION BY k WITHIN 4 seconds")  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_rows_are_those_of_the_definition(pattern: str) -> None:
    for seed in range(volume(12, 100)):
        draw = Random(seed)
        select = draw.choice(("b", "b", "b", "b[x]", "B"))
        text = f"SELECT {select} WHERE {pattern} {draw.choice(CLAUSES)}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        assert_agrees_in_pieces(query, draw, seed)


def test_sets_of_events_that_are_not_selected_are_not_listed() -> None:
    stream = pa.table({"type": ["A"] * 200 + ["B"], "t": range(201), "x": range(201)})
    text = "SELECT b WHERE A+ AS a ; B AS b FILTER a.x < b.x WITHIN 1 hour"
    limits = cereus.Limits(steps_per_event=1000, matches_per_event=1000)
    (row,) = cereus.compile(text, stream=TIMED, schema=stream.schema, limits=limits).run(stream)
    assert (row["start"], row["end"]) == (199, 200)
