"""`cereus explain`, `check`, `show`, `demo`, `--version`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import cereus
from cereus.cli import main, view
from cereus.cli.commands import demo
from cereus.errors import CereusError
from tests.cli.conftest import Run

QUERY = "SELECT * FROM S WHERE SELL AS a ; BUY AS b FILTER a[price > 3] WITHIN 10 seconds"
Write = Callable[..., Path]


def test_explain_says_what_will_run(cli: Run) -> None:
    said = cli("explain", QUERY, "--time", "ts").stdout
    assert "t0  SELL where price > 3" in said
    assert "warnings" not in said


def test_explain_warns(cli: Run) -> None:
    assert "no WITHIN" in cli("explain", "SELECT * FROM S WHERE A ; B").stdout


def test_explain_checks_against_events(cli: Run, write: Write) -> None:
    assert cli("explain", QUERY, "--schema", write(), "--time", "ts").exit_code == 0
    failed = cli("explain", QUERY.replace("price", "prize"), "--schema", write())
    assert failed.exit_code == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("schema.txt", "type: string\nprice: double  # in dollars\n\nts: timestamp\n"),
        ("schema.json", '{"type": "string", "price": "double", "ts": "timestamp"}'),
    ],
)
def test_check_reads_schema_files(name: str, content: str, cli: Run) -> None:
    Path(name).write_text(content)
    assert cli("check", QUERY, "--schema", name, "--time", "ts").stdout == "ok\n"
    failed = cli("check", QUERY.replace("price >", "prize >"), "--schema", name, "--time", "ts")
    assert failed.exit_code == 1
    assert "^^^^^" in failed.stderr
    assert "did you mean 'price'?" in failed.stderr


def test_check_reads_the_columns_of_events(cli: Run, write: Write) -> None:
    assert cli("check", QUERY, "--schema", write(), "--time", "ts").exit_code == 0


def test_check_without_a_schema_checks_the_text(cli: Run) -> None:
    assert "unchecked" in cli("check", QUERY, "--time", "ts").stdout
    assert cli("check", "SELECT").exit_code == 1


@pytest.mark.parametrize("content", ["price double", "price: doubble", "{"])
def test_a_bad_schema_file_is_an_error(content: str, cli: Run) -> None:
    Path("schema.txt").write_text(content)
    failed = cli("check", QUERY, "--schema", "schema.txt")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error: ")


def test_show_draws_the_automaton(cli: Run) -> None:
    assert cli("show", QUERY).stdout.startswith("digraph")
    assert cli("show", QUERY, "-o", "a.dot").exit_code == 0
    assert Path("a.dot").read_text().startswith("digraph")
    assert cli("show", QUERY, "-o", "a.gif").exit_code == 1


def test_version(cli: Run) -> None:
    assert cli("--version").stdout == f"cereus {cereus.__version__}\n"


def test_an_uncompiled_kernel_is_said_to_be(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "compiled_notice", lambda: "slow")
    assert cli("check", QUERY).stderr.startswith("warning: slow")


def test_a_window_in_time_is_drawn_where_the_time_column_is_said(cli: Run) -> None:
    text = "({A:} . {B:} WITHIN 10 seconds) | {C:}"
    failed = cli("show", text, "--dialect", "sremo")
    assert failed.exit_code == 1 and "--time COLUMN" in failed.stderr
    drawn = cli("show", text, "--dialect", "sremo", "--time", "ts")
    assert drawn.stdout.startswith("digraph"), drawn.output


def test_stopping_is_clean(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("cereus.cli.inputs.written", stopped)
    done = cli("check", QUERY)
    assert done.exit_code == main.INTERRUPTED
    assert "Traceback" not in done.output


def test_the_demo_finds_its_pattern(cli: Run) -> None:
    done = cli("demo", "--events", 50_000, "--engine", "local")
    assert done.exit_code == 0, done.output
    assert "block" in done.stdout
    assert "matches" in done.stdout
    assert Path("demo/query.ceql").read_text() == demo.QUERY


def test_the_demo_runs_without_spark(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> None:
        raise CereusError("no Java")

    monkeypatch.setattr(demo, "start_spark", broken)
    done = cli("demo", "--events", 50_000)
    assert done.exit_code == 0
    assert "no Java" in done.stderr


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (83.74, "83.74"),
        (1e20, "1e+20"),
        (None, ""),
        ([1, 2], "1; 2"),
        ({"a": 1}, "a 1"),
        (0.00002, "0.00002"),
        (-0.000123456, "-0.0001235"),
        (1e-12, "1e-12"),
        (0.0, "0"),
    ],
)
def test_values_are_short(value: object, text: str) -> None:
    assert view.value_text(value) == text
