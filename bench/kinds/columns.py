"""Kinds of columns for `bench.kinds.cliffs`: decimals of few and of many digits, times, strings and
booleans, compared and added up."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from bench.kinds.queries import Case, ceql, sase

MIDNIGHT = 1_700_000_000_000
KEYED = "PARTITION BY name WITHIN 10 seconds"
RUN = "SELL AS a : BUY:+ AS b : SELL AS c FILTER"
PAIR = "SELL AS a ; BUY AS b FILTER"


def columns(events: pa.Table) -> pa.Table:
    """The stock events with `amount` and `wide` (the price as a decimal), `at`, `status` and
    `large`."""
    volume = events["volume"]
    status = pc.if_else(pc.less(volume, 900), "held", "closed")
    amount = events["price"].cast(pa.decimal128(10, 2))
    added = {
        "amount": amount,
        "wide": amount.cast(pa.decimal128(38, 9)),
        "at": pc.add(events["stock_time"], MIDNIGHT).cast(pa.timestamp("ms")),
        "status": pc.if_else(pc.less(volume, 200), "open", status),
        "large": pc.greater(volume, 900),
    }
    for name, column in added.items():
        events = events.append_column(name, column)
    return events


def kind(name: str, pattern: str) -> Case:
    return ceql(name, f"{pattern} {KEYED}", reads="columns")


COLUMNS = (
    kind("decimals, order", f"{PAIR} a.amount < b.amount"),
    kind("decimals, NOT", f"{PAIR} NOT a.amount = b.amount AND a.large"),
    kind("decimals, prev", "BUY:{3,} AS b FILTER b.amount > prev(b.amount)"),
    kind("decimals, sum", f"{RUN} sum(b.amount) > 100"),
    kind("decimals, mean", f"{RUN} avg(b.amount) > a.amount"),
    kind("decimals, extremes", f"{RUN} max(b.amount) - min(b.amount) > 0.01"),
    kind("decimals, deviation", f"{RUN} stddev(b.amount) > 0.02"),
    kind("decimals, WITHOUT", "(SELL AS a ; BUY AS b) WITHOUT (BUY AS n FILTER n.amount > a.amount "
         "OR n.status = a.status)"),
    kind("decimals of 38 digits, order", f"{PAIR} a.wide < b.wide"),
    kind("decimals of 38 digits, last", f"{RUN} last(b.wide) > c.wide"),
    kind("times, first and last", f"{RUN} last(b.at) - first(b.at) < INTERVAL '5' SECOND"),
    kind("times, greatest", f"{RUN} max(b.at) < a.at + INTERVAL '5' SECOND"),
    kind("strings, first and last", f"{RUN} first(b.status) = 'open' AND last(b.status) = "
         "c.status"),
    kind("own mean", f"{RUN} b.price > 0.999 * avg(b.price)"),
    kind("own deviation", "BUY:{5,} AS b FILTER abs(b.price - avg(b.price)) < 3 * stddev(b.price)"),
    kind("mean and deviation", f"{RUN} c.price > avg(b.price) + 2 * stddev(b.price)"),
    kind("mean and deviation of 20", "(BUY AS b){20} ; BUY AS c FILTER c.volume > avg(b.volume) + "
         "3 * stddev(b.volume) AND b.volume > 4000"),
    Case(
        "sase: mean and deviation",
        sase("SELL+ a[], BUY b", "partition_contiguity", "a[], b", "[name] AND b.price > "
             "avg(a[].price) + 2 * stddev(a[].price)", "WITHIN 10 seconds RETURN count(a[])"),
        "sase",
        reads="columns",
    ),
)  # fmt: skip
