"""A thousand rules on one stream: together, and one by one.

Ten shapes of alerts, a hundred rules of each, with different names and thresholds. Few events pass
the tests of a rule, as is usual for alerts.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from random import Random

import pyarrow as pa

import cereus
from bench.data import STREAM, stocks
from bench.growth.memory import resident
from bench.timing import best

SHAPES: dict[str, Callable[[str, float, int], str]] = {
    "two in a row": lambda name, price, volume: (
        f"""
        SELECT * WHERE SELL AS a ; BUY AS b
        FILTER a[name = '{name}' and volume > {volume}] AND b[name = '{name}' and volume > {volume}]
        WITHIN 1 minute"""
    ),
    "three in a row": lambda name, price, volume: (
        f"""
        SELECT a, c WHERE SELL AS a ; BUY AS b ; SELL AS c
        FILTER a[volume > {volume}] AND b[volume > {volume}] AND c[volume > {volume}]
        PARTITION BY name WITHIN 1 minute"""
    ),
    "after a block, anything": lambda name, price, volume: (
        f"""
        SELECT NEXT a, b WHERE SELL AS a ; BUY AS b FILTER a[name = '{name}' and volume > {volume}]
        WITHIN 100 milliseconds"""
    ),
    "a block alone": lambda name, price, volume: (
        f"""
        SELECT * WHERE BUY AS b FILTER b[name = '{name}' and volume > {volume}]"""
    ),
    "a rise after a block": lambda name, price, volume: (
        f"""
        SELECT a, b WHERE BUY AS a ; BUY AS b
        FILTER a[volume > {volume}] AND b[volume > {volume}] AND a.price < b.price
        PARTITION BY name WITHIN 30 seconds"""
    ),
    "a price band": lambda name, price, volume: (
        f"""
        SELECT * WHERE SELL AS a ; SELL AS b
        FILTER a[price BETWEEN {price} AND {price + 0.02} and volume > {volume}]
        AND b[price > {price + 0.1} and volume > {volume}]
        PARTITION BY name WITHIN 10 seconds"""
    ),
    "right after": lambda name, price, volume: (
        f"""
        SELECT * WHERE SELL AS a : BUY AS b FILTER a[volume > {volume}] AND b[volume > {volume}]
        PARTITION BY name WITHIN 1 minute"""
    ),
    "count": lambda name, price, volume: (
        f"""
        SELECT COUNT(*) WHERE SELL AS a ; BUY AS b
        FILTER a[name = '{name}' and volume > {volume}] AND b[name = '{name}' and price > {price}]
        WITHIN 1 second"""
    ),
    "either": lambda name, price, volume: (
        f"""
        SELECT * WHERE (SELL OR BUY) AS a ; BUY AS b
        FILTER a[name = '{name}' and volume > {volume}] AND b[volume > {10 * volume}]
        WITHIN 1 minute"""
    ),
    "several": lambda name, price, volume: (
        f"""
        SELECT LAST b WHERE SELL AS a ; BUY+ AS b
        FILTER a[name = '{name}' and volume > {volume}] AND b[name = '{name}' and volume > {volume}]
        WITHIN 20 seconds"""
    ),
}


def rules(number: int, events: pa.Table) -> dict[str, str]:
    """So many rules, by name; the thresholds are among the largest hundredth of the volumes."""
    draw = Random(19)
    names = events.column("name").unique().to_pylist()
    volumes = sorted(events.column("volume").to_pylist())[-events.num_rows // 100 :]
    prices = events.column("price").to_pylist()
    shapes = list(SHAPES.items())
    return {
        f"{shapes[n % len(shapes)][0]} {n}": shapes[n % len(shapes)][1](
            draw.choice(names), draw.choice(prices), draw.choice(volumes)
        )
        for n in range(number)
    }


def main(number: int = 1000) -> None:
    events, which = stocks()
    print(f"{number:,} rules of {len(SHAPES)} shapes on {events.num_rows:,} events ({which})")
    # first: memory that other work has freed would hide what rules take
    for keep in (as_queries, as_changing_rules):
        kept = memory_per_rule(events, keep)
        print(f"{keep.__name__.replace('_', ' ')}, an idle rule keeps {kept:.1f} kB")
    texts = rules(number, events)
    compiling = best(lambda: cereus.compile_many(texts, stream=STREAM, schema=events.schema), 1)
    queries = cereus.compile_many(texts, stream=STREAM, schema=events.schema)
    found = dict.fromkeys(texts, 0)
    for name, batch in queries.batches(events):
        found[name] += batch.num_rows
    alone = dict.fromkeys(texts, 0)

    def one_by_one() -> None:
        for name, query in queries.queries.items():
            alone[name] = sum(batch.num_rows for batch in query.batches(events))

    together = best(lambda: [None for _ in queries.batches(events)], 3)
    single = best(one_by_one, 1)
    assert found == alone
    print(f"compiling     {compiling:8.2f} s   {1e3 * compiling / number:.1f} ms a rule")
    print(f"one by one    {single:8.2f} s   {1e3 * single / number:.1f} ms a rule")
    print(f"together      {together:8.2f} s   {1e3 * together / number:.2f} ms a rule")
    print(f"one by one / together = {single / together:.1f}   {sum(found.values()):,} matches")


def memory_per_rule(
    events: pa.Table, keep: Callable[[dict[str, str], pa.Table], object], number: int = 6000
) -> float:
    """Kilobytes for each of many rules that have read events and have nothing begun: what `number`
    rules take once a tenth of them is there, and with it all that is made once."""
    quiet, few = rules(number + number // 10, events), events.slice(0, 1000)
    names = list(quiet)
    first = keep({name: quiet[name] for name in names[: number // 10]}, few)
    gc.collect()
    before = resident()
    then = keep({name: quiet[name] for name in names[number // 10 :]}, few)
    gc.collect()
    kept = 1e3 * (resident() - before) / number
    del first, then
    return kept


def as_queries(texts: dict[str, str], events: pa.Table) -> object:
    """Queries of one call, as `compile_many` runs them."""
    queries = cereus.compile_many(texts, stream=STREAM, schema=events.schema)
    kept = queries._runs(cereus.sources.source(events, STREAM))
    for run in kept:
        for batch in events.to_batches():
            for _ in run.push(batch):
                pass
    return queries, kept


def as_changing_rules(texts: dict[str, str], events: pa.Table) -> object:
    """Rules that may change, as `RuleRecognizer` and a bucket of a live query run them."""
    chosen = [cereus.Rule(name, text) for name, text in texts.items()]
    recognizer = cereus.RuleRecognizer(stream=STREAM, schema=events.schema, rules=chosen)
    recognizer.push(events)
    return recognizer


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
