"""Parquet → matches, against reading the columns with pyarrow alone: `python -m bench reading`.

The target for selective patterns is at most 1.5 times. Figures are CPU time, the best of some runs.
If the bounds of row groups show that a group cannot matter, it is not read. `coded` is pyarrow
reading texts as dictionaries, which is cheaper for it than reading them as texts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import cereus
from bench.data import STREAM
from bench.languages.stocks import partitioned, sequence
from bench.threads import long_stream
from bench.timing import best
from cereus.sources import source

ROUNDS = 5
QUERIES = {
    "6 names, 2 s": sequence(6, "2 seconds"),
    "12 names, 2 s": sequence(12, "2 seconds"),
    "partitioned by name, 10 s": partitioned("10 seconds"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stocks.parquet"
        table = long_stream(8)
        pq.write_table(table, path, row_group_size=1 << 17)
        last = int(table.column("stock_time")[-1].as_py()) * 9 // 10
        late = f"SELECT * WHERE SELL AS a ; BUY AS b FILTER a[stock_time > {last}] AND " \
               f"b[stock_time > {last}] AND a[name = 'RIMM'] AND b[name = 'INTC'] " \
               "WITHIN 1 second"  # fmt: skip
        print(f"{table.num_rows:,} events in {path.stat().st_size / 1e6:.0f} MB")
        print(f"{'':28}{'pyarrow ms':>12}{'coded ms':>10}{'Cereus ms':>11}{'times':>8}"
              f"{'of coded':>10}{'rows read':>12}")  # fmt: skip
        for name, text in {**QUERIES, "the last tenth": late}.items():
            query = cereus.compile(text, stream=STREAM, schema=table.schema)
            columns = query.columns(table.schema)
            alone = best(lambda columns=columns: pq.read_table(path, columns=columns), ROUNDS)
            texts = [name for name in columns if pa.types.is_string(table.schema.field(name).type)]
            coded = best(
                lambda columns=columns, texts=texts: pq.read_table(
                    path, columns=columns, read_dictionary=texts
                ),
                ROUNDS,
            )
            ours = best(lambda query=query: query.run(str(path), threads=1), ROUNDS)
            run = query._start(source(str(path), STREAM), None, 1)
            read = sum(batch.num_rows for _, batch in run.work.batches())
            print(f"{name:28}{1000 * alone:12.0f}{1000 * coded:10.0f}{1000 * ours:11.0f}"
                  f"{ours / alone:8.2f}{ours / coded:10.2f}{read:12,}")  # fmt: skip


if __name__ == "__main__":
    main()
