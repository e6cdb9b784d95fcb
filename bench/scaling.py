"""Scaling laws, measured: `python -m bench scaling`. A law whose power is worse than expected by
more than a tolerance fails the run."""

from __future__ import annotations

from bench.laws import LAWS, Law, power
from cereus.bench.charts import lines
from cereus.bench.measuring import best_of_each
from cereus.bench.page import ResultSection, Row

TOLERANCE = 0.15
"""What caches, and a machine that is shared, may add to a power."""
TEXT = """
What a run costs as a power of one size, fitted over the larger half of the sizes: CPU time, the
best of several runs that take turns. Each law states the power that is expected, and the benchmark
fails where the measured one is worse by more than 0.15. The same laws are tests on counted steps
and nodes (`tests/test_laws.py`), where no clock is involved.
"""


def measured(law: Law, rounds: int = 2) -> list[Row]:
    """A row for each size."""
    works = {str(size): law.case(size, law.events).work for size in law.sizes}
    seconds = best_of_each(works, rounds)
    smallest = seconds[str(law.sizes[0])]
    return [
        {
            "law": law.name,
            "size": size,
            "CPU ms": seconds[str(size)] * 1000,
            "× smallest": seconds[str(size)] / smallest,
        }
        for size in law.sizes
    ]


def fitted(law: Law, rows: list[Row]) -> Row:
    reached = power(law.sizes, [row["CPU ms"] for row in rows])
    return {
        "law": law.name,
        "size": law.size,
        "from": law.sizes[0],
        "to": law.sizes[-1],
        "expected power": law.power,
        "measured power": round(reached, 2),
        "holds": "yes" if reached <= law.power + TOLERANCE else "no",
        "why": law.why,
    }


def sections() -> list[ResultSection]:
    every: list[Row] = []
    laws: list[Row] = []
    for law in LAWS:
        rows = measured(law)
        laws.append(fitted(law, rows))
        every += rows
        print(f"  {law.name:20} {laws[-1]['measured power']:5.2f} of {law.power}", flush=True)
    chart = lines(every, "size", "× smallest", "law")
    return [
        ResultSection("Scaling laws", TEXT, laws, {"scaling.svg": chart}),
        ResultSection("Scaling laws, point by point", "", every),
    ]


def failures(sections: list[ResultSection]) -> list[str]:
    return [f"{row['law']} grows faster" for row in sections[0].rows if row["holds"] == "no"]


def main() -> None:
    failed = failures(sections())
    if failed:
        raise SystemExit("; ".join(failed))


if __name__ == "__main__":
    main()
