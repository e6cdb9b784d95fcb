"""pandas-match-recognize over a CSV file of trades: prints the rows found and the seconds, as JSON.

Run by the Python of an environment that has the package.
"""

import contextlib
import io
import json
import logging
import sys
import time

import pandas as pd
from pandas_match_recognize import match_recognize

CLAUSE = """
    SELECT * FROM trades MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(strt.ts) AS opened, LAST(down.ts) AS bottom, LAST(up.ts) AS closed
      ONE ROW PER MATCH AFTER MATCH SKIP TO LAST up
      PATTERN (strt down+ up)
      DEFINE down AS price < PREV(price), up AS price > PREV(price)
    )
"""


def main(path: str) -> None:
    logging.disable(logging.CRITICAL)
    path = path.replace(".parquet", ".csv")
    trades = pd.read_csv(path, names=["sym", "ts", "price"], parse_dates=["ts"])
    begin = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        rows = len(match_recognize(CLAUSE, trades))
    print(json.dumps({"rows": rows, "seconds": time.perf_counter() - begin}))


if __name__ == "__main__":
    main(sys.argv[1])
