"""Measure the scaling laws: `python -m bench scaling`. The run fails if the power of a law is worse
than expected by more than a tolerance.
"""

from __future__ import annotations

from bench.growth.laws import LAWS, Law, power
from cereus.bench.charts import lines
from cereus.bench.measuring import best_of_each
from cereus.bench.page import ResultSection, Row

TOLERANCE = 0.15
"""What caches, and a machine that is shared, may add to a power."""
TEXT = """
The cost of a run as a power of one size, fitted over the larger half of the sizes. The cost is CPU
time, the best of several runs in turns. Each law states the power that is expected. The benchmark
fails if the measured power is worse by more than 0.15. `tests/test_laws.py` checks the same laws on
counted steps and nodes, without a clock.
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
