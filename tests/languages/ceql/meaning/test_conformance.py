"""The cases of the engine CORE and of its first version, as facts about CEQL.

Two readings differ on purpose and are adapted here: CORE's `WITHIN n [attr]` is a difference of at
most n − 1 (ours ≤ n), and a stream without times is given the order of its events as time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.clauses.tree import AttributeWindow, ParsedQuery, TimeWindow
from cereus.languages.ceql.text import parse, to_text

FILE = Path(__file__).parents[5] / "shared" / "conformance" / "ceql.jsonl"
CASES = [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []
pytestmark = pytest.mark.skipif(
    not CASES, reason="the conformance cases are not beside the project"
)

KINDS = {
    "string": pa.string(),
    "timestamp": pa.string(),
    "int": pa.int64(),
    "long": pa.int64(),
    "primary_time": pa.int64(),
    "double": pa.float64(),
}
ROW = "row"
"""A column with the place of an event among all events, read as its time where there is none."""

ONCE = (
    "CORE reports one complex event for every event that NOT may stand for, with the start of that "
    "unmarked event; in CEL a complex event is a set of positions, reported once, and its start is "
    "its first position"
)
ENDS_MARKED = (
    "CORE's end is the event that the match is reported at; in CEL it is the last position of the "
    "complex event, which the NOT at the end does not mark"
)
DIFFERENT: dict[str, str] = {
    "core-not-eval-evaluation-of-not-in-a-more-complex-query": ONCE,
    "core-not-eval-evaluation-of-sequencing-not-query": ONCE,
    "core-not-eval-evaluation-of-not-filter-query": ENDS_MARKED,
}
"""Cases whose spans CEL's definition answers differently, and why. Their positions agree."""


def adapted(text: str) -> ParsedQuery:
    query = parse(text)
    if isinstance(query.window, AttributeWindow):
        smaller = replace(query.window, size=query.window.size - 1)
        query = replace(query, window=smaller)
    return query


def events_of(case: dict[str, Any]) -> pa.Table:
    attributes = {n: KINDS[kind] for each in case["schema"].values() for n, kind in each.items()}
    schema = pa.schema({"stream": pa.string(), "type": pa.string(), ROW: pa.int64(), **attributes})
    rows = [event | {ROW: place} for place, event in enumerate(case["events"])]
    return pa.Table.from_pylist(rows, schema)


def matches_of(case: dict[str, Any]) -> cereus.Matches:
    table = events_of(case)
    unordered = "quarantine" in case["id"]
    query = adapted(case["query"])
    time: dict[str, Any] = {}
    if unordered:
        time = {"time": "time", "unit": "ms"}
    elif isinstance(query.window, TimeWindow):
        time = {"time": ROW, "unit": "us"}
    stream = Stream(stream="stream", **time)
    return cereus.compile(to_text(query), stream=stream).run(table, sort=unordered)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    matches = matches_of(case)
    if case["expected_kind"] == "rows":
        (column,) = case["expected_columns"]
        values = {value for (value,) in case["expected"]}
        assert set(matches.events().column(column).to_pylist()) == values
        return
    ours, theirs = Counter(found(case, matches)), Counter(expected(case))
    limit = parse(case["query"]).limit
    if limit is not None:
        assert ours <= theirs
        assert len(matches) == sum(at["count"] for at in case["expected"])
    elif case["id"] in DIFFERENT:
        assert ours != theirs
        assert {positions for _, _, positions in ours} == {positions for _, _, positions in theirs}
    else:
        assert ours == theirs


Span = tuple[int, int, tuple[int, ...]]


def expected(case: dict[str, Any]) -> Iterator[Span]:
    for at in case["expected"]:
        for each in at.get("complex_events", ()):
            yield each["start"], each["end"], tuple(each["positions"])


def found(case: dict[str, Any], matches: cereus.Matches) -> Iterator[Span]:
    """Our rows, numbered in the order that CORE reads them in: by time, if they have one."""
    times = [event.get("time", row) for row, event in enumerate(case["events"])]
    order = sorted(range(len(times)), key=times.__getitem__)
    place = {row: at for at, row in enumerate(order)}
    for row in matches:
        positions = tuple(place[each] for each in row["positions"])
        yield place[row["start"]], place[row["end"]], positions


def test_every_listed_difference_is_a_case() -> None:
    assert DIFFERENT.keys() <= {case["id"] for case in CASES}
