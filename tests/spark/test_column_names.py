"""Names of columns with dots, backticks, quotes and blanks, which PySpark itself does not take
everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import cereus
from cereus import spark as cs

from .files import write
from .market import random_events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

NAMES = {"k": "user.id", "price": "pr`ice", "side": "the 'side'", "ts": "at.time", "seq": 'n"o'}
STREAM = cereus.Stream(time="at.time")
KEYED = cereus.Stream(time="at.time", keys=["user.id"])
TEXT = "SELECT * WHERE A AS a ; B AS b FILTER a[`pr``ice` > 20] WITHIN 5 seconds"
PAIR = cereus.compile(TEXT, stream=KEYED)


@pytest.fixture(scope="module")
def events() -> pa.Table:
    plain = random_events(3)
    return plain.rename_columns([NAMES.get(name, name) for name in plain.column_names])


@pytest.fixture
def frame(spark: SparkSession, events: pa.Table) -> DataFrame:
    return spark.createDataFrame(events)


LANGUAGES = {
    "ceql": TEXT,
    "sremo": "any({A:} -> r, {B: `the 'side'` = r.`the 'side'`})",
    "sase": "PATTERN SEQ(A a, B b) WHERE a.`pr``ice` < b.`pr``ice` WITHIN 9 seconds",
    "match_recognize": 'MATCH_RECOGNIZE (PARTITION BY "user.id" ORDER BY "at.time" MEASURES '
    'LAST(b."n""o") AS ended PATTERN (a b+) DEFINE a AS type = \'A\', b AS "pr`ice" > 3)',
}


@pytest.mark.parametrize("dialect", LANGUAGES)
def test_as_many_matches_as_without_spark(frame: DataFrame, events: pa.Table, dialect: str) -> None:
    query = cereus.compile(LANGUAGES[dialect], dialect=dialect, stream=KEYED)
    assert cs.match(frame, query, tie="id").count() == query.count(events) > 0


def test_events_have_their_names_in_matches(frame: DataFrame) -> None:
    row = cs.match(frame, PAIR, columns=["id", "user.id", "pr`ice"]).first()
    assert row is not None
    assert row["events"][0]["user.id"] == row["user.id"]
    assert row["events"][0]["pr`ice"] > 20
    assert "a_pr`ice" in cs.match(frame, PAIR, flat=True).columns


def test_several_queries_share_a_scan(frame: DataFrame, events: pa.Table) -> None:
    keys = {"none": [], "one": ["user.id"], "two": ["user.id", "the 'side'"]}
    queries = {
        name: cereus.compile(TEXT, stream=cereus.Stream(time="at.time", keys=paths))
        for name, paths in keys.items()
    }
    found = cs.match(frame, queries, tie="id").groupBy("query").count().collect()
    assert {row["query"]: row["count"] for row in found} == {
        name: query.count(events) for name, query in queries.items()
    }


def test_rules_why_and_funnels(frame: DataFrame, events: pa.Table) -> None:
    found = cs.match_rules(frame, [cereus.Rule("pair", TEXT)], stream=KEYED, tie="id")
    matches, _ = cs.split_changes(found)
    assert matches.count() == PAIR.count(events)
    partial = cs.why(frame, PAIR).filter("what = 'passed'").first()
    assert partial is not None and partial["count"] > 0
    options = {"key": "user.id", "time": "at.time", "within": "5 seconds"}
    here, there = (f.funnel(x, ["A", "B"], **options) for f, x in ((cereus, events), (cs, frame)))
    assert there.steps.to_pylist() == here.steps.to_pylist()


@pytest.mark.long
@pytest.mark.parametrize("rules", [False, True])
def test_live(spark: SparkSession, events: pa.Table, tmp_path: Path, rules: bool) -> None:
    folder = str(write(tmp_path / "events", [events]))
    stream = spark.readStream.schema(spark.read.parquet(folder).schema).parquet(folder)
    if rules:
        found, _ = cs.split_changes(
            cs.match_rules(stream, [cereus.Rule("pair", TEXT)], stream=KEYED, watermark="0 seconds")
        )
    else:
        found = cs.match(stream, PAIR, watermark="0 seconds")
    writer = found.writeStream.format("parquet").option("path", str(tmp_path / "found"))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    assert spark.read.parquet(str(tmp_path / "found")).count() == PAIR.count(events) > 0
