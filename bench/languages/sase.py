"""SASE+ on one core: an equivalence test over 100 to 100,000 symbols, skip-till-next-match, and the
running average of the stock queries of the paper.

Target: 5 million events/s, from Arrow to Arrow.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import cereus
from bench.timing import best
from cereus.stream import Stream

EVENTS = 2_000_000
SYMBOLS = (100, 1_000, 10_000, 100_000)
STREAM = Stream(time="time")
QUERIES = {
    "next": """
        PATTERN SEQ(STOCK a, STOCK b, STOCK c)
        WHERE skip_till_next_match(a, b, c) {
            [symbol] AND a.volume > 990 AND b.price > 1.05 * a.price AND c.price < b.price }
        WITHIN 1 minute
        RETURN a.price, b.price, c.price""",
    "rising": """
        PATTERN SEQ(STOCK a, STOCK+ b[], STOCK c)
        WHERE skip_till_next_match(a, b[]!, c) {
            [symbol] AND a.volume > 990 AND b[i].price > b[i-1].price
            AND c.volume < 20% * b[b.LEN].volume }
        WITHIN 1 minute
        RETURN a.price, b[].price, c.price""",
    "average": """
        PATTERN SEQ(STOCK+ a[], STOCK b)
        WHERE skip_till_next_match(a[]!, b) {
            [symbol] AND a[1].volume > 990 AND a[i].price > avg(a[..i-1].price)
            AND b.volume < 20% * a[a.LEN].volume }
        WITHIN 1 minute
        RETURN a[1].symbol, count(a[]), avg(a[].price), b.price""",
}


def stream_of(symbols: int, events: int = EVENTS) -> pa.Table:
    """Prices that walk at random, one event every millisecond, symbols in no order."""
    draw = np.random.default_rng(symbols)
    symbol = draw.integers(0, symbols, events)
    names = pa.array([f"S{number:05}" for number in range(symbols)])
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(np.zeros(events, np.int32), ["STOCK"]),
            "time": pa.array(np.arange(events) * 1_000, pa.timestamp("us")),
            "symbol": pa.DictionaryArray.from_arrays(symbol.astype(np.int32), names),
            "price": 100 * np.exp(0.02 * draw.standard_normal(events)),
            "volume": draw.integers(0, 1_000, events),
        }
    )


def main() -> None:
    print(f"{EVENTS:,} events, one core, from Arrow to Arrow")
    print(f"{'query':10} {'symbols':>8} {'matches':>10} {'ms':>8}  M events/s")
    for name, text in QUERIES.items():
        for symbols in SYMBOLS:
            table = stream_of(symbols)
            query = cereus.compile(text, dialect="sase", stream=STREAM, schema=table.schema)
            matches = sum(batch.num_rows for batch in query.batches(table))
            seconds = best(lambda q=query, t=table: [None for _ in q.batches(t)], 3)  # type: ignore[misc]
            print(
                f"{name:10} {symbols:8,} {matches:10,} {seconds * 1000:8.0f}",
                f"{table.num_rows / seconds / 1e6:11.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
