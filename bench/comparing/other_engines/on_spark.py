"""Spark over a Parquet file of trades, the clause by Cereus or SQL by hand: prints the rows found
and the seconds taken, as JSON."""

import os
import sys

from clause import BY_HAND, CLAUSE, missing, timed


def main(path: str, how: str) -> None:
    try:
        from pyspark.sql import SparkSession

        import cereus
        from cereus import spark as cs
        from cereus.spark.starting.java import ensure_java
    except ImportError:
        missing("pyspark is not installed")
        return
    ensure_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").config("spark.sql.shuffle.partitions", 1)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(path).cache()
    frame.count()
    frame.createOrReplaceTempView("trades")
    query = cereus.compile(CLAUSE, dialect="match_recognize")
    if how == "by_hand":
        timed(lambda: spark.sql(BY_HAND).count())
    else:
        timed(lambda: cs.match(frame, query).count())
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
