"""Made-up market events for the demonstration, the documentation and the benchmarks.

Everything is drawn from a seed, whole columns at a time: a million events take about a second.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

TICKERS = (
    *("AAPL", "NVDA", "MSFT", "AMZN", "TSLA", "META", "GOOG", "AMD", "INTC", "QQQ"),
    *("SPY", "ORCL", "CSCO", "NFLX", "RIMM", "DELL", "YHOO", "AMAT", "IBM", "JPM"),
    *("BAC", "GE", "F", "PFE", "KO", "DIS", "XOM", "WMT", "BA", "IPIX"),
)
"""The symbols, the most active first; activity falls off by Zipf's law."""

OPENING = datetime(2025, 3, 3, 9, 30)
DAY_SECONDS = 6.5 * 3600

STOCKS = {
    "IPIX": (45_568, 11.42),
    "QQQ": (29_203, 36.16),
    "INTC": (26_542, 27.62),
    "MSFT": (23_330, 26.01),
    "CSCO": (20_710, 22.43),
    "RIMM": (17_151, 114.01),
    "AMAT": (17_110, 18.73),
    "ORCL": (16_408, 11.07),
    "DELL": (15_640, 35.39),
    "YHOO": (12_811, 31.41),
}
"""Events a day and mean price of the ten symbols of `stock_stream`."""

STOCK_EVENTS = 224_473
STOCK_SHARES = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99, 1.0)
STOCK_MINUTES = (421, 571, 574, 589, 615, 644, 677, 721, 796, 860, 904, 940, 960, 982, 1200)
"""The minute of the day by which each of the STOCK_SHARES of its events has come: it is busy after
the opening."""

DAY_MS = 24 * 3600 * 1000


def market_events(n: int = 1_000_000, seed: int = 7) -> pa.Table:
    """One trading day of `n` orders: id, type (BUY or SELL), name, price, volume, ts.

    Orders arrive in bursts, a burst leans to one side of the market and moves the price, and
    several orders may share a microsecond; `ts` never goes backwards, and `id` counts up.
    """
    draw = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, len(TICKERS) + 1) ** 0.9
    name = draw.choice(len(TICKERS), size=n, p=weights / weights.sum())
    burst = _groups(draw, n, length=40)
    lean = draw.normal(0.0, 0.12, size=n)[burst]
    buys = draw.random(n) < 0.5 + np.clip(lean, -0.4, 0.4)
    drift = np.where(buys, 1.0, -1.0) * 2e-5
    steps = drift + draw.normal(0.0, 1e-4, size=n) * (1.0 + 4.0 * np.abs(lean))
    opening = np.exp(draw.uniform(np.log(8.0), np.log(400.0), size=len(TICKERS)))
    lots = np.clip(np.ceil(draw.lognormal(0.9, 1.1, size=n)), 1, 500)
    ts = np.floor(_arrivals(draw, burst, within=0.002, ties=0.1) * DAY_SECONDS * 1e6)
    return pa.table(
        {
            "id": np.arange(n, dtype=np.int64),
            "type": _coded(np.where(buys, 0, 1), ("BUY", "SELL")),
            "name": _coded(name, TICKERS),
            "price": np.round(_walks(name, steps, opening), 2),
            "volume": (lots * 100).astype(np.int64),
            "ts": _timestamps(ts.astype(np.int64)),
        }
    )


def stock_stream(n: int = STOCK_EVENTS, seed: int = 7) -> pa.Table:
    """Events of the shape of the stock stream that the literature measures with.

    Columns type, id, name (ten symbols), volume, price, stock_time (milliseconds of the day, with
    many ties). An order that takes several offers shows as a run of events of one name and type
    at nearly one time. Above one day's 224,473 events the stream goes on into later days.
    """
    draw = np.random.default_rng(seed)
    activity = np.array([events for events, _ in STOCKS.values()], dtype=np.float64)
    run = _groups(draw, n, length=2.7)
    name = draw.choice(len(STOCKS), size=n, p=activity / activity.sum())[run]
    side = draw.integers(0, 2, size=n)[run]
    mean = np.array([price for _, price in STOCKS.values()])
    steps = draw.normal(0.0, 3e-5, size=n)
    volume = np.ceil(draw.lognormal(1.1, 1.1, size=n)) * 100
    return pa.table(
        {
            "type": _plain(side, ("BUY", "SELL")),
            "id": np.cumsum(draw.geometric(0.18, size=n)),
            "name": _plain(name, tuple(STOCKS)),
            "volume": np.minimum(volume, 100_000).astype(np.int64),
            "price": np.round(_walks(name, steps, mean), 2),
            "stock_time": _stock_times(_arrivals(draw, run, within=0.03, ties=0.75)),
        }
    )


def _groups(draw: np.random.Generator, n: int, length: float) -> Integers:
    """For each event the number of its group, from 0; groups have about `length` events."""
    starts = draw.random(n) < 1.0 / length
    starts[:1] = False
    return np.cumsum(starts, dtype=np.int64)


def _arrivals(draw: np.random.Generator, group: Integers, within: float, ties: float) -> Floats:
    """Arrival times within [0, 1), non-decreasing: long gaps between groups, short ones within.

    `within` is a short gap as a share of a long one; `ties` is how many short ones are none.
    """
    n = len(group)
    short = np.where(draw.random(n) < ties, 0.0, within)
    gaps = draw.exponential(1.0, size=n) * np.where(np.diff(group, prepend=0) > 0, 1.0, short)
    reached = np.cumsum(gaps)
    arrivals: Floats = reached / (1.000001 * max(reached[-1:].sum(), 1e-9))
    return arrivals


def _stock_times(arrivals: Floats) -> Integers:
    day, share = np.divmod(arrivals * (len(arrivals) / STOCK_EVENTS), 1.0)
    minutes = np.interp(share, STOCK_SHARES, STOCK_MINUTES)
    return np.floor(day * DAY_MS + minutes * 60_000).astype(np.int64)


def _walks(name: Integers, steps: Floats, opening: Floats) -> Floats:
    """A geometric random walk per name: each event moves the price of its name only."""
    order = np.argsort(name, kind="stable")
    walked = np.cumsum(steps[order])
    count = np.bincount(name, minlength=len(opening))
    before = np.concatenate(([0.0], walked))[np.cumsum(count) - count]
    level = np.empty_like(steps)
    level[order] = walked - np.repeat(before, count)
    return opening[name] * np.exp(level)


def _timestamps(microseconds: Integers) -> pa.Array:
    return pa.array(np.datetime64(OPENING, "us") + microseconds, pa.timestamp("us"))


def _coded(codes: npt.NDArray[Any], names: tuple[str, ...]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(names))


def _plain(codes: npt.NDArray[Any], names: tuple[str, ...]) -> pa.Array:
    return pa.array(names).take(pa.array(codes))
