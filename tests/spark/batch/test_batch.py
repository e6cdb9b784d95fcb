"""Spark finds the matches that the local engine finds, however the events are spread."""

from __future__ import annotations

import json
import logging
import os
import pickle
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from cereus import spark as cs
from cereus.errors import CereusError

from ..market import QUERIES, ROWS, STREAM, comparable, locally, multisets, random_events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
Found = dict[int, Counter[Any]]


def compiled(text: str, **stream: Any) -> cereus.Query:
    return cereus.compile(text, stream=cereus.Stream(**stream) if stream else STREAM)


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return random_events(1)


@pytest.fixture(scope="module")
def frame(spark: SparkSession, events: pa.Table) -> Iterator[DataFrame]:
    """The events in no particular order, in several partitions."""
    shuffled = events.take(pa.array(random.Random(2).sample(range(ROWS), ROWS)))
    made = spark.createDataFrame(shuffled).repartition(3).cache()
    yield made
    made.unpersist()


def on_spark(df: DataFrame, query: cereus.Query, **options: Any) -> Counter[Any]:
    found = cs.match(df, query, **{"columns": ["id"], "tie": "id", **options})
    return multisets(comparable(found, query).toArrow()).get(0, Counter())


# ---------------------------------------------------------------- the same answers


USUAL = frozenset(range(0, len(QUERIES), 3))
"""The queries that are run in `make test`; the others are run in `make test-long`."""


@pytest.fixture(scope="module")
def all_found(
    spark: SparkSession, frame: DataFrame, request: pytest.FixtureRequest
) -> Iterator[Found]:
    """The matches of the queries that are run, by one job, whose many plans would take long to
    compile."""
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    parts = []
    for number in sorted(
        item.callspec.params["number"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "all_found" in item.fixturenames
    ):
        query = compiled(QUERIES[number])
        found = cs.match(frame, query, columns=["id"], tie="id", parallelism=2)
        parts.append(comparable(found, query, number))
    yield multisets(reduce(lambda one, other: one.union(other), parts).toArrow())
    spark.conf.unset("spark.sql.codegen.wholeStage")


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, id=text, marks=() if number in USUAL else pytest.mark.long)
        for number, text in enumerate(QUERIES)
    ],
)
def test_spark_finds_what_the_local_engine_finds(
    all_found: Found, events: pa.Table, number: int
) -> None:
    expected = locally(events, compiled(QUERIES[number]))
    assert expected, "a query that finds nothing shows nothing"
    assert all_found[number] == expected


def test_equalities_over_all_variables_spread_a_query(
    frame: DataFrame, events: pa.Table, caplog: pytest.LogCaptureFixture
) -> None:
    """They are keys: without PARTITION BY and a window it would be matched in one task."""
    query = compiled(
        "SELECT * WHERE A AS a ; B+ AS b ; C AS c FILTER a.k = b.k AND b.k = c.k"
        " AND a.seq < c.seq WITHIN 20 seconds"
    )
    unbounded = compiled("SELECT COUNT(*) WHERE A AS a ; B AS b FILTER a.k = b.k")
    with caplog.at_level(logging.WARNING, "cereus"):
        found = cs.match(frame, query, columns=["id"], tie="id", split=False)
        counts = cs.match(frame, unbounded, tie="id")
    assert "in one task" not in caplog.text
    assert "k" not in found.columns
    expected = locally(events, query)
    assert expected
    assert multisets(comparable(found, query).toArrow())[0] == expected
    total = sum(row["count"] for row in counts.toArrow().to_pylist())
    assert total == unbounded.count(events) > 0


def test_a_limit_holds_at_every_last_event(frame: DataFrame, events: pa.Table) -> None:
    ends = lambda matches: Counter(ids[-1] for *_, ids, _held in matches.elements())  # noqa: E731
    query = compiled("SELECT * WHERE A ; B ; C WITHIN 6 seconds LIMIT 2")
    assert ends(on_spark(frame, query)) == ends(locally(events, query))
    assert set(ends(locally(events, query)).values()) == {1, 2}


def test_matches_do_not_depend_on_partitions_or_columns_shown(frame: DataFrame) -> None:
    """Without `tie`, events of one time are ordered by their values: always the same way."""
    query = compiled("SELECT * WHERE A ; B : C WITHIN 20 seconds", time="ts", keys="k")
    once = on_spark(frame, query, tie=(), columns=["id"])
    assert on_spark(frame.repartition(7), query, tie=()) == once
    assert on_spark(frame.coalesce(1), query, tie=()) == once


def test_counts_are_those_of_the_local_engine(frame: DataFrame, events: pa.Table) -> None:
    for clauses in ("WITHIN 6 seconds", "PARTITION BY k WITHIN 20 seconds", "PARTITION BY k"):
        query = compiled(f"SELECT COUNT(*) WHERE A ; B+ ; C {clauses}")
        keys = [".".join(path) for path in query.keys]
        found = cs.match(frame, query, tie="id", parallelism=3)
        assert found.columns == [*keys, "end_time", "count", "exact"]
        expected = query.run(events).table.select(found.columns)
        rows = [Counter(map(repr, table.to_pylist())) for table in (found.toArrow(), expected)]
        assert rows[0] == rows[1] and rows[0]


def test_totals_come_with_the_counts(frame: DataFrame, events: pa.Table) -> None:
    query = compiled(
        "SELECT COUNT(*), SUM(a.seq), MAX(b.seq) WHERE A AS a ; B AS b PARTITION BY k"
        " WITHIN 20 seconds"
    )
    found = cs.match(frame, query, tie="id", parallelism=2)
    expected = query.run(events).table.select(found.columns)
    assert found.columns == ["k", "end_time", "count", "sum(a.seq)", "max(b.seq)", "exact"]
    rows = [Counter(map(repr, table.to_pylist())) for table in (found.toArrow(), expected)]
    assert rows[0] == rows[1] and rows[0]


def test_several_queries_give_one_dataframe(frame: DataFrame, events: pa.Table) -> None:
    texts = {
        "pairs": "SELECT a, b WHERE A AS a ; B AS b PARTITION BY k WITHIN 9 seconds",
        "triples": "SELECT * WHERE A ; B ; C WITHIN 4 seconds",
    }
    queries = cereus.compile_many(texts, stream=STREAM)
    found = cs.match(frame, queries, columns=["id"], tie="id", parallelism=2)
    assert found.columns == ["query", "k", "start_time", "end_time", "a", "b", "events"]
    rows = found.toArrow().to_pylist()
    for name in texts:
        mine = [[e["id"] for e in row["events"]] for row in rows if row["query"] == name]
        expected = [row["positions"] for row in queries[name].run(events)]
        assert sorted(mine) == sorted(expected) and mine


def test_several_queries_agree_on_their_columns(frame: DataFrame) -> None:
    one, other = compiled("SELECT a WHERE A AS a"), compiled("SELECT a[price] WHERE A AS a")
    assert cs.match(frame, [one, one]).columns[0] == "query"
    with pytest.raises(CereusError, match="'a' is array"):
        cs.match(frame, [one, other])
    with pytest.raises(CereusError, match="no query"):
        cs.match(frame, [])


# ---------------------------------------------------------------- slices of time


@pytest.mark.parametrize("split", ["7 seconds", "31 seconds", None, False])
def test_a_stream_without_keys_is_matched_in_slices(
    frame: DataFrame, events: pa.Table, split: Any
) -> None:
    query = compiled("SELECT * WHERE A ; B+ ; C WITHIN 6 seconds")
    assert on_spark(frame, query, split=split, parallelism=4) == locally(events, query)


def test_several_tasks_match_one_stream(frame: DataFrame) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    query = compiled("SELECT * WHERE A ; B WITHIN 3 seconds")
    found = cs.match(frame, query, parallelism=4)
    assert found.select(F.spark_partition_id()).distinct().count() > 1


@pytest.mark.parametrize("split", ["12 seconds", True])
def test_long_keys_are_split_when_told_to(
    frame: DataFrame, events: pa.Table, split: str | bool
) -> None:
    query = compiled("SELECT NEXT * WHERE A ; B+ ; C PARTITION BY k WITHIN 10 seconds")
    assert on_spark(frame, query, split=split, parallelism=4) == locally(events, query)


@pytest.mark.parametrize(
    ("clause", "reason"),
    [
        ("A ; B", "no WITHIN"),
        ("A ; B WITHIN 5 EVENTS", "counts events"),
        ("A ; B WITHIN 5 seconds CONSUME BY ANY", "CONSUME"),
        ("(A ; B) UNLESS C WITHIN 5 seconds", "UNLESS"),
        ("NEXT(A ; B) WITHIN 5 seconds", "NEXT"),
        ("NOT(A) ; B WITHIN 5 seconds", "NOT comes first"),
        ("PROJECT[B](A ; B) WITHIN 5 seconds", "PROJECT"),
        ("A ; NOT(B) WITHIN 5 seconds", "after its last event"),
        ("START(A) ; B WITHIN 5 seconds", "START"),
    ],
)
def test_what_looks_back_further_runs_in_one_task_and_says_so(
    frame: DataFrame, caplog: pytest.LogCaptureFixture, clause: str, reason: str
) -> None:
    query = compiled(f"SELECT * WHERE {clause}")
    with caplog.at_level(logging.WARNING, logger="cereus.spark"):
        cs.match(frame, query)
    assert reason in caplog.text
    with pytest.raises(CereusError, match="cannot be split"):
        cs.match(frame, query, split="1 minute")


def test_slices_are_not_shorter_than_the_window(frame: DataFrame) -> None:
    query = compiled("SELECT * WHERE A ; B WITHIN 1 hour")
    with pytest.raises(CereusError, match="shorter than the window"):
        cs.match(frame, query, split="59 minutes")
    with pytest.raises(CereusError, match="not a length of time"):
        cs.match(frame, query, split="often")


@pytest.mark.long
@pytest.mark.parametrize(
    ("cast", "unit", "window"),
    [
        ("timestamp_ntz", None, "WITHIN 6 seconds"),
        ("date", None, "WITHIN 1 day"),
        ("bigint", "s", "WITHIN 6 seconds"),
        ("int", "s", "WITHIN 6 seconds"),
        ("double", "s", "WITHIN 6 seconds"),
        ("decimal(20,3)", None, "WITHIN 6 [ts]"),
    ],
)
def test_times_of_any_type(
    frame: DataFrame, events: pa.Table, cast: str, unit: str | None, window: str
) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    typed = frame.withColumn("ts", F.col("ts").cast(cast))
    query = compiled(f"SELECT * WHERE A ; B ; C {window}", time="ts", unit=unit)
    ordered = typed.orderBy("id").select("id", "type", "ts").toArrow()
    length = "1 day" if cast == "date" else 8.0 if unit is None else "8 seconds"
    assert on_spark(typed, query, split=None if cast == "timestamp_ntz" else length) == locally(
        ordered, query
    )


# ---------------------------------------------------------------- what comes out


def test_the_schema_is_known_before_anything_runs(frame: DataFrame) -> None:
    query = compiled(
        "SELECT a[price, place.zone], b WHERE A AS a ; B AS b PARTITION BY k, place.zone"
        " WITHIN 1 hour"
    )
    event = "struct<id:bigint,price:double>"
    found = cs.match(frame, query, columns=["id", "price"])
    assert found.schema.simpleString() == (
        "struct<k:string,place.zone:int,start_time:timestamp,end_time:timestamp,"
        f"a:array<struct<price:double,place.zone:int>>,b:array<{event}>,events:array<{event}>>"
    )
    without = cs.match(frame, query, columns=["id", "price"], events=False)
    assert without.columns == found.columns[:-1]


def test_events_come_with_all_their_columns(frame: DataFrame, events: pa.Table) -> None:
    query = compiled("SELECT * WHERE A ; D PARTITION BY k WITHIN 2 seconds")
    found = cs.match(frame, query, tie="id").toArrow().to_pylist()
    assert found
    shown = {event["id"]: event for match in found for event in match["events"]}
    expected = {row["id"]: row for row in events.to_pylist() if row["id"] in shown}
    assert repr(sorted(shown.items())) == repr(sorted(expected.items()))


def test_no_events_no_matches(frame: DataFrame) -> None:
    for clause in ("A ; B WITHIN 5 seconds", "A ; B PARTITION BY k", "A ; B"):
        assert cs.match(frame.limit(0), compiled(f"SELECT * WHERE {clause}")).count() == 0


# ---------------------------------------------------------------- what travels


def plan_of(found: DataFrame, capsys: pytest.CaptureFixture[str]) -> str:
    found.explain()
    return capsys.readouterr().out


def test_conditions_and_columns_are_pushed_into_the_scan(
    spark: SparkSession, events: pa.Table, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.createDataFrame(events).write.parquet(f"{tmp_path}/events")
    stored = spark.read.parquet(f"{tmp_path}/events")
    query = compiled("SELECT * WHERE (A ; B) FILTER A[seq > 40] PARTITION BY k")
    scan = plan_of(cs.match(stored, query, columns=["id"]), capsys).split("FileScan")[1]
    assert "PushedFilters: [Or(And(EqualTo(type,A),GreaterThan(seq,40)),EqualTo(type,B))]" in scan
    assert scan.split("ReadSchema: ")[1].count(":") == 6  # id, type, venue, k, seq, ts
    kept = plan_of(cs.match(stored, query, push_down=False), capsys).split("FileScan")[1]
    assert "PushedFilters: []" in kept


def test_where_places_count_every_event_travels(
    frame: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    query = compiled("SELECT * WHERE A : B PARTITION BY k", time="ts")
    assert "Filter" not in plan_of(cs.match(frame, query), capsys)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("SELECT * WHERE A FILTER A[prize > 3]", {}, "did you mean 'price'"),
        ("SELECT * WHERE A PARTITION BY kk", {}, "PARTITION BY column 'kk' is not in the events"),
        ("SELECT * WHERE A FILTER A[price > 'x']", {}, "price"),
        ("SELECT * WHERE A", {"columns": ["idd"]}, "no column 'idd'"),
        ("SELECT * WHERE A", {"columns": []}, "columns=[]"),
        ("SELECT * WHERE A", {"tie": "idd"}, "did you mean 'id'"),
        ("SELECT events WHERE A AS events", {}, "two columns 'events'"),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    frame: DataFrame, text: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CereusError) as raised:
        cs.match(frame, compiled(text), **options)
    assert message in str(raised.value)


@pytest.mark.parametrize("dialect", ["ceql", "par"])
@pytest.mark.parametrize("key", ["map(k, id)", "array(k)", "struct(k)"])
def test_a_key_that_is_no_value_is_refused_before_anything_runs(
    spark: SparkSession, frame: DataFrame, dialect: str, key: str
) -> None:
    text = {"ceql": "SELECT * WHERE A ; B WITHIN 4 seconds", "par": "repeat (A ; B[out])"}[dialect]
    query = cereus.compile(text, dialect=dialect, stream=cereus.Stream(time="ts", keys=["of"]))
    with pytest.raises(CereusError, match="which cannot be a key"):
        cs.match(frame.selectExpr("*", f"{key} AS of"), query)
    live = spark.readStream.format("rate").load()
    live = live.selectExpr("'A' AS type", "timestamp AS ts", "value AS k", "value AS id")
    with pytest.raises(CereusError, match="which cannot be a key"):
        cs.match(live.selectExpr("*", f"{key} AS of"), query, watermark="1 second")


def test_columns_that_differ_in_case_only_are_refused(
    spark: SparkSession, frame: DataFrame
) -> None:
    rate = spark.readStream.format("rate").load()
    said = "Spark takes the columns 'id' and 'ID' for one"
    for df in (frame, rate.withColumnRenamed("value", "id")):
        twice = df.selectExpr("*", "id AS ID")
        with pytest.raises(CereusError, match=said):
            cs.match(twice, compiled("SELECT * WHERE A"), watermark="1 second")
        with pytest.raises(CereusError, match=said):
            cs.match_rules(twice, [], stream=cereus.Stream(time="ts"), watermark="1 second")


def test_one_column_may_be_named_without_a_list(frame: DataFrame) -> None:
    found = cs.match(frame, compiled("SELECT * WHERE A"), columns="id")
    assert found.schema["events"].dataType.elementType.names == ["id"]  # type: ignore[attr-defined]


def test_a_stream_without_time_needs_an_order(frame: DataFrame, events: pa.Table) -> None:
    query = cereus.compile("SELECT * WHERE A ; B PARTITION BY k WITHIN 4 EVENTS")
    with pytest.raises(CereusError, match="have no order"):
        cs.match(frame, query)
    assert on_spark(frame, query, order="id") == locally(events, query)


def test_only_dataframes_and_compiled_queries(spark: SparkSession, frame: DataFrame) -> None:
    query = compiled("SELECT * WHERE A", time="timestamp", type=None)
    live = spark.readStream.format("rate").load()
    with pytest.raises(CereusError, match="needs a watermark"):
        cs.match(live, query)
    with pytest.raises(CereusError, match=r"cereus\.compile"):
        cs.match(frame, "SELECT * WHERE A")  # type: ignore[arg-type]
    with pytest.raises(CereusError, match=r"query\.run"):
        cs.match([1], query)  # type: ignore[arg-type]


def test_a_null_time_is_an_error_that_names_the_column(frame: DataFrame) -> None:
    from pyspark.errors import PythonException
    from pyspark.sql import functions as F  # noqa: N812

    holes = frame.withColumn("ts", F.when(F.col("id") != 7, F.col("ts")))
    query = compiled("SELECT * WHERE A ; NOT(B) PARTITION BY k", time="ts")
    with pytest.raises(PythonException, match="the time column 'ts' is null") as raised:
        cs.match(holes, query).count()
    before = str(raised.value).partition("cereus.errors.DataError")[0]
    assert before.count("  File ") <= 2  # not the places in our code


# ---------------------------------------------------------------- elsewhere


def test_a_query_can_be_pickled_before_and_after_it_ran(events: pa.Table) -> None:
    query = compiled("SELECT MAX a[id] WHERE (A AS a)+ ; B PARTITION BY k WITHIN 9 seconds")
    expected = locally(events, query)
    assert locally(events, pickle.loads(pickle.dumps(query))) == expected


def test_importing_cereus_does_not_import_pyspark() -> None:
    code = "import sys, cereus; from cereus import spark; print('pyspark' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


CLAUSE = """MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY id MEASURES count(*) AS n, FIRST(id) AS f PATTERN (a b+)
    DEFINE b AS b.type <> a.type)"""
CONNECTED = """
import json
import socket
import tempfile
WHOLE = "TABLE(events) WITH SINGLE PARTITION ORDER BY id"
from pyspark.sql import SparkSession
from pyspark.sql.connect.client import DefaultChannelBuilder
import cereus
from cereus import spark as cs

with socket.socket() as server:  # the usual port may be that of another run on this machine
    server.bind(("127.0.0.1", 0))
    port = server.getsockname()[1]
DefaultChannelBuilder.default_port = staticmethod(lambda: port)
builder = SparkSession.builder.config("spark.connect.grpc.binding.port", port)
spark = builder.remote("local[2]").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", 2)
assert type(spark).__module__.startswith("pyspark.sql.connect"), type(spark)
events = [(i, "ABC"[i % 3], i % 5) for i in range(60)]
df = spark.createDataFrame(events, "id long, type string, k long")
stream = cereus.Stream(time="id", unit="s")
found = []
for text in ("SELECT a[id], b WHERE A AS a ; B AS b ; C PARTITION BY k WITHIN 35 seconds",
             "SELECT LAST * WHERE (A FILTER A[k > 1]) ; B ; C WITHIN 5 seconds"):
    query = cereus.compile(text, stream=stream)
    matches = cs.match(df, query, parallelism=2).toArrow().to_pylist()
    found.append(sorted([event["id"] for event in match["events"]] for match in matches))
df.createOrReplaceTempView("events")
cs.register(spark, named=query, schema="events")
for call in (f"cereus({WHOLE}, query => '{text}', time => 'id', unit => 's')", f"named({WHOLE})"):
    matches = spark.sql(f"SELECT * FROM {call}").toArrow().to_pylist()
    found.append(sorted([event["id"] for event in match["events"]] for match in matches))
with tempfile.TemporaryDirectory() as where:
    timed = df.selectExpr("*", "timestamp_seconds(id) AS ts")
    timed.coalesce(1).write.parquet(where + "/events")
    live = cs.match(
        spark.readStream.schema(timed.schema).parquet(where + "/events"),
        cereus.compile(
            "SELECT a[id], b WHERE A AS a ; B AS b ; C PARTITION BY k WITHIN 35 seconds",
            stream=cereus.Stream(time="ts"),
        ),
        watermark="0 seconds",
        buckets=2,
    )
    running = live.writeStream.format("parquet").option("path", where + "/found")
    running = running.option("checkpointLocation", where + "/checkpoint")
    running.trigger(availableNow=True).start().awaitTermination()
    matches = spark.read.parquet(where + "/found").toArrow().to_pylist()
    found.append(sorted([event["id"] for event in match["events"]] for match in matches))
clause = '''{CLAUSE}'''
statement = f'''SELECT m.k, m.n FROM events {clause} AS m
    JOIN events e ON e.id = m.f WHERE e.type = "A"'''
found.append(sorted([row.k, row.n] for row in cs.sql(spark, statement).collect()))
matches = cs.match(df, cereus.compile(clause, dialect="match_recognize")).collect()
found.append(sorted([row.k, row.n, row.f] for row in matches))
print(json.dumps(found))
spark.stop()
"""


@pytest.mark.long
def test_spark_connect_gives_the_same_matches() -> None:
    for module in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        if find_spec(module.split(".")[0]) is None or find_spec(module) is None:
            pytest.skip(f"Spark Connect needs the Python module {module}")
    from cereus.spark.starting.java import ensure_java

    ensure_java()
    settings = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    said = subprocess.run(
        [sys.executable, "-c", CONNECTED.replace("{CLAUSE}", CLAUSE)],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        timeout=1800,
    )
    assert said.returncode == 0, said.stderr[-3000:]
    events = pa.table({"id": range(60), "type": ["ABC"[i % 3] for i in range(60)],
                       "k": [i % 5 for i in range(60)]})  # fmt: skip
    expected = []
    for text in (
        "SELECT a, b WHERE A AS a ; B AS b ; C PARTITION BY k WITHIN 35 seconds",
        "SELECT LAST * WHERE (A FILTER A[k > 1]) ; B ; C WITHIN 5 seconds",
    ):
        query = compiled(text, time="id", unit="s")
        expected.append(sorted(match["positions"] for match in query.run(events)))
    expected += [expected[-1]] * 2  # the last one once more, by the functions of SQL
    expected.append(expected[0])  # live
    expected.append([[key, 3] for key in (0, 3) for _ in range(4)])  # a clause in a statement
    rows = cereus.compile(CLAUSE, dialect="match_recognize").run(events).table.to_pylist()
    expected.append(sorted([row["k"], row["n"], row["f"]] for row in rows))
    assert json.loads(said.stdout.splitlines()[-1]) == expected
