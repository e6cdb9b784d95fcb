"""Flink over a CSV file of events: prints how many pairs there are and the CPU seconds, as JSON.

Run by the Python of an environment that has apache-flink, as `flink_pairs.py FILE MILLISECONDS
MODE`, for the pairs of `bench.spark.others`. Modes:

    join      SQL in batch mode, a join on the key and a range of times
    interval  SQL in streaming mode, where Flink makes an interval join of it
    cep       Flink CEP, `followedByAny` within the window, in Java (`FlinkPairs.java`)

The file is read in one run, in a JVM that has just started; what that takes without any events is
part of it.
"""

import sys

from clause import timed
from java_program import run_java
from pyflink.table import EnvironmentSettings, TableEnvironment

TABLE = """
    CREATE TABLE events (
      id BIGINT, `type` STRING, k BIGINT, price DOUBLE, millis BIGINT,
      ts AS TO_TIMESTAMP_LTZ(millis, 3), WATERMARK FOR ts AS ts
    )
    WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
SIDES = """
    SELECT count(*) AS n FROM events AS a JOIN events AS b ON a.k = b.k
    WHERE a.`type` = 'T1' AND a.price > 80 AND b.`type` = 'T2' AND b.price < 20
"""
RANGES = {
    "join": " AND b.millis > a.millis AND b.millis <= a.millis + {window}",
    "interval": " AND b.ts > a.ts AND b.ts <= a.ts + {window} * INTERVAL '0.001' SECOND(1, 3)",
}
STREAMING = {
    "table.exec.mini-batch.enabled": "true",  # or each pair is a new count
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "100000",
}


def by_sql(path: str, window: int, mode: str) -> None:
    batch, stream = EnvironmentSettings.in_batch_mode(), EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(stream if mode == "interval" else batch)
    options = {"parallelism.default": "2", **(STREAMING if mode == "interval" else {})}
    for name, value in options.items():
        environment.get_config().set(name, value)
    environment.execute_sql(TABLE.format(path=path))

    def pairs() -> int:
        query = SIDES + RANGES[mode].format(window=window)
        with environment.execute_sql(query).collect() as results:
            return max(row[0] for row in results)

    timed(pairs, 1)


def main(path: str, window: int, mode: str) -> None:
    if mode == "cep":
        run_java("FlinkPairs.java", path, str(window))
    else:
        by_sql(path, window, mode)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
