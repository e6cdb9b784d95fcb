"""The built-in queries of `cereus bench`, beside another release: `python -m bench queries`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from bench.environments import PROGRAMS, Missing, answer
from cereus.bench import page
from cereus.bench.charts import bars
from cereus.bench.measuring import measured
from cereus.bench.queries import QUERIES, BenchQuery, built_in
from cereus.cli.commands.bench import SECTION, TEXT
from cereus.demo import STOCK_EVENTS, stock_stream

HERE = Path(__file__).resolve().parent.parent
PATIENCE = 300
ROUNDS = 2
"""How often each release runs; they take turns."""


def columns(case: BenchQuery) -> dict[str, object]:
    """The stream of a query as what any release takes."""
    stream = case.stream
    given = {"type": stream.type, "time": stream.time, "unit": stream.unit, "keys": stream.keys}
    return {name: value for name, value in given.items() if value}


def seconds(checkout: Path, cases: list[list[object]], path: Path) -> list[float | None]:
    """The seconds of each case in one checkout."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(checkout / "src"), str(PROGRAMS)])
    try:
        command = [sys.executable, "release.py", str(path)]
        found: list[float | None] = answer(command, PATIENCE, json.dumps(cases) + "\n")
        return found
    finally:
        del os.environ["PYTHONPATH"]


def ratios(other: Path) -> list[float | None]:
    """CPU time here over CPU time there, of each query."""
    cases = [[case.dialect, case.text, columns(case)] for case in QUERIES]
    here, there = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stocks.parquet"
        pa.parquet.write_table(stock_stream(STOCK_EVENTS), path)
        for _ in range(ROUNDS):
            there.append(seconds(other, cases, path))
            here.append(seconds(HERE, cases, path))
    return [
        min(filter(None, mine)) / min(filter(None, theirs)) if all(mine) and all(theirs) else None
        for mine, theirs in zip(zip(*here, strict=True), zip(*there, strict=True), strict=True)
    ]


def compared(rows: list[page.Row], other: Path | None) -> list[page.Row]:
    """With earlier results from a file, or with another checkout that runs now."""
    if other is None:
        return rows
    if other.suffix == ".json" or (other / page.JSON).exists():
        return page.against(rows, page.read_results(other).get(SECTION, []))
    try:
        before = ratios(other)
    except Missing as reason:
        raise SystemExit(f"{other} cannot run: {reason}") from None
    return [{**row, "× before": ratio} for row, ratio in zip(rows, before, strict=True)]


def sections(other: Path | None = None) -> list[page.ResultSection]:
    rows: list[page.Row] = []
    for name, query, table in built_in(STOCK_EVENTS):
        rows.append(measured(name, query, table))
        print(f"  {name:28} {rows[-1]['M events/s']:8.1f} M events/s", flush=True)
    chart = {"floor.svg": bars(rows, "query", "× floor", "× floor")}
    return [page.ResultSection(SECTION, TEXT, compared(rows, other), chart)]


def main() -> None:
    sections()


if __name__ == "__main__":
    main()
