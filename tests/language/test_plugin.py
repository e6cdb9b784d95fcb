"""A language with one operator plugs in: it runs on every surface, and Cereus does not know it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import cereus
from cereus import Rule, RuleRecognizer, show
from cereus.cli import main
from cereus.errors import CereusError, QuerySyntaxError, SnapshotError
from cereus.lsp import features

from .conftest import PLUGIN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("then")

BEGIN = datetime(2025, 3, 3, 9, 30)
STREAM = cereus.Stream(time="ts", keys="k")
TEXT = "A then B"
EVENTS = pa.table(
    {
        "id": range(8),
        "type": list("ABAXBABB"),
        "k": [1, 1, 2, 2, 2, 3, 1, 3],
        "ts": [BEGIN + timedelta(seconds=each) for each in range(8)],
    }
)
FOUND = {(0, 1), (0, 6), (2, 4), (5, 7)}
AT_ONCE = {(0, 1), (5, 7)}


def query(text: str = TEXT, **options: Any) -> cereus.Query:
    return cereus.compile(text, dialect="then", stream=STREAM, **options)


def positions(rows: Any) -> set[tuple[int, ...]]:
    return {tuple(row["positions"]) for row in rows}


def ids(rows: Any) -> set[tuple[int, ...]]:
    return {tuple(event["id"] for event in row["events"]) for row in rows}


# ---------------------------------------------------------------- Python


def test_a_text_is_compiled_and_run() -> None:
    assert positions(query().run(EVENTS)) == FOUND
    assert positions(query(at_once=True, schema=EVENTS.schema).run(EVENTS)) == AT_ONCE
    assert query().count(EVENTS) == len(FOUND)
    assert query().run(EVENTS).events().column("id").to_pylist() is not None


def test_an_object_is_compiled_as_its_text_is(then: ModuleType) -> None:
    built = cereus.compile(then.Event("A") >> then.Event("B"), stream=STREAM)
    assert built.dialect == "then" and built.text == TEXT
    assert built.tree == query().tree
    assert positions(built.run(EVENTS)) == FOUND


def test_what_is_wrong_is_shown() -> None:
    with pytest.raises(QuerySyntaxError, match=r"'B C' is not a type(.|\n)*\^\^\^"):
        query("A then B C")
    with pytest.raises(CereusError, match="then has no option 'soon'"):
        query(soon=True)
    with pytest.raises(QuerySyntaxError, match="a text is needed"):
        cereus.compile(3, dialect="then")


@pytest.mark.parametrize("cut", range(9))
def test_a_recognizer_goes_on_from_a_snapshot(cut: int) -> None:
    recognizer = query().recognizer()
    first = list(recognizer.push(EVENTS.slice(0, cut)))
    resumed = query().restore(recognizer.snapshot())
    assert positions([*first, *resumed.push(EVENTS.slice(cut)), *resumed.finish()]) == FOUND


def test_an_option_is_part_of_what_a_snapshot_is_of() -> None:
    recognizer = query().recognizer()
    recognizer.push(EVENTS)
    with pytest.raises(SnapshotError):
        query(at_once=True).restore(recognizer.snapshot())


def test_it_is_explained_and_drawn() -> None:
    explained = query().explain()
    assert explained.startswith(f"query\n  {TEXT}\n") and "marks B → s2" in explained
    assert "doublecircle" in show.diagram(query()).dot


def test_why_counts_its_matches() -> None:
    assert str(query().why(EVENTS)).startswith("4 matches")
    assert str(query().why_not(EVENTS, [0, 1])) == "rows 0, 1: they are a match"


def test_rules_are_written_in_it() -> None:
    rules = [
        Rule("pairs", TEXT, language="then"),
        Rule("close", TEXT, language="then", options={"at_once": True}),
    ]
    recognizer = RuleRecognizer(stream=STREAM, schema=EVENTS.schema, rules=rules)
    tables = [recognizer.push(EVENTS), recognizer.finish()]
    found = Counter(name for each in tables for name in each.column("rule").to_pylist())
    assert found == {"pairs": len(FOUND), "close": len(AT_ONCE)}


def test_an_editor_shows_what_is_wrong() -> None:
    language = features.language_of("q.then")
    (problem,) = features.problems("A then B C", language)
    assert problem.message.startswith("'B C' is not a type") and problem.start == 7
    assert features.laid_out("A  then  B", language) == f"{TEXT}\n"


def test_the_playground_answers_it(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("igraph")
    from cereus.play.answers import answer
    from cereus.play.data import GIVEN, GivenFiles, PlayData

    pq.write_table(EVENTS, tmp_path / "1.parquet")
    given = GivenFiles((str(tmp_path / "1.parquet"),), time="ts", keys=("k",))
    stream = {"type": "type", "time": "ts", "keys": ["k"], "unit": ""}
    asked = {"text": TEXT, "dialect": "then", "data": GIVEN, **stream}
    assert answer("run", asked, PlayData(given, 100))["total"] == len(FOUND)


def test_it_runs_beside_other_languages(then: ModuleType) -> None:
    queries = cereus.compile_many(
        {
            "text": (TEXT, "then"),
            "object": then.Event("A") >> then.Event("B"),
            "compiled": query(at_once=True),
            "ceql": "SELECT * WHERE A ; B",
        },
        stream=STREAM,
    )
    found = {name: positions(matches) for name, matches in queries.run(EVENTS).items()}
    assert found == {"text": FOUND, "object": FOUND, "compiled": AT_ONCE, "ceql": FOUND}


def test_a_package_that_cannot_be_imported_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from cereus.language import registry

    (tmp_path / "broken-1.dist-info").mkdir()
    (tmp_path / "broken-1.dist-info" / "METADATA").write_text("Name: broken\nVersion: 1\n")
    points = "[cereus.languages]\nbroken = no_such_module:Language\n"
    (tmp_path / "broken-1.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match="the language 'broken' cannot be loaded"):
        registry.look_for_others()
    assert "broken" not in registry.names()


# ---------------------------------------------------------------- the command line


def cli(*arguments: object) -> str:
    done = CliRunner().invoke(main.app, [str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return str(done.output)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with events, and a query that its suffix tells the language of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(main, "compiled_notice", lambda: None)
    (tmp_path / "q.then").write_text(TEXT)
    (tmp_path / "events").mkdir()
    pq.write_table(EVENTS, tmp_path / "events" / "1.parquet")
    return tmp_path


COLUMNS = ("--time", "ts", "--key", "k")


def test_the_command_line_knows_it_by_its_suffix(files: Path) -> None:
    ran = cli("run", "q.then", "events", *COLUMNS, "--engine", "local", "-o", "found.parquet")
    assert "4 matches" in ran
    assert ids(pq.read_table("found.parquet").to_pylist()) == FOUND
    at_once = cli("run", "q.then", "events", *COLUMNS, "--engine", "local", "--set", "at_once")
    assert "2 matches" in at_once
    assert "A then B" in cli("explain", "q.then")
    assert "ok" in cli("check", "q.then", "--schema", "events/1.parquet")
    assert "digraph" in cli("show", "q.then")
    assert "4 matches" in cli("why", "q.then", "events", *COLUMNS)
    assert "written to" in cli("report", "q.then", "events", *COLUMNS, "-o", "r.html")
    cli("fmt", "q.then")
    assert (files / "q.then").read_text() == f"{TEXT}\n"
    assert "4 matches" in cli(
        "run", "-q", "q.then", "-q", "SELECT * WHERE A ; B", "events", *COLUMNS, "--engine", "local"
    )


def test_help_names_it_and_its_options(files: Path) -> None:
    """In a process of its own: help texts are made when the commands are imported."""
    path = os.pathsep.join([str(PLUGIN), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", "cereus.cli.main", "run", "--help"],
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    )
    text = " ".join(done.stdout.replace("│", " ").split())
    assert ".then" in text and "Of then: at_once (nothing comes between the events)" in text


# ---------------------------------------------------------------- Spark


def test_live_buckets_find_what_a_run_finds() -> None:
    import random

    from tests.spark.live.streams import Stream, parts, recipe_of, shuffled, with_end

    dice = random.Random(3)
    batches = parts(shuffled(EVENTS, 3, dice), 4, dice)
    batches[-1] = with_end(batches[-1])
    stream = Stream(recipe_of(query(), EVENTS.schema), 6, dice=dice)
    stream.run(batches)
    assert ids(stream.rows) == FOUND


@pytest.mark.spark
def test_spark_matches_a_dataframe(spark_then: SparkSession) -> None:
    from cereus import spark as cs

    frame = spark_then.createDataFrame(EVENTS)
    assert ids(cs.match(frame, query()).toArrow().to_pylist()) == FOUND
    several = {"then": query(), "ceql": cereus.compile("SELECT * WHERE A ; B", stream=STREAM)}
    rows = cs.match(frame, several).toArrow().to_pylist()
    assert Counter(row["query"] for row in rows) == {"then": len(FOUND), "ceql": len(FOUND)}


@pytest.mark.long
@pytest.mark.spark
def test_spark_matches_a_stream(spark_then: SparkSession, files: Path) -> None:
    from pyspark import cloudpickle

    from cereus import spark as cs

    # What plans a stream is a process of the driver that is not sent the package
    cloudpickle.register_pickle_by_value(sys.modules["then_language"])
    end = EVENTS.slice(7).set_column(3, "ts", [[BEGIN + timedelta(hours=1)]])
    pq.write_table(end, files / "events" / "2.parquet")
    schema = spark_then.read.parquet(str(files / "events")).schema
    stream = spark_then.readStream.schema(schema).parquet(str(files / "events"))
    found = cs.match(stream, query(), watermark="10 seconds")
    running = (
        found.writeStream.format("memory")
        .queryName("then_found")
        .option("checkpointLocation", str(files / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()
    cloudpickle.unregister_pickle_by_value(sys.modules["then_language"])
    assert ids(spark_then.table("then_found").toArrow().to_pylist()) >= FOUND


@pytest.mark.spark
def test_sql_has_it_as_a_table_function(spark_then: SparkSession) -> None:
    from cereus import spark as cs

    spark_then.createDataFrame(EVENTS).createOrReplaceTempView("then_events")
    cs.register(spark_then, schema="then_events", after=query())
    table = "TABLE(then_events) PARTITION BY k ORDER BY ts"
    named = spark_then.sql(f"SELECT * FROM after({table})")
    assert ids(named.toArrow().to_pylist()) == FOUND
    said = f"query => '{TEXT}', dialect => 'then', key => 'k', at_once => true"
    found = spark_then.sql(f"SELECT * FROM cereus({table}, {said})")
    assert ids(found.toArrow().to_pylist()) == AT_ONCE
    spark_then.catalog.dropTempView("then_events")


PIPELINE = """
mode = "batch"
[sources.events]
format = "parquet"
path = "events"
[streams.all]
source = "events"
time = "ts"
keys = ["k"]
[queries.pairs]
from = "all"
file = "q.then"
options = { at_once = true }
[sinks.out]
from = "pairs"
format = "parquet"
path = "out"
"""


def test_a_pipeline_without_spark_reads_its_files(files: Path) -> None:
    (files / "then.toml").write_text(PIPELINE)
    cli("run", "then.toml", "--engine", "local")
    assert ids(pq.read_table("out").to_pylist()) == AT_ONCE


@pytest.mark.spark
def test_a_pipeline_reads_its_files(spark_then: SparkSession, files: Path) -> None:
    from cereus.spark.pipeline import Pipeline

    (files / "then.toml").write_text(PIPELINE)
    Pipeline.load(files / "then.toml").run(spark_then)
    assert ids(pq.read_table("out").to_pylist()) == AT_ONCE
