"""Merging into tables, and what is asked of Kafka: by the names that Spark documents."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from cereus import spark as cs
from cereus.errors import CereusError
from cereus.spark.files import flat
from cereus.spark.pipeline import sources
from cereus.spark.pipeline.kinds import Location
from cereus.spark.pipeline.sinks.spec import KafkaSink
from cereus.spark.pipeline.sinks.writing import kafka_options, messages
from cereus.spark.pipeline.spec import FileSource, KafkaSource
from cereus.spark.sinks.merge import SOURCE, Merge, one_of_each

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KAFKA_SOURCE = {
    "assign",
    "endingOffsets",
    "failOnDataLoss",
    "includeHeaders",
    "kafka.bootstrap.servers",
    "maxOffsetsPerTrigger",
    "minPartitions",
    "startingOffsets",
    "subscribe",
    "subscribePattern",
}
"""Of the Structured Streaming + Kafka Integration Guide of Spark 4."""
KAFKA_SINK = {"kafka.bootstrap.servers", "topic", "includeHeaders"}
MATCHES = "rule string, name string, start_time timestamp, end_time timestamp, gain double"
IDENTITY = ["rule", "name", "start_time", "end_time"]


class Reader:
    """Notes what Spark's reader is asked for."""

    def __init__(self) -> None:
        self.kind, self.path = "", ""
        self.given: dict[str, Any] = {}

    def format(self, name: str) -> Reader:
        self.kind = name
        return self

    def options(self, **given: Any) -> Reader:
        self.given.update(given)
        return self

    def load(self, path: str = "") -> Any:
        self.path = path
        return SimpleNamespace(reader=self)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Reader:
    made = Reader()
    monkeypatch.setattr(sources, "_reader", lambda session, live: made)
    return made


@pytest.mark.parametrize("live", [False, True])
def test_kafka_is_asked_by_documented_names(reader: Reader, live: bool) -> None:
    of = KafkaSource("kafka", "a:9092,b:9092", ("orders", "trades"), starting="latest")
    sources.source_frame(None, of, live=live)  # type: ignore[arg-type]
    assert reader.kind == "kafka"
    assert reader.given == {
        "kafka.bootstrap.servers": "a:9092,b:9092",
        "subscribe": "orders,trades",
        "startingOffsets": "latest",
    }
    assert set(reader.given) <= KAFKA_SOURCE


def test_delta_is_read_by_its_path(reader: Reader) -> None:
    path = Location("s3://a/orders")
    of = FileSource("delta", path, max_files=7, options={"ignoreDeletes": True})
    sources.source_frame(None, of, live=True)  # type: ignore[arg-type]
    assert (reader.kind, reader.path) == ("delta", "s3://a/orders")
    assert reader.given == {"maxFilesPerTrigger": 7, "ignoreDeletes": True}


@pytest.mark.spark
def test_messages_have_a_key_and_a_value(spark: SparkSession) -> None:
    sink = KafkaSink("pair", "kafka", "a:9092", "alerts", ("name",))
    assert set(kafka_options(sink)) <= KAFKA_SINK
    frame = spark.createDataFrame([("x", 1)], "name string, gain int")
    (row,) = messages(frame, sink).collect()
    assert (row["key"], row["value"]) == ('{"name":"x"}', '{"name":"x","gain":1}')
    with pytest.raises(CereusError, match="no column 'nam'"):
        messages(frame, KafkaSink("pair", "kafka", "a", "alerts", ("nam",)))


@pytest.mark.spark
@pytest.mark.parametrize("update", [False, True])
def test_the_statement_of_a_merge_is_spark_sql(spark: SparkSession, update: bool) -> None:
    """Delta and Iceberg are not here; Spark's own parser says that they would understand it."""
    statement = Merge("delta.`s3://a/alerts`", tuple(IDENTITY), update).statement
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(statement)  # type: ignore[attr-defined]
    shown = plan.toString()
    assert "MergeIntoTable" in shown and shown.count("<=>") == len(IDENTITY)
    assert ("updatestaraction" in shown.lower()) == update


@pytest.mark.spark
def test_a_merge_that_reads_its_rows_twice_matches_once(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delta looks for the files to change, and then writes them: two jobs over the same rows."""
    seen = spark.sparkContext.accumulator(0)

    def noted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            seen.add(batch.num_rows)
            yield batch

    def run_twice(session: SparkSession, statement: str) -> None:
        assert statement.startswith("MERGE INTO lake.alerts")
        for _ in range(2):
            assert session.table(SOURCE).count() == 3

    monkeypatch.setattr(type(spark), "sql", run_twice)
    cs.merge_into("lake.alerts", identity=["id"])(spark.range(3).mapInArrow(noted, "id long"), 0)
    assert seen.value == 3


@pytest.mark.spark
def test_rows_that_are_alike_are_one(spark: SparkSession) -> None:
    rows = [("r", "x", None, None, gain) for gain in (3.0, 1.0, 2.0)]
    frame = spark.createDataFrame([*rows, ("r", None, None, None, 9.0)], MATCHES)
    for parts in (1, 3):
        merged = one_of_each(frame.repartition(parts), IDENTITY).collect()
        assert sorted((row["name"] or "", row["gain"]) for row in merged) == [("", 9.0), ("x", 1.0)]


@pytest.mark.spark
def test_what_is_wrong_with_an_identity_is_said(spark: SparkSession) -> None:
    with pytest.raises(CereusError, match="by which columns"):
        cs.merge_into("t", identity=[])
    frame = spark.createDataFrame([("x",)], "name string")
    with pytest.raises(CereusError, match="no column 'nme' to be told apart by"):
        cs.merge_into("t", identity=["nme"])(frame, 0)


@pytest.mark.spark
def test_a_column_of_any_name_goes_to_csv(spark: SparkSession) -> None:
    frame = spark.createDataFrame([([1, 2], 3)], "`a``b` array<int>, `c.d` int")
    (row,) = flat(frame).collect()
    assert row.asDict() == {"a`b": "[1,2]", "c.d": 3}
