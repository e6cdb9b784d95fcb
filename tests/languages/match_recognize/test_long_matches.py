"""Matches of many rows, for which the arrays of the kernel grow while it runs."""

from __future__ import annotations

import pyarrow as pa

import cereus

CLAUSE = """MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n PATTERN (a b+ c)
DEFINE b AS price < FIRST(a.price), c AS price > a.price)"""


def test_a_match_longer_than_the_first_room_for_nodes_after_others() -> None:
    """Room for nodes grows while the buckets of runs stay: these still hold the stamps of the
    starts before."""
    short, long = [5, 1, 1, 9], [5, *[1] * 40_000, 9]
    prices = [*short * 30, *long, *short]
    table = pa.table({"t": range(len(prices)), "price": prices})
    matches = cereus.compile(CLAUSE, dialect="match_recognize").run(table, threads=1)
    assert matches.table.column("n").to_pylist() == [*[4] * 30, len(long), 4]
