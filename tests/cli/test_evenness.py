"""What one command can be told of its columns, its language and its files, all can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cereus.cli import main

from .conftest import Run

SEMICOLONS = """when;kind;user;price
03.03.2025 09:30:00;SELL;1;10
03.03.2025 09:30:01;PING;1;n/a
03.03.2025 09:30:02;BUY;1;11
"""
READING = ("--delimiter", ";", "--null", "n/a", "--time-format", "%d.%m.%Y %H:%M:%S")
COLUMNS = ("--type", "kind", "--time", "when", "--where", "kind != 'PING'")
TYPES = ("--types", "price=double")
QUERY = "SELECT * WHERE SELL AS s : BUY AS b FILTER s.price < b.price WITHIN 5 seconds"


@pytest.fixture
def file(cli: Run) -> str:
    Path("events.csv").write_text(SEMICOLONS)
    return "events.csv"


def flags_of(command: str) -> set[str]:
    program: Any = get_command(main.app)
    params = program.get_command(program.make_context("cereus", [command]), command).params
    return {flag for each in params for flag in each.opts}


@pytest.mark.parametrize("command", ["run", "why", "report", "check", "explain", "funnel"])
def test_every_command_reads_files_and_leaves_events_out(command: str) -> None:
    asked = {"--where", "--types", "--as-text", "--format", "--header", "--delimiter", "--null"}
    asked |= {"--multiline", "--time-format", "--compression", "--type", "--time", "--unit"}
    assert asked <= flags_of(command)


@pytest.mark.parametrize("command", ["run", "why", "report", "check", "explain", "show"])
def test_every_command_about_a_query_takes_the_options_of_its_language(command: str) -> None:
    assert {"--dialect", "--set", "--param", "--limit", "--key", "--where"} <= flags_of(command)


def test_run_and_why_see_the_same_events(cli: Run, file: str) -> None:
    given = (*READING, *TYPES, *COLUMNS)
    ran = cli("run", QUERY, file, *given)
    assert ran.exit_code == 0 and "1 match" in ran.stdout, ran.output
    answer = json.loads(cli("why", QUERY, file, *given, "--json").stdout)
    assert answer["matches"] == 1
    assert json.loads(cli("why", QUERY, file, *given, "--match", "0,2", "--json").stdout)["matched"]
    refused = cli("why", QUERY, file, *given, "--match", "0,1")
    assert refused.exit_code == 1
    assert "only events where kind != 'PING' are in the stream" in refused.stderr


def test_a_report_is_about_the_events_that_are_there(cli: Run, file: str) -> None:
    done = cli("report", QUERY, file, *READING, *TYPES, *COLUMNS, "-o", "page.html")
    assert done.exit_code == 0, done.output
    assert "<b>1</b><span>match</span>" in Path("page.html").read_text()


def test_check_and_explain_read_the_columns_of_a_file(cli: Run, file: str) -> None:
    given = ("--schema", file, *READING, *COLUMNS)
    assert cli("check", QUERY, *given, *TYPES).exit_code == 0
    text = cli("check", QUERY, *given, "--types", "price=bool")
    assert text.exit_code == 1 and "price" in text.stderr
    assert cli("check", QUERY, "--schema", file, *COLUMNS).exit_code == 1, "one column, not four"
    shown = cli("explain", QUERY, *given)
    assert "only events where kind != 'PING'" in shown.stdout, shown.output
    assert cli("check", QUERY, "--schema", "*.csv", *READING, *COLUMNS).exit_code == 0


def test_check_refuses_a_limit_that_a_language_has_not(cli: Run) -> None:
    refused = cli("check", "A ; B", "--dialect", "algebra", "--limit", "nodes=5")
    assert refused.exit_code == 1 and "limit" in refused.stderr


def test_a_funnel_leaves_events_out(cli: Run, file: str) -> None:
    steps = ("-s", "SELL", "-s", "BUY[price > 10]", "--key", "user")
    done = cli("funnel", file, *steps, *READING, *TYPES, *COLUMNS)
    assert done.exit_code == 0 and "100.0%" in done.stdout, done.output
    none = cli("funnel", file, *steps, *READING, *COLUMNS[:-1], "kind = 'SELL'")
    assert "0.0%" in none.stdout, none.output


def test_help_shows_brackets(cli: Run) -> None:
    """Typer takes what stands in brackets for a style, unless they are escaped."""
    shown = " ".join(cli("funnel", "--help").stdout.replace("│", " ").split())
    assert "PAY[amount > 10], *[page = '/']" in shown
