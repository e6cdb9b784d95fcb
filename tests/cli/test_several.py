"""`cereus run -q A -q B INPUT…`: several queries in one pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import cereus

from .conftest import Run, events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAIR = "SELECT a, b FROM S WHERE SELL AS a ; BUY AS b WITHIN 10 seconds"
RUNS = "SELECT * FROM S WHERE BUY:+ AS c PARTITION BY name WITHIN 10 seconds"
BOTH = ("-q", "pair.ceql", "-q", RUNS)
DIFFERENT = (
    "SELL ; BUY PARTITION BY name WITHIN 1 hour",
    "BUY ; BUY PARTITION BY type WITHIN 1 hour",
    "BUY:+ AS c PARTITION BY name",
    "SELL ; BUY ; BUY",
)
"""Patterns of different keys; the last has none."""
LOCAL = ("--engine", "local", "--time", "ts")
Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def query_file(cli: Run) -> None:
    Path("pair.ceql").write_text(PAIR)


def test_each_query_is_shown_by_name(cli: Run, write: Write) -> None:
    shown = cli("run", *BOTH, write(), *LOCAL)
    assert shown.exit_code == 0, shown.output
    assert "pair: 2 matches · 5 events" in shown.stdout
    assert "q2: 3 matches · 5 events" in shown.stdout
    assert "q2: all matches" in shown.stdout


def test_the_title_of_a_narrow_table_is_one_line(cli: Run, write: Write) -> None:
    Path("a_query_with_a_long_name.ceql").write_text("SELECT * WHERE SELL AS s RETURN s.price AS p")
    shown = cli("run", "-q", "a_query_with_a_long_name.ceql", "-q", "pair.ceql", write(), *LOCAL)
    assert "a_query_with_a_long_name: all matches" in shown.stdout, shown.output


def test_all_matches_are_one_table(cli: Run, write: Write) -> None:
    assert cli("run", *BOTH, write(), *LOCAL, "-o", "m.parquet").exit_code == 0
    table = pq.read_table("m.parquet")
    assert table.column_names[0] == "query"
    assert table.filter(pc.field("query") == "pair")["name"].null_count == 2
    for name, text in {"pair": PAIR, "q2": RUNS}.items():
        alone = cereus.compile(text, stream=cereus.Stream(time="ts")).run(events()).table
        own = table.filter(pc.field("query") == name)
        spans = ["start_time", "end_time"]
        assert own.select(spans).to_pylist() == alone.select(spans).to_pylist()
    assert cli("run", *BOTH, write(), *LOCAL, "-o", "m.csv").exit_code == 0
    assert csv.read_csv("m.csv").num_rows == 5


def test_batches_say_their_query() -> None:
    queries = cereus.compile_many({"a": PAIR, "b": RUNS}, stream=cereus.Stream(time="ts"))
    rows = [(name, batch.num_rows) for name, batch in queries.batches(events())]
    for name, matches in queries.run(events()).items():
        assert sum(count for each, count in rows if each == name) == len(matches)


def test_what_is_missing_or_there_twice_is_said(cli: Run, write: Write) -> None:
    path = write()
    for arguments, said in {
        ("-q", "pair.ceql"): "no input was given",
        ("-q", "pair.ceql", "-q", "pair.ceql", path): "two queries are called 'pair'",
        (): "there is nothing to run",
        (PAIR,): "no input was given",
    }.items():
        failed = cli("run", *arguments, *LOCAL)
        assert failed.exit_code == 1
        assert said in failed.stderr


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_several_queries_on_spark(cli: Run, write: Write) -> None:
    on_spark = ("--engine", "spark", "--time", "ts")
    shown = cli("run", *BOTH, write(), *on_spark, "-o", "m.parquet")
    assert shown.exit_code == 0, shown.output
    assert "pair: 2 matches written" in shown.stdout
    assert "q2: 3 matches written" in shown.stdout
    names = pq.read_table("m.parquet")["query"].to_pylist()
    assert sorted(names) == ["pair", "pair", "q2", "q2", "q2"]
    assert "q2: 3 matches" in cli("run", *BOTH, write(), *on_spark).stdout


def test_what_is_wrong_says_in_which_query(cli: Run, write: Write) -> None:
    Path("odd.ceql").write_text("SELECT * FROM S WHERE BUY AS b FILTER b[prize > 1]")
    path = write()
    failed = cli("run", "-q", "pair.ceql", "-q", "odd.ceql", path, *LOCAL)
    assert failed.stderr.startswith("error: odd.ceql: unknown attribute 'prize'\n"), failed.stderr
    failed = cli("run", "-q", "pair.ceql", "-q", "SELECT * FRON S", path, *LOCAL)
    assert failed.stderr.startswith("error: q2: "), failed.stderr
    warned = cli("run", "-q", "pair.ceql", "-q", "SELECT * WHERE SELL ; BUY", path, *LOCAL)
    assert warned.stderr.startswith("warning: q2: no WITHIN"), warned.stderr


def test_an_error_of_one_of_several_names_it() -> None:
    with pytest.raises(cereus.errors.QuerySyntaxError, match="query 'b'") as raised:
        cereus.compile_many({"a": PAIR, "b": "SELECT"})
    assert raised.value.message.startswith("query 'b': expected")


def test_queries_of_several_languages_run_in_one_pass(cli: Run, write: Write) -> None:
    """The dialect stands in front of a text, or is that of its file."""
    Path("sold.par").write_text("repeat (SELL[sold])")
    arguments = ("--engine", "local", "--time", "ts", "-o", "m.parquet")
    queries = (
        "sase:PATTERN SEQ(SELL a, BUY b) WITHIN 10 seconds",
        "SELECT * WHERE SELL",
        "sold.par",
    )
    flags = [each for query in queries for each in ("-q", query)]
    done = cli("run", *flags, write(), *arguments)
    assert done.exit_code == 0, done.output
    for line in ("q1: 1 match ", "q2: 2 matches", "sold: 2 matches"):
        assert line in done.stdout
    assert set(pq.read_table("m.parquet")["query"].to_pylist()) == {"q1", "q2", "sold"}
    assert "ok" in cli("check", "sremo:{SELL:}").stdout


@pytest.mark.spark
def test_several_queries_on_spark_read_their_input_once(
    cli: Run, write: Write, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their keys are: one plan, with one scan of the events."""
    from cereus.cli import on_spark

    plans = []
    written = on_spark.write

    def noted(matches: DataFrame, *given: Any) -> Any:
        plans.append(str(matches._jdf.queryExecution().executedPlan().toString()))
        return written(matches, *given)

    monkeypatch.setattr(on_spark, "write", noted)
    texts = [f"SELECT * FROM S WHERE {each}" for each in DIFFERENT]
    queries = [part for text in texts for part in ("-q", text)]
    options = ("--engine", "spark", "--time", "ts", "-o", "m.parquet")
    shown = cli("run", *queries, write(), *options)
    assert shown.exit_code == 0, shown.output
    (plan,) = plans
    assert plan.count("Scan ") == 1, plan
    found = pq.read_table("m.parquet")["query"].to_pylist()
    for number, text in enumerate(texts):
        alone = cereus.compile(text, stream=cereus.Stream(time="ts")).run(events())
        assert found.count(f"q{number + 1}") == len(alone) > 0
