"""The queries that `cereus bench` measures if none is given: every language, over one day of
generated stock events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from cereus.demo import stock_stream
from cereus.query import Query, compile
from cereus.stream import Stream

STREAM = Stream(type="type", time="stock_time", unit="ms")
KEYED = Stream(type="type", time="stock_time", unit="ms", keys="name")
TICKS = Stream(type="type")
ROWS = Stream(time="stock_time", unit="ms")


class BenchQuery(NamedTuple):
    """A query with a name."""

    name: str
    dialect: str
    text: str
    stream: Stream = STREAM


LARGE = "a[volume > 900] AND b[volume > 900] AND c[volume > 900]"
NAMES = "a[name = 'INTC'] AND b[name = 'RIMM'] AND c[name = 'QQQ']"
THREE = "SELL AS a ; BUY AS b ; SELL AS c"
NINE = f"{' ; '.join(['SELL'] * 9)} FILTER SELL[volume > 900]"
ROW_PATTERN = """
    MATCH_RECOGNIZE (PARTITION BY name ORDER BY stock_time
      MEASURES FIRST(a.price) AS high, LAST(b.price) AS low
      AFTER MATCH SKIP PAST LAST ROW PATTERN ({pattern}) DEFINE {define})
"""
QUERIES = (
    BenchQuery("a sequence", "ceql", f"SELECT * WHERE {THREE} FILTER {NAMES} WITHIN 10 seconds"),
    BenchQuery("a long sequence", "ceql", f"SELECT * WHERE {NINE} WITHIN 2 seconds"),
    BenchQuery("an iteration", "ceql", "SELECT * WHERE SELL AS a ; BUY+ AS b ; SELL AS c "
             f"FILTER {NAMES} AND b[volume > 900] WITHIN 1 second"),
    BenchQuery("next to each other", "ceql", "SELECT * WHERE SELL AS a : BUY:+ AS b : SELL AS c "
             "FILTER a[volume > 900] WITHIN 1 second"),
    BenchQuery("keys", "ceql", f"SELECT * WHERE {THREE} FILTER {LARGE} PARTITION BY name "
             "WITHIN 10 seconds"),
    BenchQuery("compared prices", "ceql", f"SELECT * WHERE {THREE} FILTER {NAMES} AND "
             "c.price > a.price WITHIN 1 second"),
    BenchQuery("equal volumes", "ceql", "SELECT * WHERE SELL AS a ; BUY AS b FILTER "
             "a.volume = b.volume AND a[name = 'INTC'] WITHIN 1 second"),
    BenchQuery("the next match", "ceql", f"SELECT NEXT * WHERE {THREE} FILTER {NAMES} "
             "WITHIN 10 seconds"),
    BenchQuery("unless", "ceql", "SELECT * WHERE (SELL AS a ; BUY AS b) UNLESS (BUY AS c FILTER "
             "c[volume > 9000]) FILTER a[name = 'RIMM'] AND b[name = 'RIMM'] "
             "WITHIN 10 seconds"),
    BenchQuery("many matches", "ceql", f"SELECT * WHERE {THREE} FILTER {NAMES} WITHIN 30 seconds"),
    BenchQuery("counted, an iteration", "ceql", "SELECT COUNT(*) WHERE SELL ; BUY+ ; SELL "
             "PARTITION BY name WITHIN 10 seconds"),
    BenchQuery("registers", "sremo", "any({SELL: name = 'INTC'} -> x, {BUY: name = 'RIMM'}, "
             "{BUY: name = 'QQQ' AND price > x.price}) WITHIN 1000 [stock_time]"),
    BenchQuery("a window of events", "sremo",
             "({SELL: volume > 4000} . SKIP* . {BUY: volume > 4000})[1..100]"),
    BenchQuery("the next event", "sase", "PATTERN SEQ(SELL a, BUY b, SELL c) WHERE "
             "skip_till_next_match(a, b, c) { [name] AND a.volume > 4000 } WITHIN 10 seconds"),
    BenchQuery("a negation", "sase", "PATTERN SEQ(SELL a, ~(BUY x), SELL b) WHERE "
             "skip_till_next_match(a, b) { [name] AND a.volume > 4000 AND x.volume > 9000 } "
             "WITHIN 2 seconds"),
    BenchQuery("a program", "par", "repeat (SELL(volume > 4000)[X] ; BUY(volume > 900)[Y])"),
    BenchQuery("a program for each name", "par",
             "repeat (SELL(volume > 4000)[X] ; BUY(volume > 900)[Y])", KEYED),
    BenchQuery("an expression", "algebra",
             "((SELL(volume > 4000) ; BUY)_100 - SELL(volume > 9000))",
             TICKS),
    BenchQuery("a fall and a rise", "match_recognize", ROW_PATTERN.format(
        pattern="a b+ c", define="b AS price < PREV(price), c AS price > PREV(price)"), ROWS),
    BenchQuery("sums in conditions", "match_recognize", ROW_PATTERN.format(
        pattern="a b+", define="a AS volume > 4000, b AS sum(b.volume) < 20000"), ROWS),
)  # fmt: skip


def built_in(events: int) -> Iterator[tuple[str, Query, pa.Table]]:
    """Each query with its name and the events that it is measured over."""
    table = stock_stream(events)
    for each in QUERIES:
        query = compile(each.text, dialect=each.dialect, stream=each.stream, schema=table.schema)
        yield each.name, query, table
