"""A folder of rules that a stream follows: what is put there, replaced, paused and removed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from cereus import spark as cs
from cereus.errors import CereusError
from cereus.spark.live.rules.folder import FolderReader
from tests.spark.live.test_live import _few_tasks  # noqa: F401

from .test_rules import PAIR, STREAM, events, shown, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    return folder


def read(reader: FolderReader, start: dict[str, str]) -> tuple[list[Any], dict[str, str]]:
    """Names of the rules that come and go, and the next offset; as Spark keeps it, which is all
    that a reader needs to read the same again."""
    rows, end = reader.read(start)
    changed = list(rows)
    again = FolderReader(Path("nowhere")).readBetweenOffsets(start, json.loads(json.dumps(end)))
    assert list(again) == changed
    return [(row[0], row[5], row[6]) for row in changed], end


def test_offsets_tell_what_has_changed(rules: Path) -> None:
    (rules / "one.ceql").write_text("SELECT * WHERE A")
    (rules / "two.sase").write_text("PATTERN SEQ(A a, B b) WITHIN 5 seconds")
    reader = FolderReader(rules)
    first, offset = read(reader, reader.initialOffset())
    assert first == [("one", True, None), ("two", True, None)]
    assert read(reader, offset) == ([], offset)
    (rules / "one.ceql").write_text("SELECT * WHERE B ; A")
    (rules / "two.sase").rename(rules / "two.sase.off")
    second, offset = read(reader, offset)
    assert second == [("one", True, None), ("two", False, None)]
    (rules / "one.ceql").unlink()
    third, offset = read(FolderReader(rules), offset)
    assert third == [("one", None, True)]


def test_a_folder_that_cannot_be_read_changes_nothing(rules: Path) -> None:
    (rules / "one.ceql").write_text("SELECT * WHERE A")
    reader = FolderReader(rules)
    _, offset = read(reader, reader.initialOffset())
    (rules / "one.sase").write_text("PATTERN SEQ(A a, B b) WITHIN 5 seconds")
    assert read(reader, offset) == ([], offset), "two rules have one name"
    assert read(FolderReader(rules / "gone"), offset) == ([], offset)


def test_what_is_available_now_is_what_the_folder_held_at_the_start(rules: Path) -> None:
    (rules / "one.ceql").write_text("SELECT * WHERE A")
    reader = FolderReader(rules)
    reader.prepareForTriggerAvailableNow()
    (rules / "two.ceql").write_text("SELECT * WHERE B")
    first, offset = read(reader, reader.initialOffset())
    assert first == [("one", True, None)]
    assert read(reader, offset) == ([], offset)
    assert read(FolderReader(rules), offset)[0] == [("two", True, None)]


def stream_of(spark: SparkSession, folder: Path) -> DataFrame:
    found = spark.readStream.schema("type string, t timestamp_ntz, k string, x long")
    found = found.option("maxFilesPerTrigger", 1)
    stream = found.parquet(str(folder))
    return stream.withColumn("t", stream["t"].cast("timestamp"))


@pytest.mark.spark
def test_a_folder_that_is_not_there_is_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    events_of = stream_of(spark, tmp_path / "events")
    with pytest.raises(CereusError, match="there is no folder of rules"):
        cs.match_rules(events_of, tmp_path / "nowhere", stream=STREAM, watermark="0 seconds")


@pytest.mark.spark
@pytest.mark.long
def test_rules_follow_their_folder_while_a_stream_runs(
    spark: SparkSession, tmp_path: Path, rules: Path
) -> None:
    """Without a restart; and the next start goes on with what has changed meanwhile."""
    folder = tmp_path / "events"
    folder.mkdir()
    (rules / "pair.ceql").write_text(PAIR.format(3))
    (rules / "broken.ceql").write_text("SELECT * WHERE")
    (rules / "single.ceql").write_text("SELECT * WHERE B")

    def matches() -> DataFrame:
        options: dict[str, Any] = {"stream": STREAM, "watermark": "0 seconds", "buckets": 2}
        return cs.match_rules(stream_of(spark, folder), str(rules), **options)

    def started() -> StreamingQuery:
        sink = matches().writeStream.format("parquet").option("path", str(tmp_path / "found"))
        return sink.option("checkpointLocation", str(tmp_path / "checkpoint")).start()

    write(folder, [events(0, "Ap4", "Aq1", "Ap1")])
    query = started()
    try:
        query.processAllAvailable()
        (rules / "pair.ceql").write_text(PAIR.format(9))
        (rules / "single.ceql").unlink()
        query.processAllAvailable()
        write(folder, [events(5, "Ap5", "Bp0")])
        query.processAllAvailable()
        query.stop()
        (rules / "late.ceql").write_text("SELECT * WHERE A")
        write(folder, [events(60, "Ap0", "Cp0")])
        query = started()
        query.processAllAvailable()
    finally:
        query.stop()
    found, changes = shown(spark, tmp_path)
    assert changes == {
        ("pair", 1, "added"),
        ("broken", 1, "refused"),
        ("single", 1, "added"),
        ("pair", 2, "carried over"),
        ("single", 1, "removed"),
        ("late", 1, "added"),
    }
    assert found == Counter({("pair", 2, "p", 2): 1, ("late", 1, "p", 1): 1})


@pytest.mark.spark
@pytest.mark.long
def test_all_that_is_available_now_is_read_with_the_rules_of_a_folder(
    spark: SparkSession, tmp_path: Path, rules: Path
) -> None:
    """In as many micro-batches as it takes; the next start goes on with the folder of then."""
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="Spark 4.2 or later")
    folder = tmp_path / "events"
    folder.mkdir()
    (rules / "pair.ceql").write_text(PAIR.format(3))

    def ran() -> int:
        options: dict[str, Any] = {"stream": STREAM, "watermark": "0 seconds", "buckets": 2}
        found = cs.match_rules(stream_of(spark, folder), str(rules), **options)
        sink = found.writeStream.format("parquet").option("path", str(tmp_path / "found"))
        sink = sink.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = sink.trigger(availableNow=True).start()
        query.awaitTermination()
        return sum(each["numInputRows"] > 0 for each in query.recentProgress)

    write(folder, [events(0, "Ap4"), events(5, "Ap5", "Bp0"), events(60, "Cp0")])
    assert ran() >= 3
    (rules / "single.ceql").write_text("SELECT * WHERE A")
    write(folder, [events(70, "Ap0"), events(90, "Cp0")])
    assert ran() >= 2
    found, changes = shown(spark, tmp_path)
    assert changes == {("pair", 1, "added"), ("single", 1, "added")}
    assert found == Counter({("pair", 1, "p", 2): 2, ("single", 1, "p", 1): 1})
