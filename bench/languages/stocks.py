"""Stock queries without registers: sequences by name, Kleene plus, OR, keys; memory and windows.

Targets: 15 M events/s below 100,000 matches; above, 30 M matches/s chunk by chunk and 10 M/s as
one table; a window ten times as large costs less than three times as much if nothing is listed.
"""

from __future__ import annotations

import cereus
from bench.data import STREAM, stocks
from bench.timing import HEADER, best, measure, row

NAMES = ("INTC", "RIMM", "QQQ", "IPIX", "AMAT", "CSCO", "YHOO", "DELL", "ORCL", "MSFT")


def sequence(length: int, window: str, *, plus: bool = False, either: bool = False) -> str:
    """SELLs of `length` names in a row; every third one repeated, or each a BUY as well."""
    parts, filters = [], []
    for place in range(length):
        kind = "(SELL OR BUY)" if either else "SELL"
        again = "+" if plus and place % 3 == 1 else ""
        parts.append(f"{kind}{again} AS v{place}")
        filters.append(f"v{place}[name = '{NAMES[place % len(NAMES)]}']")
    return f"SELECT * WHERE {' ; '.join(parts)} FILTER {' AND '.join(filters)} WITHIN {window}"


def partitioned(window: str) -> str:
    return f"""SELECT * WHERE SELL AS a ; BUY AS b ; SELL AS c
        FILTER a[volume > 4000] AND b[volume > 4000] AND c[volume > 4000]
        PARTITION BY name WITHIN {window}"""


QUERIES = {
    "3 names, 10 s": sequence(3, "10 seconds"),
    "6 names, 2 s": sequence(6, "2 seconds"),
    "9 names, 2 s": sequence(9, "2 seconds"),
    "12 names, 2 s": sequence(12, "2 seconds"),
    "3 names, 1 s": sequence(3, "1 second"),
    "3 names with +, 1 s": sequence(3, "1 second", plus=True),
    "6 names with +, 1 s": sequence(6, "1 second", plus=True),
    "3 names, SELL or BUY, 1 s": sequence(3, "1 second", either=True),
    "partitioned by name, 10 s": partitioned("10 seconds"),
}


def main() -> None:
    table, which = stocks()
    print(f"{table.num_rows:,} of {which}, one core\n{HEADER}")
    for name, text in QUERIES.items():
        print(row(name, measure(text, table, STREAM), table.num_rows), flush=True)
    dense(table)
    windows(table)


def dense(table: object) -> None:
    """Far more matches than events, so that it is listing that is measured."""
    query = cereus.compile(sequence(3, "30 seconds"), stream=STREAM)
    wide = cereus.compile(sequence(6, "6 seconds"), stream=STREAM)
    for name, each in (("3 names, 30 s", query), ("6 names, 6 s", wide)):
        matches = each.count(table)
        chunks = best(lambda each=each: [None for _ in each.batches(table)], 3)  # type: ignore[misc]
        whole = best(lambda each=each: each.run(table).table, 3)  # type: ignore[misc]
        print(
            f"\n{name}: {matches:,} matches, {matches / chunks / 1e6:.1f} M/s chunk by chunk, "
            f"{matches / whole / 1e6:.1f} M/s as one table"
        )


def windows(table: object) -> None:
    print()
    for length in (3, 6, 12):
        seconds = [
            best(lambda w=w, n=length: _unlisted(n, w, table), 3)  # type: ignore[misc]
            for w in ("1 second", "10 seconds")
        ]
        print(f"{length} names, nothing listed: 10 s costs {seconds[1] / seconds[0]:.2f} × 1 s")


def _unlisted(length: int, window: str, table: object) -> None:
    query = cereus.compile(sequence(length, window) + " LIMIT 0", stream=STREAM)
    for _ in query.batches(table):
        pass


if __name__ == "__main__":
    main()
