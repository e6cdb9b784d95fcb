"""`cs.funnel` counts what `cereus.funnel` counts."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import cereus
from cereus import spark as cs
from cereus.errors import CereusError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def events() -> pa.Table:
    """Of several days, with keys that are null, and no two at one time."""
    draw = random.Random(3)
    size, begin = 400, datetime(2025, 3, 3)
    return pa.table(
        {
            "user": [draw.choice([None, "a", "b", "c", "d", "e"]) for _ in range(size)],
            "type": draw.choices(["VIEW", "CART", "PAY", "OTHER"], k=size),
            "ts": [begin + timedelta(minutes=11 * n) for n in range(size)],
            "land": draw.choices(["de", "fr", None], k=size),
            "amount": draw.choices(range(9), k=size),
        }
    )


def test_spark_counts_what_is_counted_here(spark: SparkSession) -> None:
    table = events()
    frame = spark.createDataFrame(table)
    steps = {"look": "VIEW", "choose": "CART", "pay": "PAY[amount > :least]"}
    options = {"key": "user", "time": "ts", "within": "3 hours", "gaps": "2 hours"}
    options |= {"by": "land", "period": "day", "params": {"least": 2}}
    options |= {"where": "amount != 7 AND user != 'c'"}
    here, there = cereus.funnel(table, steps, **options), cs.funnel(frame, steps, **options)
    assert there.steps.to_pylist() == here.steps.to_pylist()
    rows = {row["user"]: (row["level"], row["took"]) for row in here.keys.to_pylist()}
    assert {row["user"]: (row["level"], row["took"]) for row in there.keys.collect()} == rows
    with pytest.raises(CereusError, match="no column 'lnad'"):
        cs.funnel(frame, steps, **{**options, "by": "lnad"})
