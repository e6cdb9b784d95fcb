"""Flink SQL over a CSV file of events: prints how many pairs there are and the seconds taken.

Run by the Python of an environment that has apache-flink, as `flink_pairs.py FILE MILLISECONDS`.
The pairs are those of `bench.spark_others`, by an interval join. The first of two runs also starts
the engine.
"""

import sys

from clause import timed
from pyflink.table import EnvironmentSettings, TableEnvironment

TABLE = """
    CREATE TABLE events (id BIGINT, `type` STRING, k BIGINT, price DOUBLE, millis BIGINT)
    WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
PAIRS = """
    SELECT count(*) AS n FROM events AS a JOIN events AS b ON a.k = b.k
    WHERE a.`type` = 'T1' AND a.price > 80 AND b.`type` = 'T2' AND b.price < 20
      AND b.millis > a.millis AND b.millis <= a.millis + {window}
"""


def main(path: str, window: int) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.get_config().set("parallelism.default", "2")
    environment.execute_sql(TABLE.format(path=path))

    def pairs() -> int:
        with environment.execute_sql(PAIRS.format(window=window)).collect() as results:
            return max(row[0] for row in results)

    timed(pairs, 2)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
