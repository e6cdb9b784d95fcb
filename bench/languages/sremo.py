"""The stock patterns of the SRT paper in SREMO, compared with the same patterns in CEQL.

Target: those of `bench.languages.correlation`; the two languages are equally fast, within noise.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isclose

import pyarrow as pa

import cereus
from bench.data import STREAM, stocks
from bench.languages.correlation import EXPECTED, patterns, within
from bench.timing import best as fastest
from cereus.languages.ceql import text as ceql
from cereus.languages.sremo import text as sremo_text
from cereus.translate.to_sremo import as_sremo

LISTED = 200_000
"""Patterns with more matches than this are counted instead."""


def best(use: Callable[[pa.Table], object], table: pa.Table) -> float:
    return fastest(lambda: use(table), 3)


def nested(window: int) -> str:
    """kn1: what CEQL says by OR, SREMO says by a star."""
    round_ = "any(any({BUY: name = 'RIMM' AND price < 500}+), {BUY: name = 'QQQ'})"
    return f"""any({{SELL: name = 'INTC'}} -> x . (skip* . {round_})*,
                   {{SELL: name = 'MSFT' AND price < x.price}}) {within(window)}"""


def texts(window: int) -> dict[str, tuple[str, str]]:
    """Every pattern, in CEQL and in SREMO."""
    return {
        name: (
            text,
            nested(window) if name == "kn1" else sremo_text.to_text(as_sremo(ceql.parse(text))),
        )
        for name, text in patterns(window).items()
    }


def main() -> None:
    table, which = stocks()
    real = "differ" not in which
    print(f"{table.num_rows:,} of {which}, one core")
    print(f"{'pattern':12} {'matches':>16} {'ceql, ms':>10} {'sremo, ms':>10}  M events/s")
    for window in (500, 1000, 2000, 5000, 30_000):
        for name, both in texts(window).items():
            queries = [
                cereus.compile(text, dialect=dialect, stream=STREAM, schema=table.schema)
                for dialect, text in zip(("ceql", "sremo"), both, strict=True)
            ]
            counts = [query.count(table) for query in queries]
            listed = counts[1] <= LISTED
            seconds = [best(q.run if listed else q.count, table) for q in queries]
            expected = EXPECTED.get(window, {}).get(name, counts[0]) if real else counts[0]
            same = isclose(counts[1], expected, rel_tol=1e-12)  # past 2**53 counts are rounded
            agreed = "✓" if same else f"≠ {expected}"
            print(
                f"{name}, {window / 1000:g} s".ljust(12),
                f"{counts[1]:16,.0f} {seconds[0] * 1000:10.1f} {seconds[1] * 1000:10.1f}",
                f"{table.num_rows / seconds[1] / 1e6:10.1f} {agreed}{'' if listed else ' counted'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
