"""`why` on Spark is `why` here, summed over the keys."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import cereus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STREAM = cereus.Stream(time="t", keys="k", unit="s")


def test_the_counts_are_those_of_one_process(spark: SparkSession) -> None:
    from cereus import spark as cs

    draw = random.Random(3)
    events = pa.table(
        {
            "type": [draw.choice("ab") for _ in range(500)],
            "v": [draw.randint(0, 9) for _ in range(500)],
            "t": range(500),
            "k": [f"k{draw.randrange(5)}" for _ in range(500)],
        }
    )
    text = "SELECT * WHERE a AS x ; b AS y FILTER x[v > 8] AND y[v > 20] WITHIN 10 seconds"
    query = cereus.compile(text, stream=STREAM)
    there = cs.why(spark.createDataFrame(events), query).toArrow().to_pylist()
    here = query.why(events).table.to_pylist()

    def counts(rows: list[dict[str, object]]) -> set[tuple[object, ...]]:
        return {(row["step"], row["what"], row["text"], row["count"]) for row in rows}

    assert counts([row for row in there if row["what"] != "miss"]) == counts(here)
    nearest = [row for row in there if row["what"] == "miss"]
    assert {row["text"] for row in nearest} == {"y[v > 20]"}
    assert json.loads(nearest[0]["events"])[1]["v"] == 9
