"""`cereus funnel`: steps, segments, tables and charts in files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Run
from tests.funnels.test_funnel import EVENTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHO = ("--key", "user", "--time", "ts", "--unit", "s")
STEPS = ("-s", "VIEW", "-s", "CART", "-s", "paid=PAY[amount > :least]", "--param", "least=1")


@pytest.fixture
def events(tmp_path: Path) -> str:
    pq.write_table(EVENTS, tmp_path / "e.parquet")
    return str(tmp_path / "e.parquet")


def rows(shown: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines() if line.strip()]


def test_steps_are_shown_as_a_table(cli: Run, events: str) -> None:
    done = cli("funnel", events, *STEPS, *WHO)
    assert done.exit_code == 0, done.output
    assert "in this process" in done.stderr
    assert ["2", "CART", "2", "66.7%", "66.7%", "1", "54.5", "54.5"] in rows(done.stdout)
    assert ["3", "paid", "1", "33.3%", "50.0%", "0", "10", "10"] in rows(done.stdout)


def test_windows_gaps_segments_and_periods(cli: Run, events: str) -> None:
    by = cli("funnel", events, *STEPS, *WHO, "--by", "land", "--within", "20 seconds")
    assert ["fr", "2", "CART", "0", "0.0%", "0.0%", "0"] in rows(by.stdout)
    period = cli("funnel", events, *STEPS, *WHO, "--period", "day", "--gap", "none", "--gap", "9 s")
    assert period.exit_code == 0 and "paid" in period.stdout, period.output
    assert "--period" in cli("funnel", "--help").stdout


def test_what_is_written_is_a_table_or_a_chart(cli: Run, events: str) -> None:
    written = cli("funnel", events, *STEPS, *WHO, "-o", "f.csv")
    assert written.exit_code == 0, written.output
    assert csv.read_csv("f.csv")["keys"].to_pylist() == [3, 2, 1]
    again = cli("funnel", events, *STEPS, *WHO, "-o", "f.csv")
    assert again.exit_code == 1 and "--overwrite" in again.stderr
    pytest.importorskip("altair")
    assert cli("funnel", events, *STEPS, *WHO, "-o", "f.html").exit_code == 0
    assert "vega" in Path("f.html").read_text()


def test_a_picture_needs_a_library_that_is_named_where_it_is_missing(
    cli: Run, events: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("altair")
    assert cli("funnel", events, *STEPS, *WHO, "-o", "f.png").exit_code == 0
    assert Path("f.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    failed = cli("funnel", events, *STEPS, *WHO, "-o", "g.png")
    assert failed.exit_code == 1 and "cereus[notebook]" in failed.stderr


def test_mistakes_are_messages(cli: Run, events: str) -> None:
    failed = cli("funnel", events, "-s", "VIEW ; PAY", *WHO)
    assert failed.exit_code == 1 and "is no step of a funnel" in failed.stderr
    failed = cli("funnel", events, "-s", "VIEW", "-s", "VIEW", *WHO)
    assert failed.exit_code == 1 and "hint: name one: again=VIEW" in failed.stderr
    failed = cli("funnel", events, "-s", "VIEW", "--key", "usr", "--time", "ts", "--unit", "s")
    assert failed.exit_code == 1 and "did you mean 'user'?" in failed.stderr


@pytest.mark.spark
def test_the_funnel_of_a_file_on_spark(cli: Run, events: str, spark: SparkSession) -> None:
    done = cli("funnel", events, *STEPS, *WHO, "--engine", "spark")
    assert ["3", "paid", "1", "33.3%", "50.0%", "0", "10", "10"] in rows(done.stdout), done.output


def test_a_step_whose_type_no_event_has_is_a_warning(cli: Run, events: str) -> None:
    done = cli("funnel", events, "-s", "VEW", "-s", "CART", *WHO)
    assert "no event has the type 'VEW'; did you mean 'VIEW'?" in done.stderr
    assert "warning" not in cli("funnel", events, *STEPS, *WHO).stderr
