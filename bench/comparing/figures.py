"""What `bench.comparing.compare` measures: queries, as any release takes them, and the events they
run over.

The queries are those of the benchmarks of the same names. Tables are smaller where instructions of
all events would take hours to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

import cereus
from bench.data import STREAM
from bench.data import stocks as stock_events
from bench.languages import algebra, algebra_run, correlation, par, sase, sremo, stocks
from cereus.bench.queries import QUERIES
from cereus.demo import stock_stream
from cereus.languages.algebra.optimise import optimise
from cereus.languages.algebra.text import parse, to_text

WINDOWS = (500, 1000, 2000, 5000, 30_000)
"""Milliseconds."""
TICKS = cereus.Stream(time="n")


@dataclass(frozen=True)
class Figure:
    """A query, the name of the table it runs over, and the method of `Query` that runs it."""

    name: str
    dialect: str
    text: str
    table: str = "stocks"
    stream: cereus.Stream = STREAM
    method: str = "batches"
    options: dict[str, object] = field(default_factory=dict)


def _letters(events: int = 100_000) -> pa.Table:
    """Types A to K in no order, one event per tick."""
    draw = np.random.default_rng(7).integers(0, 11, events).astype(np.int32)
    return pa.table({"type": pa.DictionaryArray.from_arrays(draw, list("ABCDEFGHIJK")),
                     "n": np.arange(events)})  # fmt: skip


TABLES: dict[str, Callable[[], pa.Table]] = {
    "stocks": lambda: stock_events()[0],
    "generated stocks": partial(stock_stream, 224_473),
    "cards": partial(correlation.cards, 200_000, 20_000),
    "letters": _letters,
    "orders": partial(par.events, 200_000, encoded=True),
    "orders, strings": partial(par.events, 200_000, encoded=False),
} | {f"{symbols} symbols": partial(sase.stream_of, symbols, 200_000) for symbols in sase.SYMBOLS}


def _built_in() -> Iterator[Figure]:
    for each in QUERIES:
        if each.dialect != "match_recognize":
            yield Figure(each.name, each.dialect, each.text, "generated stocks", each.stream)


def _stocks() -> Iterator[Figure]:
    for name, text in stocks.QUERIES.items():
        yield Figure(name, "ceql", text)
    for length in (3, 6, 12):
        for window in ("1 second", "10 seconds"):
            text = f"{stocks.sequence(length, window)} LIMIT 0"
            yield Figure(f"{length} names, {window}, nothing listed", "ceql", text)
    for length, window in ((3, "30 seconds"), (6, "6 seconds")):
        for method in ("batches", "run"):
            text = stocks.sequence(length, window)
            yield Figure(f"{length} names, {window}, {method}", "ceql", text, method=method)


def _listed_or_counted(dialect: str, window: int, name: str, text: str, limit: int) -> Figure:
    matches = cereus.compile(text, dialect=dialect, stream=STREAM).count(stock_events()[0])
    method = "batches" if matches <= limit else "count"
    return Figure(f"{name}, {window / 1000:g} s, {method}", dialect, text, method=method)


def _correlation() -> Iterator[Figure]:
    for window in WINDOWS:
        for name, text in correlation.patterns(window).items():
            yield _listed_or_counted("ceql", window, name, text, sremo.LISTED)
    for name, text in zip(("equal cards", "partitioned by card"), correlation.EQUAL, strict=True):
        yield Figure(name, "ceql", text, "cards", correlation.CARDS)


def _sremo() -> Iterator[Figure]:
    for window in WINDOWS:
        for name, (_, text) in sremo.texts(window).items():
            yield _listed_or_counted("sremo", window, name, text, sremo.LISTED)


def _sase() -> Iterator[Figure]:
    for name, text in sase.QUERIES.items():
        for symbols in sase.SYMBOLS:
            title = f"{name}, {symbols:,} symbols"
            yield Figure(title, "sase", text, f"{symbols} symbols", sase.STREAM)


def _par() -> Iterator[Figure]:
    for table in ("orders", "orders, strings"):
        for kind, text, cases in (
            ("program", par.PROGRAM, par.PLAIN),
            ("condition", par.CONDITION, par.PLAIN | par.KEYED),
        ):
            for name, (stream, options) in cases.items():
                title = f"{kind}, {name}, {table}"
                yield Figure(title, "par", text, table, stream, options=options)


def _algebra() -> Iterator[Figure]:
    for name, text in algebra.TEN_OPERATORS.items():
        yield Figure(name, "algebra", text, "letters", TICKS)
        yield Figure(f"{name}, values", "algebra", text, "letters", TICKS, options={"values": True})
        better = to_text(optimise(parse(text)).after)
        yield Figure(f"{name}, optimised", "algebra", better, "letters", TICKS)
    for name, (stream, options) in algebra_run.CASES.items():
        title = f"orders, {name}"
        yield Figure(title, "algebra", algebra_run.EXPRESSION, "orders", stream, options=options)


FIGURES: dict[str, Callable[[], Iterator[Figure]]] = {
    "queries": _built_in,
    "stocks": _stocks,
    "correlation": _correlation,
    "sremo": _sremo,
    "sase": _sase,
    "par": _par,
    "algebra": _algebra,
}
