"""The orders of a made-up trading day, as Parquet files in `orders`; with --live, as they come."""

import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cereus.demo import market_events

FILES, SECONDS = 20, 2.0
TYPES = {"type": pa.string(), "name": pa.string(), "ts": pa.timestamp("us", tz="UTC")}


def main(live: bool) -> None:
    orders = Path(__file__).parent / "orders"
    orders.mkdir(exist_ok=True)
    events = market_events(100_000)
    fields = [field.with_type(TYPES.get(field.name, field.type)) for field in events.schema]
    events = events.cast(pa.schema(fields))
    rows = -(-events.num_rows // FILES)
    for number in range(FILES):
        part = orders / f".{number:03}.parquet"  # a name that Spark does not look at yet
        pq.write_table(events.slice(number * rows, rows), part)
        part.rename(orders / part.name[1:])
        time.sleep(SECONDS if live else 0.0)


if __name__ == "__main__":
    main("--live" in sys.argv)
