"""`cereus run` on Spark gives what the local engine gives."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Run, events

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
    first = csv.read_csv("m.csv").to_pylist()[0]
    assert json.loads(first["a"])[0]["price"] == 10.0
    assert cli("run", QUERY, write(), *SPARK, "-o", "m.arrow").exit_code == 0


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


KEYED = "SELECT * WHERE SELL ; BUY PARTITION BY name"
OUTPUTS = ("m.parquet", "m.csv", "m.json", "m.arrow", "m.csv.gz", "out/", "out.json/", "-")


@pytest.mark.parametrize(
    ("query", "output"), [*((QUERY, each) for each in OUTPUTS), (KEYED, "m.parquet"), (KEYED, "-")]
)
def test_both_engines_write_the_same_columns_and_files(
    output: str, query: str, cli: Run, write: Write
) -> None:
    """`-o m.csv` is a file, and `-o out/` a folder, whatever runs the query."""
    written = {}
    for engine in ("local", "spark"):
        run = ("run", query, write(none=[None] * 5), "--engine", engine, "--time", "ts")
        done = cli(*run, "-o", output, "--overwrite")
        assert done.exit_code == 0, done.output
        if output == "-":
            written[engine] = "-", sorted(done.stdout.splitlines())
            continue
        path = Path(output)
        files = [path] if path.is_file() else sorted(each for each in path.iterdir())
        suffixes = {"".join(each.suffixes) for each in files}
        lines = [_lines(each) for each in files if each.stat().st_size]
        written[engine] = suffixes, sorted({line for each in lines for line in each})
    assert written["local"] == written["spark"]
    assert not list(Path.cwd().glob(".cereus*"))


def _lines(path: Path) -> list[str]:
    if path.suffix in (".parquet", ".arrow"):
        reader = pq.read_table if path.suffix == ".parquet" else feather.read_table
        table = reader(path)
        return [str(table.schema), *map(str, table.to_pylist())]
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return text.decode().splitlines()


def test_events_are_left_out_before_matching(cli: Run, write: Write) -> None:
    path = write(type=["SELL", "PING", "BUY", "PING", "BUY"])
    contiguous = "SELECT * FROM S WHERE SELL : BUY : BUY"
    assert "1 match" in cli("run", contiguous, path, *SPARK, "--where", "type != 'PING'").stdout


def test_mistakes_show_before_anything_starts(
    cli: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark takes seconds to start, and finds them only in a worker."""

    def start(*arguments: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr("cereus.spark.session", start)
    texts = write("texts.parquet", ts=list("abcde"))
    assert "'ts' has the type string" in cli("run", QUERY, texts, *SPARK).stderr
    Path("torn.csv").write_text("type,ts\nSELL,1\nBUY\n")
    assert "line 3" in cli("run", QUERY, "torn.csv", *SPARK).stderr
    path = write()
    monkeypatch.setattr("os.access", lambda place, mode: False)
    refused = cli("run", QUERY, path, *SPARK, "-o", "m.parquet")
    assert "cannot write to the directory" in refused.stderr
