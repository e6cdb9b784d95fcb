"""PAR and the event algebra on Spark: the rows that the local engine gives."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STREAM = cereus.Stream(time="t", keys="k")


def market(rows: int = 3000, keys: int = 7) -> pa.Table:
    draw = random.Random(3)
    return pa.table(
        {
            "type": [draw.choice("abcd") for _ in range(rows)],
            "v": [draw.randint(0, 3) for _ in range(rows)],
            "t": range(rows),
            "k": [f"k{draw.randrange(keys)}" for _ in range(rows)],
        }
    )


def in_order(rows: list[dict[str, Any]], *by: str) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: [row[name] for name in by])


def test_par_on_spark_is_par_here(spark: SparkSession) -> None:
    from cereus import spark as cs

    events = market()
    text = "repeat (a ; try b(v > 1)[A] unless (c ; c) | d[D])"
    query = cereus.compile(text, dialect="par", stream=STREAM)
    here = in_order(list(query.run(events)), "k", "time")
    there = cs.match(spark.createDataFrame(events), query)
    assert there.columns == ["k", "event", "time", "outputs", "completion"]
    found = in_order(there.toArrow().to_pylist(), "k", "time")
    rows = events.to_pylist()
    assert [row.pop("event") for row in found] == [rows[row.pop("position")] for row in here]
    assert found == here
    assert cs.match(spark.createDataFrame(events), query, events=False).count() == len(here)


def test_the_algebra_on_spark_is_the_algebra_here(spark: SparkSession) -> None:
    from cereus import spark as cs

    events = market()
    frame = spark.createDataFrame(events)
    text = "((a ; b(v > 1))_40 - c) + (d ; a)"
    rows = events.to_pylist()
    for values in (False, True):
        query = cereus.compile(text, dialect="algebra", stream=STREAM, values=values)
        here = in_order(list(query.run(events)), "k", "end")
        found = in_order(cs.match(frame, query).toArrow().to_pylist(), "k", "end")
        if values:
            theirs = [row.pop("events") for row in found]
            assert theirs == [[rows[n] for n in row.pop("constituents")] for row in here]
        assert found == here


def test_positions_count_all_events_when_there_is_no_time(spark: SparkSession) -> None:
    from cereus import spark as cs

    events = market(300)
    query = cereus.compile("(a ; b)_3", dialect="algebra", stream=cereus.Stream(keys="k"))
    frame = spark.createDataFrame(events)
    found = in_order(cs.match(frame, query, order="t").toArrow().to_pylist(), "k", "end")
    assert found == in_order(list(query.run(events)), "k", "end")
    with pytest.raises(CereusError, match="which column says it"):
        cs.match(frame, query)
    with pytest.raises(CereusError, match="cannot be cut"):
        cs.match(frame, query, order="t", split="1 hour")
