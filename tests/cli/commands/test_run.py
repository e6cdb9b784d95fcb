"""`cereus run --engine local`: formats in, formats out, and what is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import cereus
from cereus.writing import target
from tests.cli.conftest import Run, events

QUERY = "SELECT a, b FROM S WHERE SELL AS a ; BUY AS b WITHIN 10 seconds"
LOCAL = ("--engine", "local", "--time", "ts")
Write = Callable[..., Path]


def test_where_nothing_is_found_the_command_that_says_why_is_named(cli: Run, write: Write) -> None:
    nothing = QUERY.replace(" WITHIN", " FILTER a[price > 1000000] WITHIN")
    assert '"cereus why"' in cli("run", nothing, write(), *LOCAL).stderr
    assert '"cereus why"' not in cli("run", QUERY, write(), *LOCAL).stderr
    unseen = cli("run", QUERY.replace("SELL", "SEL"), write(), *LOCAL).stderr
    assert "did you mean 'SELL'" in unseen and '"cereus why"' not in unseen


def test_matches_are_shown_with_their_events(cli: Run, write: Write) -> None:
    shown = cli("run", QUERY, write(), *LOCAL)
    assert shown.exit_code == 0
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["1", "a", "09:30:00", "SELL", "INTC", "10"] in lines
    assert ["b", "09:30:01", "BUY", "INTC", "11"] in lines
    assert "2 matches" in shown.stdout
    assert "5 events" in shown.stdout


def test_times_beyond_the_year_9999_are_shown_as_numbers(cli: Run, write: Write) -> None:
    """They are beyond Python's own, which was an OverflowError."""
    far = pa.array([2**60 + number for number in range(5)]).cast(pa.timestamp("us"))
    shown = cli("run", QUERY, write(ts=far), *LOCAL)
    assert shown.exit_code == 0 and str(2**60) in shown.stdout
    assert cli("report", QUERY, "events.parquet", "--time", "ts", "-o", "page.html").exit_code == 0
    assert str(2**60) in Path("page.html").read_text("utf-8")


def test_few_are_shown_of_many(cli: Run, write: Write) -> None:
    shown = cli("run", QUERY, write(), *LOCAL, "--limit-shown", 1)
    assert "1 of the matches" in shown.stdout
    assert "2 matches" in shown.stdout
    assert cli("run", QUERY, write(), *LOCAL, "--limit-shown", 0).stdout.startswith("2 matches")


def test_keyed_matches_show_different_keys(cli: Run, write: Write) -> None:
    write(
        type=["SELL"] * 5,
        name=["INTC"] * 4 + ["MSFT"],
    )
    query = "SELECT * FROM S WHERE SELL PARTITION BY name WITHIN 10 seconds"
    shown = cli("run", query, "events.parquet", *LOCAL, "--limit-shown", 2)
    assert "INTC" in shown.stdout
    assert "MSFT" in shown.stdout


def test_the_middle_of_a_long_match_is_left_out(cli: Run) -> None:
    table = pa.table({"type": ["A"] * 30, "x": list(range(30))})
    pq.write_table(table, "events.parquet")
    query = "SELECT MAX * FROM S WHERE A:+ WITHIN 20 EVENTS"
    shown = cli("run", query, "events.parquet", "--engine", "local", "--limit-shown", 40)
    assert "…" in shown.stdout


def write_csv(path: Path) -> None:
    csv.write_csv(events(), path)


def write_json(path: Path) -> None:
    rows = [{**row, "ts": row["ts"].isoformat()} for row in events().to_pylist()]
    path.write_text("\n".join(map(json.dumps, rows)))


def write_arrow(path: Path) -> None:
    with ipc.new_file(path, events().schema) as file:
        file.write_table(events())


@pytest.mark.parametrize(
    ("suffix", "make"), [("csv", write_csv), ("jsonl", write_json), ("arrow", write_arrow)]
)
def test_every_format_is_read(
    suffix: str, make: Callable[[Path], None], cli: Run, tmp_path: Path
) -> None:
    make(tmp_path / f"events.{suffix}")
    shown = cli("run", QUERY, f"events.{suffix}", *LOCAL)
    assert "2 matches" in shown.stdout, shown.output


def test_several_files_are_one_stream(cli: Run, write: Write) -> None:
    later = [t.replace(hour=10) for t in events()["ts"].to_pylist()]
    shown = cli("run", QUERY, write("a.parquet"), write("b.parquet", ts=later), *LOCAL)
    assert "4 matches" in shown.stdout


READERS: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
    "parquet": lambda path: pq.read_table(path).to_pylist(),
    "arrow": lambda path: ipc.open_file(path).read_all().to_pylist(),
    "json": lambda path: list(map(json.loads, path.read_text().splitlines())),
    "csv": lambda path: [
        {name: json.loads(row[name]) for name in ("a", "b")}
        for row in csv.read_csv(path).to_pylist()
    ],
}


@pytest.mark.parametrize("suffix", READERS)
def test_every_format_is_written(suffix: str, cli: Run, write: Write) -> None:
    done = cli("run", QUERY, write(), *LOCAL, "-o", f"m.{suffix}")
    assert done.exit_code == 0, done.output
    assert f"2 matches written to m.{suffix}" in done.stdout
    rows = READERS[suffix](Path(f"m.{suffix}"))
    assert [(row["a"][0]["price"], row["b"][0]["price"]) for row in rows] == [(10, 11), (10, 12.5)]


@pytest.mark.parametrize("suffix", READERS)
def test_no_matches_are_a_file_without_rows(suffix: str, cli: Run, write: Write) -> None:
    done = cli("run", QUERY, write(type=["X"] * 5), *LOCAL, "-o", f"m.{suffix}")
    assert "0 matches" in done.stdout
    assert READERS[suffix](Path(f"m.{suffix}")) == []


def test_an_output_is_not_replaced_unasked(cli: Run, write: Write) -> None:
    Path("m.csv").write_text("precious")
    refused = cli("run", QUERY, write(), *LOCAL, "-o", "m.csv")
    assert refused.exit_code == 1
    assert "--overwrite" in refused.stderr
    assert Path("m.csv").read_text() == "precious"
    assert cli("run", QUERY, write(), *LOCAL, "-o", "m.csv", "--overwrite").exit_code == 0
    assert "start_time" in Path("m.csv").read_text()


def test_the_events_are_not_overwritten(cli: Run, write: Write) -> None:
    refused = cli("run", QUERY, write(), *LOCAL, "-o", "events.parquet", "--overwrite")
    assert refused.exit_code == 1
    assert pq.read_table("events.parquet").num_rows == 5


def test_half_a_result_is_not_left_behind(cli: Run, write: Write) -> None:
    times = events()["ts"].to_pylist()
    path = write(ts=[*times[:3], times[0], times[4]])
    failed = cli("run", QUERY, path, *LOCAL, "-o", "m.parquet")
    assert failed.exit_code == 1
    assert not Path("m.parquet").exists()


def test_a_query_may_stand_in_a_file(cli: Run, write: Write) -> None:
    Path("q.ceql").write_text(QUERY)
    Path("odd name").write_text(QUERY)
    assert "2 matches" in cli("run", "q.ceql", write(), *LOCAL).stdout
    assert "2 matches" in cli("run", "@odd name", write(), *LOCAL).stdout


def test_events_without_types_are_events(cli: Run, write: Write) -> None:
    query = "SELECT * FROM S WHERE EVENT AS a FILTER a[price > 10]"
    shown = cli("run", query, write(), "--engine", "local", "--type", "none")
    assert "2 matches" in shown.stdout


def test_sort_puts_events_in_order(cli: Run, write: Write) -> None:
    times = events()["ts"].to_pylist()
    path = write(ts=times[::-1])
    assert cli("run", QUERY, path, *LOCAL).exit_code == 1
    shown = cli("run", QUERY, path, *LOCAL, "--sort")
    assert shown.exit_code == 0, shown.output


def test_keys_and_units_can_be_said(cli: Run, write: Write) -> None:
    path = write(ts=[0, 1000, 2000, 3000, 60_000])
    shown = cli("run", QUERY, path, *LOCAL, "--unit", "ms", "--key", "name")
    assert "1 match" in shown.stdout


def test_what_is_counted_is_shown(cli: Run, write: Write) -> None:
    query = "SELECT COUNT(*) FROM S WHERE SELL ; BUY WITHIN 10 seconds"
    shown = cli("run", query, write(), *LOCAL)
    assert "count" in shown.stdout
    assert "2 matches counted in 2 rows ·" in shown.stdout


def test_what_counts_matches_is_not_called_one(cli: Run, write: Write) -> None:
    query = "SELECT COUNT(*) FROM S WHERE SELL ; BUY WITHIN 10 minutes"
    shown = cli("run", query, write(), *LOCAL, "--limit-shown", 2)
    assert "2 of the rows" in shown.stdout
    assert "4 matches counted in 3 rows ·" in shown.stdout
    assert "all rows" in cli("run", query, write(), *LOCAL).stdout
    done = cli("run", query, write(), *LOCAL, "-o", "counts.csv")
    assert "4 matches counted in 3 rows written to counts.csv" in done.stdout
    assert csv.read_csv("counts.csv").num_rows == 3


def test_progress_is_not_written_to_a_pipe(cli: Run, write: Write) -> None:
    assert cli("run", QUERY, write(), *LOCAL).stderr == ""


# ---------------------------------------------------------------- input and output


def piped(*arguments: object, given: bytes) -> Any:
    """In a process, with a pipe at each end."""
    command = [sys.executable, "-m", "cereus.cli.main", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, timeout=120)


def test_standard_input_and_output(cli: Run) -> None:
    csv.write_csv(events(), "events.csv")
    run = ("run", QUERY, "-", "--format", "csv", "--time", "ts", "-o", "-")
    done = piped(*run, given=Path("events.csv").read_bytes())
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["b"][0]["price"] for row in rows] == [11, 12.5]
    assert b"2 matches written to standard output" in done.stderr
    as_csv = piped(*run, "--output-format", "csv", given=Path("events.csv").read_bytes())
    assert as_csv.stdout.splitlines()[0] == b'"start_time","end_time","a","b"'


def test_types_are_given_and_files_described(cli: Run) -> None:
    rows = "09:30:00 03.03.2025;SELL;10;007\n09:30:01 03.03.2025;BUY;-;008\n"
    Path("events.txt").write_text(rows)
    described = ("--format", "csv", "--delimiter", ";", "--header", "ts,type,price,zip")
    described = (*described, "--null", "-", "--time-format", "%H:%M:%S %d.%m.%Y")
    types = ("--types", "price=double", "--types", "zip=string")
    run = ("run", QUERY, "events.txt", *LOCAL, *described, *types, "-o", "m.json")
    done = cli(*run)
    assert done.exit_code == 0, done.output
    (row,) = map(json.loads, Path("m.json").read_text().splitlines())
    assert row["a"][0] == {"ts": "2025-03-03T09:30:00", "type": "SELL", "price": 10, "zip": "007"}
    assert row["b"][0]["price"] is None
    wrong = cli("run", QUERY, "events.txt", *LOCAL, *described, "--types", "price")
    assert "--types price gives no type" in wrong.stderr


@pytest.mark.parametrize("suffix", [".csv.gz", ".json.zst", ".tsv", ".csv.bz2"])
def test_compressed_text_is_written_and_read(suffix: str, cli: Run, write: Write) -> None:
    every = "SELECT * WHERE SELL AS a OR BUY AS a"
    assert cli("run", every, write(), *LOCAL, "-o", f"all{suffix}").exit_code == 0
    again = cli(
        "run", "SELECT * WHERE EVENT", f"all{suffix}", "--engine", "local", "--type", "none"
    )
    assert "5 matches" in again.stdout, again.output


def test_a_folder_is_written(cli: Run, write: Write) -> None:
    for name, suffix in (("out/", "parquet"), ("out.csv/", "csv")):
        assert cli("run", QUERY, write(), *LOCAL, "-o", name).exit_code == 0
        assert [path.name for path in Path(name).iterdir()] == [f"part-00000.{suffix}"]
        assert "exists" in cli("run", QUERY, write(), *LOCAL, "-o", name).stderr
    assert cli("run", QUERY, write(), *LOCAL, "-o", "out/", "--overwrite").exit_code == 0


OTHER_THINGS = (
    *("notes.txt", "year=2025/notes.txt", ".profile", "data/part-00000.parquet"),
    *("_posts/letter.md", "part-time.docx", "part-1", "budget=final.csv"),
)


@pytest.mark.parametrize("inside", OTHER_THINGS)
def test_a_folder_with_other_things_is_never_replaced(
    inside: str, cli: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target.shutil, "rmtree", None)
    kept = Path("out", inside)
    kept.parent.mkdir(parents=True)
    kept.write_text("dear to someone")
    refused = cli("run", QUERY, write(), *LOCAL, "-o", "out/", "--overwrite")
    assert refused.exit_code == 1
    assert "'out' is not replaced: it is a folder with other things" in refused.stderr
    assert kept.read_text() == "dear to someone"


def test_a_link_to_a_folder_is_never_replaced(
    cli: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target.shutil, "rmtree", None)
    Path("elsewhere").mkdir()
    Path("out").symlink_to("elsewhere")
    assert "it is a link" in cli("run", QUERY, write(), *LOCAL, "-o", "out/", "--overwrite").stderr


def test_events_are_left_out_before_matching(cli: Run, write: Write) -> None:
    contiguous = "SELECT * FROM S WHERE SELL : BUY : BUY"
    path = write(type=["SELL", "PING", "BUY", "PING", "BUY"])
    assert "0 matches" in cli("run", contiguous, path, *LOCAL).stdout
    where = ("--where", "type != 'PING'")
    assert "1 match" in cli("run", contiguous, path, *LOCAL, *where).stdout
    wrong = cli("run", contiguous, path, *LOCAL, "--where", "typ = 'SELL'")
    assert "did you mean 'type'?" in wrong.stderr


def test_a_place_that_cannot_be_written_is_refused_first(
    cli: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write()
    monkeypatch.setattr("os.access", lambda place, mode: False)
    refused = cli("run", QUERY, path, *LOCAL, "-o", "m.csv")
    assert refused.exit_code == 1
    assert "cannot write to the directory '.'" in refused.stderr


def test_flat_columns_in_the_order_of_time(cli: Run, write: Write) -> None:
    query = "SELECT a, b WHERE SELL AS a ; BUY AS b PARTITION BY name"
    done = cli("run", query, write(), *LOCAL, "--flat", "--order", "time", "-o", "out.parquet")
    assert done.exit_code == 0
    table = pq.read_table("out.parquet")
    assert {"a_price", "b_ts"} <= set(table.column_names)
    ends = table.column("end_time").to_pylist()
    assert ends == sorted(ends)
    assert "a_price" in cli("run", query, write(), *LOCAL, "--flat").stdout


def test_a_partial_match_that_its_window_ended_is_shown_as_one(cli: Run) -> None:
    Path("t.csv").write_text("ts,type\n1,A\n2,B\n30,A\n")
    query = "SELECT a, b WHERE A AS a ; B AS b WITHIN 10 seconds WITH TIMEOUTS"
    shown = cli("run", query, "t.csv", "--time", "ts", "--unit", "s", "--engine", "local").stdout
    assert shown.count("timed out, waiting for b") == 1
    assert "1 match and 1 time-out" in shown


def test_a_file_with_a_header_alone_has_no_matches(cli: Run) -> None:
    Path("h.csv").write_text("ts,type\n")
    query = "SELECT a, b WHERE A AS a ; B AS b WITHIN 10 seconds"
    done = cli("run", query, "h.csv", "--time", "ts", "--unit", "s", "--engine", "local")
    assert done.exit_code == 0 and "0 matches" in done.stdout
    made = cereus.compile(query, stream=cereus.Stream(time="ts", unit="s"))
    assert made.run("h.csv").table.num_rows == 0
