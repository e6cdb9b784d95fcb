"""Conditions that registers decide in ways of their own: the extremes of a set, functions that are
looked up, and events of the past; against the definition, however the stream is cut."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.engine.match import functions
from cereus.errors import LimitError
from cereus.languages.ceql.text import parse
from tests.languages.ceql import strategies
from tests.languages.ceql.harness import assert_agrees, rows, sizes
from tests.languages.ceql.pieces import TIMED, assert_agrees_in_pieces, cut, events
from tests.volume import volume

EXTREMES = (
    "A+ AS a ; B AS b FILTER a.x + b.x > 3",
    "A+ AS a ; B AS b FILTER abs(a.x - b.w) <= 1",
    "A+ AS a ; B+ AS b FILTER a.w - b.x BETWEEN 0 AND 2",
    "(A OR B)+ AS a ; B AS b FILTER b.w * 2 > a.x + 1 AND floor(a.w / 2) = floor(b.w / 2)",
    "A+ AS a ALL B+ AS b FILTER least(a.x, 2) + b.x < 4",
    "A:+ AS a ; (B AS b ; A)+ FILTER sqrt(a.x - b.x) < 2",
)
SETS = (
    "A+ AS a ; B AS b FILTER a.x != b.x",
    "A+ AS a ; B+ AS b FILTER a.w != b.w AND a.s != b.s",
    "A+ AS a ALL B+ AS b FILTER a.x * b.w != 1",
    "(A OR B)+ AS a ; B+ AS b FILTER concat(a.s, b.s) LIKE '%ab%' OR a.x != b.x",
    "(A AS a ; B:+ AS b)+ FILTER a.x != b.x AND coalesce(a.w, 0) != b.w",
    "A+ AS a ; B AS b ; A AS c FILTER a.x + c.x != b.x OR a.x IS NULL",
    "(A+ AS a ; B) UNLESS (A+ AS c ; B AS d FILTER c.x != d.x)",
)
LOOKED_UP = (
    "A AS a ; B AS b FILTER a.s < b.s",
    "A AS a ; B AS b FILTER concat(a.s, b.s) LIKE '%a%' OR a.x = b.x",
    "A AS a ; B AS b ; A AS c FILTER length(concat(a.s, b.s, c.s)) + a.x > b.x + 2",
    "A AS a ; B AS b FILTER CASE WHEN a.s > b.s THEN a.x ELSE b.x END > 1",
)
PAST = (
    "(A ; B AS b) WITHOUT (A AS n FILTER n.x > b.x)",
    "(A AS a ; B AS b) WITHOUT (A AS n FILTER n.x + a.x > b.x AND n[w > 1])",
    "((A AS a ; B AS b+) WITHOUT (A AS n FILTER n.x = a.x)) ; A",
    "(A ; B AS b ; A AS c) WITHOUT ((A AS n FILTER n.x < b.x) OR (B AS m FILTER m.s >= c.s))",
    "(A AS a ; (B AS b)? ; A AS c) WITHOUT (B AS n FILTER n.x = b.x OR n.w < c.w)",
    "((A ; B AS b) WITHOUT (B AS n FILTER n.x > b.x))+",
)
OWN_TOTALS = (
    "A:+ AS a ; B AS b FILTER a.x >= avg(a.x)",
    "A+ AS a ; B AS b FILTER a.x + 1 > 0.5 * sum(a.x) AND b.w < 2",
    "A:+ AS a ; B AS b FILTER abs(a.x - avg(a.x)) < 1.5 * stddev(a.x)",
    "(A:+ AS a FILTER a.w <= first(a.w)) ; B+ AS b FILTER b.x < sum(a.x)",
    "A? ; (A:+ AS a)? ; B AS b FILTER a.x < b.x + count(a)",
    "A+ AS a ; B+ AS b FILTER a.x - b.x < max(b.w)",
)
DEVIATIONS = (
    "A:+ AS a ; B AS b FILTER stddev(a.x) > 1",
    "A+ AS a ; B AS b FILTER stddev(a.x) = 1 OR stddev(a.w) = 0",
    "A AS c ; (A OR B):+ AS a ; B AS b FILTER b.x > avg(a.x) + stddev(a.x) AND c.w < 3",
    "(A:+ AS a FILTER stddev(a.w) <= 0.5) ; B",
    "A+ AS a ; B+ AS b FILTER stddev(a.x) < stddev(b.x) OR stddev(b.w) IS NULL",
)
ORDERS = (
    "A+ AS a ; B AS b FILTER a.x >= b.x",
    "A AS a ; A+ AS d ; B AS b FILTER a.x <= b.x",
    "A AS a ; A AS d ; B AS b FILTER a.x < b.x",
    "A AS a ; B? ; B AS b FILTER a.x > b.x",
)
CLAUSES = ("", "WITHIN 4 EVENTS", "WITHIN 3 seconds", "PARTITION BY x WITHIN 4 seconds")


@pytest.mark.parametrize("pattern", [*EXTREMES, *SETS, *LOOKED_UP, *PAST, *DEVIATIONS, *OWN_TOTALS])
def test_registers_give_what_the_definition_gives(pattern: str) -> None:
    for seed in range(volume(6, 18)):
        draw = Random(seed)
        strategy = draw.choice(("", "", "", "NEXT ", "LAST "))
        text = f"SELECT {strategy}* WHERE {pattern} {draw.choice(CLAUSES)}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        assert not any("this is slow" in warning for warning in query.warnings)
        assert_agrees_in_pieces(query, draw, seed)


@pytest.mark.parametrize("strategy", ["NEXT", "LAST"])
@pytest.mark.parametrize("pattern", ORDERS)
def test_the_best_of_an_order_is_what_the_definition_chooses(pattern: str, strategy: str) -> None:
    """Partial matches that arrive at one event may be joined after their order was looked at."""
    for seed in range(volume(8, 24)):
        draw = Random(seed)
        text = f"SELECT {strategy} * WHERE {pattern} {draw.choice(['', 'WITHIN 9 seconds'])}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        stream = events(draw, 14)
        with sizes(chunk=1000, sweep=draw.choice((1, 1000)), order=0):
            found = rows(cut(query, stream, draw), query.tree)
        assert_agrees(found, parse(text), TIMED, stream)


def test_where_strings_are_many_each_combination_is_computed_on_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(functions, "MOST_AT_ONCE", 4)
    for pattern in LOOKED_UP:
        test_registers_give_what_the_definition_gives(pattern)


def test_values_of_functions_are_found_after_their_table_has_grown() -> None:
    names = [f"{place}{'x' if place % 2 else 'y'}" for place in range(4000)]
    table = pa.table({"type": ["A", "B"] * 2000, "t": range(4000), "name": names})
    text = """SELECT * WHERE A AS a ; B AS b FILTER concat(a.name, b.name) LIKE '%x%'
        WITHIN 1 seconds"""
    query = cereus.compile(text, stream=cereus.Stream(time="t", unit="s"))
    assert len(query.run(table, threads=1)) == 2000


@pytest.mark.parametrize(
    "pattern",
    [
        "START((A ; C AS c) WITHOUT (B FILTER B.x = c.x))",
        "(START(A) ; C AS c) WITHOUT (B FILTER B.x = c.x)",
    ],
)
def test_what_comes_in_between_counts_after_a_start(pattern: str) -> None:
    table = pa.table({"type": list("ABC"), "t": range(3), "x": [1, 5, 5]})
    query = cereus.compile(f"SELECT * WHERE {pattern}", stream=cereus.Stream(time="t", unit="s"))
    assert not len(query.run(table))


def test_sets_of_values_count_as_nodes() -> None:
    """Of n events there are n² sets, whose members are what takes memory."""
    table = pa.table({"type": ["A"] * 300 + ["B"], "x": list(range(301))})
    text = "SELECT * WHERE A:+ AS a ; B AS b FILTER a.x != b.x LIMIT 1"
    query = cereus.compile(text, schema=table.schema, limits=cereus.Limits(nodes=100_000))
    with pytest.raises(LimitError, match="more than 100,000 nodes"):
        query.run(table)


@pytest.mark.parametrize(
    ("condition", "window", "warned"),
    [
        ("a.x * b.x > 5", "1 hour", True),
        ("a.x * b.x > 5", "2000 EVENTS", True),
        ("a.x * b.x > 5", "1 second", False),
        ("a.x * b.x > 5 AND a.w = b.w", "1 hour", False),
        ("a.x < b.x", "1 hour", False),
    ],
)
def test_what_is_computed_for_every_value_in_a_long_window_is_said(
    condition: str, window: str, warned: bool
) -> None:
    text = f"SELECT * WHERE A AS a ; B AS b FILTER {condition} WITHIN {window}"
    query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
    assert any("every value in the window" in warning for warning in query.warnings) == warned


def test_a_part_that_may_be_over_or_go_on_is_found_in_one_way() -> None:
    """`a ; b+` may be complete, or wait for more of b: `c` tells which, so matches are counted."""
    draw = Random(4)
    stream = events(draw) + events(draw)
    stream = [event | {"t": second} for second, event in enumerate(stream)]
    pattern = "(A AS a ; B+ AS b FILTER a.x < b.x) ; A AS c WITHIN 5 EVENTS"
    table = strategies.table(stream)
    listed = cereus.compile(f"SELECT * WHERE {pattern}", stream=TIMED).run(table)
    counted = cereus.compile(f"SELECT COUNT(*) WHERE {pattern}", stream=TIMED).run(table)
    assert len(listed) > 0
    assert sum(row["count"] for row in counted) == len(listed)
