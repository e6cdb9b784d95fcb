"""Totals over all matches, counted without listing, against the same taken from the list."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.engine.match import kernel_options
from cereus.errors import QuerySyntaxError, UnknownNameError
from tests.languages.ceql import strategies

STREAM = cereus.Stream(time="t", unit="s")
PATTERNS = (
    "A AS a ; B+ AS b",
    "A+ AS a ; B AS b FILTER a.x <= b.x",
    "(A AS a ; B AS b)+",
    "A AS a : B+ AS b WITHIN 4 EVENTS",
    "A AS a ; (B OR C)+ AS b ; C PARTITION BY k WITHIN 5 seconds",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_totals_are_those_of_the_listed_matches(pattern: str) -> None:
    totals = "COUNT(*), SUM(b.x), MIN(b.x), MAX(b.x), AVG(b.x)"
    for seed in range(40):
        events = strategies.events(Random(seed), 14)
        table = strategies.table(events)
        listed = cereus.compile(f"SELECT a, b WHERE {pattern}", stream=STREAM).run(table)
        values = defaultdict(list)
        counts: dict[int, int] = defaultdict(int)
        for match in listed:
            counts[match["end"]] += 1
            values[match["end"]] += [events[p]["x"] for p in match["b"]]
        found = list(cereus.compile(f"SELECT {totals} WHERE {pattern}", stream=STREAM).run(table))
        assert {row["end"]: row["count"] for row in found} == counts
        for row in found:
            known = [v for v in values[row["end"]] if v is not None]
            assert row["sum(b.x)"] == sum(known)
            assert row["min(b.x)"] == min(known, default=None)
            assert row["max(b.x)"] == max(known, default=None)
            mean = sum(known) / len(known) if known else None
            assert row["avg(b.x)"] == mean or math.isclose(row["avg(b.x)"], mean)  # type: ignore[arg-type]
            assert row["exact"]


def test_a_sweep_before_the_first_event_of_a_key_keeps_what_is_in_its_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The key that was read before may have come further in time."""
    monkeypatch.setattr(kernel_options, "SWEEP_AT", 2)
    pattern = "A AS a ; (B OR C)+ AS b ; C PARTITION BY k WITHIN 5 seconds"
    counting = cereus.compile(f"SELECT COUNT(*) WHERE {pattern}", stream=STREAM)
    listing = cereus.compile(f"SELECT a, b WHERE {pattern}", stream=STREAM)
    for seed in range(40):
        table = strategies.table(strategies.events(Random(seed), 14))
        recognizer = counting.recognizer(schema=strategies.SCHEMA)
        pieces = [recognizer.push(table.slice(at, 7)) for at in (0, 7)]
        counted = {row["end"]: row["count"] for piece in pieces for row in piece}
        assert counted == Counter(match["end"] for match in listing.run(table))


def test_totals_survive_cuts_and_snapshots() -> None:
    query = cereus.compile("SELECT COUNT(*), SUM(b.x) WHERE A ; B+ AS b", stream=STREAM)
    events = [e | {"x": 1} for e in strategies.events(Random(3), 14)]
    whole = list(query.run(strategies.table(events)))
    recognizer = query.recognizer(schema=strategies.SCHEMA)
    parts = []
    for at in range(0, len(events), 2):
        parts += list(recognizer.push(strategies.table(events[at : at + 2])))
        recognizer = query.restore(recognizer.snapshot())
    assert parts == whole


def test_a_total_past_the_exact_is_flagged() -> None:
    events = pa.table({"type": ["A"] * 60 + ["B"], "x": [3] * 61})
    (row,) = cereus.compile("SELECT COUNT(*), SUM(a.x) WHERE A+ AS a ; B").run(events)
    assert row["sum(a.x)"] == pytest.approx(3 * 60 * 2.0**59)
    assert not row["exact"]


def test_what_cannot_be_totalled_is_refused() -> None:
    with pytest.raises(QuerySyntaxError, match="cannot be selected"):
        cereus.compile("SELECT MEDIAN(b.x) WHERE A ; B AS b")
    with pytest.raises(UnknownNameError):
        cereus.compile("SELECT SUM(c.x) WHERE A ; B AS b")
