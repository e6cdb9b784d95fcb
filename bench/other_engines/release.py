"""Another release of Cereus over a Parquet file: prints the CPU seconds of each query, as JSON.

The first line of standard input is a list of queries: dialect, text, and the columns of the stream.
Only the public interface is used, so that any release can run it, found by PYTHONPATH; what it does
not know is null.
"""

import json
import sys
import time

import pyarrow.parquet

import cereus

AT_LEAST, RUNS = 0.25, 5


def seconds(dialect: str, text: str, columns: dict[str, str], table: object) -> float | None:
    try:
        query = cereus.compile(text, dialect=dialect, stream=cereus.Stream(**columns))
        list(query.batches(table))
    except cereus.CereusError:
        return None
    fastest, spent, runs = float("inf"), 0.0, RUNS
    while runs > 0 or spent < AT_LEAST:
        begin = time.process_time()
        for _ in query.batches(table):
            pass
        taken = time.process_time() - begin
        fastest, spent, runs = min(fastest, taken), spent + taken, runs - 1
    return fastest


def main(path: str) -> None:
    table = pyarrow.parquet.read_table(path)
    print(json.dumps([seconds(*case, table) for case in json.loads(sys.stdin.readline())]))


if __name__ == "__main__":
    main(sys.argv[1])
