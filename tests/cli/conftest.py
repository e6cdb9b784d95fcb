"""A small file of events, and the command line over it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cereus.cli import main, view

Run = Callable[..., Any]
BEGIN = datetime(2025, 3, 3, 9, 30)


def events(**changed: Any) -> pa.Table:
    """SELL 0 s, BUY 1 s, BUY 2 s, SELL 3 s, BUY 60 s."""
    columns: dict[str, Any] = {
        "type": ["SELL", "BUY", "BUY", "SELL", "BUY"],
        "name": ["INTC", "INTC", "MSFT", "MSFT", "INTC"],
        "price": [10.0, 11.0, 12.5, 9.0, 8.0],
        "ts": [BEGIN + timedelta(seconds=s) for s in (0, 1, 2, 3, 60)],
    }
    columns.update(changed)
    return pa.table(columns)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `cereus` with arguments, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    for console in (view.out, view.err):  # which have read it already
        monkeypatch.setattr(console, "width", 160)
    monkeypatch.setattr(main, "compiled_notice", lambda: None)  # the tests also run uncompiled

    def run(*arguments: object) -> Any:
        return CliRunner().invoke(main.app, [str(each) for each in arguments])

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes the events, with columns changed, to a Parquet file."""

    def written(file: str = "events.parquet", /, **changed: Any) -> Path:
        pq.write_table(events(**changed), tmp_path / file)
        return tmp_path / file

    return written
