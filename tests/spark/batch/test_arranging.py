"""What batch decides by itself: which keys are cut, what is shuffled, and why there is one task."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from cereus import spark as cs

pytest.importorskip("pyspark")

from cereus.spark.batch import inspecting, skew

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

STREAM = cereus.Stream(time="ts")
TEXT = "SELECT * WHERE A ; B ; C PARTITION BY k, place.zone WITHIN 20 seconds"
PLAIN = "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 20 seconds"
FEW = """
    SELECT * WHERE (A AS a ; B AS b) FILTER a[id < 10] AND b[id < 10]
    PARTITION BY k, place.zone WITHIN 20 seconds
"""
ROWS = 4000
"""Nine in ten are of one key, a null."""


def events() -> pa.Table:
    ids = range(ROWS)
    zones = [{"zone": "z" if n % 10 else f"z{n % 7}"} for n in ids]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "type": ["ABC"[n * 7919 % 3] for n in ids],
            "k": [None if n % 10 else n // 10 % 5 for n in ids],
            "place": zones,
            "ts": pa.array([n * 1_000_000 for n in ids], pa.timestamp("us", "UTC")),
        }
    )


@pytest.fixture(scope="module")
def frame(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFrame]:
    import pyarrow.parquet as pq

    where = tmp_path_factory.mktemp("skewed")
    for part in range(4):
        size = ROWS // 4
        pq.write_table(events().slice(part * size, size), where / f"{part}.parquet")
    yield spark.read.parquet(str(where))


def compiled(text: str, **options: Any) -> cereus.Query:
    return cereus.compile(text, stream=STREAM, **options)


def ids(found: DataFrame) -> list[list[int]]:
    return sorted([each["id"] for each in row["events"]] for row in found.toArrow().to_pylist())


def plan(found: DataFrame) -> str:
    return str(found._jdf.queryExecution().executedPlan().toString())


def test_a_key_with_most_of_the_events_is_cut(
    frame: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = compiled(TEXT)
    assert "cut      no: the input is small" in cs.explain(frame, query)
    monkeypatch.setattr(skew, "SMALL", 0)
    said = cs.explain(frame, query, parallelism=4)
    assert "that overlap by the window: 1 key has 9" in said
    assert "cut      no: split=False says so" in cs.explain(frame, query, split=False)
    cut, whole = (cs.match(frame, query, split=each, parallelism=4) for each in (None, False))
    assert "__cereus_slice" in plan(cut) and "__cereus_slice" not in plan(whole)
    assert ids(cut) == ids(whole) and ids(cut)


def test_a_key_of_which_little_can_matter_is_not_cut(
    frame: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skew, "SMALL", (inspecting.size_of(frame) or 0) // 2)
    few = compiled(FEW)
    assert "cut      no: only 0% of a sample of" in cs.explain(frame, few, parallelism=4)
    assert "1 key has 9" in cs.explain(frame, compiled(TEXT), parallelism=4)
    assert "1 key has 9" in cs.explain(frame, few, parallelism=4, push_down=False)


@pytest.mark.long
def test_many_queries_with_keys_stay_in_one_pass(
    frame: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skew, "SMALL", 0)
    few, many = ({str(n): compiled(TEXT) for n in range(number)} for number in (2, 17))
    assert "1 key has 9" in cs.explain(frame, few, parallelism=4)
    assert cs.explain(frame, many, parallelism=4).count("in one pass") == 1
    assert "cut      no: more than 16 queries share a pass" in cs.explain(frame, many)
    implied = "SELECT * WHERE A AS a ; A AS b FILTER a.k = b.k WITHIN 5 seconds"
    queries = {str(n): compiled(implied) for n in range(17)}
    assert cs.explain(frame, queries, parallelism=4).count("in one pass") == 1
    found = cs.match(frame, many, parallelism=4).filter("query = '16'")
    assert ids(found) == ids(cs.match(frame, many["0"], split=False))


def test_what_cannot_be_cut_is_not_sampled(
    frame: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skew, "SMALL", 0)
    monkeypatch.setattr(skew, "long_keys", lambda *_: pytest.fail("sampled"))
    query = compiled("SELECT * WHERE A ; B PARTITION BY k WITHIN 3 EVENTS")
    assert "cut      no: WITHIN counts events, not time" in cs.explain(frame, query)


def test_a_sample_ends_the_reading_of_a_partition(frame: DataFrame) -> None:
    """The JVM is told to stop, for what Python leaves it would read all the same."""
    some = inspecting._first_of_partitions(frame.select("id"), 7)
    assert "LocalLimit 7" in plan(some)
    firsts = [row["id"] for row in some.collect()]
    assert len(firsts) == 7 * some.rdd.getNumPartitions()
    assert max(number % (ROWS // 4) for number in firsts) == 6, "the first of some files"


def test_slices_of_short_windows_are_no_more_than_the_cores_need(
    frame: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skew, "SMALL", 0)
    monkeypatch.setattr(skew, "SLICES", 10)
    monkeypatch.setattr(inspecting, "cores_of", lambda _: 4)
    query = compiled(TEXT.replace("20 seconds", "3 seconds"))
    # 3,999 seconds, of which four cores get ten slices each
    assert "slices of 0:01:39.975000 that overlap" in cs.explain(frame, query)
    assert ids(cs.match(frame, query)) == ids(cs.match(frame, query, split=False))
    monkeypatch.setattr(skew, "SLICES", 1000)
    assert "slices of 0:00:24 that overlap" in cs.explain(frame, query)


def test_only_keys_that_would_hold_up_all_cores_are_long() -> None:
    rows = [("a",)] * 300 + [("b",)] * 300 + [(f"c{n}",) for n in range(400)]
    keys = (("k",),)
    assert isinstance(skew.chosen(rows, keys, 2), str)
    many = skew.chosen(rows, keys, 8)
    assert isinstance(many, skew.LongKeys)
    assert many.values == (("a",), ("b",)) and many.text.startswith("2 keys have 60%")
    assert isinstance(skew.chosen(rows[:100], keys, 8), str)


def test_rows_that_were_repartitioned_by_key_are_not_shuffled_again(frame: DataFrame) -> None:
    query = compiled(PLAIN)
    lying = frame.repartition(3, "k").filter("id >= 0").select("*")
    assert "as they lie, in partitions by key" in cs.explain(lying, query)
    found = cs.match(lying, query)
    assert plan(found).count("Exchange") == 1
    assert ids(found) == ids(cs.match(frame, query)) != []
    for by in ([], ["id"], ["k", "id"]):
        assert "rows are shuffled" in cs.explain(frame.repartition(3, *by), query)
    computed = frame.repartition(3, "k").selectExpr("id", "type", "id % 5 AS k", "place", "ts")
    assert "rows are shuffled" in cs.explain(computed, query)


def test_buckets_of_a_table_are_not_shuffled(
    frame: DataFrame, spark: SparkSession, tmp_path: Path
) -> None:
    query = compiled(PLAIN)
    writer = frame.write.bucketBy(4, "k").sortBy("k", "ts").option("path", str(tmp_path / "t"))
    writer.saveAsTable("cereus_buckets")
    try:
        table = spark.table("cereus_buckets")
        assert "as they lie, in the buckets of the table" in cs.explain(table, query)
        found = cs.match(table, query)
        assert "Exchange" not in plan(found)
        assert ids(found) == ids(cs.match(frame, query))
        assert "Exchange" in plan(cs.match(table, compiled(TEXT.replace("k, ", ""))))
    finally:
        spark.sql("DROP TABLE cereus_buckets")


def test_the_plan_says_why_there_is_one_task(frame: DataFrame) -> None:
    reasons = {
        compiled("SELECT * WHERE A ; B WITHIN 5 EVENTS"): "WITHIN counts events, not time",
        compiled("SELECT * WHERE A ; B WITHIN 5 seconds CONSUME BY ANY"): "CONSUME makes a match",
        compiled("PATTERN SEQ(A a, B b) WITHIN 5 seconds", dialect="sase"): "no keys, and sase",
    }
    for query, reason in reasons.items():
        assert f"tasks    one: {reason}" in cs.explain(frame, query)
        assert f"MapInArrow cereus [one task: {reason}" in plan(cs.match(frame, query))


def test_operators_are_called_after_their_queries(frame: DataFrame) -> None:
    queries = {"first": compiled(PLAIN), "second": compiled(PLAIN.replace("; C", ""))}
    assert f"MapInArrow cereus {PLAIN}(" in plan(cs.match(frame, queries["first"]))
    assert "MapInArrow cereus first, second(" in plan(cs.match(frame, queries))
    names = reduce(lambda text, name: f"{text}, {name}", queries)
    assert cs.explain(frame, queries).startswith(f"{names} in one pass")
