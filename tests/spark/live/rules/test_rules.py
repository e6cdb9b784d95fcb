"""Rules that change on Spark: what the local recognizer finds, with the changes in between."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

import cereus
from cereus import Rule
from cereus import spark as cs
from cereus.errors import CereusError
from tests.spark.files import write
from tests.spark.live.test_live import _few_tasks  # noqa: F401

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

import pyarrow as pa

pytestmark = pytest.mark.spark

STREAM = cereus.Stream(time="t", keys=["k"])
PAIR = "SELECT * WHERE A ; B FILTER A[x > {}] WITHIN 20 seconds"
RULE_TYPE = "name string, text string, enabled boolean, removed boolean"


def events(begin: int, *letters: str) -> pa.Table:
    return pa.table(
        {
            "type": [each[0] for each in letters],
            "t": pa.array(
                [(begin + n) * 1_000_000 for n in range(len(letters))], pa.timestamp("us")
            ),
            "k": [each[1] for each in letters],
            "x": [int(each[2]) for each in letters],
        }
    )


def rule(directory: Path, number: int, **row: Any) -> None:
    hidden = directory / f".{number}"
    hidden.write_text(json.dumps(row) + "\n")
    hidden.rename(directory / f"{number}.json")


def run(found: DataFrame, where: Path) -> None:
    query = (
        found.writeStream.format("parquet")
        .option("path", str(where / "found"))
        .option("checkpointLocation", str(where / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def shown(spark: SparkSession, where: Path) -> tuple[Counter[Any], set[Any]]:
    matches, changes = cs.split_changes(spark.read.parquet(str(where / "found")))
    rows = [(r["rule"], r["version"], r["k"], len(r["events"])) for r in matches.collect()]
    return Counter(rows), {(r["rule"], r["version"], r["change"]) for r in changes.collect()}


@pytest.mark.long
def test_rules_change_while_a_stream_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Each run goes on from the checkpoint of the one before: rules and events that came since."""
    folder, rules = tmp_path / "events", tmp_path / "rules"
    folder.mkdir()
    rules.mkdir()
    write(folder, [events(0, "Ap4", "Aq1", "Ap1")])
    rule(rules, 0, name="pair", text=PAIR.format(3))
    rule(rules, 1, name="broken", text="SELECT * WHERE")
    rule(rules, 2, name="single", text="SELECT * WHERE B")

    def again() -> None:
        schema = "type string, t timestamp_ntz, k string, x long"
        stream = spark.readStream.schema(schema).parquet(str(folder))
        stream = stream.withColumn("t", stream["t"].cast("timestamp"))
        changes = spark.readStream.schema(RULE_TYPE).json(str(rules))
        found = cs.match_rules(stream, changes, stream=STREAM, watermark="0 seconds", buckets=2)
        run(found, tmp_path)

    again()
    matches, changes = shown(spark, tmp_path)
    assert changes == {("pair", 1, "added"), ("broken", 1, "refused"), ("single", 1, "added")}
    rule(rules, 3, name="pair", text=PAIR.format(9))
    rule(rules, 4, name="single", removed=True)
    rule(rules, 5, name="late", text="SELECT * WHERE B FILTER B[x > 5]")
    write(folder, [events(5, "Ap8", "Bp0", "Bq9"), events(60, "Ap0")])
    again()
    matches, changes = shown(spark, tmp_path)
    assert changes >= {("pair", 2, "carried over"), ("single", 1, "removed"), ("late", 1, "added")}
    assert matches == {("pair", 2, "p", 2): 1, ("late", 1, "q", 1): 1}


@pytest.mark.long
def test_a_stream_that_starts_with_other_rules_changes_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    rules = [Rule("pair", PAIR.format(3)), Rule("gone", "SELECT * WHERE B")]
    write(folder, [events(0, "Ap4", "Aq1")])
    for more in (rules, [Rule("pair", PAIR.format(9)), Rule("new", "SELECT * WHERE B")]):
        stream = spark.readStream.schema("type string, t timestamp_ntz, k string, x long")
        events_of = stream.parquet(str(folder))
        events_of = events_of.withColumn("t", events_of["t"].cast("timestamp"))
        found = cs.match_rules(events_of, more, stream=STREAM, watermark="0 seconds", buckets=2)
        run(found, tmp_path)
        write(folder, [events(5, "Ap8", "Bp0"), events(60, "Ap0")])
    matches, changes = shown(spark, tmp_path)
    assert changes == {
        ("pair", 1, "added"),
        ("gone", 1, "added"),
        ("pair", 2, "carried over"),
        ("gone", 1, "removed"),
        ("new", 1, "added"),
    }
    assert matches == {("pair", 2, "p", 2): 1, ("new", 1, "p", 1): 1}


def test_rules_with_unknown_columns_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("rate").load()
    rules = spark.readStream.format("rate").load()
    with pytest.raises(CereusError, match="rules have no column 'timestamp'"):
        cs.match_rules(
            stream, rules, stream=cereus.Stream(type=None, time="timestamp"), watermark="1 second"
        )
    changes = spark.readStream.schema(RULE_TYPE).json(str(tmp_path))
    history = spark.createDataFrame(events(0, "Ap4").to_pandas())
    with pytest.raises(CereusError, match="for a streaming DataFrame"):
        cs.match_rules(history, changes, stream=STREAM)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (cereus.Stream(type=None, time="timestamp", keys=["valeu"]), "did you mean 'value'"),
        (cereus.Stream(type=None, time="timestam"), "did you mean 'timestamp'"),
        ("timestamp", "stream= is a Stream, not a str"),
    ],
)
def test_columns_of_the_stream_that_are_not_there_are_refused_at_once(
    spark: SparkSession, stream: cereus.Stream, message: str
) -> None:
    rate = spark.readStream.format("rate").load()
    with pytest.raises(CereusError, match=message):
        cs.match_rules(rate, [], stream=stream, watermark="1 second")


def test_a_table_of_all_rules_may_say_which_are_removed(spark: SparkSession) -> None:
    rows = [("a", "SELECT * WHERE A", None, 1), ("b", "SELECT * WHERE B", True, 2)]
    table = spark.createDataFrame(rows, "name string, text string, removed boolean, at long")
    history = spark.createDataFrame(events(0, "Ap1", "Bp1").to_pandas())
    matches, changes = cs.split_changes(cs.match_rules(history, table, stream=STREAM))
    assert [row["rule"] for row in matches.collect()] == ["a"]
    assert [row["rule"] for row in changes.collect()] == ["a"]


def test_a_table_of_all_rules_leaves_out_none_for_a_text(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        [("a", "SELECT * WHERE A", "false")], "name string, text string, removed string"
    )
    history = spark.createDataFrame(events(0, "Ap1").to_pandas())
    with pytest.raises(CereusError, match="'removed' of a rule is true or false, not a str"):
        cs.match_rules(history, table, stream=STREAM)


def test_rules_over_history_find_what_the_local_recognizer_finds(spark: SparkSession) -> None:
    dice = Random(7)
    letters = [dice.choice("AB") + dice.choice("pqr") + str(dice.randrange(9)) for _ in range(300)]
    rows = events(0, *letters)
    rules = [
        *(Rule(f"pair{n}", PAIR.format(n)) for n in range(5)),
        Rule("alone", "SELECT * WHERE A FILTER A[x > 4] NOT FOLLOWED BY B WITHIN 5 seconds"),
        Rule("counted", "SELECT COUNT(*) WHERE A ; B+ WITHIN 9 seconds"),
        Rule("values", "SELECT a WHERE A AS a ; B WITHIN 3 seconds RETURN a.x + 1 AS more"),
        Rule("sase", "PATTERN SEQ(A a, B b) WHERE a.x = b.x WITHIN 20 seconds", "sase"),
        Rule("paused", "SELECT * WHERE A", enabled=False),
        Rule("broken", "SELECT * WHERE"),
        Rule("all", "SELECT * WHERE A ; B CONSUME BY ANY WITHIN 3 seconds"),
    ]
    history = spark.createDataFrame(rows.to_pandas()).repartition(3)
    rows = rows.set_column(1, "t", rows["t"].cast(pa.timestamp("us", "UTC")))
    local = cereus.RuleRecognizer(stream=STREAM, schema=rows.schema, rules=rules)
    expected = [*local.push(rows).to_pylist(), *local.finish().to_pylist()]
    matches, changes = cs.split_changes(cs.match_rules(history, rules, stream=STREAM))
    found = matches.toArrow().to_pylist()
    assert Counter(map(_told, found)) == Counter(map(_told, expected))
    assert {row["rule"] for row in found} == {r.name for r in rules} - {"paused", "broken", "all"}
    told = {row["rule"]: row for row in changes.collect()}
    assert {(n, row["change"]) for n, row in told.items()} == {
        (each.rule, each.change) for each in local.changes
    }
    assert "expected" in told["broken"]["error"] and "CONSUME BY" in told["all"]["error"]


def _told(row: dict[str, Any]) -> tuple[Any, ...]:
    numbered = [(each["type"], each["t"].timestamp()) for each in row["events"] or []]
    values = None if row["rule"] == "sase" else row["values"]  # rows have other numbers there
    return row["rule"], row["version"], row["k"], str(values), str(numbered)
