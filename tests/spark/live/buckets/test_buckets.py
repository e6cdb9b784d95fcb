"""The buckets of a live query: every task gets one, and those of a checkpoint are found in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")
from pyspark.sql import functions as F  # noqa: N812

import cereus
from cereus import spark as cs
from cereus.errors import CereusError
from cereus.spark.live.buckets import MOST_BUCKETS, buckets_for, one_for_each, task_of
from tests.spark.files import write
from tests.spark.live.rules.test_rules import events, run
from tests.spark.live.test_live import _few_tasks  # noqa: F401

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STREAM = cereus.Stream(time="t")
KEYED = "SELECT * WHERE A ; B PARTITION BY k WITHIN 20 seconds"
SCHEMA = "type string, t timestamp_ntz, k string, x long"


@pytest.mark.parametrize("tasks", [1, 2, 3, 8, 31])
def test_every_task_has_a_bucket(tasks: int) -> None:
    buckets = one_for_each(tasks)
    assert buckets[0] == 0  # it reports what became of rules
    assert sorted(task_of(each, tasks) for each in buckets) == list(range(tasks))


@pytest.mark.spark
def test_the_task_of_a_bucket_is_the_one_that_spark_gives_it_to(spark: SparkSession) -> None:
    numbers = spark.range(200).select(F.col("id").cast("int"))
    dealt = numbers.repartition(7, "id").select("id", F.spark_partition_id().alias("task"))
    assert all(task_of(row["id"], 7) == row["task"] for row in dealt.collect())


@pytest.mark.spark
def test_there_is_one_for_each_task_unless_a_number_is_said(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    try:
        spark.conf.set("spark.sql.shuffle.partitions", "3")
        assert len(buckets_for(spark, None)) == 3
        spark.conf.set("spark.sql.shuffle.partitions", "200")
        assert buckets_for(spark, None) == tuple(range(MOST_BUCKETS))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert buckets_for(spark, 5) == (0, 1, 2, 3, 4)


# ---------------------------------------------------------------- those of a checkpoint


def stream_of(spark: SparkSession, place: Path) -> DataFrame:
    rows = spark.readStream.schema(SCHEMA).parquet(str(place / "events"))
    return rows.withColumn("t", rows["t"].cast("timestamp"))


def went_on(spark: SparkSession, place: Path, text: str, first: Any, then: Any) -> int:
    """How many matches a query finds that began with some options and goes on with others."""
    folder = place / "events"
    folder.mkdir()
    query = cereus.compile(text, stream=STREAM)
    write(folder, [events(0, "Ap1", "Aq1", "Ar1")])
    run(cs.match(stream_of(spark, place), query, watermark="0 seconds", **first), place)
    write(folder, [events(9, "Bp1", "Bq1", "Br1"), events(60, "Cp1")])
    again = {"checkpoint": str(place / "checkpoint"), **then}
    run(cs.match(stream_of(spark, place), query, watermark="0 seconds", **again), place)
    return spark.read.parquet(str(place / "found")).count()


@pytest.mark.long
@pytest.mark.spark
def test_a_query_goes_on_with_the_buckets_of_its_checkpoint(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert went_on(spark, tmp_path, KEYED, {"buckets": 5}, {}) == 3


@pytest.mark.long
@pytest.mark.spark
def test_a_stream_without_keys_goes_on_whatever_number_it_was_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert went_on(spark, tmp_path, "SELECT * WHERE A ; B", {"buckets": 7}, {}) == 9


@pytest.mark.long
@pytest.mark.spark
def test_a_number_that_is_said_is_the_one_that_counts(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(CereusError, match="of this query with other columns or options"):
        went_on(spark, tmp_path, KEYED, {"buckets": 3}, {"buckets": 4})


@pytest.mark.long
@pytest.mark.spark
def test_a_restart_keeps_the_buckets_and_drops_what_is_in_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert (
        went_on(spark, tmp_path, KEYED, {"buckets": 3}, {"tie": "x", "on_change": "restart"}) == 0
    )
    told = cs.state(str(tmp_path / "checkpoint"), session=spark).collect()
    assert {row["bucket"] for row in told} == {0, 1, 2}


@pytest.mark.long
@pytest.mark.spark
def test_rules_go_on_with_the_buckets_of_their_checkpoint(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "events").mkdir()
    rules = [cereus.Rule("pairs", "SELECT * WHERE A ; B WITHIN 20 seconds")]
    keyed = cereus.Stream(time="t", keys="k")

    def again(**options: Any) -> None:
        stream = stream_of(spark, tmp_path)
        run(cs.match_rules(stream, rules, stream=keyed, watermark="0 seconds", **options), tmp_path)

    write(tmp_path / "events", [events(0, "Ap1", "Aq1", "Ar1")])
    again(buckets=3)
    write(tmp_path / "events", [events(9, "Bp1", "Bq1", "Br1"), events(60, "Cp1")])
    again(checkpoint=str(tmp_path / "checkpoint"))
    matches, _ = cs.split_changes(spark.read.parquet(str(tmp_path / "found")))
    assert matches.count() == 3
    with pytest.raises(CereusError, match="of rules over other columns") as raised:
        more = stream_of(spark, tmp_path).withColumn("new", F.lit(1))
        checkpoint = str(tmp_path / "checkpoint")
        cs.match_rules(more, rules, stream=keyed, watermark="0 seconds", checkpoint=checkpoint)
    assert "leave it out with a select before" in str(raised.value)
