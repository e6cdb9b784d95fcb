"""Costs are counted, not measured: a change that makes more work fails here, on any machine."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.engine.costs import Costs


def events(rows: int, kinds: str = "AB", keys: int = 1) -> pa.Table:
    return pa.table(
        {
            "type": [kinds[i % len(kinds)] for i in range(rows)],
            "ts": pa.array(range(rows), pa.timestamp("s")),
            "x": [i % 10 for i in range(rows)],
            "k": [i // len(kinds) % keys for i in range(rows)],
        }
    )


ROWS = (
    "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES count(*) AS n "
    "PATTERN (a+ b) DEFINE a AS {}, b AS x > 7)"
)


def costs(text: str, table: pa.Table, dialect: str = "ceql") -> Costs:
    stream = cereus.Stream(time="ts")
    return cereus.compile(text, dialect=dialect, stream=stream).run(table).costs


def test_types_are_looked_up_and_conditions_evaluated_where_they_decide() -> None:
    table = events(1_000, "ABCD")
    assert costs("SELECT * WHERE A ; B WITHIN 2 seconds", table).tests == 0
    narrow = costs("SELECT * WHERE A AS a ; B FILTER a[x > 3] WITHIN 2 seconds", table)
    assert narrow.tests == 250  # of the As
    both = costs("SELECT * WHERE A AS a ; B AS b FILTER a[x > 3] AND b[x > 3]", table)
    assert both.tests <= 1_000


def test_events_of_no_use_do_not_come_to_the_kernel() -> None:
    table = events(1_000, "ABCD")
    found = costs("SELECT * WHERE A ; B WITHIN 3 seconds", table)
    assert found.events == 1_000
    assert found.kept <= 500
    assert costs("SELECT * WHERE A ; Z", table).nodes <= 250


def test_a_partial_match_is_one_node() -> None:
    """However many matches it becomes part of."""
    table = events(200, "A")
    counted = costs("SELECT * WHERE A ; A WITHIN 20 seconds", table)
    assert counted.nodes <= 2 * 200
    assert counted.steps <= 4 * 200


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("ceql", "SELECT * WHERE A ; B WITHIN 4 seconds"),
        ("ceql", "SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x WITHIN 4 seconds"),
        ("ceql", "SELECT MAX * WHERE A+ ; B WITHIN 4 seconds"),
        ("ceql", "SELECT MAX * WHERE A+ ; B+ WITHIN 4 seconds"),
        ("ceql", "SELECT COUNT(*) WHERE A+ ; B WITHIN 9 seconds"),
        ("ceql", "SELECT * WHERE A ; B PARTITION BY k WITHIN 9 seconds"),
        ("sremo", "{A: x > 1} . SKIP* . {B:} WITHIN 4 seconds"),
        (
            "sase",
            "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.x < b.x } WITHIN 4 seconds",
        ),
        ("par", "repeat (A[X] ; B[Y])"),
        ("algebra", "(A ; B)_{4 seconds}"),
        ("match_recognize", ROWS.format("type = 'A'")),
        ("match_recognize", ROWS.format("x <= 5 + FIRST(x)")),
    ],
)
def test_work_grows_in_proportion_to_the_events(dialect: str, text: str) -> None:
    """Twice the events with the same window are twice the work, and no more."""
    once, twice = (costs(text, events(n, keys=5), dialect) for n in (500, 1_000))
    assert twice.events == 2 * once.events
    for name in ("tests", "kept", "steps", "nodes"):
        one, two = getattr(once, name), getattr(twice, name)
        assert two <= 2.1 * one + 10, f"{name}: {one} and then {two}"
    assert once.steps


def test_an_equality_looks_up_what_it_needs() -> None:
    """Not every value that is remembered."""
    rows = 2_000
    table = pa.table(
        {
            "type": ["A", "B"] * (rows // 2),
            "ts": pa.array(range(rows), pa.timestamp("s")),
            "x": list(range(rows)),
            "y": [i - 1 for i in range(rows)],
        }
    )
    text = "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.y WITHIN 500 seconds"
    assert costs(text, table).steps <= 6 * rows


def test_a_recognizer_counts_from_its_first_event() -> None:
    query = cereus.compile("SELECT * WHERE A ; B", stream=cereus.Stream(time="ts"))
    recognizer, table = query.recognizer(), events(100)
    assert recognizer.costs == Costs()
    first = recognizer.push(table.slice(0, 50)).costs
    second = recognizer.push(table.slice(50)).costs
    assert (first.events, second.events) == (50, 100)
    assert second.steps > first.steps > 0
    assert recognizer.costs == second


def test_row_patterns_count_what_each_way_of_matching_does() -> None:
    """Two passes read every row twice, and the rows of matches once more; runs and searches note
    the rows of their partial matches."""
    table = events(1_000, keys=5)
    passes, slots, search = (
        costs(ROWS.format(condition), table, "match_recognize")
        for condition in ("x < 0", "x <= FIRST(x)", "max(lower(CLASSIFIER())) = 'z'")
    )
    assert (passes.events, passes.kept, passes.steps, passes.nodes) == (1_000, 1_000, 2_000, 0)
    assert passes.tests == 2 * 1_000  # both conditions are about single rows
    assert slots.tests == search.tests == 1_000
    assert 0 < slots.nodes <= 2_000 and 0 < slots.steps <= 2_000
    assert 0 < search.steps <= 2_000
    found = costs(ROWS.format("type = 'A'"), table, "match_recognize")
    assert found.bytes > passes.bytes == 0


def test_a_live_row_pattern_counts_as_it_goes() -> None:
    """A match that goes on for long is carried on: its rows are not read again with each push."""
    text = ROWS.format("x >= 0 * FIRST(x)").replace("x > 7", "x < 0")
    rows = 3_000
    table = events(rows, keys=1)
    query = cereus.compile(text, dialect="match_recognize", stream=cereus.Stream(time="ts"))
    recognizer = query.recognizer(schema=table.schema)
    for at in range(0, rows, 10):
        recognizer.push(table.slice(at, 10))
    assert rows < recognizer.costs.steps <= 20 * rows + 512 * 512


def test_rows_carried_along_are_counted_in_bytes() -> None:
    table = events(1_000)
    few = costs("SELECT * WHERE A ; B AS b FILTER b[x = 99]", table)
    many = costs("SELECT * WHERE A : B", table)
    assert few.bytes < many.bytes
