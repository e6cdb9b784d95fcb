"""`cereus run --engine local`: the engine in this process, in bounded memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from cereus.cli.several import fitted, joined_schema
from cereus.cli.view import ShownEvent, ShownMatch, err
from cereus.engine.results.time_order import in_order
from cereus.language.result_counts import ResultCounts
from cereus.many import QuerySet
from cereus.notices import needed_types, types_in
from cereus.query import Progress as ReadProgress
from cereus.query import Query
from cereus.sources import Source
from cereus.writing.expressible import shown_rows
from cereus.writing.target import Target, make_room
from cereus.writing.writers import writer

LOOKED_AT = 4096
"""How many matches of each batch are looked at for new keys."""


@dataclass
class Outcome:
    """The results of a run: how much, how fast, and the first matches."""

    counts: ResultCounts = field(default_factory=ResultCounts)
    events: int | None = 0
    seconds: float = 0.0
    first: list[ShownMatch] = field(default_factory=list)
    types: set[str] = field(default_factory=set)
    """The types of the events, if nothing was found."""

    @property
    def columns(self) -> list[str]:
        """The columns of the events, or rows, that are shown."""
        return list(self.first[0].events[0].values) if self.first else []

    def add(self, batch: pa.RecordBatch, query: Query) -> None:
        self.counts += ResultCounts.of([batch], query.compiled)


@dataclass
class Sample:
    """The matches to show: the first ones; if there are keys, first one of each key."""

    size: int
    keys: list[str]
    _first: list[dict[str, Any]] = field(default_factory=list)
    _by_key: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        missing = self.size - len(self._first)
        looked_at = LOOKED_AT if self.keys and len(self._by_key) < self.size else 0
        rows = shown_rows(batch.slice(0, max(missing, looked_at)))
        self._first += rows[:missing]
        for row in rows[:looked_at]:
            self._by_key.setdefault(tuple(row[key] for key in self.keys), row)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return chosen_rows(list(self._by_key.values()), self._first, self.size)


def chosen_rows(
    by_key: list[dict[str, Any]], first: list[dict[str, Any]], size: int
) -> list[dict[str, Any]]:
    """One row of each key, and then the first of all that are not among these. Rows may be equal
    (values that a query computes), so each is counted."""
    others = list(first)
    for row in by_key:
        if row in others:
            others.remove(row)
    return [*by_key, *others][:size]


def run_local(
    queries: QuerySet,
    events: Source,
    out: Target | None,
    shown: int,
    *,
    named: bool = False,
    order: str | None = None,
) -> dict[str, Outcome]:
    """Read once, match and write batch by batch. Only the first `shown` matches of each query are
    kept, unless they have to be put in an `order`. With `named`, each written match has the name of
    its query."""
    outcomes = {name: Outcome() for name in queries.queries}
    samples = {
        name: Sample(shown, [".".join(path) for path in query.keys] if order is None else [])
        for name, query in queries.queries.items()
    }

    def advanced(read: int, matches: int) -> None:
        for outcome in outcomes.values():
            outcome.events = read
        advance(read, matches)

    begin = time.perf_counter()
    with event_progress(events) as advance:
        if out is not None:
            batches = _written(queries, events, out, advanced, named=named, order=order)
        else:
            batches = queries.batches(events, progress=advanced)
            schemas = {n: q.executor(events.schema).schema for n, q in queries.queries.items()}
            batches = batches if order is None else _ordered(batches, schemas, order)
        for name, batch in batches:
            samples[name].add(batch)
            outcomes[name].add(batch, queries[name])
    seconds = time.perf_counter() - begin
    for name, outcome in outcomes.items():
        outcome.seconds = seconds
        outcome.first = shown_matches(samples[name].rows, events, queries[name])
        if not outcome.counts.rows:
            compiled = queries[name].compiled
            outcome.types = types_in(events, compiled.stream.type, needed_types(compiled))
    return outcomes


NamedBatches = Iterator[tuple[str, pa.RecordBatch]]


def _ordered(batches: NamedBatches, schemas: Mapping[str, pa.Schema], order: str) -> NamedBatches:
    """All matches of each query, in order; `schemas` are those of the results."""
    rows: dict[str, list[pa.RecordBatch]] = {name: [] for name in schemas}
    for name, batch in batches:
        rows[name].append(batch)
    for name, schema in schemas.items():
        yield from ((name, batch) for batch in in_order(rows[name], schema, order))


def _written(
    queries: QuerySet,
    events: Source,
    out: Target,
    progress: ReadProgress,
    *,
    named: bool,
    order: str | None,
) -> NamedBatches:
    """Matches with their events, as Spark writes them: row numbers mean nothing in files."""
    runs = queries.with_events(events)
    schemas = list(runs.schemas.values())
    schema = joined_schema(schemas) if named else schemas[0]
    batches = queries.event_batches(events, runs, progress)
    if order is not None:
        batches = _ordered(batches, runs.schemas, order)
    make_room(out)
    with writer(out, schema) as file:
        for name, batch in batches:
            file.write(fitted(name, batch, schema) if named else batch)
            yield name, batch


def shown_matches(rows: list[dict[str, Any]], events: Source, query: Query) -> list[ShownMatch]:
    """The first matches with the columns of their events, fetched by row number; results without
    events as they are."""
    if rows and (query.compiled.returned or "positions" not in rows[0]):
        return [ShownMatch([ShownEvent("", computed_values(row, query))]) for row in rows]
    numbers = sorted({number for row in rows for number in row["positions"]})
    if not numbers:
        return []
    taken = shown_rows(events.take(pa.array(numbers, pa.int64())))
    event_of = dict(zip(numbers, taken, strict=True))
    return [
        ShownMatch(
            [
                *(
                    ShownEvent(_holding(row, number, query), event_of[number])
                    for number in row["positions"]
                ),
                *timed_out(row),
            ]
        )
        for row in rows
    ]


def timed_out(row: dict[str, Any]) -> list[ShownEvent]:
    """What a partial match waited for when its window ended."""
    if not row.get("timed_out"):
        return []
    return [ShownEvent(f"timed out, waiting for {row['waiting_for']}", {})]


def computed_values(row: dict[str, Any], query: Query) -> dict[str, Any]:
    """The values that the query computed, without the numbers of rows and the events."""
    hidden = ("start", "end", "positions", "events") if query.compiled.returned else ()
    return {name: value for name, value in row.items() if name not in hidden}


def _holding(row: dict[str, Any], number: int, query: Query) -> str:
    return ", ".join(name for name in query.variables if number in row[name])


@contextmanager
def event_progress(events: Source) -> Iterator[Any]:
    """A bar over the events read, on a terminal; the yielded function moves it on."""
    total = events.quick_count() if err.is_terminal else None
    with Progress(
        SpinnerColumn(),
        TextColumn("matching"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("events · {task.fields[matches]:,} found"),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    ) as progress:
        task = progress.add_task("matching", total=total, matches=0)

        def advance(read: int, matches: int) -> None:
            progress.update(task, completed=read, matches=matches)

        yield advance
