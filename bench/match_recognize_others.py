"""MATCH_RECOGNIZE here and elsewhere, side by side in one run over the same trades:

    python -m bench.match_recognize_others [ROWS]

Falls and the recovery behind them (`strt down+ up`, SKIP TO LAST up), per symbol. Beside Cereus:
`pandas-match-recognize`, Flink SQL, DuckDB where the installed release has the clause, and the SQL
with window functions that people write by hand, on DuckDB and on Spark. Each engine uses one core
and begins with its own table in memory (Flink and pandas: with a CSV file; Spark: with Parquet).
Engines that are not of this environment get one of their own under bench/results, made with pip;
one that cannot be installed or run is skipped, and says why. Wall time, the best of several runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import cereus

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / "results" / "environments"
SLOW = 20_000
"""Rows for the package for pandas, which is slower than the others by orders of magnitude."""
PATIENCE = 600
"""Seconds that an installation or a run elsewhere may take."""
CLAUSE = """
    MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(ts) AS opened, LAST(down.ts) AS bottom, LAST(ts) AS closed
      AFTER MATCH SKIP TO LAST up
      PATTERN (strt down+ up)
      DEFINE down AS price < PREV(price), up AS price > PREV(price)
    )
"""
BY_HAND = """
    WITH moved AS (
      SELECT *, lag(price) OVER w AS before, lead(price) OVER w AS behind, lead(ts) OVER w AS later
      FROM trades WINDOW w AS (PARTITION BY sym ORDER BY ts)
    ), falls AS (
      SELECT *, sum(CASE WHEN price < before THEN 0 ELSE 1 END) OVER (
        PARTITION BY sym ORDER BY ts ROWS UNBOUNDED PRECEDING) AS fall
      FROM moved
    )
    SELECT sym, min(ts) AS opened, max(ts) AS bottom, max_by(later, ts) AS closed
    FROM falls GROUP BY sym, fall
    HAVING count(*) > 1 AND max_by(behind, ts) > max_by(price, ts)
"""


@dataclass(frozen=True)
class Result:
    """How many rows were put out in how many seconds; or why nothing was."""

    rows: int = 0
    seconds: float = 0.0
    skipped: str = ""


def trades(count: int, symbols: int = 100) -> pa.Table:
    random = np.random.default_rng(11)
    return pa.table(
        {
            "sym": random.integers(0, symbols, count).astype(np.int32),
            "ts": pa.array(np.arange(count) * 1000, pa.timestamp("ms")),
            "price": random.uniform(0, 100, count).round(2),
        }
    )


def timed(work: Callable[[], int], runs: int = 3) -> Result:
    fastest, rows = float("inf"), 0
    for _ in range(runs):
        begin = time.perf_counter()
        rows = work()
        fastest = min(fastest, time.perf_counter() - begin)
    return Result(rows, fastest)


# ---------------------------------------------------------------- in this environment


def by_cereus(table: pa.Table) -> Result:
    query = cereus.compile(CLAUSE, dialect="match_recognize", schema=table.schema)
    return timed(lambda: sum(batch.num_rows for batch in query.batches(table)))


def by_duckdb(statement: str, table: pa.Table) -> Result:
    try:
        import duckdb
    except ImportError:
        return Result(skipped="duckdb is not installed")
    connection = duckdb.connect(config={"threads": 1})
    connection.register("given", table)
    connection.execute("CREATE TABLE trades AS SELECT * FROM given")
    try:
        return timed(lambda: len(connection.execute(statement).to_arrow_table()))
    except duckdb.Error as error:
        return Result(skipped=f"DuckDB {duckdb.__version__}: {str(error).splitlines()[0]}")


def by_spark(table: pa.Table, folder: Path) -> tuple[Result, Result]:
    """By hand, and the clause by Cereus on Spark."""
    try:
        from pyspark.sql import SparkSession

        from cereus import spark as cs
        from cereus.spark.java import ensure_java
    except ImportError:
        return (Result(skipped="pyspark is not installed"),) * 2
    ensure_java()
    pa.parquet.write_table(table, folder / "trades.parquet")
    builder = SparkSession.builder.master("local[1]").config("spark.sql.shuffle.partitions", 1)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(str(folder / "trades.parquet")).cache()
    frame.count()
    frame.createOrReplaceTempView("trades")
    query = cereus.compile(CLAUSE, dialect="match_recognize")
    by_hand = timed(lambda: spark.sql(BY_HAND).count())
    clause = timed(lambda: cs.match(frame, query).count())
    spark.stop()
    return by_hand, clause


# ---------------------------------------------------------------- in others


def elsewhere(package: str, program: str, table: pa.Table, folder: Path) -> Result:
    """The result of a program of `other_engines`, in an environment that has a package."""
    python = ENVIRONMENTS / package / "bin" / "python"
    if not python.exists():
        print(f"  making an environment with {package} …", flush=True)
        venv.create(python.parent.parent, with_pip=True)
        installed = _ran([str(python), "-m", "pip", "install", "--quiet", package])
        if installed.returncode:
            subprocess.run(["rm", "-r", str(python.parent.parent)], check=False)
            return Result(skipped=f"{package} cannot be installed: {_last(installed.stderr)}")
    path = folder / f"{program}.csv"
    options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
    pa.csv.write_csv(table, path, options)
    ran = _ran([str(python), str(HERE / "other_engines" / f"{program}.py"), str(path)])
    if ran.returncode:
        return Result(skipped=f"{package} fails: {_last(ran.stderr)}")
    found = json.loads(ran.stdout.splitlines()[-1])
    return Result(found["rows"], found["seconds"])


def _ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer in {PATIENCE} seconds")


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1][:200]


def main(count: int) -> None:
    pa.set_cpu_count(1)
    table, few = trades(count), trades(min(count, SLOW))
    print(f"falls and recoveries, {count:,} rows of 100 symbols, one core:")
    ours = by_cereus(table)
    shown("Cereus", table, ours, ours)
    shown(
        "DuckDB, MATCH_RECOGNIZE", table, by_duckdb(f"SELECT * FROM trades {CLAUSE}", table), ours
    )
    shown("DuckDB, window functions", table, by_duckdb(BY_HAND, table), ours)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        by_hand, clause = by_spark(table, folder)
        shown("Spark, window functions", table, by_hand, ours)
        shown("Spark, Cereus", table, clause, ours)
        flink = elsewhere("apache-flink", "flink_sql", table, folder)
        shown("Flink SQL", table, flink, ours)
        pandas = elsewhere("pandas-match-recognize", "pandas_package", few, folder)
        shown("pandas-match-recognize", few, pandas, by_cereus(few))


def shown(name: str, table: pa.Table, result: Result, ours: Result) -> None:
    if result.skipped:
        print(f"  {'skipped':>10}  {name:26} {result.skipped}")
        return
    rate = table.num_rows / result.seconds / 1e6
    agrees = "" if result.rows == ours.rows else f"  (not the {ours.rows:,} of Cereus)"
    print(f"  {rate:10.3f}  {name:26} million rows/s, {result.rows:,} out{agrees}", flush=True)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
