"""Random events and queries over them, and matches in a form that can be compared."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import cereus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STREAM = cereus.Stream(time="ts", stream="venue")
OPENING = datetime(2024, 5, 6, 9, 30)
ROWS = 240

QUERIES = [
    # operators
    "SELECT * WHERE A ; B WITHIN 6 seconds",
    "SELECT * WHERE A ; B+ ; C WITHIN 5 seconds",
    "SELECT * WHERE A : B WITHIN 6 seconds",
    "SELECT * WHERE A ; B :+ ; C WITHIN 5 seconds",
    "SELECT * WHERE (A OR B) ; C WITHIN 5 seconds",
    "SELECT * WHERE (A ; C) AND (A ; (B OR C)) WITHIN 6 seconds",
    "SELECT * WHERE (A ALL B) ; C WITHIN 4 seconds",
    "SELECT * WHERE A ; (B UNLESS C) WITHIN 8 seconds",
    "SELECT * WHERE (A ; B) UNLESS D WITHIN 8 seconds",
    "SELECT * WHERE START(A ; B) PARTITION BY k WITHIN 60 seconds",
    "SELECT * WHERE PROJECT[a, c](A AS a ; B ; C AS c) WITHIN 5 seconds",
    "SELECT * WHERE A : NOT(B) : C WITHIN 6 seconds",
    "SELECT * WHERE A ; B ; NOT(C) WITHIN 3 seconds",
    "SELECT * WHERE (A AS a ; B AS b) FILTER a[price > 40] AND b[price < 70 OR side = 'x']"
    " WITHIN 8 seconds",
    "SELECT * WHERE NOT(A FILTER A[price > 20]) ; B WITHIN 2 seconds",
    # comparisons between events
    "SELECT * WHERE (A AS a ; B AS b) FILTER a.price < b.price WITHIN 8 seconds",
    "SELECT * WHERE (A AS a ; B+ AS b ; C AS c) FILTER a.side = b.side AND b.price <= c.price"
    " PARTITION BY k WITHIN 20 seconds",
    "SELECT LAST a, b WHERE (A AS a ; B AS b) FILTER a.price < b.price PARTITION BY k"
    " WITHIN 20 seconds",
    "SELECT * WHERE (A AS a ; B AS b) FILTER a.price + 3 < b.price * 2 - a.seq WITHIN 8 seconds",
    # strategies
    "SELECT NEXT * WHERE A ; B+ ; C WITHIN 6 seconds",
    "SELECT LAST * WHERE A ; B+ ; C PARTITION BY k WITHIN 20 seconds",
    "SELECT MAX * WHERE A ; B+ ; C WITHIN 6 seconds",
    "SELECT ANY * WHERE A ; C WITHIN 6 seconds",
    "SELECT STRICT * WHERE A ; B PARTITION BY k WITHIN 30 seconds",
    "SELECT * WHERE NEXT(A ; B) WITHIN 6 seconds",
    # windows
    "SELECT * WHERE A ; B WITHIN 7 EVENTS",
    "SELECT * WHERE A ; B PARTITION BY k, side WITHIN 5 EVENTS",
    "SELECT * WHERE A ; B ; C WITHIN 9 [seq]",
    "SELECT * WHERE A ; B WITHIN 2.5 [clock]",
    "SELECT * WHERE A ; D ; D PARTITION BY k",
    # keys, consumption, selection, streams
    "SELECT * WHERE A ; B PARTITION BY k, place.zone WITHIN 60 seconds",
    "SELECT * WHERE A ; B WITHIN 10 seconds CONSUME BY ANY",
    "SELECT * WHERE A ; B PARTITION BY k WITHIN 60 seconds CONSUME BY ANY",
    "SELECT * WHERE A ; B+ PARTITION BY k WITHIN 60 seconds CONSUME BY PARTITION",
    "SELECT b, c[price, place.zone] WHERE A ; B AS b ; C AS c WITHIN 5 seconds",
    "SELECT a[id], c WHERE (A AS a)+ ; C AS c PARTITION BY k WITHIN 20 seconds",
    "SELECT * FROM X, Y WHERE X>A ; Y>B WITHIN 6 seconds",
    "SELECT * FROM X WHERE A : B WITHIN 20 seconds",
]


def random_events(seed: int, rows: int = ROWS) -> pa.Table:
    """Events in the order of time, some of them at once; `id` says their order."""
    dice = random.Random(seed)
    seconds, found = 0.0, []
    for number in range(rows):
        seconds += dice.choice((0, 0.25, 0.5, 1, 1.5))
        found.append(
            {
                "id": number,
                "type": dice.choice("ABCD"),
                "venue": dice.choice("XY"),
                "k": dice.choice(("u", "v", "w", None)),
                "side": dice.choice(("x", "y")),
                "place": {"zone": dice.choice((1, 2, None)), "name": dice.choice("pq")},
                "price": dice.choice((None, float("nan"), *(float(n) for n in range(0, 100, 7)))),
                "seq": 3 * number // 2,
                "clock": seconds / 2,
                "ts": OPENING + timedelta(seconds=seconds),
            }
        )
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("type", pa.string()),
            ("venue", pa.string()),
            ("k", pa.string()),
            ("side", pa.string()),
            ("place", pa.struct([("zone", pa.int32()), ("name", pa.string())])),
            ("price", pa.float64()),
            ("seq", pa.int64()),
            ("clock", pa.float64()),
            ("ts", pa.timestamp("us", "UTC")),
        ]
    )
    return pa.Table.from_pylist(found, schema)


# ---------------------------------------------------------------- matches that can be compared


def locally(events: pa.Table, query: cereus.Query) -> Counter[Any]:
    """Matches by key, times, ids of their events (here row numbers), and what variables hold."""
    matches: Counter[Any] = Counter()
    keys = [".".join(path) for path in query.keys]
    for row in query.run(events):
        key = {name: row[name] for name in keys}
        held = {name: [_event(each) for each in row[name]] for name in query.variables}
        times = (row.get("start_time"), row.get("end_time"))
        matches[(_plain(key), *times, tuple(row["positions"]), _plain(held))] += 1
    return matches


def comparable(matches: DataFrame, query: cereus.Query, number: int = 0) -> DataFrame:
    """The same of a DataFrame of matches that show at least the `id` of an event."""
    from pyspark.sql import functions as F  # noqa: N812

    def packed(names: list[str]) -> Any:
        return F.to_json(F.struct(*(F.col(f"`{name}`") for name in names), F.lit(0).alias("_")))

    return matches.select(
        F.lit(number).alias("query"),
        packed([".".join(path) for path in query.keys]).alias("key"),
        "start_time" if "start_time" in matches.columns else F.lit(None).alias("start_time"),
        "end_time" if "end_time" in matches.columns else F.lit(None).alias("end_time"),
        F.transform("events", lambda event: event["id"]).alias("ids"),
        packed(list(query.variables)).alias("held"),
    )


def multisets(found: pa.Table) -> dict[int, Counter[Any]]:
    """Per query its matches, from what `comparable` has made."""
    matches: dict[int, Counter[Any]] = {}
    for row in found.to_pylist():
        key, held = (_plain(json.loads(row[name])) for name in ("key", "held"))
        match = (key, row["start_time"], row["end_time"], tuple(row["ids"]), held)
        matches.setdefault(row["query"], Counter())[match] += 1
    return matches


def _event(event: Any) -> Any:
    """A whole event is shown by its id, which is its row number."""
    return event if isinstance(event, dict) else {"id": event}


def _plain(value: Any) -> str:
    """Spark leaves nulls out of its JSON, and writes NaN as a string."""

    def cleaned(part: Any) -> Any:
        if isinstance(part, dict):
            return {k: cleaned(v) for k, v in part.items() if v is not None and k != "_"}
        if isinstance(part, list):
            return [cleaned(each) for each in part]
        return "NaN" if part != part else part

    return json.dumps(cleaned(value), sort_keys=True)
