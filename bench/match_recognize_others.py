"""MATCH_RECOGNIZE here and elsewhere, side by side in one run over the same trades:

    python -m bench.match_recognize_others [ROWS [SECONDS [NAME …]]]

Falls and the recovery behind them (`strt down+ up`, SKIP TO LAST up), per symbol. Beside Cereus:
`pandas-match-recognize`, Flink SQL, DuckDB where the installed release has the clause, and the SQL
with window functions that people write by hand, on DuckDB and on Spark. Each engine runs alone, on
one core, in a process of its own that may take SECONDS (`other_engines/`), and has its table in
memory when the clock starts (Flink: a CSV file). CPU time, the best of several runs. Slow engines
get fewer rows; what they find must be as many matches as Cereus finds in those, and the run fails
where it is not. Engines that are not of
this environment get one of their own under bench/results, made with pip; one that cannot be
installed or run says why. NAMEs choose among the engines.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

HERE = Path(__file__).parent
PROGRAMS = HERE / "other_engines"
ENVIRONMENTS = HERE / "results" / "environments"
INSTALLING = 900
"""Seconds that an installation may take."""


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
    Engine("DuckDB, MATCH_RECOGNIZE", "on_duckdb", ("clause",)),
    Engine("DuckDB, window functions", "on_duckdb", ("by_hand",)),
    Engine("Spark, Cereus", "on_spark", ("clause",), share=5),
    Engine("Spark, window functions", "on_spark", ("by_hand",), share=5),
    Engine("Flink SQL", "flink_sql", package="apache-flink", share=50),
    Engine("pandas-match-recognize", "pandas_package", package="pandas-match-recognize", share=50),
)


@dataclass(frozen=True)
class Result:
    """How many rows were put out in how many seconds; or why nothing was."""

    rows: int = 0
    seconds: float = 0.0
    missing: str = ""


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


def python_of(package: str | None) -> str | Result:
    """The Python of the environment that has a package, or why there is none."""
    if package is None:
        return sys.executable
    python = ENVIRONMENTS / package / "bin" / "python"
    if not python.exists():
        print(f"  making an environment with {package} …", flush=True)
        venv.create(python.parent.parent, with_pip=True)
        command = [str(python), "-m", "pip", "install", "--quiet", package]
        installed = _ran(command, INSTALLING)
        if installed.returncode:
            subprocess.run(["rm", "-r", str(python.parent.parent)], check=False)
            return Result(missing=f"{package} cannot be installed: {_last(installed.stderr)}")
    return str(python)


def measured(engine: Engine, count: int, folder: Path, patience: int) -> Result:
    python = python_of(engine.package)
    if isinstance(python, Result):
        return python
    data = str(written(count // engine.share, folder))
    return told(python, engine.program, (data, *engine.arguments), patience)


def told(python: str, program: str, arguments: tuple[str, ...], patience: int) -> Result:
    """What a program of `other_engines` says of itself."""
    ran = _ran([python, str(PROGRAMS / f"{program}.py"), *arguments], patience)
    if ran.returncode:
        return Result(missing=_last(ran.stderr))
    found = json.loads(ran.stdout.splitlines()[-1])
    return Result(found.get("rows", 0), found.get("seconds", 0.0), found.get("missing", ""))


def _ran(command: list[str], patience: int) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer in {patience} s")


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1][:200]


def main(count: int = 1_000_000, patience: int = 600, *names: str) -> None:
    print(f"falls and recoveries, {count:,} rows of 100 symbols, one core:")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        counts: dict[int, int] = {}
        differ = []
        for engine in ENGINES:
            if names and not any(name.lower() in engine.name.lower() for name in names):
                continue
            share = count // engine.share
            if share not in counts:
                counts[share] = measured(ENGINES[0], share, folder, patience).rows
            result = measured(engine, count, folder, patience)
            shown(engine, share, result, counts[share])
            if not result.missing and result.rows != counts[share]:
                differ.append(engine.name)
    if differ:
        raise SystemExit(f"other numbers of matches than Cereus: {', '.join(differ)}")


def shown(engine: Engine, rows: int, result: Result, wanted: int) -> None:
    if result.missing:
        print(f"  {'-':>10}  {engine.name:26} {result.missing}", flush=True)
        return
    rate = rows / result.seconds / 1e6
    agrees = "the same" if result.rows == wanted else f"not the {wanted:,} of Cereus"
    found = f"{result.rows:,} matches in {rows:,} rows, {agrees}"
    print(f"  {rate:10.3f}  {engine.name:26} million rows/s; {found}", flush=True)


if __name__ == "__main__":
    main(*(int(float(each)) for each in sys.argv[1:3]), *sys.argv[3:])
