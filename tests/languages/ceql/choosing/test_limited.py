"""Under LIMIT, partial matches that others cover are left out: at every event as many matches are
reported as the definition gives, and they are among those, however the stream is cut."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.languages.ceql.scope import bound
from cereus.languages.ceql.text import parse
from tests.languages.ceql import strategies
from tests.languages.ceql.harness import ALWAYS, assert_agrees, rows, sizes, spelled
from tests.languages.ceql.pieces import TIMED, cut, events
from tests.volume import volume

ORDERED = (
    "A AS a ; B AS b ; A AS c FILTER a.x < b.x AND c.x > a.x",
    "A AS a ; B AS b ; A AS c FILTER a.x < b.x AND b.x < c.x",
    "A AS a ; B AS b ; A AS c FILTER a.x >= c.x AND a.w <= b.w",
    "A AS a ; B AS b ; A AS c FILTER a.x = c.x AND a.w < c.w",
    "A AS a ; A AS b ; B AS c FILTER a.x < c.x AND b.w > c.w",
    "A AS a ; B AS b ; A AS c FILTER a.x + b.x < c.x OR a.w > 1",
)
SETS = (
    "A+ AS a ; B AS b ; A AS c FILTER a.x < b.x AND a.w < c.w",
    "A AS a ; B+ AS b ; A AS c FILTER a.x <= c.x",
    "A AS a ; B+ AS b FILTER a.x < b.x",
    "A AS a ; B:+ AS b FILTER sum(b.x) > a.x",
    "(A AS a ; B AS b ; A AS c FILTER a.x < c.x)+",
)
AROUND = (
    "A AS a : B AS b ; A AS c FILTER a.x < c.x",
    "A AS a ; B AS b : A AS c FILTER a.x > c.x",
    "(A AS a OR B AS a) ; B AS b : A AS c FILTER a.x > c.x",
    "(A AS a ALL B AS b) ; A AS c FILTER a.x < c.x AND b.x > c.x",
    "A AS a ; (B AS b)? ; A AS c FILTER a.x < b.x AND a.x < c.x",
    "(A AS a ; B AS b OR B AS a ; A AS b) ; A AS c FILTER a.x < c.x",
    "A AS a ; NOT(B) ; A AS c FILTER a.x < c.x",
    "A AS a ;[2 seconds] B AS b ; A AS c FILTER a.x < c.x",
    "((A AS a ; B AS b) WITHOUT (A AS n FILTER n.x > a.x)) ; A AS c FILTER b.x < c.x",
    "((A AS a ; B AS b) UNLESS (B AS d ; B AS f FILTER d.x < f.x)) ; A AS c FILTER a.x < c.x",
    "PROJECT[a, c](A AS a ; B AS b ; A AS c FILTER a.x < c.x) ; B",
)
WINDOWS = ("", "WITHIN 4 EVENTS", "WITHIN 3 seconds", "WITHIN 6 seconds", "PARTITION BY x")
ORDER = (64, ALWAYS)
"""From how many configurations on they are put in order."""
CONSUMED = ("", "", "CONSUME BY ANY", "CONSUME BY PARTITION")


@pytest.mark.parametrize("pattern", [*ORDERED, *SETS, *AROUND])
def test_as_many_are_found_as_the_definition_finds_up_to_the_limit(pattern: str) -> None:
    visible = bound(parse(f"SELECT * WHERE {pattern}").formula)
    for seed in range(volume(12, 60)):
        draw = Random(seed)
        names = draw.choice(("*", "*", "STRICT *", "a, c", "a", "c"))
        shown = names if "*" in names or visible.issuperset(names.split(", ")) else "*"
        clauses = f"{draw.choice(WINDOWS)} {draw.choice(CONSUMED)}"
        limit = draw.choice((1, 1, 2, 3))
        text = f"SELECT {shown} WHERE {pattern} {clauses} LIMIT {limit}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        stream = events(draw, 12)
        chunk, sweep, order = draw.choice((1, 1000)), draw.choice((1, 1000)), draw.choice(ORDER)
        with sizes(chunk=chunk, sweep=sweep, order=order):
            found = rows(cut(query, stream, draw), query.tree)
        try:
            assert_agrees(found, parse(text), TIMED, stream)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {text}\n{error}") from None


def test_a_move_is_made_again_where_what_it_led_to_is_left_at_the_same_event() -> None:
    """The second B in a row ends the wait for an A right behind the first, and begins another."""
    text = "SELECT * WHERE A AS a ; B AS b : A AS c FILTER a.x > c.x LIMIT 1"
    stream = spelled("A B A B B A", x="9 5 7 3 2 1")
    query = cereus.compile(text, stream=TIMED)
    found = query.run(pa.Table.from_pylist(stream))
    assert [row["end"] for row in found] == [2, 5]
