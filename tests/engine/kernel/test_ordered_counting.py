"""Counting by leaves in the order of a value, by vectors, and by listing gives the same numbers:
for orders and equalities, in every window, over keys, however the stream is cut, through
snapshots."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.kernel.counting import CountingKernel
from cereus.engine.match import counting_runner, kernel_options
from tests.volume import volume

STREAM = cereus.Stream(time="t", unit="ms")
PATTERNS = (
    "A AS a ; B AS b FILTER a.x {op} b.x",
    "A AS a ; B+ AS b ; C AS c FILTER a.x {op} c.x",
    "A AS a ; B+ AS b ; A AS c FILTER a.x {op} c.x",
    "A AS a ; B ; C ; (A OR B) AS c FILTER a.x {op} c.x",
    "A AS a ; B:+ ; C AS c FILTER a.x {op} c.x",
    "A AS a ; (B ; A)+ ; C AS c FILTER a.x {op} c.x AND c.x {op} a.y",
    "A AS a ; B+ AS b ; C+ AS c FILTER a.x {op} c.x",
    "A AS a ; B+ AS b FILTER a.x {op} b.x",
    "(A OR C) AS a ; B ; C AS c FILTER a.x {op} c.x AND a.x < c.y",
    "C ; A AS a ; B AS b FILTER a.x {op} b.x",
    "A AS a ; B ; C ; B ; A ; B ; C AS c FILTER a.x {op} c.x",
    "(A AS a ; B AS b FILTER a.x {op} b.x) OR (B AS c ; A AS d FILTER c.y < d.x)",
    "A AS a : B ; C AS c FILTER a.x {op} c.x",
)  # fmt: skip
OPS = ("<", "<=", ">", ">=", "=", "!=")
WINDOWS = ("", "WITHIN 12 EVENTS", "WITHIN 10 [t]", "WITHIN 30 [t]", "WITHIN 60 EVENTS")


def drawn_events(draw: Random, size: int) -> pa.Table:
    return pa.table(
        {
            "type": draw.choices("AABBCD", k=size),
            "x": draw.choices([None, 1, 2, 3, 4, 5, 6, 7], k=size),
            "y": draw.choices([None, 1.5, float("nan"), 3, 4, -1], k=size),
            "k": draw.choices([0, 0, 0, 1], k=size),
            "t": sorted(draw.choices(range(size), k=size)),
        }
    )


def drawn_query(draw: Random) -> str:
    pattern = draw.choice(PATTERNS).format(op=draw.choice(OPS))
    consume = draw.choice(("", "", "", "CONSUME BY ANY"))
    parts = (pattern, draw.choice(("", "PARTITION BY k")), draw.choice(WINDOWS), consume)
    return " ".join(filter(None, parts))


def rows(text: str, table: pa.Table, draw: Random) -> list[dict[str, Any]] | str:
    """What a recognizer finds that is given the stream in pieces, and restored now and then; or the
    error that it ends in."""
    most = draw.choice((5, 20, 1_000, 1_000, 1_000))
    query = cereus.compile(
        f"SELECT COUNT(*) WHERE {text}",
        stream=STREAM,
        schema=table.schema,
        limits=cereus.Limits(configurations=most),
    )
    recognizer, found = query.recognizer(schema=table.schema), []
    pieces = draw.choice((1, 2, 5))
    cuts = [0, *sorted(draw.sample(range(1, table.num_rows), pieces)), table.num_rows]
    try:
        for begin, end in pairwise(cuts):
            found += list(recognizer.push(table.slice(begin, end - begin)))
            if draw.random() < 0.5:
                recognizer = query.restore(recognizer.snapshot())
    except (cereus.errors.RefusedError, cereus.errors.LimitError) as error:
        return str(error)
    found = [row | {"count": float(f"{row['count']:.12g}")} for row in found]  # beyond 2**53
    return sorted(found, key=lambda row: (row.get("k") or 0, row["end"]))


@pytest.mark.filterwarnings("ignore::cereus.CereusWarning")
def test_leaves_count_what_vectors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(volume(60, 2000)):
        draw = Random(seed)
        table, text = drawn_events(draw, draw.randint(40, 160)), drawn_query(draw)
        with monkeypatch.context() as patched:
            patched.setattr(kernel_options, "ORDER_FROM", 0)
            patched.setattr(kernel_options, "LEAVES_AHEAD", draw.choice((1, 5, 30)))
            by_leaves = rows(text, table, Random(seed))
        with monkeypatch.context() as patched:
            patched.setattr(counting_runner, "OrderedCountingKernel", CountingKernel)
            assert rows(text, table, Random(seed)) == by_leaves, (seed, text)


@pytest.mark.filterwarnings("ignore::cereus.CereusWarning")
def test_leaves_count_the_matches_that_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_options, "ORDER_FROM", 0)
    monkeypatch.setattr(kernel_options, "LEAVES_AHEAD", 3)
    for seed in range(volume(20, 300)):
        draw = Random(seed)
        table, text = drawn_events(draw, draw.randint(20, 40)), drawn_query(draw)
        counted = rows(text, table, draw)
        if not isinstance(counted, str):
            query = cereus.compile(f"SELECT * WHERE {text}", stream=STREAM, schema=table.schema)
            assert sum(row["count"] for row in counted) == len(query.run(table)), (seed, text)


@pytest.mark.parametrize(
    "pattern",
    [
        "A AS a ; B AS b FILTER a.x < b.x",
        "A AS a ; B+ AS b ; A AS c FILTER a.x < c.x",
        "A AS a ; B+ AS b ; A AS c FILTER a.x = c.x",
    ],
)
def test_an_event_does_not_look_at_every_value(pattern: str) -> None:
    draw = Random(1)
    size = 6_000
    table = pa.table(
        {
            "type": draw.choices("AB", k=size),
            "x": [draw.randrange(1 << 20) for _ in range(size)],
            "y": [draw.randrange(1 << 20) for _ in range(size)],
            "t": range(size),
        }
    )
    query = cereus.compile(f"SELECT COUNT(*) WHERE {pattern} WITHIN 1000 [t]", stream=STREAM)
    assert query.run(table, threads=1).costs.steps < 30 * size


@pytest.mark.parametrize("size", [300, 10])
def test_a_limit_of_steps_holds_however_the_stream_is_cut(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long pieces are read with leaves, of which none makes a step."""
    monkeypatch.setattr(kernel_options, "ORDER_FROM", 0)
    monkeypatch.setattr(kernel_options, "LEAVES_AHEAD", 100)
    table = pa.table({"type": [*"AB"] * 150, "x": [7 * row % 300 for row in range(300)]})
    query = cereus.compile(
        "SELECT COUNT(*) WHERE A AS a ; B+ AS b ; A AS c FILTER a.x < c.x WITHIN 60 EVENTS",
        schema=table.schema,
        limits=cereus.Limits(steps_per_event=40),
    )
    recognizer = query.recognizer(schema=table.schema)
    with pytest.raises(cereus.errors.LimitError, match="more than 40 steps"):
        for begin in range(0, table.num_rows, size):
            list(recognizer.push(table.slice(begin, size)))


@pytest.mark.parametrize(("nodes", "by_leaves"), [(200_000_000, True), (1_500, False)])
def test_leaves_take_only_what_the_limit_of_nodes_allows(nodes: int, by_leaves: bool) -> None:
    """1,500 leaves take the place of 3,500 nodes; up to 500 matches wait."""
    draw = Random(1)
    size = 3_000
    table = pa.table(
        {
            "type": draw.choices("AB", k=size),
            "x": [draw.randrange(1 << 20) for _ in range(size)],
            "t": range(size),
        }
    )
    query = cereus.compile(
        "SELECT COUNT(*) WHERE A AS a ; B AS b FILTER a.x < b.x WITHIN 1000 [t]",
        stream=STREAM,
        limits=cereus.Limits(nodes=nodes),
    )
    assert (query.run(table, threads=1).costs.steps < 30 * size) == by_leaves


def test_counts_are_nodes_of_the_limit() -> None:
    """3,000 counts of two values were some nodes, however long the window."""
    size = 6_000
    query = cereus.compile(
        "SELECT COUNT(*) WHERE A AS a ; B AS b FILTER a.x != b.x WITHIN 1000000 EVENTS",
        stream=STREAM,
        limits=cereus.Limits(nodes=1_000),
    )
    table = pa.table({"type": ["A"] * size, "x": [0, 1] * (size // 2), "t": range(size)})
    with pytest.raises(cereus.errors.LimitError, match="nodes"):
        query.run(table, threads=1)
