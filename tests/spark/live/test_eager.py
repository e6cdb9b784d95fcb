"""Live queries that do not wait for Spark's watermark: the same matches, a micro-batch earlier."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import cereus
from cereus import spark as cs
from cereus.spark.live.recipe import Recipe

from ..files import write
from ..market import QUERIES, STREAM, locally, random_events
from .buckets.test_bucket import PAIRS, buckets_for, ticks
from .rules.test_rules import events, run
from .streams import SECOND, Stream, matches, parts, recipe_of, shuffled, with_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELAY = 6


def eager(recipe: Recipe, delay: int = DELAY) -> Recipe:
    return replace(recipe, delay=delay * SECOND)


@pytest.mark.parametrize("number", range(len(QUERIES)), ids=QUERIES)
def test_eager_patterns_find_what_patterns_find_in_order(number: int) -> None:
    """Also where some runs wait for the watermark, and others do not."""
    rows, query = random_events(number), cereus.compile(QUERIES[number], stream=STREAM)
    dice = random.Random(number)
    batches = parts(shuffled(rows, 5, dice), 9, dice)
    batches[-1] = with_end(batches[-1])
    recipe = recipe_of(query, rows.schema)
    stream = Stream(recipe, DELAY, buckets=buckets_for(query, dice), dice=dice)
    for each in [*batches, rows.slice(0, 0)]:
        stream.recipe = eager(recipe) if number % 2 or dice.random() < 0.5 else recipe
        stream.batch(each)
    assert stream.total("late") == 0
    assert matches(stream.rows, query) == locally(rows, query)


def test_a_match_comes_out_with_the_events_that_complete_it() -> None:
    waiting = Stream(recipe_of(PAIRS, ticks(1).schema), 0)
    prompt = Stream(eager(recipe_of(PAIRS, ticks(1).schema), 0), 0)
    for stream in (waiting, prompt):
        stream.batch(ticks(1, 2, 3))
    assert not waiting.rows and prompt.rows


def test_events_of_the_latest_time_are_not_late() -> None:
    stream = Stream(eager(recipe_of(PAIRS, ticks(1).schema), 0), 1)
    for times in ([1, 2], [2, 2], [1], [3]):
        stream.batch(ticks(*times))
    assert stream.total("late") == 1


def test_time_does_not_go_back_where_a_query_is_eager_no_more() -> None:
    recipe = recipe_of(PAIRS, ticks(1).schema)
    stream = Stream(eager(recipe, 0), 5)
    stream.batch(ticks(1, 9))
    stream.recipe = recipe
    stream.batch(ticks(4, 10))
    assert stream.total("late") == 1
    stream.run([ticks(30), ticks(31)])
    assert len({str(row) for row in stream.rows}) == len(stream.rows) > 0


def test_nothing_is_passed_before_there_are_events() -> None:
    stream = Stream(eager(recipe_of(PAIRS, ticks(1).schema), 0), 0)
    nothing: pa.Table = ticks(1).slice(0, 0)
    stream.batch(nothing)
    stream.batch(ticks(1))
    assert stream.total("late") == 0 and not stream.rows


@pytest.mark.long
@pytest.mark.spark
def test_eager_on_spark_finds_the_same(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    batches = [("Ap1", "Aq1", "Bp1"), ("Aq1", "Bq1", "Cp1"), ("Cp1",)]
    write(tmp_path / "events", [events(9 * n, *letters) for n, letters in enumerate(batches)])
    rows = spark.readStream.schema("type string, t timestamp_ntz, k string, x long")
    stream = rows.option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "events"))
    stream = stream.withColumn("t", stream["t"].cast("timestamp"))
    text = "SELECT * WHERE A ; B PARTITION BY k WITHIN 20 seconds"
    query = cereus.compile(text, stream=cereus.Stream(time="t"))
    run(cs.match(stream, query, watermark="1 second", eager=True), tmp_path)
    found = spark.read.parquet(str(tmp_path / "found")).groupBy("k").count().collect()
    assert {row["k"]: row["count"] for row in found} == {"p": 1, "q": 2}
