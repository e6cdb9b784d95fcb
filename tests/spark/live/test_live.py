"""Structured Streaming finds what the local engine finds in the same events, in order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

import cereus
from cereus import spark as cs
from cereus.errors import CereusError
from cereus.spark.live.stream import Live
from cereus.spark.raised import as_cereus_error

from ..files import write
from ..market import STREAM, comparable, locally, multisets, random_events
from .streams import parts, shuffled, with_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

pytestmark = pytest.mark.spark

KEYED = cereus.Stream(time="ts", keys="k", stream="venue")
QUERIES: list[tuple[str, cereus.Stream, str, dict[str, Any]]] = [
    ("ceql", STREAM, "SELECT * WHERE A ; B+ ; C PARTITION BY k WITHIN 20 seconds", {}),
    ("ceql", STREAM, "SELECT a[price], b FROM X WHERE A AS a : B AS b WITHIN 6 seconds", {}),
    ("ceql", KEYED, "SELECT COUNT(*) WHERE A ; B+ ; C WITHIN 20 seconds", {}),
    ("sremo", KEYED, "any({A:} -> r, {B: side = r.side}) PARTITION BY place.zone", {}),
    ("par", KEYED, "repeat (A ; try B[out] unless C)", {}),
    ("algebra", KEYED, "(A ; B)_5s - C", {"values": True, "merge_ties": True}),
]
"""Of every dialect; with ties, which the values of the events decide."""


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return random_events(1)


@pytest.fixture(scope="module")
def directory(events: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The events out of order, in files that are read one by one."""
    dice = random.Random(6)
    batches = parts(shuffled(events, 5, dice), 4, dice)
    batches[-1] = with_end(batches[-1])
    return write(tmp_path_factory.mktemp("events"), batches)


@pytest.fixture(autouse=True)
def _few_tasks(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before)


def stream_of(spark: SparkSession, directory: Path, *, files: int = 1) -> DataFrame:
    schema = spark.read.parquet(str(directory)).schema
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", files)
    return reader.parquet(str(directory))


def run(found: DataFrame, where: Path) -> StreamingQuery:
    """Everything that there is now, into Parquet."""
    query = (
        found.writeStream.format("parquet")
        .option("path", str(where / "found"))
        .option("checkpointLocation", str(where / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


def totals(query: StreamingQuery, name: str = "cereus") -> dict[str, int]:
    counts: dict[str, int] = {}
    for progress in query.recentProgress:
        for what, count in progress["observedMetrics"][name].asDict().items():
            counts[what] = counts.get(what, 0) + count
    return counts


def compiled(text: str, dialect: str = "ceql", **options: Any) -> cereus.Query:
    return cereus.compile(text, dialect=dialect, stream=STREAM, **options)


# ---------------------------------------------------------------- the same answers


def as_text(found: DataFrame, number: int) -> DataFrame:
    whole = F.to_json(F.struct("*"), {"ignoreNullFields": "false"})
    return found.select(F.concat(F.lit(f"{number} "), whole).alias("row"))


def multiset(found: DataFrame) -> Counter[str]:
    return Counter(row[0] for row in found.collect())


@pytest.mark.long
def test_a_replayed_directory_gives_what_a_batch_run_gives(
    spark: SparkSession, directory: Path, tmp_path: Path
) -> None:
    """For every dialect; all in one streaming query, which has a state for each."""
    live, batch, queries = [], [], []
    stored = spark.read.parquet(str(directory))
    for number, (dialect, stream, text, options) in enumerate(QUERIES):
        query = cereus.compile(text, dialect=dialect, stream=stream, **options)
        queries.append(query)
        batch.append(cs.match(stored, query, columns=["id", "price"]))
        live.append(
            cs.match(
                stream_of(spark, directory),
                query,
                columns=["id", "price"],
                watermark="6 seconds",
                buckets=2,
                name=f"query {number}",
            )
        )
        assert live[-1].schema.simpleString() == batch[-1].schema.simpleString()
    found = [reduce(DataFrame.union, map(as_text, made, range(9))) for made in (live, batch)]
    ran = run(found[0], tmp_path)
    expected = multiset(found[1])
    assert multiset(spark.read.parquet(str(tmp_path / "found"))) == expected
    assert {row[0] for row in expected} == {str(n) for n in range(len(QUERIES))}
    for number, query in enumerate(queries):
        counts = totals(ran, f"query {number}")
        rows = sum(n for row, n in expected.items() if row[0] == str(number))
        if query.compiled.counts:  # a row counts one match or more
            assert counts["matches"] >= rows
        elif query.compiled.notifies or query.compiled.has_several_rows:
            assert counts["matches"] <= rows
        else:
            assert counts["matches"] == rows
        assert (counts["late"], counts["shed"]) == (0, 0)


# ---------------------------------------------------------------- late events, composition


def ticks(rows: list[tuple[int, str, float]]) -> pa.Table:
    ids, types, seconds = zip(*rows, strict=True)
    times = pa.array([int(s * 10**6) for s in seconds]).cast(pa.timestamp("us", "UTC"))
    return pa.table({"id": pa.array(ids, pa.int64()), "type": list(types), "ts": times})


@pytest.mark.long
def test_late_events_are_counted_and_come_out_on_request(
    spark: SparkSession, tmp_path: Path
) -> None:
    batches = [
        ticks([(0, "A", 10), (1, "A", 30)]),
        ticks([(2, "B", 11), (3, "B", 50)]),
        ticks([(4, "B", 5), (5, "B", 28.0), (6, "B", 31), (7, "Z", 99)]),
    ]
    directory = tmp_path / "events"
    directory.mkdir()
    stream = stream_of(spark, write(directory, batches))
    query = cereus.compile("SELECT * WHERE A ; B", stream=cereus.Stream(time="ts"))
    ran = run(cs.match(stream, query, watermark="2 seconds", late=True), tmp_path)
    counted = totals(ran)
    assert counted.pop("kernel_seconds") > 0
    assert counted == {"events": 7, "late": 2, "matches": 5, "shed": 0}
    stored = spark.read.parquet(str(tmp_path / "found"))
    matches, late = cs.split_late(stored)
    assert sorted(row["id"] for row in late.collect()) == [4, 5]
    assert late.schema.simpleString() == stream.schema.simpleString()
    ids = sorted([event["id"] for event in row["events"]] for row in matches.collect())
    assert ids == [[0, 2], [0, 3], [0, 6], [1, 3], [1, 6]]


@pytest.mark.long
def test_matches_are_a_stream_that_another_query_reads(
    spark: SparkSession, directory: Path, events: pa.Table, tmp_path: Path
) -> None:
    """Both in one streaming query: one watermark, one checkpoint."""

    def composed(df: DataFrame, **options: Any) -> DataFrame:
        first = compiled("SELECT * WHERE A ; B PARTITION BY k WITHIN 5 seconds")
        pairs = cs.match(df, first, columns=["id"], tie="id", **options)
        pairs = pairs.select("k", "start_time", "end_time", F.lit("PAIR").alias("type"))
        second = cereus.compile(
            "SELECT * WHERE PAIR ; PAIR PARTITION BY k WITHIN 6 seconds",
            stream=cereus.Stream(time="end_time"),
        )
        options = {**options, "watermark": None, "name": "pairs"} if options else {}
        return as_text(cs.match(pairs.filter("k is not null"), second, **options), 0)

    live = composed(stream_of(spark, directory), watermark="6 seconds", buckets=2)
    ran = run(live, tmp_path)
    expected = multiset(composed(spark.read.parquet(str(directory))))
    assert multiset(spark.read.parquet(str(tmp_path / "found"))) == expected and expected
    assert totals(ran, "pairs")["late"] == 0


# ---------------------------------------------------------------- going on


@pytest.mark.long
def test_a_stopped_query_goes_on_and_another_one_is_refused(
    spark: SparkSession, events: pa.Table, tmp_path: Path
) -> None:
    from pyspark.errors import StreamingQueryException

    directory = tmp_path / "events"
    directory.mkdir()
    batches = [events.slice(0, 81), events.slice(81, 79), events.slice(160)]
    for one, other in pairwise(batches):  # with no delay, an event of the same time is late
        assert one["ts"][-1].as_py() < other["ts"][0].as_py()
    query = compiled("SELECT *\nWHERE A ; B PARTITION BY k\n\nWITHIN 20 seconds")
    another = compiled("SELECT *\nWHERE A ; C PARTITION BY k\n\nWITHIN 20 seconds")

    def in_full(text: str) -> str:
        return "\n    ".join(line for line in text.splitlines() if line)

    def step(batch: pa.Table, asked: cereus.Query, **options: Any) -> StreamingQuery:
        stream = stream_of(spark, write(directory, [batch]), files=9)
        options |= {"watermark": "0 seconds", "columns": ["id"], "tie": "id", "buckets": 2}
        return run(comparable(cs.match(stream, asked, **options), asked), tmp_path)

    step(batches[0], query)
    step(batches[1], query)
    both = pa.concat_tables(batches[:2])
    stored = spark.read.parquet(str(tmp_path / "found")).toArrow()
    assert multisets(stored)[0] == locally(both, query)
    checkpoint = str(tmp_path / "checkpoint")
    with pytest.raises(CereusError) as refused:  # at once: no event has come
        step(batches[2].slice(0, 0), another, checkpoint=checkpoint)
    assert in_full(query.text) in str(refused.value) and in_full(another.text) in str(refused.value)
    step(batches[2].slice(0, 0), query, checkpoint=checkpoint)
    with pytest.raises(StreamingQueryException) as raised:
        step(batches[2], another)
    message = str(as_cereus_error(raised.value))
    assert in_full(query.text) in message and in_full(another.text) in message
    assert "the checkpoint holds the state of another query" in str(raised.value)
    ran = step(batches[2].slice(0, 0), another, on_change="restart", checkpoint=checkpoint)
    fresh = locally(batches[2], another)
    assert totals(ran)["matches"] == sum(fresh.values()) > 0


# ---------------------------------------------------------------- columns and mistakes


@pytest.mark.long
def test_times_of_any_type_drive_the_watermark(spark: SparkSession, tmp_path: Path) -> None:
    directory = tmp_path / "events"
    directory.mkdir()
    rows = [(n, "ABABABZ"[n], 86_400.0 * n) for n in range(7)]  # Z is in no pattern
    write(directory, [ticks(rows[:3][::-1]), ticks(rows[3:])])
    query = cereus.compile(
        "SELECT * WHERE A ; B WITHIN 1 day", stream=cereus.Stream(time="ts", unit="s")
    )
    found = []
    for number, cast in enumerate(("timestamp_ntz", "date", "bigint", "double", "decimal(20,3)")):
        time = F.col("ts") if cast in ("timestamp_ntz", "date") else F.unix_seconds("ts")
        stream = stream_of(spark, directory).withColumn("ts", time.cast(cast))
        if cast == "decimal(20,3)":
            query = cereus.compile("SELECT * WHERE A ; B WITHIN 86400 [ts]", stream=query.stream)
        live = cs.match(stream, query, watermark="1 hour", name=cast, buckets=1)
        assert live.schema["events"].dataType.elementType.names == ["id", "type", "ts"]  # type: ignore[attr-defined]
        found.append(as_text(live.select(F.transform("events", lambda e: e["id"])), number))
    run(reduce(DataFrame.union, found), tmp_path)
    rows_found = multiset(spark.read.parquet(str(tmp_path / "found")))
    assert Counter(row[0] for row in rows_found.elements()) == dict.fromkeys("01234", 3)


@pytest.mark.parametrize(
    ("stream", "options", "message"),
    [
        ({"time": "timestamp"}, {}, "needs a watermark"),
        ({}, {"watermark": "1 second"}, "which column is it"),
        ({"time": "timestam"}, {"watermark": "1 second"}, "did you mean 'timestamp'"),
        ({"time": "value"}, {"watermark": "1 second"}, "seconds or milliseconds"),
        ({"time": "timestamp"}, {"watermark": "1 second", "split": True}, "split= is for history"),
        ({"time": "timestamp"}, {"watermark": "1 second", "order": "value"}, "order= is for"),
        ({"time": "timestamp"}, {"watermark": "1 second", "on_change": "ignore"}, "on_change"),
        ({"time": "timestamp"}, {"watermark": "1 second", "buckets": 0}, "buckets=0"),
        ({"time": "timestamp"}, {"watermark": "soon"}, "watermark='soon' is not a length of time"),
        ({"time": "timestamp"}, {"watermark": 2}, "watermark=2 is not a length of time"),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    spark: SparkSession, stream: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    rate = spark.readStream.format("rate").load()
    query = cereus.compile("SELECT * WHERE EVENT", stream=cereus.Stream(type=None, **stream))
    with pytest.raises(CereusError) as raised:
        cs.match(rate, query, **options)
    assert message in str(raised.value)


def test_with_its_earlier_columns_a_query_goes_on_when_the_stream_has_a_new_one(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Live, "run", lambda live: live.recipe.fingerprint)
    rate = spark.readStream.format("rate").load().withColumn("kind", F.lit("A"))
    more = rate.withColumn("venue", F.lit("x"))
    query = cereus.compile(
        "SELECT * WHERE A ; A", stream=cereus.Stream(type="kind", time="timestamp")
    )
    made = cs.match(rate, query, watermark="1 day")
    assert cs.match(more, query, watermark="1 day") != made
    assert cs.match(more, query, watermark="1 day", columns=rate.columns) == made


def test_a_checkpoint_that_cannot_be_written_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate = spark.readStream.format("rate").load()
    stream = cereus.Stream(type=None, time="timestamp")
    query = cereus.compile("SELECT * WHERE EVENT", stream=stream)
    (tmp_path / "file").write_text("")
    with pytest.raises(CereusError, match="a checkpoint is a directory"):
        cs.match(rate, query, watermark="1 day", checkpoint=str(tmp_path / "file" / "checkpoint"))
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(CereusError, match="cannot write to the directory"):
        cs.match_rules(rate, [], stream=stream, watermark="1 day", checkpoint=str(tmp_path / "new"))


def test_matches_that_read_matches_need_a_name_of_their_own(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load()
    first = cereus.compile(
        "SELECT * WHERE EVENT", stream=cereus.Stream(type=None, time="timestamp")
    )
    second = cereus.compile(
        "SELECT * WHERE EVENT", stream=cereus.Stream(type=None, time="end_time")
    )
    found = cs.match(rate, first, watermark="1 second")
    with pytest.raises(CereusError, match="have the name 'cereus'") as raised:
        cs.match(found, second)
    assert 'name="pairs"' in str(raised.value)
    assert cs.match(found, second, name="again").isStreaming


def test_a_stream_with_a_watermark_needs_no_other(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load().withWatermark("timestamp", "3 seconds")
    query = cereus.compile(
        "SELECT * WHERE EVENT", stream=cereus.Stream(type=None, time="timestamp")
    )
    assert cs.match(rate, query).isStreaming
    with pytest.raises(CereusError, match="has a watermark already"):
        cs.match(rate, query, watermark="5 seconds")


def test_operators_are_called_after_their_query(spark: SparkSession) -> None:
    """In Spark's UI, where the rows that they put out are the events and the matches."""
    rate = spark.readStream.format("rate").load()
    stream = cereus.Stream(type=None, time="timestamp")
    found = cs.match(rate, cereus.compile("SELECT * WHERE EVENT", stream=stream), watermark="1 day")
    plan = _analyzed(found)
    for name in ("events for SELECT * WHERE EVENT", "matches of SELECT * WHERE EVENT"):
        assert f"MapInArrow cereus {name}(" in plan
    assert "CollectMetrics cereus, [" in plan
    rules = cs.match_rules(rate, [], stream=stream, watermark="1 day")
    assert "cereus matches of rules that change(" in _analyzed(rules)


def _analyzed(found: DataFrame) -> str:
    return str(found._jdf.queryExecution().analyzed().toString())
