"""Compare MATCH_RECOGNIZE with other engines, in one run over the same trades:

    python -m bench.comparing.row_patterns_elsewhere [ROWS [SECONDS [NAME …]]]

The query finds falls and the recovery after them (`strt down+ up`, SKIP TO LAST up), per symbol.
The other engines are `pandas-match-recognize`, Flink CEP and Flink SQL, a loop in Python, DuckDB if
the installed release has the clause, and SQL with window functions as people write it by hand, on
DuckDB and on Spark. Each engine runs alone, on one core, in a process of its own that may take
SECONDS (`other_engines/`). Its table is in memory when the clock starts (Flink SQL: a CSV file).
Figures are CPU time, the best of several runs. Slow engines get fewer rows. The run fails if an
engine does not find as many matches as Cereus in the same rows. An engine that is not in this
environment gets one of its own under bench/results, made with pip; if it cannot be installed or
run, the row says why. NAMEs choose among the engines.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bench.comparing.environments import Missing, answer, python_of


@dataclass(frozen=True)
class Engine:
    """A program of `other_engines`, what it is given, and how many rows it can cope with: one in
    so many."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    package: str | None = None
    share: int = 1


ENGINES = (
    Engine("Cereus", "here"),
    Engine("a Python loop by hand", "loop", share=5),
    Engine("DuckDB, MATCH_RECOGNIZE", "on_duckdb", ("clause",)),
    Engine("DuckDB, window functions", "on_duckdb", ("by_hand",)),
    Engine("Spark, Cereus", "on_spark", ("clause",), share=5),
    Engine("Spark, window functions", "on_spark", ("by_hand",), share=5),
    Engine("Flink CEP", "flink_cep", package="apache-flink", share=50),
    Engine("Flink SQL", "flink_sql", package="apache-flink", share=50),
    Engine("pandas-match-recognize", "pandas_package", package="pandas-match-recognize", share=50),
)


def trades(count: int, symbols: int = 100) -> pa.Table:
    random = np.random.default_rng(11)
    return pa.table(
        {
            "sym": random.integers(0, symbols, count).astype(np.int32),
            "ts": pa.array(np.arange(count) * 1000, pa.timestamp("ms")),
            "price": random.uniform(0, 100, count).round(2),
        }
    )


def written(count: int, folder: Path) -> Path:
    """The trades as Parquet and, beside it, as CSV."""
    path = folder / f"{count}.parquet"
    if not path.exists():
        table = trades(count)
        pa.parquet.write_table(table, path)
        options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
        pa.csv.write_csv(table, path.with_suffix(".csv"), options)
    return path


def measured(engine: Engine, count: int, folder: Path, patience: int) -> Any:
    """The rows found and the seconds, or what is missing."""
    try:
        python = python_of(engine.package)
        data = str(written(count // engine.share, folder))
        return answer([python, f"{engine.program}.py", data, *engine.arguments], patience)
    except Missing as reason:
        return {"missing": str(reason)}


def compared(count: int, patience: int, names: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """A row for each engine, with what it takes as a multiple of what Cereus takes for as many
    rows."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as made:
        here: dict[int, Any] = {}
        for engine in ENGINES:
            if names and not any(name.lower() in engine.name.lower() for name in names):
                continue
            share = count // engine.share
            if share not in here:
                here[share] = measured(ENGINES[0], share, Path(made), patience)
            result = measured(engine, count, Path(made), patience)
            rows.append(row(engine, share, result, here[share]))
            print(shown(rows[-1]), flush=True)
    return rows


def row(engine: Engine, rows: int, result: Any, here: Any) -> dict[str, Any]:
    if "missing" in result:
        return {"engine": engine.name, "rows": rows, "note": result["missing"]}
    seconds = result["seconds"]
    agrees = result["rows"] == here["rows"]
    return {
        "engine": engine.name,
        "rows": rows,
        "matches": result["rows"],
        "M rows/s": rows / seconds / 1e6,
        "× Cereus": seconds / here["seconds"],
        "note": "" if agrees else f"not the {here['rows']:,} matches of Cereus",
    }


def shown(row: dict[str, Any]) -> str:
    if "M rows/s" not in row:
        return f"  {'-':>10}  {row['engine']:26} {row['note']}"
    return (
        f"  {row['M rows/s']:10.3f}  {row['engine']:26} million rows/s, {row['× Cereus']:.2f} × "
        f"Cereus; {row['matches']:,} matches in {row['rows']:,} rows {row['note']}"
    )


def differing(rows: list[dict[str, Any]]) -> list[str]:
    """The engines that found other matches."""
    return [row["engine"] for row in rows if row.get("matches") is not None and row["note"]]


def main(count: int = 1_000_000, patience: int = 600, *names: str) -> None:
    print(f"falls and recoveries, {count:,} rows of 100 symbols, one core:")
    differ = differing(compared(count, patience, names))
    if differ:
        raise SystemExit(f"other numbers of matches than Cereus: {', '.join(differ)}")


if __name__ == "__main__":
    main(*(int(float(each)) for each in sys.argv[1:3]), *sys.argv[3:])
