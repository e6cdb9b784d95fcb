"""The built-in queries of `cereus bench`, against another release: `python -m bench queries`."""

from __future__ import annotations

from pathlib import Path

from bench.comparing.compare import HERE, Release, pairs
from bench.comparing.environments import Missing
from bench.comparing.figures import FIGURES
from cereus.bench import page
from cereus.bench.charts import bars
from cereus.bench.measuring import measured
from cereus.bench.queries import built_in
from cereus.cli.commands.bench import SECTION, TEXT
from cereus.demo import STOCK_EVENTS

ROUNDS = 2
"""How often each release runs; they take turns."""


def ratios(other: Path) -> dict[str, float]:
    """CPU time here over CPU time there, of each query that both know."""
    with Release(other.resolve()) as there, Release(HERE) as here:
        found = pairs(FIGURES["queries"](), there, here, runs=ROUNDS)
        return {pair.name: pair.ratio for pair in found}


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
    return [{**row, "× before": before.get(str(row["query"]))} for row in rows]


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
