"""`[rules]`: a folder of query files in a pipeline, in this process, in batch and live."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from cereus.spark.pipeline import Pipeline, PipelineError

from .conftest import MARKET, ORDERS, Write, changed, orders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = """
[rules.alerts]
from = "market"
folder = "rules"
keys = ["name"]

[sinks.found]
from = "alerts"
format = "json"
path = "found"

[sinks.told]
from = "alerts_changes"
format = "json"
path = "told"
"""
TEXT = MARKET[: MARKET.index("[queries.pair]")] + RULES
LOCAL = ('mode = "batch"', 'mode = "batch"\nengine = "local"')
LIVE = ('mode = "batch"', 'mode = "live"')
PAIR = "SELECT * WHERE SELL AS a ; BUY AS b FILTER a[price > {}] WITHIN 10 seconds"
FILES = {
    "pair.ceql": PAIR.format(9.5),
    "dear.ceql": "SELECT * WHERE BUY FILTER BUY[price >= 14] RETURN BUY.price AS paid",
    "cheap.ceql.off": "SELECT * WHERE BUY",
    "broken.ceql": "SELECT * WHERE BUY ;",
    "quick.sase": "PATTERN SEQ(SELL a, BUY b) WITHIN 1 seconds",
    ".half.ceql": "SELECT * WHE",
    "notes.txt": "no rule",
}
FOUND = {
    ("pair", "INTC", 2): 1,
    ("pair", "MSFT", 2): 1,
    ("dear", "INTC", 1): 1,
    ("dear", "MSFT", 1): 1,
    ("quick", "INTC", 2): 2,
    ("quick", "MSFT", 2): 1,
}
TOLD = {
    ("pair", 1, "added"),
    ("dear", 1, "added"),
    ("quick", 1, "added"),
    ("cheap", 1, "paused"),
    ("broken", 1, "refused"),
}
END = (100_000, "END", "", 0.0)
Put = Callable[[str, str], None]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes a file of the folder, in one step."""
    (tmp_path / "rules").mkdir()

    def written(name: str, text: str) -> None:
        begun = tmp_path / "rules" / f".new-{name}"
        begun.write_text(text)
        begun.rename(tmp_path / "rules" / name)

    for name, text in FILES.items():
        written(name, text)
    return written


def read(folder: Path) -> list[dict[str, Any]]:
    files = [path for path in folder.iterdir() if not path.name.startswith((".", "_"))]
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def found(where: Path) -> Counter[tuple[str, str, int]]:
    return Counter((r["rule"], r["name"], len(r["events"])) for r in read(where / "found"))


def told(where: Path) -> set[tuple[str, int, str]]:
    return {(row["rule"], row["version"], row["change"]) for row in read(where / "told")}


def test_rules_in_this_process(write: Write, put: Put, tmp_path: Path) -> None:
    pipeline = Pipeline.load(write(changed(TEXT, LOCAL)))
    assert "alerts  market → alerts (5 rules, 1 paused, 1 refused in " in pipeline.describe()
    (refused,) = pipeline.warnings
    assert refused.startswith("alerts: the rule 'broken' is refused: expected an event type")
    (metrics,) = pipeline.run()
    assert (metrics.name, metrics.events, metrics.matches) == ("alerts", 6, sum(FOUND.values()))
    assert found(tmp_path) == FOUND
    assert told(tmp_path) == TOLD
    assert {row["type"] for row in read(tmp_path / "found")} == {"pair", "dear", "quick"}
    (error,) = (row["error"] for row in read(tmp_path / "told") if row["change"] == "refused")
    assert "SELECT * WHERE BUY ;" in error


def test_queries_read_the_matches_of_rules_in_history(
    write: Write, put: Put, tmp_path: Path
) -> None:
    more = """
[queries.both]
from = "alerts"
text = "SELECT * WHERE quick ; dear PARTITION BY name WITHIN 1 minute"
[sinks.both]
from = "both"
format = "json"
path = "both"
"""
    Pipeline.load(write(changed(TEXT, LOCAL) + more)).run()
    assert [row["name"] for row in read(tmp_path / "both")] == ["INTC"]


WRONG = {
    "folder": (('folder = "rules"', 'folder = "rulez"'), "rules.alerts.folder: there is no fo"),
    "key": (('keys = ["name"]', 'keys = ["nam"]'), "rules.alerts.keys: "),
    "stream": (('from = "market"', 'from = "markt"'), "rules.alerts.from: there is no stream"),
    "limit": (
        ('folder = "rules"', 'folder = "rules"\nlimits = { node = 1 }'),
        "rules.alerts.limits: there is no limit 'node'",
    ),
    "name of the changes": (
        ('folder = "rules"', 'folder = "rules"\nchanges = "market"'),
        "rules.alerts.changes: there are two streams 'market'",
    ),
    "remote": (('folder = "rules"', 'folder = "s3://a/b"'), "rules.alerts.folder: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_rules_are_checked_before_the_start(name: str, write: Write, put: Put) -> None:
    change, said = WRONG[name]
    with pytest.raises(PipelineError) as raised:
        Pipeline.load(write(changed(TEXT, change)))
    assert said in raised.value.message
    assert "line 1" in raised.value.message


def test_what_became_of_rules_is_for_sinks_and_so_are_live_matches(write: Write, put: Put) -> None:
    query = """
[queries.x]
from = "{}"
text = "SELECT * WHERE pair"
[sinks.x]
from = "x"
format = "console"
"""
    with pytest.raises(PipelineError, match="reports on rules: rows for a sink"):
        Pipeline.load(write(TEXT + query.format("alerts_changes")))
    with pytest.raises(PipelineError, match="live, no query can read them"):
        Pipeline.load(write(changed(TEXT, LIVE) + query.format("alerts")))


@pytest.mark.spark
def test_rules_in_a_batch_pipeline(
    write: Write, put: Put, spark: SparkSession, tmp_path: Path
) -> None:
    (metrics,) = Pipeline.load(write(TEXT)).run(spark)
    assert (metrics.name, metrics.events, metrics.matches) == ("alerts", 6, sum(FOUND.values()))
    assert found(tmp_path) == FOUND
    assert told(tmp_path) == TOLD
    assert {row["type"] for row in read(tmp_path / "found")} == {"pair", "dear", "quick"}


@pytest.mark.spark
@pytest.mark.long
def test_rules_of_a_live_pipeline_follow_their_folder(
    write: Write,
    put: Put,
    spark: SparkSession,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In one run: what is put into the folder is a rule from the next micro-batch on. The next
    run goes on from there, and nothing becomes of a rule that is as it was."""
    from cereus.spark.pipeline.run.live import LiveRun

    text = changed(TEXT, LIVE, ('trigger = "available now"\n', ""))
    pq.write_table(orders(ORDERS[:3]), tmp_path / "orders" / "1.parquet")
    run = LiveRun(Pipeline.load(write(text)), spark, lambda metrics: None)
    run.start()
    try:
        _settled(run)
        assert told(tmp_path) == TOLD
        put("pair.ceql", PAIR.format(11.5))
        put("broken.ceql", "SELECT * WHERE BUY")
        (tmp_path / "rules" / "quick.sase").unlink()
        _settled(run)
        pq.write_table(orders([*ORDERS[3:], END]), tmp_path / "orders" / "2.parquet")
        _settled(run)
    finally:
        run.stop()
    more = {("pair", 2, "carried over"), ("broken", 2, "replaced"), ("quick", 1, "removed")}
    assert told(tmp_path) - TOLD == more
    rows = Counter((r["rule"], r["version"], r["name"]) for r in read(tmp_path / "found"))
    assert rows["pair", 2, "MSFT"] == 1 and rows["pair", 2, "INTC"] == 0
    assert rows["broken", 2, "MSFT"] == 1 and rows["broken", 2, "INTC"] == 2  # also one that waited
    once = 'trigger = "available now"\nwatermark'
    Pipeline.load(write(text.replace("watermark", once, 1))).run(spark)
    assert len(read(tmp_path / "told")) == len(TOLD | more)
    refused = [each.message for each in caplog.records if "refused" in each.message]
    assert refused[0].startswith("the rule 'broken', version 1: refused: expected an event type")


def _settled(run: Any) -> None:
    """The folder is looked at, and all that is there is read."""
    assert not run.wait(0)
    for query in run.running.values():
        query.processAllAvailable()
