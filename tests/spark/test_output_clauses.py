"""Clauses about output on Spark: of history and live the rows that the local engine gives."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from tests.spark.files import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

STREAM = cereus.Stream(time="ts")
RETURNED = (
    "SELECT * WHERE LOGIN AS a ; PAY+ AS b ; LOGOUT AS c PARTITION BY card WITHIN 10 minutes "
    "RETURN a.card, count(b) AS n, avg(b.price) AS mean, c.ts - a.ts AS took"
)
FLAT = "SELECT a, c WHERE LOGIN AS a ; LOGOUT AS c PARTITION BY card WITHIN 10 minutes"


PAST = (
    "SELECT a, c WHERE LOGIN AS a ; LOGOUT AS c PARTITION BY card AFTER MATCH SKIP PAST LAST EVENT"
)
UNPAID = (
    "SELECT a, c WHERE LOGIN AS a ; LOGOUT AS c NOT FOLLOWED BY PAY WITHIN 3 minutes "
    "PARTITION BY card WITHIN 20 minutes"
)
LATE = (
    "SELECT a, c WHERE LOGIN AS a ; PAY+ AS b ; LOGOUT AS c FILTER a.card = b.card AND "
    "b.card = c.card WITHIN 4 minutes WITH TIMEOUTS RETURN a.ts AS begun, count(b) AS n, c.card"
)
LATE_RUNS = """PATTERN SEQ(LOGIN a, PAY+ b[], LOGOUT c)
WHERE skip_till_next_match(a, b[], c) { [card] }
WITHIN 4 minutes WITH TIMEOUTS RETURN a.card, a.ts, count(b[]), c.ts AS VISIT(card, a, n, c)"""
NEXT = """PATTERN SEQ(LOGIN a, LOGOUT c) WHERE skip_till_any_match(a, c) { [card] }
WITHIN 20 minutes AFTER MATCH SKIP TO NEXT EVENT RETURN a.card, a.ts, c.ts AS VISIT(card, a, c)"""


def visits(count: int = 90) -> pa.Table:
    """Events of four cards; no two at one time."""
    draw = Random(7)
    seconds = sorted(draw.sample(range(60 * count), count))
    columns = {
        "type": [draw.choice(("LOGIN", "PAY", "PAY", "LOGOUT")) for _ in seconds],
        "card": [draw.randrange(4) for _ in seconds],
        "price": [draw.choice((None, 1.0, 2.5, 4.0)) for _ in seconds],
        "ts": pa.array([each * 1_000_000 for each in seconds], pa.timestamp("us", "UTC")),
    }
    return pa.table(columns)


def plain(rows: list[dict[str, Any]]) -> list[str]:
    """Rows without what rows and events are called here and there."""
    hidden = ("start", "end", "positions", "events")
    shown = [{k: v for k, v in row.items() if k not in hidden} for row in rows]
    return sorted(repr(sorted(row.items())) for row in shown)


def stream_of(spark: SparkSession, events: pa.Table, where: Path) -> DataFrame:
    """The events in files, read two by two, and one event of no meaning a year later."""
    end = events.slice(events.num_rows - 1).to_pylist()
    end[0].update(type="END", ts=end[0]["ts"].replace(year=1971))
    third = events.num_rows // 3
    parts = [events.slice(at, third) for at in range(0, events.num_rows, third)]
    write(where, [*parts, pa.Table.from_pylist(end, schema=events.schema)])
    reader = spark.readStream.schema(spark.createDataFrame(events).schema)
    return reader.option("maxFilesPerTrigger", 2).parquet(str(where))


def live(
    spark: SparkSession, query: cereus.Query, events: pa.Table, path: Path, **options: Any
) -> list[dict[str, Any]]:
    from cereus import spark as cs

    source = stream_of(spark, events, path / "in")
    found = cs.match(source, query, watermark="10 seconds", **options)
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        running = (
            found.writeStream.format("parquet")
            .option("path", str(path / "out"))
            .option("checkpointLocation", str(path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        running.awaitTermination()
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    rows: list[dict[str, Any]] = spark.read.parquet(str(path / "out")).toArrow().to_pylist()
    return rows


@pytest.mark.parametrize(("text", "flat"), [(RETURNED, False), (FLAT, True)])
def test_what_is_returned(spark: SparkSession, tmp_path: Path, text: str, flat: bool) -> None:
    from cereus import spark as cs

    events = visits()
    query = cereus.compile(text, stream=STREAM)
    expected = plain(query.run(events, flat=flat).table.to_pylist())
    assert len(expected) > 5
    history = cs.match(spark.createDataFrame(events), query, flat=flat, events=not flat)
    assert plain(history.toArrow().to_pylist()) == expected
    if not flat:
        assert plain(live(spark, query, events, tmp_path)) == expected


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (UNPAID, "ceql"),
        pytest.param(LATE, "ceql", marks=pytest.mark.long),
        pytest.param(LATE_RUNS, "sase", marks=pytest.mark.long),
        pytest.param(PAST, "ceql", marks=pytest.mark.long),
        pytest.param(NEXT, "sase", marks=pytest.mark.long),
        pytest.param(
            f"{PAST} RETURN a.ts AS a, c.ts AS c".replace("PAST LAST", "TO NEXT"),
            "ceql",
            marks=pytest.mark.long,
        ),
    ],
    ids=["unfollowed", "timeouts", "timeouts-sase", "past", "next-sase", "next"],
)
def test_skipping_and_waiting(spark: SparkSession, tmp_path: Path, text: str, dialect: str) -> None:
    """Of history, and live in several micro-batches, as here."""
    from cereus import spark as cs

    events = visits()
    shown = "SELECT * " if "RETURN" in text else "SELECT a[ts], c[ts] "
    text = text.replace("SELECT a, c ", shown)
    query = cereus.compile(text, dialect=dialect, stream=STREAM)
    expected = plain(query.run(events).table.to_pylist())
    assert len(expected) > 5
    history = cs.match(spark.createDataFrame(events), query)
    assert plain(history.toArrow().to_pylist()) == expected
    assert plain(live(spark, query, events, tmp_path)) == expected
