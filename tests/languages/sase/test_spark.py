"""SASE+ texts on Spark, of history and live: the rows that the local engine gives."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from tests.spark.files import write

from .paper_queries import QUERY_4, QUERY_5

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SCANS = cereus.Stream(type="kind", time="time")
MINUTE = 60_000_000
BY_COURIER = QUERY_4.replace("[object_id]", "[object_id, courier_id]") + QUERY_5
ALONE = """PATTERN SEQ(SCAN a, ~SCAN b) WHERE [object_id] ^ a.location = 'New York'
WITHIN 1 hour RETURN a.object_id, a.(location, next) AS LOST(object_id, seen)"""


def scans(objects: int = 60) -> pa.Table:
    """Objects of four couriers go from New York to Amherst, most of them over nowhere; some are
    never seen again. No two scans are at one time."""
    draw = Random(4)
    rows: list[dict[str, Any]] = []
    for number in range(objects):
        stops = ["New York", "Boston"][: draw.choice((1, 2))]
        stops += ["Amherst"] * (draw.random() < 0.8)
        for place, location in enumerate(stops):
            following = "Amherst" if location == "Boston" else "Boston"
            time = (97 * number + 13 * place) * MINUTE + number
            rows.append(
                {
                    "kind": "SCAN",
                    "time": time,
                    "location": location,
                    "next": following,
                    "object_id": f"o{number}",
                    "courier_id": "abcd"[number % 4],
                }
            )
    rows.sort(key=lambda row: row["time"])
    schema = pa.schema(
        [(name, pa.timestamp("us", "UTC") if name == "time" else pa.string()) for name in rows[0]]
    )
    return pa.Table.from_pylist(rows, schema=schema)


def here(query: cereus.Query, events: pa.Table) -> list[str]:
    """The local result, with events in the place of row numbers."""
    rows, found = events.to_pylist(), []
    for match in query.run(events):
        match["events"] = match.pop("positions")
        for name in ("events", *query.variables):
            match[name] = [rows[position] for position in match[name]]
        found.append({name: value for name, value in match.items() if name not in ("start", "end")})
    return comparable(found)


def comparable(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(sorted(row.items(), key=lambda item: item[0])) for row in rows)


@pytest.mark.parametrize("text", [QUERY_4 + QUERY_5, BY_COURIER, ALONE])
def test_history(spark: SparkSession, text: str) -> None:
    from cereus import spark as cs

    events = scans()
    query = cereus.compile(text.replace("≥ 10", "≥ 3"), dialect="sase", stream=SCANS)
    expected = here(query, events)
    assert len(expected) > 3
    found = cs.match(spark.createDataFrame(events), query)
    assert comparable(found.toArrow().to_pylist()) == expected
    plain = cs.match(spark.createDataFrame(events), query, events=False)
    assert found.columns == [*plain.columns, "events"]
    assert plain.count() == len(expected)


def stream_of(spark: SparkSession, events: pa.Table, where: Path) -> DataFrame:
    """The events in three files, read one by one, and one event long after them."""
    third = events.num_rows // 3
    end = events.slice(events.num_rows - 1).to_pylist()
    end[0].update(kind="END", time=end[0]["time"].replace(year=2000))
    last = pa.Table.from_pylist(end, schema=events.schema)
    parts = [events.slice(at, third) for at in range(0, events.num_rows, third)]
    write(where, [*parts, last])
    reader = spark.readStream.schema(spark.createDataFrame(events).schema)
    return reader.option("maxFilesPerTrigger", 2).parquet(str(where))


@pytest.mark.long
def test_live(spark: SparkSession, tmp_path: Path) -> None:
    """What is held back between queries, and what waits for its window, comes with the
    watermark."""
    from cereus import spark as cs

    events = scans()
    text = BY_COURIER.replace("≥ 10", "≥ 3")
    query = cereus.compile(text, dialect="sase", stream=SCANS)
    found = cs.match(stream_of(spark, events, tmp_path / "in"), query, watermark="10 seconds")
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        running = (
            found.writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        running.awaitTermination()
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    rows = spark.read.parquet(str(tmp_path / "out")).toArrow().to_pylist()
    assert comparable(rows) == here(query, events)
