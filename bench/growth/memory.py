"""Push fifty million events through a query with a window: memory must stay flat."""

from __future__ import annotations

import resource
import sys

import pyarrow as pa

import cereus
from bench.data import STREAM, stocks
from bench.languages.stocks import sequence


def resident() -> float:
    """Megabytes of this process, now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main(millions: int = 50) -> None:
    table, which = stocks()
    query = cereus.compile(sequence(3, "1 second"), stream=STREAM, schema=table.schema)
    recognizer = query.recognizer(schema=table.schema)
    day = 86_400_000
    at = table.schema.get_field_index("stock_time")
    times = table.column("stock_time")
    read = matches = rounds = 0
    print(f"{which}, day after day")
    while read < millions * 1_000_000:
        shifted = pa.compute.add(times, rounds * day)
        matches += len(recognizer.push(table.set_column(at, "stock_time", shifted)))
        read += table.num_rows
        rounds += 1
        if rounds % 40 == 1:
            print(
                f"{read / 1e6:6.1f} M events {matches:>12,} matches {resident():8.0f} MB",
                flush=True,
            )
    print(f"{read / 1e6:6.1f} M events {matches:>12,} matches {resident():8.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
