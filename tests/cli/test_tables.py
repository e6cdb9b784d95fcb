"""Tables on a terminal: nothing that matters is cut off where it is narrow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cereus.cli import view
from tests.cli.conftest import Run

BEGIN = datetime(2025, 3, 3, 23, 30, tzinfo=UTC)


@pytest.fixture
def payments(tmp_path_factory: pytest.TempPathFactory) -> str:
    count = 6
    table = pa.table(
        {
            **{f"other_{n}": ["text"] * count for n in range(4)},
            "type": ["small_payment", "large_payment"] * (count // 2),
            "amount": [1.25, 2500.75] * (count // 2),
            "at": [BEGIN + timedelta(hours=n) for n in range(count)],
        }
    )
    path = tmp_path_factory.mktemp("payments") / "payments.parquet"
    pq.write_table(table, path)
    return str(path)


QUERY = "SELECT s, l WHERE small_payment AS s ; large_payment AS l FILTER s.amount < l.amount"


@pytest.mark.parametrize("width", [60, 80, 200])
def test_what_a_table_of_matches_shows_is_whole(
    cli: Run, payments: str, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Columns that have no room are left out and named; those of the query come first."""
    monkeypatch.setattr(view.out, "width", width)
    shown = cli("run", QUERY, payments, "--time", "at").stdout
    assert "…" not in shown.partition("small_payment")[2].partition("no room")[0]
    assert "(UTC)" in shown and "2025-03-03 23:30:00" in shown and "+00:00" not in shown
    left_out = shown.partition("no room for ")[2].partition("\n")[0].strip()
    assert (
        left_out
        == {
            60: "other_0, other_1, other_2, other_3, amount",
            80: "other_1, other_2, other_3",
            200: "",
        }[width]
    )


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_table_of_a_funnel_is_whole(
    cli: Run, payments: str, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(view.out, "width", width)
    steps = ("-s", "small_payment", "-s", "large_payment")
    columns = ("--key", "other_0", "--time", "at", "--by", "other_1", "--period", "week")
    shown = cli("funnel", payments, *steps, *columns).stdout
    assert "2025-03-03" in shown and "00:00:00" not in shown
    assert "3,600" in shown and "100.0%" in shown
    assert shown.count("small_paym") == 1 and "text" in shown
