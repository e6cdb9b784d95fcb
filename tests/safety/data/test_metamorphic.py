"""The same events, stored or cut or named otherwise, have the same matches.

Each case is a query of one language over a random stream; what changes the stream is compared with
the stream as it was drawn, as multisets of rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from tests.volume import volume

QUERIES = (
    ("ceql", "SELECT * WHERE A AS a ; B AS b FILTER a[x > 1] AND a.y < b.y WITHIN 6 seconds"),
    ("ceql", "SELECT a, b WHERE A+ AS a ; B AS b FILTER a.s = b.s PARTITION BY k WITHIN 9 seconds"),
    ("ceql", "SELECT MAX * WHERE A+ ; B WITHIN 4 seconds"),
    ("ceql", "SELECT MAX * WHERE A+ ; B+ WITHIN 4 seconds"),
    ("ceql", "SELECT COUNT(*), SUM(a.x) WHERE A AS a ; (B OR C)+ PARTITION BY k WITHIN 5 seconds"),
    ("ceql", "SELECT NEXT * WHERE A : B AS b FILTER b[s IN ('u', 'v')] WITHIN 8 EVENTS"),
    ("sremo", "{A: x > 0} -> r . SKIP* . {B: y >= r.y AND s = r.s} WITHIN 6 seconds"),
    ("sase", "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) { [k] AND "
             "a[i].x >= a[i-1].x } WITHIN 9 seconds RETURN sum(a[].x), b.s"),
    ("sase", "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_any_match(a, b) { a.x < b.x AND "
             "c.s = a.s } WITHIN 5 seconds"),
    ("par", "repeat (A(x > 1)[X] ; try B[Y] unless (C(s = 'u') ; C))"),
    ("algebra", "(A(x > 0) ; B)_{6 seconds} - C(s = 'v')"),
    ("match_recognize", "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES sum(a.x) AS m, "
                        "LAST(b.s) AS l PATTERN (a+ b) DEFINE a AS type = 'A' AND x > 0, "
                        "b AS s >= 'u' AND y > PREV(y))"),
    ("match_recognize", "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(a.x) AS m, "
                        "count(*) AS n PATTERN (a b*? c) DEFINE a AS x > 0, "
                        "c AS y >= a.y AND s <> a.s)"),
    ("match_recognize", "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES max(a.y) AS m, "
                        "count(*) AS n AFTER MATCH SKIP TO NEXT ROW PATTERN (a+ b) "
                        "WITHIN INTERVAL '9' SECOND DEFINE b AS x > avg(a.x) OR y > max(a.y))"),
    ("match_recognize", "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(s) AS m, "
                        "count(*) AS n PATTERN ((a | b)+ c) "
                        "DEFINE a AS max(CLASSIFIER()) = 'A' OR x > 1, c AS x - FIRST(x) < 1)"),
)  # fmt: skip
"""Queries of which the order of events inside a key decides the matches."""
SCHEMA = pa.schema(
    [
        ("type", pa.string()),
        ("ts", pa.timestamp("us")),
        ("x", pa.int32()),
        ("y", pa.float32()),
        ("s", pa.string()),
        ("k", pa.string()),
    ]
)


def stream(draw: Random) -> pa.Table:
    rows, at = draw.randrange(4, 40), 0
    events: list[dict[str, Any]] = []
    for _ in range(rows):
        at += draw.choice((1, 1, 1, 2, 3))
        events.append(
            {
                "type": draw.choice("AABBC"),
                "ts": at * 1_000_000,
                "x": draw.choice((0, 1, 2, 3, None)),
                "y": draw.choice((0.5, 1.5, 2.25, float("nan"), None)),
                "s": draw.choice(("u", "v", "w", None)),
                "k": draw.choice(("k1", "k2", None)),
            }
        )
    columns = {name: [event[name] for event in events] for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)


def answers(dialect: str, text: str, events: pa.Table, **names: str) -> Counter[str]:
    """The results as a multiset of rows."""
    query = cereus.compile(text, dialect=dialect, stream=cereus.Stream(**{"time": "ts"} | names))
    return multiset(query.run(events).table)


def multiset(results: pa.Table) -> Counter[str]:
    """Rows without the names of columns, and without times; numbers are written as floats."""
    kept = [
        column.cast(pa.float64()) if _is_exact(column.type) else column
        for column in results.columns
        if not pa.types.is_timestamp(column.type)
    ]
    return Counter(map(str, zip(*(column.to_pylist() for column in kept), strict=True)))


def _is_exact(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind) or pa.types.is_integer(kind))


def cut(draw: Random, dialect: str, text: str, events: pa.Table) -> Counter[str]:
    """Between rows that are not there: the same buffers behind an offset."""
    around = pa.concat_tables([events, events, events]).combine_chunks()
    return answers(dialect, text, around.slice(events.num_rows, events.num_rows))


def in_chunks(draw: Random, dialect: str, text: str, events: pa.Table) -> Counter[str]:
    cuts = sorted({0, events.num_rows, *(draw.randrange(events.num_rows) for _ in range(4))})
    pieces = [events.slice(a, b - a) for a, b in pairwise(cuts)]
    return answers(dialect, text, pa.concat_tables([events.slice(0, 0), *pieces]))


def of_types(**types: Callable[[pa.ChunkedArray], Any]) -> Callable[..., Counter[str]]:
    def changed(draw: Random, dialect: str, text: str, events: pa.Table) -> Counter[str]:
        for name, change in types.items():
            column = pa.chunked_array(change(events.column(name)))
            events = events.set_column(events.column_names.index(name), name, column)
        return answers(dialect, text, events)

    return changed


def encoded(column: pa.ChunkedArray) -> Any:
    return column.dictionary_encode()


def run_end_encoded(column: pa.ChunkedArray) -> Any:
    return pa.compute.run_end_encode(column.combine_chunks())


def cast(kind: pa.DataType) -> Callable[[pa.ChunkedArray], Any]:
    return lambda column: column.cast(kind)


def renamed(draw: Random, dialect: str, text: str, events: pa.Table) -> Counter[str]:
    """Columns with other names, which the query and the stream use."""
    names = {
        "type": "kind of it",
        "ts": "When",
        "x": "größe",
        "y": "y.z",
        "s": "select",
        "k": "key",
    }
    for old, new in names.items():
        if old not in ("type", "ts") or dialect == "match_recognize":
            text = re.sub(rf"(?<![\w'\"]){old}\b(?!['(])", f'"{new}"', text)
    changed = events.rename_columns([names.get(name, name) for name in events.column_names])
    return answers(dialect, text, changed, time=names["ts"], type=names.get("type", "type"))


def shifted(draw: Random, dialect: str, text: str, events: pa.Table) -> Counter[str]:
    """All times later, or earlier, by the same."""
    by = pa.scalar(draw.choice((-(10**15), 1, 10**9 + 1, 10**17)), pa.duration("us"))
    times = pa.compute.add(events.column("ts"), by)
    return answers(dialect, text, events.set_column(1, "ts", times))


def more_columns(draw: Random, dialect: str, text: str, events: pa.Table) -> Counter[str]:
    """Columns that no query reads, and another order of columns."""
    extra = events.append_column("more", pa.array([[1]] * events.num_rows))
    names = extra.column_names
    draw.shuffle(names)
    return answers(dialect, text, extra.select(names))


def pushed(draw: Random, dialect: str, text: str, events: pa.Table) -> Counter[str]:
    """Piece by piece, some of them empty."""
    query = cereus.compile(text, dialect=dialect, stream=cereus.Stream(time="ts"))
    recognizer = query.recognizer(schema=events.schema)
    results, at = [], 0
    while at < events.num_rows:
        step = draw.choice((0, 1, 2, 7))
        results.append(recognizer.push(events.slice(at, step)).table)
        at += step
    return multiset(pa.concat_tables([*results, recognizer.finish().table]))


CHANGES: dict[str, Callable[[Random, str, str, pa.Table], Counter[str]]] = {
    "cut": cut,
    "in chunks": in_chunks,
    "dictionaries": of_types(type=encoded, s=encoded, k=encoded),
    "run ends": of_types(type=run_end_encoded, s=run_end_encoded, x=run_end_encoded),
    "views": of_types(type=cast(pa.string_view()), s=cast(pa.string_view())),
    "large strings": of_types(type=cast(pa.large_string()), k=cast(pa.large_string())),
    "wider numbers": of_types(x=cast(pa.int64()), y=cast(pa.float64())),
    "decimals": of_types(x=cast(pa.decimal128(12, 0))),
    "nanoseconds": of_types(ts=cast(pa.timestamp("ns"))),
    "a time zone": of_types(ts=cast(pa.timestamp("us", "UTC"))),
    "encoded numbers": of_types(x=encoded, y=encoded, ts=encoded),
    "renamed": renamed,
    "shifted": shifted,
    "more columns": more_columns,
    "pushed": pushed,
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_matches_stay(change: str) -> None:
    some = 0
    for case in range(volume(len(QUERIES), 5 * len(QUERIES))):
        draw = Random(f"{change} {case}")
        dialect, text = QUERIES[case % len(QUERIES)]
        events = stream(draw)
        expected = answers(dialect, text, events)
        changed = CHANGES[change](draw, dialect, text, events)
        assert changed == expected, f"case {case}: {dialect} {text}"
        some += bool(expected)
    assert some > 3


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_keys_apart_have_the_matches_of_all_together(number: int) -> None:
    """What a query with keys finds in a stream is what it finds in the events of each key."""
    dialect, text = QUERIES[number]
    keys = () if "PARTITION BY k" in text else ("k",)
    for case in range(volume(3, 12)):
        events = stream(Random(f"keys {case}"))
        query = cereus.compile(text, dialect=dialect, stream=cereus.Stream(time="ts", keys=keys))
        apart = 0
        for key in ("k1", "k2", None):
            mask = (
                pa.compute.is_null(events.column("k"))
                if key is None
                else pa.compute.equal(events.column("k"), key)
            )
            apart += len(query.run(events.filter(mask)))
        assert len(query.run(events)) == apart
