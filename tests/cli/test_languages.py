"""The dialects on the command line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cereus.language.registry import language, names
from tests.cli.conftest import Run, cli, events, write  # noqa: F401 (fixtures)


@pytest.mark.parametrize(
    ("dialect", "first", "second", "code", "said"),
    [
        ("par", "!(a ; b)", "!a | a ; !b", 0, "bisimilar"),
        ("par", "silent", "a", 0, "output equivalent, not bisimilar"),
        ("par", "a[A]", "b[A]", 1, "different"),
        ("algebra", "A ; (B ; C)", "A ; B ; C", 0, "proved by law 6"),
        ("algebra", "A ; B", "B ; A", 1, "refuted by the stream"),
        ("algebra", "A ; B", "(A ; B) | (A ; B)_2", 2, "not decided"),
    ],
)
def test_equivalent(
    dialect: str,
    first: str,
    second: str,
    code: int,
    said: str,
    cli: Run,  # noqa: F811
) -> None:
    done = cli("equivalent", first, second, "--dialect", dialect)
    assert done.exit_code == code
    assert said in done.stdout


def test_equivalence_in_ceql_is_not_offered(cli: Run) -> None:  # noqa: F811
    assert cli("equivalent", "SELECT * WHERE A", "SELECT * WHERE A", "--dialect", "ceql").exit_code


LOCAL = ("--engine", "local", "--time", "ts")


def test_programs_run_over_files(cli: Run) -> None:  # noqa: F811
    pq.write_table(events(), "events.parquet")
    run = ("run", "repeat (SELL ; BUY[sold])", "events.parquet", *LOCAL, "--dialect", "par")
    shown = cli(*run, "--key", "name").stdout
    assert "sold" in shown and "1 match" in shown
    assert cli(*run, "-o", "found.parquet").exit_code == 0
    found = pq.read_table("found.parquet")
    assert found.column_names == ["event", "time", "outputs", "completion"]


def test_expressions_run_over_files(cli: Run) -> None:  # noqa: F811
    pq.write_table(events(), "events.parquet")
    run = ("run", "(SELL ; BUY)_5s", "events.parquet", *LOCAL, "--dialect", "algebra")
    assert cli(*run, "-o", "found.parquet", "--set", "values").exit_code == 0
    rows = pq.read_table("found.parquet")["events"].to_pylist()
    prices = [[event["price"] for event in row] for row in rows]
    assert prices == [[10, 11], [10, 12.5]]
    assert "2 matches" in cli(*run).stdout


def test_options_of_a_dialect_are_checked(cli: Run) -> None:  # noqa: F811
    assert "did you mean" in cli("explain", "A", "--dialect", "algebra", "--set", "value").stderr
    assert "neither" in cli("explain", "A", "--dialect", "algebra", "--set", "values=2").stderr
    sase = ("explain", "PATTERN SEQ(A a, B b) WITHIN 5 events", "--dialect", "sase", "--set")
    for misspelt in ("outptu=foo", "outptu"):
        failed = cli(*sase, misspelt).stderr
        assert "sase has no option 'outptu'" in failed and "did you mean 'output'?" in failed
    assert "cannot be given on the command line" in cli(*sase, "aggregates=foo").stderr
    assert "no options of its own" in cli("explain", "A", "--set", "output=foo").stderr
    assert (
        "optimise is off"
        in cli("explain", "A", "--dialect", "algebra", "--set", "optimise=no").stdout
    )


def test_show_draws_the_machine_and_the_detection(cli: Run) -> None:  # noqa: F811
    assert cli("show", "a ; b[A]", "--dialect", "par").stdout.startswith("digraph machine")
    drawn = cli("show", "A ; B", "--dialect", "algebra").stdout
    assert drawn.startswith("digraph detection") and "keeps l" in drawn


TEXTS = {
    "ceql": "SELECT * FROM S WHERE SELL ; BUY WITHIN 10 seconds",
    "sase": "PATTERN SEQ(SELL a, BUY b) WITHIN 10 seconds",
    "sremo": "{SELL:} . {BUY:}",
    "par": "SELL ; BUY[B]",
    "algebra": "SELL ; BUY",
    "match_recognize": """
        MATCH_RECOGNIZE (
          ORDER BY ts MEASURES s.ts AS sold, b.ts AS bought PATTERN (s b)
          DEFINE s AS type = 'SELL', b AS type = 'BUY'
        )
    """,
}


@pytest.mark.parametrize("dialect", names())
def test_the_suffix_of_a_file_names_its_language(dialect: str, cli: Run) -> None:  # noqa: F811
    pq.write_table(events(), "events.parquet")
    (suffix, *_) = language(dialect).suffixes
    Path(f"q.{suffix}").write_text(TEXTS[dialect])
    Path("q.txt").write_text(TEXTS[dialect])
    by_suffix = cli("run", f"q.{suffix}", "events.parquet", *LOCAL)
    said = cli("run", "q.txt", "events.parquet", *LOCAL, "--dialect", dialect)
    assert by_suffix.exit_code == said.exit_code == 0, by_suffix.output + said.output
    assert by_suffix.stdout.split("·")[0] == said.stdout.split("·")[0]
    assert cli("explain", f"@q.{suffix}", "--time", "ts").exit_code == 0
    assert cli("show", f"q.{suffix}").exit_code == 0


def test_a_dialect_that_is_said_wins(cli: Run) -> None:  # noqa: F811
    Path("q.sase").write_text(TEXTS["ceql"])
    assert cli("explain", "q.sase", "--time", "ts").exit_code == 1
    assert cli("explain", "q.sase", "--time", "ts", "--dialect", "ceql").exit_code == 0


def test_files_of_two_queries_say_the_language_of_both(cli: Run) -> None:  # noqa: F811
    for name in ("one.par", "two.par", "three.algebra"):
        Path(name).write_text("A ; B")
    assert cli("equivalent", "one.par", "two.par").exit_code == 0
    failed = cli("equivalent", "one.par", "three.algebra")
    assert failed.exit_code == 3 and "--dialect par" in failed.stderr


def test_a_query_that_cannot_be_read_is_no_answer_of_equivalent(cli: Run) -> None:  # noqa: F811
    """1 says that two queries differ, so an error has a code of its own."""
    for first in ("a ; (", "nothing.par"):
        failed = cli("equivalent", first, "a", "--dialect", "par")
        assert failed.exit_code == 3 and failed.stderr.startswith("error: "), failed.output


CLAUSE = """MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY ts MEASURES count(*) AS n PATTERN (a b+) DEFINE b AS x > PREV(x)
)"""


def test_a_clause_needs_no_types_of_events(cli: Run) -> None:  # noqa: F811
    times = pa.array([0, 1, 2, 3], pa.timestamp("s"))
    table = pa.table({"k": ["u", "u", "u", "v"], "ts": times, "x": [1, 2, 3, 1]})
    pq.write_table(table, "rows.parquet")
    Path("q.sql").write_text(CLAUSE)
    ran = cli("run", "q.sql", "rows.parquet", "--engine", "local")
    assert ran.exit_code == 0 and "1 match" in ran.stdout, ran.output
    for command in ("check", "explain"):
        assert cli(command, "q.sql", "--schema", "rows.parquet").exit_code == 0
    explained = cli("explain", "q.sql", "--schema", "rows.parquet").stdout
    assert "two passes" in " ".join(explained.split()) and "every key that ever came" in explained
    drawn = cli("show", "q.sql").stdout
    assert drawn.startswith("digraph pattern") and 'label="B"' in drawn


def test_a_clause_is_refused_with_its_place_and_by_its_limits(cli: Run) -> None:  # noqa: F811
    wrong = cli("check", CLAUSE.replace("a b+", "a c+"), "--dialect", "match_recognize")
    assert wrong.exit_code == 1 and "B is not a variable" in wrong.stderr and "^" in wrong.stderr
    pq.write_table(pa.table({"x": range(40), "k": [1] * 40, "ts": range(40)}), "rows.parquet")
    many = (
        "MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS m PATTERN ((a | b)* c) "
        "DEFINE c AS sum(a.x) = 1e9)"
    )
    limited = ("--dialect", "match_recognize", "--engine", "local", "--limit", "configurations=300")
    stopped = cli("run", many, "rows.parquet", *limited)
    assert stopped.exit_code == 1 and "limit configurations" in " ".join(stopped.stderr.split())
