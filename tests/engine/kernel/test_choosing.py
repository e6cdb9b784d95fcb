"""NEXT and LAST in long windows: the best of the listed matches, whatever expires."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.engine.match import kernel_options
from cereus.stream import Stream
from tests.volume import volume

PATTERNS = (
    "A AS a ; B AS b",
    "A AS a ; B AS b ; A AS c",
    "A AS a ; B AS b ; C AS c ; A AS d",
    "A+ AS a ; B AS b",
    "A AS a ; B+ AS b",
    "(A OR B) AS a ; B AS b ; C AS c",
    "A AS a ; (B ; C)? ; A AS c",
    "(A AS a ; B AS b) OR (B AS a ; A AS b)",
    "A AS a ; B:+ AS b",
    "((A ; B) OR (C ; D)) ; A AS c",
    "((A ; C ; B) OR (B ; D)) ; C ; A",
    "(A ; (B ; C OR D)) ; A AS c",
    "A AS a ; B AS b FILTER a.x = b.x",
    "A AS a ; B AS b FILTER a.x < b.x",
    "A AS a ; B AS b ; C AS c FILTER a.x < b.x AND b.x <= c.x",
    "A AS a ; B AS b ; C AS c FILTER a.x = c.x",
)
CLAUSES = ("WITHIN 12 [t]", "WITHIN 15 EVENTS", "PARTITION BY k WITHIN 25 [t]")


def stream(draw: Random, size: int) -> pa.Table:
    times = sorted(draw.choices(range(size), k=size))
    return pa.table(
        {
            "type": draw.choices("AABBCD", k=size),
            "t": times,
            "x": draw.choices(range(4), k=size),
            "k": draw.choices("uv", k=size),
        }
    )


def compiled(text: str) -> cereus.Query:
    return cereus.compile(text, stream=Stream(time="t"))


def best(matches: list[frozenset[int]], strategy: str) -> frozenset[int]:
    """By definition: of two matches, the one that has the smallest position (LAST: the largest)
    that they do not share."""
    found, *others = matches
    decisive = min if strategy == "NEXT" else max
    for other in others:
        if other != found and decisive(found ^ other) in other:
            found = other
    return found


@pytest.mark.parametrize("strategy", ["NEXT", "LAST"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_best_of_the_listed_matches_is_chosen(
    pattern: str, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(volume(6, 60)):
        draw = Random(seed)
        table, rest = stream(draw, draw.choice((40, 90))), draw.choice(CLAUSES)
        listed = defaultdict(list)
        for row in compiled(f"SELECT * WHERE {pattern} {rest}").run(table):
            listed[row["end"]].append(frozenset(row["positions"]))
        monkeypatch.setattr(kernel_options, "SWEEP_AT", draw.choice((20, 1 << 16)))
        monkeypatch.setattr(kernel_options, "ORDER_FROM", draw.choice((-1_000, 64)))
        query = compiled(f"SELECT {strategy} * WHERE {pattern} {rest}")
        chosen = {row["end"]: frozenset(row["positions"]) for row in query.run(table)}
        assert chosen == {end: best(matches, strategy) for end, matches in listed.items()}
