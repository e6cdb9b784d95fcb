"""Matches of more rows than there is room for at first."""

from __future__ import annotations

import pyarrow as pa

import cereus


def test_a_match_that_needs_more_room_than_those_before_it() -> None:
    """Room for rows is made while earlier starts have left their traces in the room for runs."""
    prices = [5.0] * 300 + [9.0] + [7.0] * 20_000 + [10.0]
    table = pa.table({"ts": list(range(len(prices))), "price": prices})
    clause = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a b+ c)
        DEFINE b AS price < FIRST(a.price), c AS price > a.price)"""
    found = cereus.compile(clause, dialect="match_recognize").run(table)
    assert found.table.to_pylist() == [{"n": 20_002}]
