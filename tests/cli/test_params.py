"""`--param name=value` gives the values of a query's parameters."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cereus.cli.inputs import params_of
from cereus.errors import CereusError

from .conftest import Run

QUERY = "SELECT * FROM S WHERE BUY AS b FILTER b[name = :symbol AND price > :limit]"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5),
        ("-1.5", -1.5),
        ("INTC", "INTC"),
        ("'5'", "5"),
        ("two words", "two words"),
        ("TRUE", True),
        ("INTERVAL '5 minutes'", timedelta(minutes=5)),
        ("('a', 'b')", ["a", "b"]),
        ("", ""),
    ],
)
def test_values_are_written_as_in_a_query(written: str, value: Any) -> None:
    assert params_of([f"x={written}"]) == {"x": value}


def test_a_parameter_needs_a_name_and_a_value() -> None:
    with pytest.raises(CereusError, match="gives no value"):
        params_of(["limit"])


def test_a_run_takes_parameters(cli: Run, tmp_path: Path) -> None:
    events = tmp_path / "e.parquet"
    table = pa.table({"type": ["BUY"] * 2, "name": ["INTC", "IBM"], "price": [7, 9]})
    pq.write_table(table, events)
    given = ["--param", "symbol=INTC", "--param", "limit=5"]
    done = cli("run", QUERY, str(events), "--time", "none", "--engine", "local", *given)
    assert done.exit_code == 0 and "1 match" in done.output


def test_a_missing_parameter_is_named_as_a_flag(cli: Run) -> None:
    done = cli("check", QUERY, "--param", "symbol=INTC")
    assert done.exit_code == 1 and "--param limit=VALUE" in done.output
