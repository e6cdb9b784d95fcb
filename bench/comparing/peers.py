"""Compare Cereus with other engines in one run: `python -m bench --peers` or
`bench.comparing.peers`.

CORE runs its own stock queries in CEQL. The engines with MATCH_RECOGNIZE, and those without it,
answer one question over trades (`bench.comparing.row_patterns_elsewhere`). Each engine has an
environment of its own. If an engine cannot be installed, the page names it with the reason.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

import cereus
from bench.comparing import row_patterns_elsewhere as others
from bench.comparing.environments import Missing, answer, python_of
from bench.data import STREAM, stocks
from bench.languages.stocks import sequence
from cereus.bench.charts import bars
from cereus.bench.measuring import best, listed
from cereus.bench.page import ResultSection, Row

ROWS = 1_000_000
PATIENCE = 600
WINDOW = re.compile(r"WITHIN (\d+) ")
CSV_COLUMNS = ["type", "id", "name", "volume", "price", "stock_time"]
CORE_QUERIES = {
    "3 names, 1 s": sequence(3, "1000 [stock_time]"),
    "3 names, 10 s": sequence(3, "10000 [stock_time]"),
    "6 names, 2 s": sequence(6, "2000 [stock_time]"),
    "9 names, 2 s": sequence(9, "2000 [stock_time]"),
    "3 names with +, 0.5 s": sequence(3, "500 [stock_time]", plus=True),
    "3 names, SELL or BUY, 1 s": sequence(3, "1000 [stock_time]", either=True),
}
CORE_TEXT = """
The stock queries of CORE's own evaluation: sequences by name, the same text over the same events,
on one core. CORE has its events as objects in memory when the clock starts, and returns its matches
as text. Cereus reads Arrow and writes Arrow.
"""
CLAUSE_TEXT = """
Falls and the recovery after them, per symbol, over a million trades of 100 symbols (slow engines
get fewer rows). Each engine runs alone on one core. CPU time includes the processes that it starts.
Flink CEP has no Python interface, so it runs as a Java program; the clause of Flink SQL runs on it.
"""


def core() -> list[Row]:
    table, _ = stocks()
    texts = [text.replace("*", "* FROM Stock", 1) for text in CORE_QUERIES.values()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stocks.csv"
        options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
        pa.csv.write_csv(table.select(CSV_COLUMNS), path, options)
        python = python_of("pycer", "3.13")
        found = answer([python, "core.py", str(path)], PATIENCE, json.dumps(texts) + "\n")
    return [
        _beside_core(name, text, table, theirs)
        for (name, text), theirs in zip(CORE_QUERIES.items(), found, strict=True)
    ]


def _beside_core(name: str, text: str, table: pa.Table, theirs: dict[str, float]) -> Row:
    query = cereus.compile(text, stream=STREAM, schema=table.schema)
    seconds = best(lambda: listed(query, table), 3)
    matches = listed(query, table)
    print(
        f"  {name:28} CORE {theirs['seconds'] / seconds:8.1f} × the CPU time of Cereus", flush=True
    )
    return {
        "query": name,
        "matches": matches,
        "Cereus, CPU ms": seconds * 1000,
        "CORE, CPU ms": theirs["seconds"] * 1000,
        "× Cereus": theirs["seconds"] / seconds,
        "note": _note(matches, int(theirs["rows"]), text, table),
    }


def _note(ours: int, theirs: int, text: str, table: pa.Table) -> str:
    """How CORE's matches differ: it leaves out those that are exactly as long as the window."""
    if ours == theirs:
        return ""
    shorter = WINDOW.sub(lambda found: f"WITHIN {int(found[1]) - 1} ", text)
    if cereus.compile(shorter, stream=STREAM).count(table) == theirs:
        return f"CORE leaves out {ours - theirs:,}, which are as long as the window"
    return f"CORE finds {theirs:,}"


def sections() -> list[ResultSection]:
    try:
        rows = core()
        chart = {"core.svg": bars(rows, "query", "× Cereus", "CPU time of CORE, × Cereus")}
    except Missing as reason:
        print(f"  CORE: {reason}", flush=True)
        rows, chart = [{"query": "all", "note": f"CORE could not run: {reason}"}], {}
    engines = others.compared(ROWS, PATIENCE)
    differ = others.differing(engines)
    if differ:
        raise SystemExit(f"other numbers of matches than Cereus: {', '.join(differ)}")
    bar = bars(engines, "engine", "× Cereus", "CPU time, × Cereus", logarithmic=True)
    return [
        ResultSection("Beside CORE", CORE_TEXT, rows, chart),
        ResultSection("Beside engines of SQL, and loops", CLAUSE_TEXT, engines, {"peers.svg": bar}),
    ]


def main() -> None:
    sections()


if __name__ == "__main__":
    main()
