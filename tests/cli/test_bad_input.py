"""Bad input is an `error: …` with exit code 1 and a way out, never a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from .conftest import Run, events

QUERY = "SELECT * FROM S WHERE SELL AS a ; BUY AS b {} WITHIN 10 seconds"
TIMES = events()["ts"].to_pylist()
Write = Callable[..., Path]


def local(cli: Run, query: str, path: object, *more: str) -> Any:
    return cli("run", query, path, "--engine", "local", "--time", "ts", *more)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (QUERY.format("FILTER a[prize > 3]"), ("prize", "^", "did you mean 'price'?")),
        (QUERY.format("FILTER a[price > 'x']"), ("^",)),
        (QUERY.format("FILTER a[nofun(price) > 1]"), ("nofun", "^")),
        (QUERY.format("PARTITION BY nome"), ("nome", "did you mean 'name'?")),
        (QUERY.format("FILTER c[price > 3]"), ("c", "^", "hint")),
        ("SELECT * FROM S WHERE SELL ; ; BUY", ("1 | SELECT", "^", "expected")),
        ("SELECT * FROM S", ("^", "expected")),
        ("", ("expected",)),
        ("SELECT * FROM S WHERE SELL WITHIN 10 bananas", ("bananas", "^")),
        ("SELECT NEXTT * FROM S WHERE SELL", ("NEXTT", "did you mean 'NEXT'?")),
    ],
)
def test_a_bad_query_shows_the_place(
    query: str, said: tuple[str, ...], cli: Run, write: Write
) -> None:
    failed = local(cli, query, write())
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error: ")
    assert all(each in failed.stderr for each in said), failed.stderr
    assert "Traceback" not in failed.output


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ts": [TIMES[0], None, *TIMES[2:]]}, "'ts' is null in row 1"),
        ({"ts": [TIMES[1], TIMES[0], *TIMES[2:]]}, "'ts' goes backwards at row 1"),
        ({"ts": [True, False, True, False, True]}, "ts"),
        ({"ts": [1, 2, 3, 4, 5]}, "seconds or milliseconds?"),
        ({"ts": list("abcde")}, "ts"),
        ({"type": [1, 2, 3, 4, 5]}, "type"),
    ],
)
def test_bad_events_name_the_column_and_the_row(
    changed: dict[str, Any], said: str, cli: Run, write: Write
) -> None:
    failed = local(cli, QUERY.format(""), write(**changed))
    assert failed.exit_code == 1, failed.output
    assert failed.stderr.startswith("error: ")
    assert said in failed.stderr


def test_a_window_of_time_needs_a_time_column(cli: Run, write: Write) -> None:
    failed = cli("run", QUERY.format(""), write(), "--engine", "local")
    assert failed.exit_code == 1
    assert "--time" in failed.stderr


def test_a_missing_column_names_the_nearest(cli: Run, write: Write) -> None:
    failed = cli("run", QUERY.format(""), write(), "--engine", "local", "--time", "tss")
    assert failed.exit_code == 1
    assert "did you mean 'ts'?" in failed.stderr


def test_without_a_type_column_the_way_out_is_said(cli: Run) -> None:
    pq.write_table(events().drop_columns("type"), "events.parquet")
    failed = local(cli, QUERY.format(""), "events.parquet")
    assert failed.exit_code == 1
    assert "--type none" in failed.stderr


def test_no_events_are_no_matches(cli: Run) -> None:
    pq.write_table(events().slice(0, 0), "events.parquet")
    assert local(cli, QUERY.format(""), "events.parquet").stdout.startswith("0 matches")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", ""),
        ("odd.xlsx", "?"),
        ("bad.parquet", "this is not Parquet"),
        ("torn.csv", "type,ts\nSELL,1\nBUY\n"),
        ("bad.jsonl", "{]"),
    ],
)
def test_unreadable_files_are_said_to_be(name: str, content: str, cli: Run) -> None:
    Path(name).write_text(content)
    failed = local(cli, QUERY.format(""), name)
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error: "), failed.output


def test_a_missing_file_is_said_to_be_missing(cli: Run, write: Write) -> None:
    assert "there is no file" in local(cli, QUERY.format(""), "nowhere.parquet").stderr
    assert "there is no query file" in local(cli, "nowhere.ceql", write()).stderr


def test_an_unknown_dialect_lists_the_known(cli: Run, write: Write) -> None:
    failed = local(cli, QUERY.format(""), write(), "--dialect", "ceqll")
    assert failed.exit_code == 1
    assert "did you mean 'ceql'?" in failed.stderr


def test_a_pattern_that_can_never_match_is_warned_of(cli: Run, write: Write) -> None:
    query = QUERY.format("FILTER a[name = 'INTC'] AND a[name = 'MSFT']")
    done = local(cli, query, write())
    assert done.exit_code == 0
    assert "warning: this pattern can never match" in done.stderr
    assert "0 matches" in done.stdout


@pytest.mark.parametrize(
    ("dialect", "query"),
    [
        ("ceql", "SELECT * FROM S WHERE SEL ; BUY WITHIN 10 seconds"),
        ("sase", "PATTERN SEQ(SEL a, BUY b) WITHIN 10 seconds"),
        ("par", "SEL ; BUY[found]"),
        ("algebra", "SEL ; BUY"),
    ],
)
def test_a_type_that_no_event_has_is_warned_of(
    dialect: str, query: str, cli: Run, write: Write
) -> None:
    done = local(cli, query, write(), "--dialect", dialect)
    assert done.exit_code == 0 and "0 matches" in done.stdout, done.output
    assert "warning: no event has the type 'SEL'; did you mean 'SELL'?" in done.stderr
    right = re.sub(r"\bSEL\b", "SELL", query)
    found = local(cli, right, write(), "--dialect", dialect)
    assert found.stderr == "", found.stderr


def test_state_without_end_is_warned_of(cli: Run, write: Write) -> None:
    done = local(cli, "SELECT * FROM S WHERE SELL ; BUY", write())
    assert "warning: no WITHIN" in done.stderr


def test_an_output_format_must_be_known(cli: Run, write: Write) -> None:
    failed = local(cli, QUERY.format(""), write(), "-o", "matches.xlsx")
    assert failed.exit_code == 1
    assert ".parquet" in failed.stderr


def test_master_is_for_spark(cli: Run, write: Write) -> None:
    failed = local(cli, QUERY.format(""), write(), "--master", "local[1]")
    assert failed.exit_code == 1
    assert "--master" in failed.stderr


def test_what_is_no_csv_is_said_shortly(cli: Run) -> None:
    Path("torn.csv").write_text("type,ts\nSELL,1\nBUY\n")
    said = local(cli, QUERY.format(""), "torn.csv").stderr
    assert said == (
        "error: cannot read 'torn.csv' as csv, line 3: there are 1 values and 2 columns\n"
        "hint: every line has a value for each column; NULL is an empty one\n"
    )
    Path("other.csv").write_text("type;price\nSELL;1,5\n")
    assert (
        "hint: columns are separated by commas" in local(cli, QUERY.format(""), "other.csv").stderr
    )


def test_a_place_that_cannot_be_written_is_said_to_be(cli: Run, write: Write) -> None:
    drawn = cli("show", QUERY.format(""), "-o", "nowhere/automaton.dot")
    assert drawn.exit_code == 1 and drawn.stderr.startswith(
        "error: there is no directory 'nowhere'"
    )
    Path("here.dot").mkdir()
    drawn = cli("show", QUERY.format(""), "-o", "here.dot")
    assert drawn.exit_code == 1 and "'here.dot'" in drawn.stderr, drawn.output
    assert drawn.stderr.startswith("error: ")


def test_a_wrong_text_is_said_before_anything_is_read(
    cli: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark takes seconds to start."""
    monkeypatch.setattr("cereus.spark.session", lambda *_: pytest.fail("Spark was started"))
    failed = cli("run", "SELECT * FROM S WHERE ;", write(), "--engine", "spark", "--time", "ts")
    assert failed.exit_code == 1 and "expected an event type" in failed.stderr, failed.output
    failed = cli("run", QUERY.format(""), "no.parquet", "--engine", "spark", "--time", "ts")
    assert failed.exit_code == 1 and "there is no file 'no.parquet'" in failed.stderr
    failed = cli("run", "SELECT * FROM S WHERE SELL", write(), "--engine", "spark")
    assert failed.exit_code == 1 and "--engine local" in failed.stderr, failed.output


@pytest.mark.parametrize("command", ["run", "why", "report", "check"])
def test_the_query_comes_before_the_files(command: str, cli: Run, write: Write) -> None:
    write()
    more = ["SELECT * WHERE SELL"] if command != "check" else []
    failed = cli(command, "events.parquet", *more)
    assert failed.exit_code == 1
    assert "'events.parquet' is a file of events, and the query comes first" in failed.stderr


def test_a_slip_in_the_name_of_a_parameter_is_named(cli: Run, write: Write) -> None:
    query = "SELECT * WHERE SELL AS s FILTER s[price > :least]"
    failed = cli("run", query, write(), "--param", "leest=4")
    assert "hint: did you mean 'least'?\n" in failed.stderr


def test_a_limit_is_one_of_something(cli: Run, write: Write) -> None:
    failed = cli("run", "SELECT * WHERE SELL", write(), "--limit", "5")
    assert "--limit-shown 5" in failed.stderr


def test_a_query_file_of_no_known_suffix_is_no_query(cli: Run, write: Write) -> None:
    Path("rising.foo").write_text(QUERY.format(""))
    failed = local(cli, "rising.foo", write())
    assert failed.exit_code == 1
    assert "is a file" in failed.stderr and "@rising.foo" in failed.stderr
    assert local(cli, "@rising.foo", write()).exit_code == 0
