"""`cereus why`: counts, near misses, one expected match."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

QUERY = "SELECT * WHERE SELL AS s ; BUY AS b FILTER b[price > 12.5] WITHIN 10 seconds"


@pytest.fixture
def why(cli: Run, write: Callable[..., Path]) -> Run:
    return lambda *more: cli("why", QUERY, write(), "--time", "ts", *more)


def test_it_says_what_misses(why: Run) -> None:
    shown = why().stdout
    assert "0 matches" in shown
    assert "rows 0, 2 miss the condition b[price > 12.5]: b.price is 12.5" in shown


def test_as_json(why: Run) -> None:
    answer = json.loads(why("--json").stdout)
    assert answer["matches"] == 0
    assert answer["steps"][1]["conditions"] == [{"text": "price > 12.5", "passed": 0}]
    assert answer["misses"][0]["events"][1]["price"] == 12.5


def test_an_expected_match(why: Run) -> None:
    shown = why("--match", "0,1").stdout
    assert "one rule excludes them" in shown
    assert "b.price is 11, off by 1.5" in shown
    assert json.loads(why("--match", "0,1", "--json").stdout)["matched"] is False


def test_rows_that_are_none(why: Run) -> None:
    answer = why("--match", "0;x")
    assert answer.exit_code == 1
    assert "write --match 3,17,20" in answer.stderr


@pytest.mark.parametrize("command", [("why",), ("report", "-o", "page.html")])
def test_a_language_without_types_needs_no_type_column(cli: Run, command: tuple[str, ...]) -> None:
    Path("prices.csv").write_text("ts,price\n2024-01-01,1\n2024-01-02,5\n")
    clause = (
        "MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A B) DEFINE B AS price > 9)"
    )
    name, *more = command
    shown = cli(name, f"match_recognize:{clause}", "prices.csv", *more)
    assert shown.exit_code == 0, shown.output
