"""Equalities over all variables of a pattern are keys, where that changes no answer."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.executor import PatternExecutor
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.planning.build import build
from cereus.languages.ceql.text import parse, to_text
from tests.languages.ceql import strategies as random_
from tests.languages.ceql.harness import assert_agrees, compiled, rows
from tests.volume import volume

STREAM = cereus.Stream(time="t", unit="s")


def keys(text: str) -> list[str]:
    return [".".join(path) for path in build(parse(text), STREAM).implied_keys]


KEYED = {
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k": ["k"],
    "SELECT * WHERE A+ AS a ; B AS b FILTER a.k = b.k AND a.x < b.x": ["k"],
    "SELECT * WHERE A ; B FILTER A.k = B.k": ["k"],
    "SELECT * WHERE (A ; B)+ AS a ; C AS c FILTER a.k = c.k": ["k"],
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.k = b.k FILTER c.k = b.k": ["k"],
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k AND b.s = a.s": ["k", "s"],
    "SELECT NEXT * WHERE A AS a ; (B OR C) AS b FILTER a.k = b.k WITHIN 5 seconds": ["k"],
    "SELECT COUNT(*) WHERE A AS a ; B AS b FILTER a.k = b.k": ["k"],
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k PARTITION BY s": ["k"],
}
NOT_KEYED = [
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.k = b.k",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k OR a.x = 1",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.x",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k < b.k",
    "SELECT * WHERE (A AS a ; B AS b FILTER a.k = b.k)+",
    "SELECT * WHERE A AS a OR B+ AS b FILTER a.k = b.k",
    "SELECT * WHERE A? AS a ; B+ AS b FILTER a.k = b.k",
    "SELECT * WHERE A AS a : B AS b FILTER a.k = b.k",
    "SELECT * WHERE A AS a ; NOT(C) ; B AS b FILTER a.k = b.k",
    "SELECT * WHERE (A AS a ; B AS b) UNLESS C FILTER a.k = b.k",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k WITHIN 5 EVENTS",
    "SELECT STRICT * WHERE A AS a ; B AS b FILTER a.k = b.k",
    "SELECT * WHERE A AS a ; NEXT(B+) AS b FILTER a.k = b.k",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k CONSUME BY ANY",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k CONSUME BY PARTITION",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k NOT FOLLOWED BY C WITHIN 5 seconds",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k AFTER MATCH SKIP PAST LAST EVENT",
]


@pytest.mark.parametrize("text", KEYED)
def test_equalities_over_all_variables_are_keys(text: str) -> None:
    assert keys(text) == KEYED[text]


@pytest.mark.parametrize("text", NOT_KEYED)
def test_where_other_events_are_noticed_they_are_not(text: str) -> None:
    assert keys(text) == []


def test_small_and_large_payments_of_one_card_need_no_partition_by() -> None:
    """An example that took 20 seconds: each set of small payments was a partial match."""
    text = """SELECT small, large WHERE PAY+ AS small ; PAY AS large
    FILTER small[amount < 5] AND large[amount > 500] AND small.card = large.card
    WITHIN 10 minutes"""
    draw = Random(1)
    payments = pa.table(
        {
            "type": ["PAY"] * 3000,
            "ts": pa.array(range(3000), pa.timestamp("s")),
            "card": [draw.randrange(300) for _ in range(3000)],
            "amount": [draw.choice((1.0, 2.0, 50.0, 600.0)) for _ in range(3000)],
        }
    )
    query = cereus.compile(text, stream=cereus.Stream(time="ts"), schema=payments.schema)
    found = query.run(payments)
    keyed = text.replace("AND small.card = large.card", "PARTITION BY card")
    same = cereus.compile(keyed, stream=cereus.Stream(time="ts")).run(payments)
    assert sorted(row["positions"] for row in found) == sorted(row["positions"] for row in same)
    assert "card" not in found.table.column_names
    said = query.explain()
    assert "each value of card on its own" in said
    assert "card: a key because all events of a match are equal in it (not NULL, nor NaN)" in said
    assert "configurations: may grow exponentially" not in said
    assert "state may grow" not in said


VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "floats": (pa.float64(), [0.0, -0.0, float("nan"), None, 1.5]),
    "decimals": (pa.decimal128(20, 2), [Decimal("0.10"), Decimal("100000000000000.01"), None]),
    "strings": (pa.string(), ["", "a", "a ", None]),
    "large integers": (pa.int64(), [2**53, 2**53 + 1, -(2**63), None]),
    "unsigned": (pa.uint64(), [2**63, 2**64 - 1, None]),
    "times": (pa.timestamp("ns"), [1, 2, None]),
}


@pytest.mark.parametrize("kind", VALUES)
def test_a_key_means_what_the_condition_means(kind: str) -> None:
    """Of every type, with NULL and NaN, which equal nothing."""
    type_, values = VALUES[kind]
    every = [*values, *values, *values]
    table = pa.table({"type": ["A", "B"] * len(every), "k": pa.array([*every, *every], type_)})
    query = cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k")
    found = sorted(row["positions"] for row in query.run(table))
    drawn = [*every, *every]
    assert found == [
        [i, j]
        for i in range(0, len(drawn), 2)
        for j in range(1, len(drawn), 2)
        if i < j and drawn[i] is not None and drawn[i] == drawn[j]
    ]


def equalities(draw: Random) -> cel.Formula:
    """Two or three named parts, and equalities between them."""
    names = ("p", "q", "r")[: draw.choice((2, 2, 3))]
    body: cel.Formula = cel.As(random_.formula(draw, draw.randint(1, 3)), names[0])
    for name in names[1:]:
        body = cel.Sequence(body, cel.As(random_.formula(draw, draw.randint(1, 3)), name))
    held: list[cel.Predicate] = []
    for left, right in pairwise(names):
        path = (draw.choice("kxs"),)
        sides = ex.Attribute(path, left), ex.Attribute(path, right)
        held.append(cel.Holds(ex.Comparison("=", *draw.sample(sides, 2))))
    return cel.Filter(body, cel.AllOf(tuple(held)) if len(held) > 1 else held[0])


def test_random_queries_with_implied_keys_find_what_the_definition_says() -> None:
    keyed, number = 0, volume(30, 250)
    for seed in range(number):
        draw = Random(seed)
        drawn = replace(random_.query(draw, 3, False), select=None, returned=(), unfollowed=None)
        asked = replace(drawn, formula=equalities(draw))
        keyed += bool(build(asked, STREAM, random_.SCHEMA).implied_keys)
        events = random_.events(draw, draw.randint(2, 7))
        found = compiled(asked, STREAM).run(random_.table(events))
        assert_agrees(rows(found, asked), asked, STREAM, events)
        if seed % 10 == 0:
            positions = sorted(row["positions"] for row in found)
            assert asked.limit or unkeyed(asked, events) == positions, to_text(asked)
    assert keyed > number // 20


def unkeyed(asked: cel.CeqlTree, events: random_.Events) -> list[list[int]]:
    executor = PatternExecutor(build(asked, STREAM, random_.SCHEMA, keys=False), random_.SCHEMA)
    found = [
        row["positions"]
        for batch in random_.table(events).to_batches()
        for part in executor.push(batch)
        for row in part.to_pylist()
    ]
    return sorted(found)
