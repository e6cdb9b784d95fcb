"""`idle=`: when the whole source is silent, time passes by the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

import cereus
from cereus.errors import CereusError
from cereus.spark.live.bucket import Bucket
from cereus.spark.live.packing import from_bytes, to_bytes
from cereus.spark.live.recipe import AT
from cereus.spark.pipeline import Pipeline
from tests.spark.live.streams import Memory, recipe_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = cereus.Stream(time="ts", keys=("k",))
UNPAID = "SELECT * WHERE ORDER ; PAID WITHIN 1 minute WITH TIMEOUTS"
FORGOTTEN = "SELECT * WHERE ORDER ; PAID NOT FOLLOWED BY SHIPPED WITHIN 1 minute WITHIN 1 hour"
NINE = datetime(2024, 5, 6, 9)
SCHEMA = pa.schema(
    [("id", pa.int64()), ("k", pa.int64()), ("type", pa.string()), ("ts", pa.timestamp("us"))]
)
MINUTE = 60_000
MORNING = int(NINE.timestamp() - datetime(1970, 1, 1).timestamp()) * 1000
"""Nine o'clock, in milliseconds."""


def events(*rows: tuple[str, float]) -> pa.Table:
    """Events of one key: type, and minutes after nine."""
    made = [
        {"id": n, "k": 1, "type": kind, "ts": NINE + timedelta(minutes=minutes)}
        for n, (kind, minutes) in enumerate(rows)
    ]
    return pa.Table.from_pylist(made, SCHEMA)


class Clocked:
    """A bucket that is told the watermark and the time of the clock, in minutes after nine."""

    def __init__(self, text: str, idle: int | None) -> None:
        query = cereus.compile(text, stream=STREAM)
        self.recipe = replace(recipe_of(query, SCHEMA, late=True), idle=idle)
        self.store = Memory()

    def step(
        self, watermark: float, now: float, arrived: pa.Table | None = None
    ) -> list[dict[str, Any]]:
        """The rows of a micro-batch; without events it is a beat."""
        data = []
        if arrived is not None:
            times = arrived.column("ts").cast(pa.int64())
            table = arrived.add_column(0, AT, times).combine_chunks()
            data = [to_bytes(*table.to_batches())]
        bucket = Bucket(0, self.recipe, self.store)
        made = bucket.step(
            data,
            MORNING + int(watermark * MINUTE) if watermark >= 0 else 0,
            heard=arrived is not None,
            now=MORNING + int(now * MINUTE),
        )
        return [row for each in made if each.data for row in from_bytes(each.data).to_pylist()]


@pytest.mark.parametrize("text", [UNPAID, FORGOTTEN], ids=["timeouts", "unfollowed"])
def test_a_silent_source_lets_time_pass_by_the_clock(text: str) -> None:
    bucket = Clocked(text, idle=10 * MINUTE)
    begun = events(("ORDER", 0)) if text is UNPAID else events(("ORDER", 0), ("PAID", 0))
    assert bucket.step(-1, now=100, arrived=begun) == []
    assert bucket.step(0, now=101) == []
    assert bucket.step(0, now=109) == [], "not silent for long enough"
    (row,) = bucket.step(0, now=110)
    assert row["deadline"] == NINE + timedelta(minutes=1)
    assert bucket.step(0, now=120) == []


def test_what_waits_longer_than_the_silence_goes_on_waiting() -> None:
    bucket = Clocked(UNPAID.replace("1 minute", "30 minutes"), idle=10 * MINUTE)
    bucket.step(-1, now=100, arrived=events(("ORDER", 0)))
    assert bucket.step(0, now=129) == []
    assert len(bucket.step(0, now=131)) == 1


def test_events_that_come_behind_the_clock_are_late_and_time_never_goes_back() -> None:
    bucket = Clocked(UNPAID, idle=10 * MINUTE)
    bucket.step(-1, now=100, arrived=events(("ORDER", 0)))
    bucket.step(0, now=110)
    rows = bucket.step(0, now=111, arrived=events(("PAID", 0.5), ("ORDER", 11)))
    assert [row["late"]["id"] for row in rows] == [0]
    assert bucket.step(10, now=112, arrived=events(("PAID", 11.5))) == []
    (match,) = bucket.step(12, now=113)
    assert not match["timed_out"]


def test_a_source_that_speaks_keeps_the_clock_out() -> None:
    bucket = Clocked(UNPAID, idle=10 * MINUTE)
    bucket.step(-1, now=100, arrived=events(("ORDER", 0)))
    for now in (109, 118, 127):
        assert bucket.step(0, now=now, arrived=events(("OTHER", 0.1))) == []
    assert bucket.step(0, now=136) == []
    assert len(bucket.step(0, now=137)) == 1


def test_without_idle_only_the_watermark_counts() -> None:
    bucket = Clocked(UNPAID, idle=None)
    bucket.step(-1, now=100, arrived=events(("ORDER", 0)))
    assert bucket.step(0, now=9_999) == []


PIPELINE = """
mode = "live"
checkpoint = "here"
watermark = "1 second"
[sources.orders]
format = "json"
path = "."
schema = {{ id = "bigint", k = "bigint", type = "string", ts = "timestamp" }}
[streams.orders]
source = "orders"
time = "ts"
[queries.plain]
from = ["orders"]
text = "SELECT * WHERE ORDER ; PAID WITHIN 1 minute"
[queries.late]
from = ["{source}"]
text = "SELECT * WHERE ORDER ; PAID WITHIN 1 minute WITH TIMEOUTS"
idle = "{idle}"
[sinks.out]
from = "late"
format = "console"
"""


@pytest.mark.parametrize(
    ("source", "idle", "message"),
    [("orders", "soon", "soon"), ("plain", "10 minutes", "idle is for queries of sources")],
)
def test_a_pipeline_checks_it_before_anything_starts(
    tmp_path: Path, source: str, idle: str, message: str
) -> None:
    path = tmp_path / "orders.toml"
    path.write_text(PIPELINE.format(source=source, idle=idle))
    with pytest.raises(CereusError, match=message):
        Pipeline.load(path)


@pytest.mark.spark
@pytest.mark.long
def test_spark_emits_what_waits_when_nothing_comes_any_more(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The row comes, however long the machine takes."""
    from cereus import spark as cs

    source = tmp_path / "in"
    source.mkdir()
    pq.write_table(events(("ORDER", 0), ("OTHER", 0.5)), source / "0.parquet")
    schema = spark.createDataFrame(events(("ORDER", 0))).schema
    stream = spark.readStream.schema(schema).parquet(str(source))
    query = cereus.compile(UNPAID.replace("1 minute", "1 second"), stream=STREAM)
    plain = cereus.compile("SELECT * WHERE ORDER ; PAID WITHIN 1 second", stream=STREAM)
    with pytest.raises(CereusError, match="idle= is for queries that wait"):
        cs.match(stream, plain, watermark="1 minute", idle="1 second")
    late = cs.match(stream, query, watermark="1 minute", idle="2 seconds", buckets=2)
    running = (
        late.writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(processingTime="1 second")
        .start()
    )
    try:
        for _ in range(120):
            running.awaitTermination(1)
            rows = spark.read.schema(late.schema).parquet(str(tmp_path / "out")).collect()
            if rows:
                break
    finally:
        running.stop()
    assert [(row["reached"], row["waiting_for"]) for row in rows] == [("ORDER", "PAID")]
