"""Flink SQL over a CSV file of trades: prints the rows found and the seconds taken, as JSON.

Run by the Python of an environment that has apache-flink. Flink has no PREV, so the row before is
the last row of the variable itself. The first of two runs also starts the engine.
"""

import sys

from clause import timed
from pyflink.table import EnvironmentSettings, TableEnvironment

TABLE = """
    CREATE TABLE trades (sym INT, ts TIMESTAMP(3), price DOUBLE, WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
FOUND = """
    SELECT count(*) AS n FROM trades MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES strt.ts AS opened, LAST(down.ts) AS bottom, up.ts AS closed
      ONE ROW PER MATCH AFTER MATCH SKIP TO LAST up
      PATTERN (strt down+ up)
      DEFINE
        down AS (LAST(down.price, 1) IS NULL AND down.price < strt.price)
          OR down.price < LAST(down.price, 1),
        up AS up.price > LAST(down.price)
    )
"""


def main(path: str) -> None:
    path = path.replace(".parquet", ".csv")
    settings = EnvironmentSettings.in_batch_mode()
    environment = TableEnvironment.create(settings)
    environment.get_config().set("parallelism.default", "1")
    environment.execute_sql(TABLE.format(path=path))

    def found() -> int:
        with environment.execute_sql(FOUND).collect() as results:
            return max(row[0] for row in results)

    timed(found, 2)


if __name__ == "__main__":
    main(sys.argv[1])
