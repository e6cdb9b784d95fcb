"""The experiments of the SRT paper (§7, Fig. 6 to 10): `python -m bench srt`.

Sequences with conditions between events, by length and by window; with iterations; with nested
iterations; with other operators. The stocks are those of the papers if they are available. The two
other streams are generated to the published shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyarrow as pa

import cereus
from bench import data, twins
from bench.languages.correlation import four, quantities
from cereus.bench.charts import lines
from cereus.bench.measuring import best_of_each, measured
from cereus.bench.page import ResultSection, Row

LISTED = 5_000_000
"""Patterns with more matches than this are counted instead."""
NAMES = ("INTC", "RIMM", "QQQ", "IPIX", "AMAT", "CSCO", "YHOO", "DELL", "ORCL", "MSFT", "INTC",
         "RIMM", "QQQ", "IPIX", "AMAT", "CSCO")  # fmt: skip
SECONDS = cereus.Stream(type="type", time="ts", unit="s")
TEXT = """
Each pattern has a condition between its first and its last event. Every further group of three
events (four, if iterations are nested) adds one. All matches are listed (skip till any match); if
there are more than five million, they are counted (`counted`). Figures are CPU time on one core.
The floor reads and tests the same events. The paper shows its own figures as pictures, from another
machine, so they are not repeated here.
"""


class Setting(NamedTuple):
    """A stream, the test of the n-th event of a pattern, what is compared, and the windows: of the
    figures by length, and of the figure by window."""

    table: Callable[[], pa.Table]
    stream: cereus.Stream
    kind: Callable[[int, int], str]
    test: Callable[[int], str]
    compared: str
    column: str
    window: int
    windows: tuple[int, ...]


def _stocks() -> pa.Table:
    return data.stocks()[0]


def _side(place: int, group: int) -> str:
    """A sale and purchases; where iterations are nested, a sale at the end as well."""
    return "SELL" if place % group == 0 or place % group == 3 else "BUY"


SETTINGS = {
    "stocks": Setting(
        _stocks, data.STREAM, _side, lambda place: f"name = '{NAMES[place]}'",
        "price", "stock_time", 500, (500, 1_000, 2_000, 4_000),
    ),
    "smart homes": Setting(
        twins.smart_homes, SECONDS, lambda place, group: "LOAD",
        lambda place: f"plug < {100 * (place % 3 + 1)} AND load > 300", "load", "ts",
        5, (5, 10, 20, 40),
    ),
    "taxis": Setting(
        twins.taxis, SECONDS, lambda place, group: "TRIP",
        lambda place: f"pickup = {40 + 7 * place}", "total", "ts", 100, (100, 200, 400, 800),
    ),
}  # fmt: skip


def pattern(of: Setting, length: int, window: int, group: int = 3, repeated: str = "") -> str:
    """Groups of events in a row; the last of each group is compared with its first. `repeated` is
    `+` for an iteration of the second, `nested` for one inside another."""
    parts, filters = [], []
    for first in range(0, length, group):
        places = range(first, first + group)
        names = [f"{of.kind(place, group)} AS v{place}" for place in places]
        if repeated == "+":
            names[1] = f"{of.kind(first + 1, group)}+ AS v{first + 1}"
        if repeated == "nested":
            inner = f"{of.kind(first + 2, group)}+ AS v{first + 2}"
            names[1:3] = [f"({names[1]} ; {inner})+"]
        parts += names
        filters += [f"v{place}[{of.test(place)}]" for place in places]
        sign = "<" if repeated == "nested" else ">"
        filters += [f"v{places[-1]}.{of.compared} {sign} v{first}.{of.compared}"]
    where = f"{' ; '.join(parts)} FILTER {' AND '.join(filters)}"
    return f"SELECT * WHERE {where} WITHIN {window - 1} [{of.column}]"


def figures(of: Setting) -> Iterator[tuple[str, int, int, str]]:
    """The figure, the length, the window and the text of each experiment over a stream."""
    for length in (3, 6, 9, 12):
        yield "6: sequences", length, of.window, pattern(of, length, of.window)
    for window in of.windows:
        yield "7: windows", 3, window, pattern(of, 3, window)
    for length in (3, 6, 9, 12):
        text = pattern(of, length, of.window, repeated="+")
        yield "8: iterations", length, of.window, text
    for length in (4, 8, 12, 16):
        text = pattern(of, length, of.window, group=4, repeated="nested")
        yield "9: nested iterations", length, of.window, text


def mixed() -> Iterator[tuple[str, int, int, str]]:
    """The five patterns of figure 10, over the stocks."""
    for number, text in enumerate(
        (
            four(1000),
            four(1000, strict=True),
            four(1000, either=True),
            four(1000, either=True, strict=True),
            quantities(1000),
        ),
        1,
    ):
        yield f"10: q{number}", 4 if number < 5 else 3, 1000, text


def row(name: str, stream: str, length: int, window: int, text: str, of: Setting,
        table: pa.Table) -> Row:  # fmt: skip
    query = cereus.compile(text, stream=of.stream, schema=table.schema)
    count = query.count(table)
    about = {"figure": name, "stream": stream, "length": length, "window": window}
    if count <= LISTED:
        found = measured(name, query, table, 2)
        chosen = ("events", "matches", "CPU ms", "M events/s", "× floor")
        return {**about, **{key: found[key] for key in chosen}}
    seconds = best_of_each({"": lambda: query.count(table)}, 2)[""]
    rate = table.num_rows / seconds / 1e6
    return {**about, "events": table.num_rows, "matches": float(count), "CPU ms": seconds * 1000,
            "M events/s": rate, "× floor": None, "how": "counted"}  # fmt: skip


def sections() -> list[ResultSection]:
    rows: list[Row] = []
    for name, of in SETTINGS.items():
        table = of.table()
        cases = [*figures(of), *(mixed() if name == "stocks" else ())]
        for figure, length, window, text in cases:
            rows.append(row(figure, name, length, window, text, of, table))
            print(
                f"  {figure:22} {name:12} {length:3} {window:6} {rows[-1]['matches']:>16,.0f} "
                f"{rows[-1]['M events/s']:6.1f} M events/s",
                flush=True,
            )
    return [ResultSection("The experiments of the SRT paper", TEXT, rows, charts(rows))]


def charts(rows: list[Row]) -> dict[str, object]:
    by_length = [
        {**row, "experiment": f"{row['stream']}, {row['figure'][3:]}"}
        for row in rows
        if row["figure"][0] in "68"
    ]
    by_window = [
        {**row, "× window": row["window"] / SETTINGS[row["stream"]].window}
        for row in rows
        if row["figure"].startswith("7")
    ]
    return {
        "srt_length.svg": lines(by_length, "length", "M events/s", "experiment", across_log=False),
        "srt_window.svg": lines(by_window, "× window", "M events/s", "stream"),
    }


def main() -> None:
    sections()


if __name__ == "__main__":
    main()
