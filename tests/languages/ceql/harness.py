"""What a query answers, as multisets of rows that any two ways of answering can be held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

import cereus
from cereus import Stream
from cereus.clauses.tree import Output, ParsedQuery
from cereus.engine.match import kernel_options, runner
from cereus.languages.ceql.text import parse, to_text
from cereus.reference import cel as reference

from .strategies import SCHEMA, SECOND, Events, table

Row = tuple[Any, ...]


def compiled(query: ParsedQuery, stream: Stream) -> cereus.Query:
    """The query as its text says it, so that the parser takes part."""
    return cereus.compile(to_text(query), stream=stream)


def rows(found: Iterable[dict[str, Any]], query: ParsedQuery) -> Counter[Row]:
    """Result rows as (key, start, end, positions, bindings, values)."""
    return Counter(
        (
            tuple(row[".".join(path)] for path in query.partition_by),
            row["start"],
            row["end"],
            tuple(row["positions"]),
            tuple(_held(row[output.variable], output) for output in query.select or ()),
            tuple(row[each.name] for each in query.returned),
        )
        for row in found
    )


def _held(cell: list[Any], output: Output) -> tuple[Any, ...]:
    if not output.attributes:
        return tuple(cell)
    return tuple(tuple(each[".".join(path)] for path in output.attributes) for each in cell)


def reference_matches(query: ParsedQuery, stream: Stream, events: Events) -> list[reference.Match]:
    return reference.matches(
        query,
        events,
        type=stream.type,
        time=lambda event: event["t"] * SECOND,
        stream=stream.stream,
        keys=stream.keys,
    )


def reference_rows(
    matches: list[reference.Match], query: ParsedQuery, events: Events
) -> Counter[Row]:
    def held(positions: tuple[int, ...], output: Output) -> tuple[Any, ...]:
        if not output.attributes:
            return positions
        return tuple(tuple(events[p][path[0]] for path in output.attributes) for p in positions)

    def row(match: reference.Match) -> Row:
        bindings = zip(match.bindings, query.select or (), strict=True)
        shown = tuple(held(positions, output) for (_, positions), output in bindings)
        return match.key, match.start, match.end, match.positions, shown, match.values

    return Counter(map(row, matches))


def assert_agrees(actual: Counter[Row], query: ParsedQuery, stream: Stream, events: Events) -> None:
    """Rows are those that the definition gives; under LIMIT, as many, and all among them."""
    if query.limit is None:
        expected = reference_rows(reference_matches(query, stream, events), query, events)
        assert actual == expected, difference(actual, expected)
        return
    unlimited = replace(query, limit=None)
    if query.limit == 0:
        assert not actual
        return
    matches = reference_matches(unlimited, stream, events)
    every = reference_rows(matches, unlimited, events)
    assert actual <= every, difference(actual, every)
    places = Counter(match.reported_at for match in matches)
    assert actual.total() == sum(min(query.limit, count) for count in places.values())


def difference(actual: Counter[Row], expected: Counter[Row]) -> str:
    return f"missing: {dict(expected - actual)}\n  too many: {dict(actual - expected)}"


ALWAYS = -1_000
"""As `order`: whatever can be put in order is."""


@contextmanager
def sizes(
    *,
    chunk: int = runner.CHUNK,
    sweep: int = kernel_options.SWEEP_AT,
    order: int = kernel_options.ORDER_FROM,
) -> Iterator[None]:
    """Matches leave the kernel `chunk` at a time, `sweep` nodes or events are worth a look, and
    more than `order` configurations are worth an order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_options, "ORDER_FROM", order)
        patch.setattr(runner, "CHUNK", chunk)
        patch.setattr(runner, "LONG_CHUNK", chunk)
        patch.setattr(kernel_options, "SWEEP_AT", sweep)
        patch.setattr(runner, "TIDY_AT", sweep)
        yield


# ---------------------------------------------------------------- worked examples


def spelled(types: str, **columns: str) -> Events:
    """A stream written down: `spelled("A B", x="1 -")` has x = 1 and then null; t counts up."""
    names = types.split()
    cells = {name: text.split() for name, text in columns.items()}
    assert all(len(column) == len(names) for column in cells.values())
    return [
        {"type": name, "t": place} | {c: _value(c, column[place]) for c, column in cells.items()}
        for place, name in enumerate(names)
    ]


def _value(column: str, text: str) -> Any:
    if text == "-":
        return None
    return text if column in ("s", "src") else float(text) if column == "w" else int(text)


def answer(text: str, events: Events, **stream: Any) -> list[tuple[int, int, list[int]]]:
    """(start, end, positions) of every match, sorted, after holding it to the reference."""
    query = parse(text)
    described = Stream(**({"time": "t", "unit": "s"} | stream))
    whole = [dict.fromkeys(SCHEMA.names) | event for event in events]
    found = list(cereus.compile(text, stream=described).run(table(whole)))
    assert_agrees(rows(found, query), query, described, whole)
    return sorted((row["start"], row["end"], row["positions"]) for row in found)


def positions(text: str, events: Events, **stream: Any) -> list[list[int]]:
    """The complex events of a query, in order."""
    return sorted(found for _, _, found in answer(text, events, **stream))
