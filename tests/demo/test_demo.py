"""The generated streams: what a seed fixes, how time runs, and the shape of the columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cereus.demo import STOCK_EVENTS, STOCKS, TICKERS, market_events, stock_stream

N = 20_000
generators = pytest.mark.parametrize("make", [market_events, stock_stream], ids=["market", "stock"])


def time_of(events: pa.Table) -> np.ndarray:
    column = "ts" if "ts" in events.column_names else "stock_time"
    return events[column].cast(pa.int64()).to_numpy()


@generators
def test_a_seed_fixes_every_event(make: Callable[..., pa.Table]) -> None:
    assert make(N, seed=3).equals(make(N, seed=3))
    assert not make(N, seed=3).equals(make(N, seed=4))


@generators
def test_time_never_goes_backwards_and_has_ties(make: Callable[..., pa.Table]) -> None:
    gaps = np.diff(time_of(make(N)))
    assert gaps.min() == 0
    assert gaps.max() > 100 * np.median(gaps)  # bursts, and quiet between them


@generators
@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_events_are_no_special_case(make: Callable[..., pa.Table], n: int) -> None:
    assert make(n).num_rows == n
    assert make(n).schema == make(N).schema


def test_market_events_are_one_trading_day() -> None:
    events = market_events(N)
    assert events.schema.names == ["id", "type", "name", "price", "volume", "ts"]
    assert events.schema.field("ts").type == pa.timestamp("us")
    day = time_of(events)
    assert day[-1] - day[0] <= 6.5 * 3600 * 1e6
    assert set(events["type"].to_pylist()) == {"BUY", "SELL"}
    counts = {
        c["values"]: c["counts"] for c in pc.value_counts(events["name"].cast("string")).to_pylist()
    }
    assert set(counts) == set(TICKERS)
    assert counts[TICKERS[0]] > 5 * counts[TICKERS[-1]]


def test_market_prices_walk_and_volumes_are_lots() -> None:
    events = market_events(N)
    assert pc.min(events["price"]).as_py() > 0
    assert not np.any(events["volume"].to_numpy() % 100)
    first = events.filter(pc.equal(events["name"], TICKERS[0]))["price"].to_numpy()
    assert 0 < np.abs(np.diff(first) / first[:-1]).max() < 0.01


def test_stock_stream_has_the_columns_of_the_stream_it_stands_for() -> None:
    events = stock_stream(N)
    assert events.schema == pa.schema(
        {
            "type": pa.string(),
            "id": pa.int64(),
            "name": pa.string(),
            "volume": pa.int64(),
            "price": pa.float64(),
            "stock_time": pa.int64(),
        }
    )
    assert set(events["name"].to_pylist()) == set(STOCKS)
    assert pc.count_distinct(events["id"]).as_py() == N


def test_stock_stream_goes_on_into_a_second_day() -> None:
    day = time_of(stock_stream(2 * STOCK_EVENTS)) // (24 * 3600 * 1000)
    assert day[0] == 0 and day[-1] == 1
    assert 0.9 < np.count_nonzero(day == 0) / STOCK_EVENTS < 1.1
