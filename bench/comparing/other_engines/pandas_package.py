"""pandas-match-recognize over a CSV file of trades: prints the rows found and the seconds, as JSON.

Run by the Python of an environment that has the package.
"""

import contextlib
import io
import logging
import sys

import pandas as pd
from clause import timed
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

    def found() -> int:
        with contextlib.redirect_stdout(io.StringIO()):
            return len(match_recognize(CLAUSE, trades))

    timed(found, 1)


if __name__ == "__main__":
    main(sys.argv[1])
