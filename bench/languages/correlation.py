"""The stock patterns of the SRT paper (conditions between events), counting, and an index.

Targets: those of `bench.languages.stocks`; k1 and kn1 at 300 s counted in less than 2 s; an
equality between events takes at most 3 times as long as the same pattern with PARTITION BY.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import cereus
from bench.data import STREAM, stocks
from bench.timing import HEADER, best, measure, row

TRIPLES = (
    ("INTC", "RIMM", "QQQ"),
    ("IPIX", "AMAT", "CSCO"),
    ("YHOO", "DELL", "ORCL"),
    ("MSFT", "INTC", "RIMM"),
)
EXPECTED = {
    500: {"reg1": 819, "k1": 1367, "o1": 80, "kn1": 8362},
    1000: {"reg1": 3525, "k1": 12427, "o1": 686, "kn1": 15543},
    2000: {"reg1": 11438, "k1": 128580, "o1": 3387, "kn1": 78115},
    5000: {"reg1": 98995, "k1": 2238660353850, "o1": 76531, "kn1": 383729527},
}
LISTED = 5_000_000
"""Patterns with more matches than this are counted instead."""


def within(milliseconds: int) -> str:
    """The paper's window is strict: last − first < W."""
    return f"WITHIN {milliseconds - 1} [stock_time]"


def triples(number: int, window: int, *, kleene: bool = False) -> str:
    """reg1 … reg4, and k1 … k4 with the middle BUY repeated."""
    parts, filters = [], []
    for i, (first, middle, last) in enumerate(TRIPLES[:number]):
        parts += [f"SELL AS s{i}", f"BUY{'+' if kleene else ''} AS m{i}", f"BUY AS e{i}"]
        cheap = " AND price < 500" if kleene else ""
        filters += [
            f"s{i}[name = '{first}']",
            f"m{i}[name = '{middle}'{cheap}]",
            f"e{i}[name = '{last}']",
            f"e{i}.price > s{i}.price",
        ]
    return f"SELECT * WHERE {' ; '.join(parts)} FILTER {' AND '.join(filters)} {within(window)}"


def nested(window: int) -> str:
    """kn1: a star over a plus."""
    return f"""SELECT * WHERE (SELL AS x ; (BUY+ AS r ; BUY AS q)+ ; SELL AS m)
        OR (SELL AS x ; SELL AS m)
        FILTER x[name = 'INTC'] AND r[name = 'RIMM' AND price < 500] AND q[name = 'QQQ']
           AND m[name = 'MSFT'] AND m.price < x.price {within(window)}"""


def four(window: int, *, either: bool = False, strict: bool = False, key: str = "") -> str:
    """o1, o2 (`strict`), o4 and o5 (`either`), o6 (`key`)."""
    middle = "(BUY OR SELL)" if either else "BUY"
    more = (" AND price > 26", " AND price > 11.14", " AND price >= 18.92") if strict else ("",) * 3
    partition = f"PARTITION BY {key}" if key else ""
    return f"""SELECT * WHERE SELL AS a ; {middle} AS b ; {middle} AS c ; SELL AS d
        FILTER a[name = 'MSFT'{more[0]}] AND b[name = 'ORCL'{more[1]}] AND c[name = 'CSCO']
           AND d[name = 'AMAT'{more[2]}] AND d.price < a.price {partition} {within(window)}"""


def by_volume(window: int) -> str:
    """o3"""
    sizes = " AND ".join(f"{v}[volume > 4000]" for v in "abcd")
    return f"""SELECT * WHERE SELL AS a ; BUY AS b ; BUY AS c ; SELL AS d
        FILTER {sizes} AND d.price < a.price PARTITION BY name {within(window)}"""


def quantities(window: int) -> str:
    """o7"""
    return f"""SELECT * WHERE SELL AS a ; (BUY OR SELL)+ AS q ; SELL AS d
        FILTER a[name = 'MSFT'] AND q[name = 'QQQ' AND volume = 4000] AND d[name = 'AMAT']
           AND d.price < a.price {within(window)}"""


def patterns(window: int) -> dict[str, str]:
    found = {f"reg{n}": triples(n, window) for n in (1, 2, 3, 4)}
    found |= {f"k{n}": triples(n, window, kleene=True) for n in (1, 2, 3, 4)}
    return found | {
        "kn1": nested(window),
        "o1": four(window),
        "o2": four(window, strict=True),
        "o3": by_volume(window),
        "o4": four(window, either=True),
        "o5": four(window, either=True, strict=True),
        "o6": four(window, either=True, key="volume"),
        "o7": quantities(window),
    }


def main() -> None:
    table, which = stocks()
    real = "papers'" in which and "differ" not in which
    print(f"{table.num_rows:,} of {which}, one core\n{HEADER}")
    for window in (500, 1000, 2000, 5000, 30_000):
        for name, text in patterns(window).items():
            query = cereus.compile(text, stream=STREAM, schema=table.schema)
            count = query.count(table)
            expected = EXPECTED.get(window, {}).get(name) if real else None
            note = "" if expected is None else ("  ✓" if count == expected else f"  ≠ {expected}")
            title = f"{name}, {window / 1000:g} s"
            if count > LISTED:
                seconds = best(lambda q=query: q.count(table), 2)  # type: ignore[misc]
                print(
                    f"{title:28} counted {count:.6g} in {seconds * 1000:.0f} ms{note}", flush=True
                )
            else:
                print(
                    row(title, measure(text, table, STREAM, 3), table.num_rows) + note, flush=True
                )
    counted(table)
    indexed()


def counted(table: pa.Table) -> None:
    print()
    for name, text in (("k1", triples(1, 300_000, kleene=True)), ("kn1", nested(300_000))):
        query = cereus.compile(text, stream=STREAM, schema=table.schema)
        seconds = best(lambda q=query: q.count(table), 2)  # type: ignore[misc]
        print(f"{name} at 300 s: {query.count(table):.4g} matches counted in {seconds:.2f} s")
    for name, make in (("reg1", triples), ("k1", lambda n, w: triples(n, w, kleene=True))):
        times = [
            best(lambda w=w, m=make: _counted(m(1, w), table), 3)  # type: ignore[misc]
            for w in (3000, 30_000)
        ]
        print(f"{name} counted: 30 s costs {times[1] / times[0]:.2f} × 3 s")


def _counted(text: str, table: pa.Table) -> None:
    cereus.compile(text, stream=STREAM, schema=table.schema).count(table)


def cards(n: int = 1_000_000, different: int = 100_000) -> pa.Table:
    random = np.random.default_rng(7)
    return pa.table(
        {
            "type": np.where(random.random(n) < 0.5, "A", "B"),
            "card": random.integers(0, different, n),
            "ts": np.arange(n),
        }
    )


CARDS = cereus.Stream(time="ts", unit="ms")
EQUAL = (
    "SELECT * WHERE A AS a ; B AS b FILTER a.card = b.card WITHIN 200000 [ts]",
    "SELECT * WHERE A AS a ; B AS b PARTITION BY card WITHIN 200000 [ts]",
)


def indexed() -> None:
    """`a.card = b.card` with 100,000 cards in the window, next to PARTITION BY card."""
    table, times = cards(), []
    for text in EQUAL:
        query = cereus.compile(text, stream=CARDS, schema=table.schema)
        times.append(best(lambda q=query: [None for _ in q.batches(table)], 3))  # type: ignore[misc]
        rate = table.num_rows / times[-1] / 1e6
        print(f"\n{text}\n  {rate:.1f} M events/s, {query.count(table):,} matches")
    print(f"equality costs {times[0] / times[1]:.2f} × the partition")


if __name__ == "__main__":
    main()
