"""Pipelines on Spark: composition in batch and live, sinks, metrics, and what goes wrong there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cereus.cli import main
from cereus.errors import CereusError
from cereus.spark.pipeline import Pipeline, PipelineError

from .conftest import ALERTS, MARKET, ORDERS, Write, changed, found, orders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LIVE = ('mode = "batch"', 'mode = "live"')
FUNCTION = """
seen = []
def keep(frame, batch):
    seen.extend((batch, row.asDict()) for row in frame.collect())
"""
END = (100_000, "END", "", 0.0)
"""An event far in the future: all others are behind the watermark then."""


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Any]:
    """A module beside the pipeline, whose function notes what it is called with."""
    (tmp_path / "pipeline_sink.py").write_text(FUNCTION)
    yield lambda: sys.modules["pipeline_sink"].__dict__["seen"]
    sys.path.remove(str(tmp_path))
    sys.modules.pop("pipeline_sink", None)


def test_a_batch_pipeline_with_composition(
    write: Write, spark: SparkSession, tmp_path: Path, function: Any
) -> None:
    more = """
        [sinks.seen]
        from = "pair"
        format = "memory"
        table = "pairs_seen"
        [sinks.mine]
        from = "pair"
        format = "foreach"
        function = "pipeline_sink:keep"
        """
    said: list[Any] = []
    last = Pipeline.load(write(MARKET + more)).run(spark, on_metrics=said.append)
    assert found(pq.read_table(tmp_path / "alerts").to_pylist()) == ALERTS
    assert [(each.name, each.events, each.matches) for each in last] == [
        ("pair", 6, 3),
        ("again", 3, 3),
    ]
    assert said == last
    pairs = spark.table("pairs_seen").collect()
    assert {(row["type"], row["name"], row["gain"]) for row in pairs} == {
        ("pair", "INTC", 1.0),
        ("pair", "MSFT", 3.0),
        ("pair", "INTC", 5.0),
    }
    assert sorted((batch, row["gain"]) for batch, row in function()) == [(0, 1), (0, 3), (0, 5)]


def test_parameters_of_a_query(write: Write, spark: SparkSession, tmp_path: Path) -> None:
    text = changed(
        MARKET,
        (
            "FILTER x.gain < y.gain WITHIN 1 hour",
            "FILTER x.gain < y.gain AND y[gain > :least] AND x[name IN :names] WITHIN :size",
        ),
        (
            'from = "pair"\ntext',
            'from = "pair"\nparams = { least = 4.0, names = ["INTC", "IBM"], size = 1 }\ntext',
        ),
    ).replace("WITHIN :size", "WITHIN :size hours")
    Pipeline.load(write(text)).run(spark)
    rows = pq.read_table(tmp_path / "alerts").to_pylist()
    assert found(rows) == [row for row in ALERTS if row[0] == "INTC" and row[2] > 4]


@pytest.mark.long
def test_a_live_pipeline_with_composition_over_a_directory(
    write: Write, spark: SparkSession, tmp_path: Path, function: Any
) -> None:
    """The same file but for one word finds the same; here in two runs, as files arrive."""
    sink = 'format = "foreach"\nfunction = "pipeline_sink:keep"'
    text = changed(MARKET, LIVE, ('format = "parquet"\npath = "alerts"', sink))
    pq.write_table(orders(ORDERS[:3]), tmp_path / "orders" / "1.parquet")
    Pipeline.load(write(text)).run(spark)
    assert function() == []
    pq.write_table(orders([*ORDERS[3:], END]), tmp_path / "orders" / "2.parquet")
    pipeline = Pipeline.load(write(text), metrics="metrics.jsonl")
    last = pipeline.run(spark)
    assert found([row for _, row in function()]) == ALERTS
    assert {(each.sink, each.name) for each in last} == {("alerts", "pair"), ("alerts", "again")}
    lines = [json.loads(line) for line in Path("metrics.jsonl").read_text().splitlines()]
    of_pair = [each for each in lines if each["name"] == "pair"]
    assert sum(each["events"] for each in of_pair) == len(ORDERS[3:]) + 1
    assert sum(each["matches"] for each in of_pair) == 3
    assert all(each["state_rows"] > 0 and each["state_bytes"] > 0 for each in of_pair)
    assert [each["total_matches"] for each in lines if each["name"] == "again"][-1] == 3
    assert {each["late"] for each in lines} == {0}
    assert of_pair[0]["lag_seconds"] is not None
    _refused_at_the_start(write, spark, text)


def _refused_at_the_start(write: Write, spark: SparkSession, text: str) -> None:
    """Nothing new has come, so no micro-batch would find out that a query is another one."""
    other = ("FILTER x.gain < y.gain", "FILTER x.gain > y.gain")
    with pytest.raises(CereusError) as raised:
        Pipeline.load(write(changed(text, other))).run(spark)
    for each in other:
        assert f"WHERE pair AS x ; pair AS y {each} WITHIN 1 hour" in str(raised.value)
    restart = ("[queries.again]\n", '[queries.again]\non_change = "restart"\n')
    Pipeline.load(write(changed(text, other, restart))).run(spark)


def test_streams_put_together_and_other_dialects(
    write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    """A query reads events beside the matches of another, of another dialect, and of CSV files;
    two queries write one stream."""
    (tmp_path / "csv").mkdir()
    csv.write_csv(orders(ORDERS), tmp_path / "csv" / "1.csv")
    text = changed(
        MARKET,
        ('format = "parquet"\npath = "orders"', 'format = "csv"\npath = "csv"'),
        ("[queries.again]", OTHERS + "[queries.again]"),
    )
    text += '\n[sinks.both]\nfrom = "both"\nformat = "csv"\npath = "both"\n'
    Pipeline.load(write(text)).run(spark)
    assert found(pq.read_table(tmp_path / "alerts").to_pylist()) == ALERTS
    both = spark.read.csv(str(tmp_path / "both"), header=True).collect()
    assert sorted((row["type"], row["name"]) for row in both) == [
        ("fast", "INTC"),
        ("fast", "INTC"),
        ("fast", "MSFT"),
        ("steps", "INTC"),
    ]


OTHERS = '''
[queries.sales]
from = "market"
dialect = "algebra"
text = "SELL"
keys = "name"

[queries.fast]
from = ["sales", "market"]
into = "both"
text = "SELECT b FROM sales, market WHERE sales AS s ; BUY AS b PARTITION BY name WITHIN 1 second"
where = "b[0].price < 20"
select = ["name", "end_time"]

[queries.steps]
from = "pair"
into = "both"
dialect = "sase"
text = """
    PATTERN SEQ(pair x, pair y)
    WHERE skip_till_any_match(x, y) { x.gain + 4 = y.gain }
    WITHIN 1 hour RETURN y.name
"""
select = ["name", "end_time"]

'''


def test_no_events_and_a_second_try(write: Write, spark: SparkSession, tmp_path: Path) -> None:
    """A run that failed for want of a table works once it is there; nothing comes of nothing."""
    text = changed(MARKET, ('"parquet"\npath = "orders"', '"table"\ntable = "no_orders"'))
    pipeline = Pipeline.load(write(text))
    with pytest.raises(PipelineError, match=r"sources.orders: Spark says: .*_NOT_FOUND"):
        pipeline.run(spark)
    pq.write_table(orders(ORDERS).slice(0, 0), tmp_path / "orders" / "1.parquet")
    spark.read.parquet(str(tmp_path / "orders")).createOrReplaceTempView("no_orders")
    assert [each.matches for each in pipeline.run(spark)] == [0, 0]
    assert pq.read_table(tmp_path / "alerts").num_rows == 0


ON_SPARK = {
    "a column of matches": (
        ('"end_time", "b[0]', '"end_tme", "b[0]'),
        "queries.pair",
        None,
    ),
    "a name in a query": (("x.gain <", "x.gainn <"), "queries.again.text", "did you mean 'gain'?"),
    "Kafka": (
        ('"parquet"\npath = "orders"', '"kafka"\nservers = "x:9092"\ntopic = "orders"'),
        "sources.orders",
        "spark.jars.packages",
    ),
    "Delta": (
        ('"parquet"\npath = "orders"', '"delta"\npath = "orders"'),
        "sources.orders",
        "delta",
    ),
}


@pytest.mark.parametrize("name", ON_SPARK)
def test_what_goes_wrong_on_spark_has_its_line(
    name: str, write: Write, spark: SparkSession
) -> None:
    """Found when the DataFrames are made, before anything is written."""
    change, key, hint = ON_SPARK[name]
    with pytest.raises(PipelineError) as raised:
        Pipeline.load(write(changed(MARKET, change))).run(spark)
    (problem,) = raised.value.problems
    assert f"line {problem.line}, {key}: " in problem.message
    assert (hint or "") in (problem.hint or "")
    assert not Path("alerts").exists()


def test_matches_told_after_their_time_are_not_read_live(write: Write) -> None:
    """Spark would take them for late events, and drop them; that is known before it starts."""
    text = changed(
        MARKET,
        ("SELECT a, b WHERE SELL AS a ; BUY AS b PARTITION BY name WITHIN 10 seconds", ALONE),
        ("[queries.pair]", '[queries.pair]\ndialect = "sase"'),
        ('"name", "end_time", "b[0].price - a[0].price AS gain"', '"end_time", "gain"'),
    )
    assert (
        Pipeline.load(write(text)).queries["pair"].compiled.emits_late
    )  # of history they are read
    with pytest.raises(PipelineError, match="emitted after their time") as raised:
        Pipeline.load(write(changed(text, LIVE)))
    assert raised.value.problems[0].key == ("queries", "again", "from")


ALONE = "PATTERN SEQ(SELL a, ~BUY b) WHERE [name] WITHIN 10 seconds RETURN a.price AS A(gain)"


@pytest.mark.long
def test_a_worker_that_fails_is_an_error_here(
    write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    table = orders(ORDERS)
    times = [None, *table["ts"].to_pylist()[1:]]
    broken = table.set_column(3, "ts", [times])
    pq.write_table(broken, tmp_path / "orders" / "1.parquet")
    with pytest.raises(CereusError, match="ts"):
        Pipeline.load(write(MARKET)).run(spark)
    with pytest.raises(CereusError, match=r"the sink 'alerts' has stopped: .*'ts' is null"):
        Pipeline.load(write(changed(MARKET, LIVE, ('"alerts"', '"live"')))).run(spark)


@pytest.mark.usefixtures("spark")
def test_the_command_line(write: Write, tmp_path: Path) -> None:
    text = changed(MARKET, ('"parquet"\npath = "orders"', '"rate"\nrows = 50\nrows_per_second = 5'))
    text = changed(
        text,
        ('time = "ts"', RATE),
        ('format = "parquet"\npath = "alerts"', 'format = "console"\nrows = 3'),
    )
    ran = CliRunner().invoke(main.app, ["run", str(write(text)), "--metrics", "m.jsonl"])
    assert ran.exit_code == 0, ran.output
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert ["pair", "20", "–"] in lines
    names = [json.loads(each)["name"] for each in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert names == ["pair", "again"]


RATE = """time = "timestamp"
select = [
    "timestamp",
    "CASE value % 5 WHEN 0 THEN 'SELL' WHEN 1 THEN 'BUY' WHEN 2 THEN 'BUY' ELSE '' END AS type",
    "value / 5 AS price",
    "string(value div 5) AS name",
]"""
