"""The stock patterns of the paper's experiments: the counts that independent engines agree on."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus.translate.translate import translated

from .stock_patterns import CEQL, COUNTS, SREMO, with_window

STOCKS = Path(__file__).parents[4] / "shared" / "data" / "stocks.parquet"
pytestmark = pytest.mark.skipif(not STOCKS.exists(), reason="the stock data is not here")


@pytest.fixture(scope="module")
def stocks() -> pa.Table:
    return pq.read_table(STOCKS)


@pytest.mark.parametrize(
    ("name", "window"), [(name, window) for name, counts in COUNTS.items() for window in counts]
)
def test_counts(stocks: pa.Table, name: str, window: int) -> None:
    query = cereus.compile(with_window(SREMO[name], window), dialect="sremo")
    plan = query.compiled.plan(stocks.schema)
    assert plan.traits.registers and not plan.traits.position_sensitive, "not on the fast path"
    assert query.run(stocks).table.num_rows == COUNTS[name][window]


@pytest.mark.parametrize("name", CEQL)
def test_the_same_matches_as_in_ceql(stocks: pa.Table, name: str) -> None:
    def rows(text: str, dialect: str) -> list[tuple[int, ...]]:
        found = cereus.compile(with_window(text, 5_000 if name != "k1" else 1_000), dialect=dialect)
        return sorted(map(tuple, found.run(stocks).table["positions"].to_pylist()))

    assert rows(SREMO[name], "sremo") == rows(CEQL[name], "ceql") != []


@pytest.mark.parametrize(("name", "count"), [("k1", 2_238_660_353_850), ("kn1", 383_729_527)])
def test_more_than_can_be_listed(stocks: pa.Table, name: str, count: int) -> None:
    assert cereus.compile(with_window(SREMO[name], 5_000), dialect="sremo").count(stocks) == count


@pytest.mark.parametrize("name", SREMO)
def test_the_same_matches_translated_to_ceql_and_detected(stocks: pa.Table, name: str) -> None:
    text = with_window(SREMO[name], 500)
    query = cereus.compile(text, dialect="sremo")
    found = query.run(stocks).table
    other = cereus.compile(translated(query.compiled, "ceql"))
    rows = [sorted(t["positions"].to_pylist()) for t in (found, other.run(stocks).table)]
    assert rows[0] == rows[1]
    detected = cereus.compile(f"DETECT {text}", dialect="sremo")
    assert detected.compiled.plan(stocks.schema).traits.registers, "not on the compiled path"
    assert set(detected.run(stocks).table["end"].to_pylist()) == set(found["end"].to_pylist())
