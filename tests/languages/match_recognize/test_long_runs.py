"""Runs that outgrow the room they begin with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import cereus
from cereus.languages.match_recognize.match.runs import Room
from cereus.limits import Limits

CLAUSE = """MATCH_RECOGNIZE (ORDER BY t MEASURES a.t AS a, c.t AS c PATTERN (a b+ c)
DEFINE b AS price < FIRST(a.price), c AS price > 2 * a.price)"""


def test_what_short_runs_left_behind_does_not_matter_when_a_long_run_gets_more_room() -> None:
    long = Room(0, 0, Limits()).nodes + 1_000
    price = [1.0, 2.0] * 40 + [100.0] + [50.0] * long + [300.0]
    table = pa.table({"t": np.arange(len(price)), "price": price})
    stream = cereus.Stream(type=None, time="t", unit="ms")
    query = cereus.compile(CLAUSE, dialect="match_recognize", stream=stream)
    assert query.run(table).table.to_pylist() == [{"a": 80, "c": 80 + long + 1}]
