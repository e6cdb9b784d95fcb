"""`cereus sql`: statements with MATCH_RECOGNIZE clauses over files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import cereus
from tests.cli.conftest import Run, events

pytest.importorskip("duckdb")

RISES = """SELECT m.name, m.n FROM trades MATCH_RECOGNIZE (
  PARTITION BY name ORDER BY ts MEASURES count(*) AS n
  PATTERN (a b+) DEFINE b AS price > PREV(price) AND price < :most) AS m ORDER BY m.name"""


@pytest.fixture
def trades(tmp_path: Path) -> str:
    pq.write_table(events(), tmp_path / "trades.parquet")
    return str(tmp_path / "trades.parquet")


def test_rows_are_shown_as_a_table(cli: Run, trades: str) -> None:
    done = cli("sql", RISES, trades, "--param", "most=100")
    assert done.exit_code == 0, done.output
    assert [line.split() for line in done.stdout.splitlines() if "INTC" in line] == [["INTC", "2"]]
    assert "1 row" in done.stdout


def test_tables_have_the_names_that_are_given(cli: Run, trades: str) -> None:
    Path("rises.sql").write_text(RISES.replace("FROM trades", "FROM stream"))
    done = cli("sql", "rises.sql", f"stream={trades}", "--param", "most=100", "-o", "rises.csv")
    assert done.exit_code == 0, done.output
    assert csv.read_csv("rises.csv").to_pylist() == [{"name": "INTC", "n": 2}]
    again = cli("sql", "rises.sql", f"stream={trades}", "--param", "most=100", "-o", "rises.csv")
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr


def test_several_files_are_joined(cli: Run, trades: str) -> None:
    Path("names.csv").write_text("name,title\nINTC,Intel\n")
    statement = (
        RISES.replace("m.name, m.n", "title, m.n")
        .replace("AS m", "AS m JOIN names USING (name)")
        .replace("ORDER BY m.name", "")
    )
    done = cli("sql", statement, trades, "names.csv", "--param", "most=100", "-o", "-")
    assert done.exit_code == 0, done.output
    assert done.stdout == '{"title": "Intel", "n": 2}\n'


@pytest.mark.parametrize(
    ("statement", "tables", "message"),
    [
        ("SELECT * FROM other", ["trades={}"], "Table with name other does not exist"),
        ("SELECT * FROM t", ["1-2.csv"], "write trades=1-2.csv"),
        ("SELECT * FROM t", ["t={}", "t={}"], "two tables have one name"),
        ("SELECT * FROM t", ["t=no.csv"], "there is no file"),
        (RISES, ["{}"], "most"),
        (RISES.replace("price > ", "prise > "), ["{}", "--param", "most=1"], "'price'"),
    ],
)
def test_mistakes_are_one_message(
    cli: Run, trades: str, statement: str, tables: list[str], message: str
) -> None:
    done = cli("sql", statement, *(each.format(trades) for each in tables))
    assert done.exit_code == 1
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_a_statement_given_to_run_names_this_command(cli: Run, trades: str) -> None:
    done = cli("run", f"match_recognize:{RISES}", trades, "--param", "most=1")
    assert done.exit_code == 1
    assert '"cereus sql"' in done.stderr


def test_lengths_of_time_can_be_shown_and_written(cli: Run, trades: str, tmp_path: Path) -> None:
    statement = (
        "SELECT * FROM trades MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(ts) - FIRST(ts) AS took "
        "PATTERN (a b) DEFINE b AS true)"
    )
    statement = "SELECT took, INTERVAL '26 hours' AS day FROM (" + statement + ")"
    shown = cli("sql", statement, f"trades={trades}").stdout
    assert "MonthDayNano" not in shown
    assert "1 day, 2:00:00" in shown
    for name in ("took.parquet", "took.csv"):
        cli("sql", statement, f"trades={trades}", "-o", str(tmp_path / name))
    written = pq.read_table(tmp_path / "took.parquet")
    assert written.schema.types == [pa.duration("us"), pa.duration("us")]
    assert written.column("day")[0].as_py() == timedelta(hours=26)


def test_intervals_of_months_stay_as_they_are() -> None:
    rows = cereus.sql(
        "SELECT INTERVAL '1 month' AS m, INTERVAL '2 hours' AS h, NULL::INTERVAL AS n"
    )
    assert rows.schema.types == [pa.month_day_nano_interval(), pa.duration("us"), pa.duration("us")]


def test_a_table_is_cut_at_the_width_of_a_terminal_only(
    cli: Run, trades: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ", ".join(f"'{'x' * 20}' AS column_number_{number}" for number in range(12))
    monkeypatch.delenv("COLUMNS")
    assert "…" not in cli("sql", f"SELECT {columns} FROM trades LIMIT 1", trades).stdout
    monkeypatch.setenv("COLUMNS", "80")
    assert "…" in cli("sql", f"SELECT {columns} FROM trades LIMIT 1", trades).stdout
