"""Pipelines over a few market events, in a directory of their own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BEGIN = datetime(2025, 3, 3, 9, 30)
Write = Callable[[str], Path]

MARKET = """\
mode = "batch"
checkpoint = "checkpoint"
watermark = "5 seconds"
trigger = "available now"

[sources.orders]
format = "parquet"
path = "orders"

[streams.market]
source = "orders"
time = "ts"

[queries.pair]
from = "market"
text = "SELECT a, b WHERE SELL AS a ; BUY AS b PARTITION BY name WITHIN 10 seconds"
select = ["name", "end_time", "b[0].price - a[0].price AS gain"]

[queries.again]
from = "pair"
text = "SELECT x, y WHERE pair AS x ; pair AS y FILTER x.gain < y.gain WITHIN 1 hour"
select = ["end_time", "x[0].name AS first", "y[0].name AS second", "y[0].gain AS gain"]

[sinks.alerts]
from = "again"
format = "parquet"
path = "alerts"
"""
"""A sale and a purchase of one name; two of these, the second with more gain."""

ORDERS = [
    (0, "SELL", "INTC", 10.0),
    (1, "BUY", "INTC", 11.0),
    (2, "SELL", "MSFT", 12.0),
    (3, "BUY", "MSFT", 15.0),
    (30, "SELL", "INTC", 9.0),
    (31, "BUY", "INTC", 14.0),
]
ALERTS = [
    ("INTC", "INTC", 5.0),
    ("INTC", "MSFT", 3.0),
    ("MSFT", "INTC", 5.0),
]
"""What the pipeline finds in these: gains 1 (INTC), 3 (MSFT), 5 (INTC)."""


def orders(rows: list[tuple[int, str, str, float]]) -> pa.Table:
    seconds, types, names, prices = zip(*rows, strict=True)
    return pa.table(
        {
            "type": list(types),
            "name": list(names),
            "price": list(prices),
            "ts": [BEGIN + timedelta(seconds=each) for each in seconds],
        }
    )


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a pipeline file beside a directory of orders."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "orders").mkdir()
    pq.write_table(orders(ORDERS), tmp_path / "orders" / "1.parquet")

    def written(text: str) -> Path:
        (tmp_path / "market.toml").write_text(text, encoding="utf-8")
        return tmp_path / "market.toml"

    return written


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A pipeline with pieces of it replaced; each must be there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def found(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((row["first"], row["second"], row["gain"]) for row in rows)
