"""Under LIMIT, an event looks for no more matches than are reported."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus import Limits, Stream

TIMED = Stream(time="t", unit="s")
PAIR = "SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x"


def rising(rows: int, seed: int = 0) -> pa.Table:
    """Events of two types, with values that seldom come twice."""
    draw = Random(seed)
    return pa.table(
        {
            "type": [draw.choice("AB") for _ in range(rows)],
            "t": list(range(rows)),
            "x": [draw.randrange(1 << 30) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("clauses", ["LIMIT 1", "WITHIN 500 seconds LIMIT 1", "LIMIT 3"])
def test_an_event_looks_at_few_of_what_it_could_complete(clauses: str) -> None:
    table = rising(3_000)
    found = cereus.compile(f"{PAIR} {clauses}", stream=TIMED).run(table, threads=1)
    assert len(found) > 1_000
    assert found.costs.steps < 40 * table.num_rows


@pytest.mark.parametrize(
    ("conditions", "most"),
    [
        ("a.x < b.x AND c.x > a.x", 15),
        ("a.x < b.x AND b.x < c.x", 15),
        ("a.x > b.x AND c.x < a.x", 15),
        ("a.k = c.k AND a.x < b.x", 60),
    ],
)
def test_of_many_values_that_wait_those_that_others_cover_are_left_out(
    conditions: str, most: int
) -> None:
    """Of what begins no sooner, the least of all values does whatever the others can."""
    table = rising(3_000)
    table = table.append_column("k", pa.array([place % 10 for place in range(table.num_rows)]))
    query = f"SELECT * WHERE A AS a ; B AS b ; A AS c FILTER {conditions} LIMIT"
    found = cereus.compile(f"{query} 1", stream=TIMED).run(table, threads=1)
    assert len(found) > 1_000
    assert found.costs.steps < most * table.num_rows
    three = cereus.compile(f"{query} 3", stream=TIMED).run(table, threads=1)
    assert three.costs.steps < 4 * most * table.num_rows


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
@pytest.mark.parametrize("clauses", ["", "WITHIN 9 seconds", "WITHIN 9 seconds CONSUME BY ANY"])
def test_as_many_are_reported_as_there_are_up_to_the_limit(clauses: str, limit: int) -> None:
    for seed in range(10):
        table = rising(60, seed)
        every = cereus.compile(f"{PAIR} {clauses}", stream=TIMED).run(table)
        found = cereus.compile(f"{PAIR} {clauses} LIMIT {limit}", stream=TIMED).run(table)
        counts = dict.fromkeys({row["end"] for row in every}, 0)
        for row in every:
            counts[row["end"]] += 1
        if limit == 0:
            assert not len(found)
            continue
        assert len(found) == sum(min(limit, count) for count in counts.values())
        matches = {tuple(row["positions"]) for row in every}
        assert {tuple(row["positions"]) for row in found} <= matches


def test_what_is_out_of_the_window_and_was_not_looked_at_is_not_over_a_limit() -> None:
    """The latest A is always enough, so that those before it are never looked at again."""
    rows = 400
    table = pa.table({"type": ["A", "B"] * (rows // 2), "t": range(rows), "x": range(rows)})
    query = cereus.compile(
        f"{PAIR} WITHIN 10 seconds LIMIT 1", stream=TIMED, limits=Limits(configurations=20)
    )
    assert len(query.run(table, threads=1)) == rows // 2
