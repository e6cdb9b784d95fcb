"""`--engine auto`: this process for what fits it, Spark for what does not; and it says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from cereus.cli import engines
from cereus.cli.engines import Engine, EngineChoice, chosen_engine
from cereus.errors import CereusError

from .conftest import Run, events

QUERY = "SELECT a, b FROM S WHERE SELL AS a ; BUY AS b WITHIN 10 seconds"
Write = Callable[..., Path]


def chosen(*paths: object, time: str | None = "ts", master: str | None = None) -> EngineChoice:
    return chosen_engine(Engine.AUTO, [str(path) for path in paths], master=master, time=time)


def test_a_small_file_is_matched_in_this_process_and_it_says_why(cli: Run, write: Write) -> None:
    done = cli("run", QUERY, write(), "--time", "ts")
    assert done.exit_code == 0 and "2 matches" in done.stdout, done.output
    assert (
        "in this process: " in done.stderr
        and "of events (on Spark with --engine spark)" in done.stderr
    )
    assert "Spark …" not in done.stderr


def test_what_does_not_fit_goes_to_spark(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write()
    monkeypatch.setattr(engines, "FITS", path.stat().st_size * 2)
    assert chosen(path).engine is Engine.LOCAL
    assert chosen(path, path).engine is Engine.LOCAL
    three = chosen(path, path, path)
    assert three.engine is Engine.SPARK and "more than" in three.why


def test_directories_and_globs_are_as_large_as_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "day").mkdir()
    for name in ("a", "b"):
        pq.write_table(events(), tmp_path / "day" / f"{name}.parquet")
    size = sum(file.stat().st_size for file in (tmp_path / "day").iterdir())
    monkeypatch.setattr(engines, "FITS", size - 1)
    assert chosen(tmp_path / "day").engine is Engine.SPARK
    assert chosen(tmp_path / "day" / "*.parquet").engine is Engine.SPARK
    monkeypatch.setattr(engines, "FITS", size)
    assert chosen(tmp_path / "day").engine is Engine.LOCAL


@pytest.mark.parametrize("options", [["--time", "ts"], []], ids=["timed", "untimed"])
def test_a_file_that_is_not_there_is_an_error_before_an_engine_is_announced(
    cli: Run, options: list[str]
) -> None:
    failed = cli("run", QUERY, "nothing.parquet", *options)
    assert failed.exit_code == 1
    assert failed.stderr == "error: there is no file 'nothing.parquet'\nhint: check the path\n"


@pytest.mark.parametrize(
    ("path", "time", "master", "engine", "why"),
    [
        ("x.parquet", None, None, Engine.LOCAL, "order of files"),
        ("-", "ts", None, Engine.LOCAL, "standard input"),
        ("hdfs://host/x.parquet", "ts", None, Engine.SPARK, "not on this machine"),
        ("x.parquet", "ts", "local[1]", Engine.SPARK, "--master local[1]"),
    ],
)
def test_some_things_only_one_engine_does(
    path: str,
    time: str | None,
    master: str | None,
    engine: Engine,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engines, "FITS", -1)  # of little, nobody asks why it is not on Spark
    Path("x.parquet").touch()
    choice = chosen(path, time=time, master=master)
    assert choice.engine is engine and why in choice.why


def test_without_spark_all_is_matched_here(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert chosen(write()).engine is Engine.LOCAL
    monkeypatch.setattr(engines, "FITS", -1)
    assert chosen(write()) == EngineChoice(Engine.LOCAL, "pyspark is not installed")


def test_what_is_given_is_taken(write: Write) -> None:
    assert chosen_engine(Engine.SPARK, ["x"], master=None, time="ts").engine is Engine.SPARK
    with pytest.raises(CereusError, match="--master is for Spark"):
        chosen_engine(Engine.LOCAL, ["x"], master="local[2]", time="ts")


def test_an_engine_that_there_is_not_is_refused(cli: Run, write: Write) -> None:
    for command in (("run", QUERY, write()), ("demo",)):
        failed = cli(*command, "--engine", "foo")
        assert failed.exit_code == 2 and "'foo' is not one of" in failed.output


def test_a_tie_that_is_no_column_is_refused(cli: Run, write: Write) -> None:
    failed = cli("run", QUERY, write(), "--time", "ts", "--tie", "nam")
    assert failed.exit_code == 1
    assert "error: --tie nam: the events have no such column\n" in failed.stderr
    assert "hint: did you mean 'name'?" in failed.stderr


def test_five_matches_are_shown_of_few_keys(cli: Run) -> None:
    """One of each key comes first, and then the others."""
    table = pa.table({"type": ["A"] * 6, "k": [1, 1, 1, 1, 1, 2], "x": [7, 1, 2, 3, 4, 5]})
    with ipc.new_file("e.arrow", table.schema) as file:
        file.write_table(table)
    shown = cli("run", "SELECT * WHERE A PARTITION BY k WITHIN 1 EVENTS", "e.arrow")
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert [each for each in lines if each[1:2] == ["A"]] == [
        ["1", "A", "1", "7"],
        ["2", "A", "2", "5"],
        ["3", "A", "1", "1"],
        ["4", "A", "1", "2"],
        ["5", "A", "1", "3"],
    ]


def test_equal_rows_are_shown_as_often_as_they_are(cli: Run) -> None:
    pq.write_table(pa.table({"type": ["A", "A", "A"], "x": [1, 1, 1]}), "e.parquet")
    text = "PATTERN SEQ(A a) RETURN a.x"
    shown = cli("run", text, "e.parquet", "--dialect", "sase", "--limit-shown", 5)
    assert "3 matches" in shown.stdout and "all matches" in shown.stdout
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert [row for row in rows if row[1:] == ["1"]] == [["1", "1"], ["2", "1"], ["3", "1"]]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_five_matches_are_shown_on_spark(cli: Run, write: Write) -> None:
    write(type=["SELL"] * 5, name=["INTC"] * 4 + ["MSFT"])
    query = "SELECT * FROM S WHERE SELL PARTITION BY name WITHIN 1 EVENTS"
    arguments = ("--time", "ts", "--engine", "spark", "--limit-shown", 5)
    shown = cli("run", query, "events.parquet", *arguments)
    numbers = [line.split()[0] for line in shown.stdout.splitlines() if "SELL" in line]
    assert numbers == ["1", "2", "3", "4", "5"], shown.output
