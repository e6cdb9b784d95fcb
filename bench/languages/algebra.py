"""The event algebra: the two experiments of the paper (§4.4), and events per second.

    python -m bench.languages.algebra [--quick]

Experiments 1 and 2 generate random expressions of each size; every operator is equally likely. They
take the mean and the maximum of the static bounds: memory units, and steps of the worst tick. Plots
go to bench/results/.
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import altair as alt
import numpy as np

from bench.timing import best
from cereus.languages.algebra.bounds import units
from cereus.languages.algebra.detect import detection
from cereus.languages.algebra.detect.program import build
from cereus.languages.algebra.detect.run import detect_chunks
from cereus.languages.algebra.detect.ticks import group
from cereus.languages.algebra.optimise import optimise
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
)

RESULTS = Path(__file__).parents[1] / "results"
SIZES = range(1, 52, 5)
RUNS = 40
"""Short runs, the best of many: some of them fall between what else the machine does."""
P = Primitive("P")
"""The bounds of the model do not depend on which primitives occur."""

PAPER = {
    ("memory", "simple"): "mean under 250, maximum about 2 x mean",
    ("memory", "values"): "mean about 2 x simple, maximum about 4 x mean",
    ("steps", "simple"): "mean under 650, maximum about 3 x mean",
    ("steps", "values"): "mean under 980, maximum about 4 x mean",
}
"""What §4.4 says of expressions of 51 subexpressions."""

TEN_OPERATORS = {
    "sequence, to the left": "A ; B ; C ; D ; E ; F ; G ; H ; I ; J ; K",
    "sequence, to the right": "A;(B;(C;(D;(E;(F;(G;(H;(I;(J;K)))))))))",
    "alternating": "A;(B+(C;(D+(E;(F+(G;(H+(I;(J+K)))))))))",
    "mixed": "((A ; B)_50 - (C | D)) + ((E ; (F + G)) | (H ; I))_100",
    "two sequences": "((A + B) ; ((C + D) ; (E | F))_200) - ((G ; H) + (I - J))",
    "four primitives": "((A ; B)_50 - (C | D)) + ((A ; (B + A)) | (C ; B))_100",
}


def random_expression(draw: random.Random, size: int) -> EventExpression:
    if size == 1:
        return P
    kind = draw.choice((None, Disjunction, Conjunction, Negation, Sequence))
    if kind is None or size == 2:
        return random_expression(draw, size - 1).within(5)
    left = draw.randint(1, size - 2)
    return kind(random_expression(draw, left), random_expression(draw, size - 1 - left))


# ---------------------------------------------------------------- experiments 1 and 2


def experiment(count: int) -> Iterator[dict[str, object]]:
    """One row per size, measure and framework."""
    draw = random.Random(2010)
    for size in SIZES:
        drawn = [random_expression(draw, size) for _ in range(count)]
        for framework in ("simple", "values"):
            both = [units(each, values=framework == "values") for each in drawn]
            for measure, numbers in zip(("memory", "steps"), zip(*both, strict=True), strict=True):
                spread = 1.96 * stdev(numbers) / count**0.5
                yield {
                    "size": size,
                    "measure": measure,
                    "framework": framework,
                    "mean": fmean(numbers),
                    "interval": spread,
                    "maximum": max(numbers),
                }


def report(rows: list[dict[str, object]]) -> None:
    print(f"{'':8}{'':9}{'mean':>9}{'±':>6}{'maximum':>9}   the paper, at {SIZES[-1]}")
    for row in rows:
        if row["size"] == SIZES[-1]:
            key = (str(row["measure"]), str(row["framework"]))
            print(
                f"{key[0]:8}{key[1]:9}{row['mean']:9.1f}{row['interval']:6.1f}"
                f"{row['maximum']:9}   {PAPER[key]}"
            )


def plot(rows: list[dict[str, object]]) -> Path:
    """Fig. 8 and Fig. 9."""
    data = [
        {**row, "statistic": statistic, "units": row[statistic]}
        for row in rows
        for statistic in ("mean", "maximum")
    ]
    chart = (
        alt.Chart(alt.Data(values=data))
        .mark_line(point=True)
        .encode(
            x=alt.X("size:Q", title="subexpressions"),
            y=alt.Y("units:Q", title="units"),
            color=alt.Color("statistic:N", title=None),
            column=alt.Column("framework:N", title=None),
            row=alt.Row("measure:N", title=None),
            tooltip=["size:Q", "statistic:N", "units:Q"],
        )
        .properties(width=320, height=220)
        .resolve_scale(y="independent")
    )
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "algebra_bounds.html"
    chart.save(str(path))
    return path


# ---------------------------------------------------------------- events per second


def throughput(count: int) -> None:
    """One event per tick, all primitives equally often, from times and masks to instances."""
    kind = "compiled" if detection.COMPILED else "UNCOMPILED"
    print(f"\n{'':24}{'simple':>10}{'values':>10}{'optimised':>12}   M events/s, {kind}")
    for name, text in TEN_OPERATORS.items():
        expression = parse(text)
        simple = rate(expression, count, values=False)
        values = rate(expression, count, values=True)
        better = rate(optimise(expression).after, count, values=False)
        print(f"{name:24}{simple:10.1f}{values:10.1f}{better:12.1f}")


def rate(expression: EventExpression, count: int, *, values: bool) -> float:
    program = build(expression, values=values)
    chance = np.random.default_rng(7)
    bits = chance.integers(0, len(program.primitives), count).astype(np.uint64)
    times, masks = np.arange(count), np.uint64(1) << bits
    seconds = best(lambda: deque(detect_chunks(program, group(times, masks)), maxlen=0), RUNS)
    return count / seconds / 1e6


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer expressions and events")
    quick = options.parse_known_args()[0].quick
    rows = list(experiment(300 if quick else 10_000))
    report(rows)
    print(f"plotted in {plot(rows)}")
    throughput(100_000 if detection.COMPILED else 2_000)


if __name__ == "__main__":
    main()
