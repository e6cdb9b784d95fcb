"""The stock stream of the papers if it is available, else a generated stream of the same shape."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cereus import Stream
from cereus.demo import stock_stream

REAL = Path(__file__).parents[2] / "shared" / "data" / "stocks.parquet"
STREAM = Stream(type="type", time="stock_time", unit="ms")


def stocks() -> tuple[pa.Table, str]:
    """The events, and which ones they are."""
    if REAL.exists():
        return pq.read_table(REAL), "the papers' stock events"
    return stock_stream(224_473), "generated stock events (match counts differ from the papers')"
