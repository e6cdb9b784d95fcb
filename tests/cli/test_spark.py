"""`cereus run` on Spark gives what the local engine gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from .conftest import Run, events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
QUERY = "SELECT a, b FROM S WHERE SELL AS a ; BUY AS b WITHIN 10 seconds"
SPARK = ("--engine", "spark", "--time", "ts")
Write = Callable[..., Path]


def test_matches_are_shown_with_their_events(cli: Run, write: Write) -> None:
    shown = cli("run", QUERY, write(), *SPARK)
    assert shown.exit_code == 0, shown.output
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["b", "09:30:01", "BUY", "INTC", "11"] in lines
    assert "2 matches" in shown.stdout


def test_matches_are_written(cli: Run, write: Write) -> None:
    assert "2 matches" in cli("run", QUERY, write(), *SPARK, "-o", "m.parquet").stdout
    assert pq.read_table("m.parquet").num_rows == 2
    assert cli("run", QUERY, write(), *SPARK, "-o", "m.csv").exit_code == 0
    (part,) = Path("m.csv").glob("*.csv")
    first = csv.read_csv(part).to_pylist()[0]
    assert json.loads(first["a"])[0]["price"] == 10.0
    assert cli("run", QUERY, write(), *SPARK, "-o", "m.arrow").exit_code == 1


def test_what_was_counted_is_said(cli: Run, write: Write) -> None:
    count = "SELECT COUNT(*) FROM S WHERE SELL ; BUY WITHIN 10 minutes"
    said = "4 matches counted in 3 rows"
    assert said in cli("run", count, write(), *SPARK).stdout
    both = cli("run", "-q", count, "-q", QUERY, write(), *SPARK, "-o", "m.parquet").stdout
    assert f"q1: {said} written" in both and "q2: 2 matches written" in both
    nothing = count.replace("SELL ;", "SELL ; SELL ; SELL ;")
    done = cli("run", nothing, write(), *SPARK, "-o", "none.parquet").stdout
    assert "0 matches counted in 0 rows" in done


def test_a_type_that_no_event_has_is_warned_of(cli: Run, write: Write) -> None:
    done = cli("run", QUERY.replace("SELL", "SEL"), write(), *SPARK)
    assert "no event has the type 'SEL'; did you mean 'SELL'?" in done.stderr, done.output


def test_a_csv_file_is_read(cli: Run) -> None:
    csv.write_csv(events(), "events.csv")
    assert "2 matches" in cli("run", QUERY, "events.csv", *SPARK).stdout


def test_an_error_in_a_worker_is_an_error_here(cli: Run, write: Write, spark: SparkSession) -> None:
    times = events()["ts"].to_pylist()
    failed = cli("run", QUERY, write(ts=[None, *times[1:]]), *SPARK)
    assert failed.exit_code == 1, failed.output
    assert failed.stderr.startswith("error: ")
    assert "ts" in failed.stderr.splitlines()[0]


@pytest.mark.parametrize("path", ["nowhere.parquet", "events.xlsx"])
def test_unreadable_files_are_said_to_be(path: str, cli: Run) -> None:
    failed = cli("run", QUERY, path, *SPARK)
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error: ")
