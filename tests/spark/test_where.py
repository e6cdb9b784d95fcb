"""`Stream(where=…)` on Spark: events that do not pass are not there, in batch and live."""

from __future__ import annotations

import warnings
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus import Stream
from cereus import spark as cs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
TYPES = ["A", "PING", "A", "PING", "B", "A", "PING", "B", "END"]
BEGIN = datetime(2025, 3, 3, 9, 30)
EVENTS = pa.table(
    {
        "type": TYPES,
        "ts": [BEGIN + timedelta(seconds=s) for s in (*range(8), 10_000)],
        "id": range(9),
    }
)
STREAM = Stream(time="ts", where="type != 'PING' AND ts > TIMESTAMP '2020-01-01'")
QUERIES = {
    "ceql": "SELECT * WHERE A : A : B",
    "sremo": "{A:} . {A:} . {B:}",
    "sase": "PATTERN SEQ(A a, A b, B c) WHERE strict_contiguity(a, b, c) { a.id >= 0 } "
    "WITHIN 5 EVENTS",
}


def ids(matches: DataFrame) -> list[list[int]]:
    return sorted([event["id"] for event in row["events"]] for row in matches.collect())


@pytest.mark.parametrize("dialect", QUERIES)
def test_events_that_do_not_pass_are_not_there(dialect: str, spark: SparkSession) -> None:
    query = cereus.compile(QUERIES[dialect], dialect=dialect, stream=STREAM)
    frame = spark.createDataFrame(EVENTS)
    assert ids(cs.match(frame, query)) == [[0, 2, 4]]
    assert ids(cs.match(frame, query, push_down=False)) == [[0, 2, 4]]


def test_several_queries_have_one_condition(spark: SparkSession) -> None:
    queries = [
        cereus.compile(text, stream=STREAM)
        for text in ("SELECT * WHERE A : A : B", "SELECT * WHERE A : B : A")
    ]
    frame = spark.createDataFrame(EVENTS)
    assert ids(cs.match(frame, queries)) == [[0, 2, 4], [2, 4, 5]]


@pytest.mark.long
def test_live_events_that_do_not_pass_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(EVENTS, tmp_path / "1.parquet")
    events = spark.readStream.schema("type string, ts timestamp, id long").parquet(str(tmp_path))
    query = cereus.compile(QUERIES["ceql"], stream=STREAM)
    matches = cs.match(events, query, watermark="1 second")
    running = (
        matches.writeStream.format("memory")
        .queryName("where_live")
        .trigger(availableNow=True)
        .start()
    )
    assert running.awaitTermination(600)  # a long time, for a busy machine
    assert ids(spark.table("where_live")) == [[0, 2, 4]]


def test_an_address_is_looked_up_without_a_word_of_pyspark(spark: SparkSession) -> None:
    """PySpark warns of functions whose type hints it cannot read."""
    frame = spark.createDataFrame(
        [("10.1.2.3", 1), ("192.0.2.1", 2), (None, 3)], "ip string, id int"
    )
    stream = Stream(type=None, where="cidr_match(ip, '10.0.0.0/8')")
    query = cereus.compile("SELECT * WHERE EVENT", stream=stream)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = cs.match(frame, query, order="id")
    assert ids(found) == [[1]]
