"""Configurations in order: an event looks at those that it can move, and at few more."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus import Stream

TIMED = Stream(time="t", unit="s")


def drawn(rows: int, seed: int = 0) -> pa.Table:
    """Events of two types; values that seldom come twice, those of B far from those of A."""
    draw = Random(seed)
    types = [draw.choice("AAB") for _ in range(rows)]
    far = {"A": 0, "B": 1 << 30}
    return pa.table(
        {
            "type": types,
            "t": list(range(rows)),
            "x": [draw.randrange(1 << 30) + (draw.random() < 0.98) * far[k] for k in types],
        }
    )


def found(text: str, table: pa.Table) -> cereus.Matches:
    return cereus.compile(text, stream=TIMED).run(table, threads=1)


@pytest.mark.parametrize("sign", [">", ">="])
@pytest.mark.parametrize("clauses", ["", "WITHIN 700 seconds"])
def test_what_cannot_move_is_not_looked_at(sign: str, clauses: str) -> None:
    table = drawn(3_000)
    matches = found(f"SELECT * WHERE A AS a ; B AS b FILTER a.x {sign} b.x {clauses}", table)
    assert len(matches) > 1_000
    assert matches.costs.steps < 2 * len(matches) + 6 * table.num_rows


def test_the_other_way_round() -> None:
    table = drawn(3_000)
    matches = found("SELECT * WHERE B AS b ; A AS a FILTER b.x < a.x WITHIN 700 seconds", table)
    assert len(matches) > 1_000
    assert matches.costs.steps < 2 * len(matches) + 6 * table.num_rows


def test_null_is_neither_below_nor_above() -> None:
    x = [None if row % 3 == 0 else row for row in range(400)]
    table = pa.table({"type": ["A", "B"] * 200, "t": range(400), "x": x})
    texts = ("SELECT * WHERE A AS a ; B AS b FILTER a.x > b.x", "SELECT * WHERE A AS a ; B AS b "
             "FILTER a.x < b.x")  # fmt: skip
    known = [(row // 2, row) for row in range(400) if x[row] is not None]
    below = sum(1 for _, a in known for _, b in known if a % 2 == 0 and b % 2 == 1 and a < b)
    assert [len(found(text, table)) for text in texts] == [0, below]


def test_counting_and_choosing_go_by_the_same_order() -> None:
    table = drawn(1_500)
    pair = "A AS a ; B AS b FILTER a.x > b.x WITHIN 300 seconds"
    listed = found(f"SELECT * WHERE {pair}", table)
    counted = found(f"SELECT COUNT(*) WHERE {pair}", table)
    assert sum(row["count"] for row in counted) == len(listed) > 200
    chosen = found(f"SELECT LAST * WHERE {pair}", table)
    latest = {row["end"]: row["start"] for row in sorted(listed, key=lambda row: row["start"])}
    assert {row["end"]: row["start"] for row in chosen} == latest


@pytest.mark.parametrize("strategy", ["NEXT", "LAST"])
@pytest.mark.parametrize("sign", ["<", ">="])
def test_only_the_best_of_an_order_moves(strategy: str, sign: str) -> None:
    """Half of the values in the window could move: one does, and is the one that it should be."""
    draw = Random(3)
    types, x = [draw.choice("AB") for _ in range(3_000)], draw.sample(range(1 << 30), 3_000)
    table = pa.table({"type": types, "t": range(3_000), "x": x})
    pattern = f"A AS a ; B AS b FILTER a.x {sign} b.x WITHIN 500 seconds"
    matches = found(f"SELECT {strategy} * WHERE {pattern}", table)
    holds = {"<": int.__lt__, ">=": int.__ge__}[sign]
    best = min if strategy == "NEXT" else max
    expected = []
    for end in (row for row in range(3_000) if types[row] == "B"):
        inside = range(max(0, end - 500), end)
        before = [row for row in inside if types[row] == "A" and holds(x[row], x[end])]
        expected += [[best(before), end]] if before else []
    assert sorted(match["positions"] for match in matches) == sorted(expected)
    assert matches.costs.steps < 8 * table.num_rows


def test_only_the_best_leaves_a_part_that_chooses() -> None:
    draw = Random(5)
    types, x = [draw.choice("AB") for _ in range(3_000)], draw.sample(range(1 << 30), 3_000)
    table = pa.table({"type": types, "t": range(3_000), "x": x})
    pattern = "LAST(A AS a ; B AS b FILTER a.x < b.x) : A AS c WITHIN 50 seconds"
    matches = found(f"SELECT * WHERE {pattern}", table)
    assert len(matches) > 400
    assert matches.costs.steps < 8 * table.num_rows
