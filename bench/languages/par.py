"""How fast PAR programs run, end to end from Arrow: `python -m bench.languages.par [EVENTS]`.

Programs of ten operators, on one core, events in one table. Figures are CPU time, the best of five
runs, because machines are shared and noisy.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa

import cereus
from bench.timing import best
from cereus.bench.measuring import listed

PROGRAM = (
    "repeat (BUY ; (try SELL[sold] unless HALT | CANCEL[cancelled]) ; (QUOTE | HALT ; BUY[again]))"
)
"""Ten operators: repeat, three `;`, two `|`, `try` and three outputs."""
CONDITION = PROGRAM.replace("SELL[sold]", "SELL(price > 90)[sold]")
TYPES = ("BUY", "SELL", "CANCEL", "HALT", "QUOTE")

Cases = dict[str, tuple[cereus.Stream, dict[str, Any]]]
PLAIN: Cases = {"no time": (cereus.Stream(), {}), "time": (cereus.Stream(time="ts"), {})}
KEYED: Cases = {"time, 1,000 keys": (cereus.Stream(time="ts", keys="key"), {})}


def events(count: int, *, encoded: bool) -> pa.Table:
    random = np.random.default_rng(7)
    types = pa.DictionaryArray.from_arrays(
        random.choice(len(TYPES), count, p=(0.3, 0.4, 0.05, 0.05, 0.2)).astype(np.int32), TYPES
    )
    return pa.table(
        {
            "type": types if encoded else types.cast(pa.string()),
            "price": random.uniform(0, 100, count),
            "ts": pa.array(np.arange(count), pa.timestamp("us")),
            "n": np.arange(count),
            "key": random.integers(0, 1000, count).astype(np.int32),
        }
    )


def measured(query: cereus.Query, table: pa.Table) -> tuple[float, int]:
    """Million events a second, and the rows that came out."""
    seconds = best(lambda: listed(query, table))
    return table.num_rows / seconds / 1e6, listed(query, table)


def report(text: str, dialect: str, table: pa.Table, cases: Cases) -> None:
    pa.set_cpu_count(1)
    kind = "dictionary" if pa.types.is_dictionary(table.schema.field("type").type) else "strings"
    print(f"{text}\n  {table.num_rows:,} events, types as {kind}, million events/s on one core:")
    for name, (stream, options) in cases.items():
        query = cereus.compile(text, dialect=dialect, stream=stream, **options)
        rate, rows = measured(query, table)
        print(f"  {rate:6.1f}  {name} ({rows:,} rows out)")


def main(count: int = 10_000_000) -> None:
    for encoded in (True, False):
        table = events(count, encoded=encoded)
        report(PROGRAM, "par", table, PLAIN)
        report(CONDITION, "par", table, PLAIN | KEYED)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
