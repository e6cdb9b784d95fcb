"""Cereus over a Parquet file of trades: prints the rows found and the seconds taken, as JSON."""

import sys

import pyarrow as pa
import pyarrow.parquet
from clause import CLAUSE, timed

import cereus


def main(path: str) -> None:
    pa.set_cpu_count(1)
    table = pa.parquet.read_table(path)
    query = cereus.compile(CLAUSE, dialect="match_recognize", schema=table.schema)
    timed(lambda: sum(batch.num_rows for batch in query.batches(table)), 5)


if __name__ == "__main__":
    main(sys.argv[1])
