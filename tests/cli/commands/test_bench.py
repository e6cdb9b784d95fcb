"""`cereus bench`: what is measured is on no test's mind, only that it is, and where it goes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cereus.bench import measuring, page
from cereus.bench.queries import QUERIES, built_in
from cereus.language.registry import names
from tests.cli.conftest import Run, events

QUERY = "SELECT * WHERE SELL ; BUY WITHIN 5 seconds"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "events.parquet"
    pq.write_table(events(), path)
    return path


def test_a_query_over_events(cli: Run, few: Path) -> None:
    result = cli("bench", QUERY, str(few), "--time", "ts", "--rounds", "1", "-o", "there")
    assert result.exit_code == 0, result.output
    assert "5 events, one core" in result.output
    (row,) = json.loads(Path("there/results.json").read_text())["sections"]["Queries"]
    assert (row["events"], row["matches"], row["language"]) == (5, 2, "ceql")
    assert row["× floor"] > 0
    text = Path("there/results.md").read_text()
    assert "| yours | ceql | 5 | 2 |" in text
    assert "floor.svg" not in text or Path("there/floor.svg").exists()


def test_earlier_results_are_compared(cli: Run, few: Path) -> None:
    for _ in range(2):
        again = cli("bench", QUERY, str(few), "--time", "ts", "--rounds", "1", "-o", "one")
        assert again.exit_code == 0, again.output
    result = cli(
        "bench", QUERY, str(few), "--time", "ts", "--rounds", "1", "-o", "two", "--against", "one"
    )
    assert "× before" in result.output
    (row,) = page.read_results(Path("two"))["Queries"]
    assert row["× before"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((QUERY,), "there are no events to measure over"),
        (("--against", "nowhere"), "has no results of a benchmark"),
        (("SELECT", "events.parquet"), "error"),
    ],
)
def test_what_cannot_be_measured_is_an_error(
    cli: Run, few: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = cli("bench", *arguments)
    assert result.exit_code == 1
    assert message in result.output


def test_built_in_queries_of_every_language_run() -> None:
    assert {each.dialect for each in QUERIES} == set(names())
    for name, query, table in built_in(3_000):
        assert query.run(table) is not None, name
        floor = measuring.tests_only(query, table)
        assert (floor is None) == (query.dialect == "match_recognize")
        if floor is not None:
            floor()


def test_runs_take_turns() -> None:
    turns: list[str] = []
    seconds = measuring.best_of_each(
        {name: lambda name=name: turns.append(name) for name in "ab"},  # type: ignore[misc]
        1,
    )
    assert set(seconds) == {"a", "b"}
    assert turns[:4] == ["a", "b", "a", "b"]


def test_a_table_of_results() -> None:
    rows = [{"name": "a|b", "n": 1_234_567, "x": 0.12345}, {"name": "c", "n": None, "x": 1e30}]
    assert page.markdown(rows).splitlines() == [
        "| name | n | x |",
        "| --- | ---: | ---: |",
        r"| a\|b | 1,234,567 | 0.123 |",
        "| c | – | 1e+30 |",
    ]
    assert page.markdown([]) == ""


def test_ratios_are_between_multiples_of_the_floor() -> None:
    now = [{"query": "a", "× floor": 2.0}, {"query": "b", "× floor": None}]
    before = [{"query": "a", "× floor": 4.0}]
    assert [row["× before"] for row in page.against(now, before)] == [0.5, None]
