"""Queries that share one pass over the rows find what each of them finds alone."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from cereus import spark as cs
from cereus.engine.results.event_rows import EventShape
from cereus.spark import worker
from cereus.spark.batch.ordering import in_order
from cereus.spark.batch.runs import TogetherPart
from cereus.spark.batch.together import TogetherTask, complete_moments
from tests.volume import usually

from ..market import random_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = cereus.Stream(time="ts", keys=["k"])
TEXTS = {
    "places": "SELECT * WHERE A : B",
    "last": "SELECT LAST * WHERE (A ; B+ ; C) FILTER A[price > 30] WITHIN 9 seconds",
    "consumed": "SELECT * WHERE A ; B FILTER B[side = 'x'] WITHIN 20 seconds CONSUME BY PARTITION",
    "named": "SELECT a WHERE (A AS a ; D AS b) FILTER a[seq > 3] AND b[price < 50]"
    " WITHIN 20 seconds",
    "counted": "SELECT COUNT(*) WHERE A : C WITHIN 9 seconds",
}
MOMENT = (("k",), ("ts",))
ORDERS = {
    "places": (("type",), ("id",)),
    "last": (("price",), ("type",), ("id",)),
    "consumed": (("side",), ("type",), ("id",)),
    "named": (("seq",), ("price",), ("id",)),
    "counted": (("type",), ("id",)),
}
COLUMNS = ("id", "type", "k", "side", "price", "seq", "ts")


def crowded(seed: int, rows: int) -> pa.Table:
    """Events of few keys, often many at one time."""
    events, dice = random_events(seed, rows), random.Random(seed)
    times = sorted(dice.randrange(rows // 6) for _ in range(rows))
    moments = pa.array([1_000_000 * t for t in times]).cast(events.schema.field("ts").type)
    return events.select(list(COLUMNS[:-1])).append_column("ts", moments)


def task(text: str) -> worker.Task:
    query = cereus.compile(text, stream=STREAM)
    shape = EventShape(("id",), listed=not query.compiled.counts)
    shown = ("k", "end_time", "count") if query.compiled.counts else ("k", "start_time", "events")
    names = (*shown, *query.variables)
    return worker.Task(query.compiled, shape, (("k",),), names)


def alone(events: pa.Table, name: str) -> list[dict[str, Any]]:
    rows = in_order(events, (*MOMENT, *ORDERS[name])).combine_chunks()
    found = task(TEXTS[name]).run(iter(rows.to_batches()))
    return [row for part in found for row in part.to_pylist()]


def counted(rows: list[dict[str, Any]]) -> Counter[str]:
    """Rows as a multiset; what is null is as what is not there."""
    return Counter(
        repr(sorted((n, v) for n, v in row.items() if v is not None and n != "query"))
        for row in rows
    )


@pytest.mark.parametrize("seed", range(4))
def test_each_query_sees_events_of_one_time_in_its_own_order(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(worker, "ROWS_AT_ONCE", 20)
    monkeypatch.setattr(worker, "CLEAR_AT", 50)
    events = crowded(seed, 300)
    parts = tuple(
        TogetherPart(n, task(text), COLUMNS, ORDERS[n], pa.schema([])) for n, text in TEXTS.items()
    )
    names = ("query", "k", "start_time", "end_time", "count", "a", "events")
    together = TogetherTask(parts, (("k",),), MOMENT, ORDERS["places"], names)
    arranged = in_order(events, (*MOMENT, *ORDERS["places"])).combine_chunks()
    batches = list(together.run(iter(arranged.to_batches(max_chunksize=7))))
    assert {tuple(batch.schema.names) for batch in batches} == {names}
    rows = [row for batch in batches for row in batch.to_pylist()]
    for name in TEXTS:
        found = counted([row for row in rows if row["query"] == name])
        assert found == counted(alone(events, name)) and found


def test_rows_of_one_moment_are_in_one_batch() -> None:
    times = [1, 1, 2, 2, 2, 2, 2, 3, 4, 4, 5]
    table = pa.table({"t": times, "row": range(len(times))})
    found = list(complete_moments(iter(table.to_batches(max_chunksize=2)), (("t",),)))
    assert pa.Table.from_batches(found).combine_chunks() == table.combine_chunks()
    moments = [set(batch.column("t").to_pylist()) for batch in found]
    assert sum(map(len, moments)) == len(set(times))
    assert len(found) > 2


@pytest.mark.spark
@pytest.mark.parametrize("timed", [False, True])
def test_queries_with_different_keys_share_the_scan(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], timed: bool
) -> None:
    """Sorted by time alone if all have a window of time, else by their keys."""
    events = crowded(3, 400)
    frame = spark.createDataFrame(events.take(pa.array(random.Random(2).sample(range(400), 400))))
    keys: dict[str, list[str]] = {"last": ["k"], "consumed": ["side"], "named": ["k", "side"]}
    keys |= {} if timed else {"places": ["side"], "counted": []}
    queries = {
        name: cereus.compile(TEXTS[name], stream=cereus.Stream(time="ts", keys=of))
        for name, of in keys.items()
    }
    found = cs.match(frame, queries, split=False)
    found.explain()
    assert capsys.readouterr().out.count("Exchange") == 1
    assert "passes over one scan" in cs.explain(frame, queries, split=False)
    rows = found.toArrow().to_pylist()
    for name, query in queries.items():
        own = cs.match(frame, query, split=False, parallelism=1).toArrow().to_pylist()
        assert counted([row for row in rows if row["query"] == name]) == counted(own)
        assert own


CUT = {
    "short": ("SELECT LAST * WHERE (A ; B+ ; C) WITHIN 2 seconds", []),
    "longer": ("SELECT a WHERE (A AS a ; D AS b) FILTER a[seq > 3] WITHIN 3 seconds", []),
    "keyed": ("SELECT * WHERE A ; B WITHIN 2 seconds", ["side"]),
    "positions": ("SELECT * WHERE A : B", ["k"]),
}


@pytest.mark.spark
@pytest.mark.parametrize("split", [None, "4 seconds"])
def test_queries_that_are_cut_by_time_share_the_scan(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], split: str | None
) -> None:
    """Those without keys are one pass, in slices that are long enough for all of them; with a
    length of slices the keyed one is cut as well."""
    events = crowded(4, 400)
    shuffled = events.take(pa.array(random.Random(2).sample(range(400), 400)))
    frame = spark.createDataFrame(shuffled)
    chosen = ("short", "longer", "keyed") if split else ("short", "longer", "keyed", "positions")
    queries = {
        name: cereus.compile(CUT[name][0], stream=cereus.Stream(time="ts", keys=CUT[name][1]))
        for name in chosen
    }
    found = cs.match(frame, queries, split=split)
    found.explain()
    assert capsys.readouterr().out.count("Exchange") == 1
    said = cs.explain(frame, queries, split=split)
    assert f"{len(chosen) - 1} passes over one scan" in said
    assert "short, longer in one pass" in said
    assert said.count(f"into slices of 0:00:{'04' if split else '24'}") == (2 if split else 1)
    rows = found.toArrow().to_pylist()
    for name, query in queries.items():
        own = cs.match(frame, query, split=False, parallelism=1).toArrow().to_pylist()
        assert counted([row for row in rows if row["query"] == name]) == counted(own)
        assert own


@pytest.mark.spark
def test_queries_with_the_same_keys_are_matched_in_one_pass(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    events = crowded(7, 300)
    frame = spark.createDataFrame(events.take(pa.array(random.Random(2).sample(range(300), 300))))
    queries = {name: cereus.compile(TEXTS[name], stream=STREAM) for name in ("places", "last")}
    found = cs.match(frame, queries, parallelism=2)
    found.explain()
    assert capsys.readouterr().out.count("Exchange hashpartitioning") == 1
    rows = found.toArrow().to_pylist()
    for name, query in queries.items():
        own = cs.match(frame, query, parallelism=1).toArrow().to_pylist()
        assert counted([row for row in rows if row["query"] == name]) == counted(own)
        assert own


@pytest.mark.long
@pytest.mark.spark
def test_very_many_queries_are_one_pass(spark: SparkSession) -> None:
    """Spark is given no condition with a thousand parts, which would overflow its stack."""
    events = crowded(7, 300)
    texts = {
        f"{kind} {limit}": f"SELECT * WHERE A AS a ; {kind} AS b"
        f" FILTER a[price > {limit / 5}] AND b[price < {100 - limit / 5}] WITHIN 4 seconds"
        for kind in "BC"
        for limit in range(400)
    }
    queries = cereus.compile_many(texts, stream=STREAM)
    found = cs.match(spark.createDataFrame(events), queries, columns=["id"], tie="id")
    sizes = Counter(row["query"] for row in found.select("query").collect())
    in_order_of_ids = events.sort_by([("ts", "ascending"), ("id", "ascending")])
    for name in ("B 0", "C 150", "B 399"):
        assert sizes[name] == queries[name].count(in_order_of_ids)
    assert sizes["B 0"] > sizes["B 100"] > 0


@pytest.mark.spark
@pytest.mark.parametrize("number", usually([65, 64], 2))
def test_events_of_other_types_are_left_to_spark_however_many_queries_there_are(
    spark: SparkSession, number: int
) -> None:
    """The time of such an event may be NULL."""
    rows = [("A", 1, 1), ("Z", None, 1), ("B", 2, 1)]
    events = spark.createDataFrame(rows, "type string, t long, k int")
    queries = {
        str(length): cereus.compile(
            f"SELECT * WHERE A ; B PARTITION BY [k] WITHIN {length} seconds",
            stream=cereus.Stream(time="t", unit="s"),
        )
        for length in range(1, number + 1)
    }
    assert cs.match(events, queries).count() == number


LANGUAGES: dict[str, tuple[str, list[str]]] = {
    "ceql": (TEXTS["last"], ["k"]),
    "sremo": ("any({A:} -> r, {B: side = r.side})", ["side"]),
    "sase": ("PATTERN SEQ(A a, B b) WHERE [k] AND a.price < b.price WITHIN 9 seconds", ["k"]),
    "par": ("repeat (A ; try B[out] unless C)", ["k", "side"]),
    "algebra": ("(A ; B)_5s - C", ["side"]),
    "match_recognize": (
        "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(b.id) AS ended "
        "PATTERN (a b+) DEFINE a AS type = 'A', b AS type = 'B')",
        ["k"],
    ),
}


@pytest.mark.spark
def test_queries_of_all_languages_share_the_scan(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those with the same keys share a pass, and all of them the scan and the shuffle."""
    events = crowded(5, 300)
    frame = spark.createDataFrame(events.take(pa.array(random.Random(2).sample(range(300), 300))))
    options: dict[str, Any] = {"algebra": {"merge_ties": True}}
    queries = {
        name: cereus.compile(
            text,
            dialect=name,
            stream=cereus.Stream(time="ts", keys=keys),
            **options.get(name, {}),
        )
        for name, (text, keys) in LANGUAGES.items()
    }
    found = cs.match(frame, queries, split=False)
    found.explain()
    assert capsys.readouterr().out.count("Exchange") == 1
    assert "3 passes over one scan" in cs.explain(frame, queries, split=False)
    rows = found.toArrow().to_pylist()
    for name, query in queries.items():
        own = cs.match(frame, query, split=False, parallelism=1).toArrow().to_pylist()
        assert counted([row for row in rows if row["query"] == name]) == counted(own)
        assert own
