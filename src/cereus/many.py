"""Several queries over one stream, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.errors import CereusError, about
from cereus.language.compiled import CompiledQuery
from cereus.language.protocol import Params
from cereus.language.registry import language_of_source, text_of_source
from cereus.limits import Limits
from cereus.matches import Matches
from cereus.query import Progress, Query, compile
from cereus.sources import Source, source
from cereus.stream import Stream
from cereus.syntax.parameters import check_all_mentioned, for_text

if TYPE_CHECKING:
    from cereus.language.event_results import EventRuns
    from cereus.language.together import Running

Sources = Mapping[str, Any] | Iterable[Any]
"""Queries by name, or in order. Each is a text, an object, a pair of a text and its dialect, or a
compiled query."""


def compile_many(
    sources: Sources,
    *,
    dialect: str | None = None,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
    **options: Any,
) -> QuerySet:
    """Compile several queries over the same stream, by name (or numbered "0", "1", …).

    Each query is a text, an object of any language, a pair of a text and its dialect, `("A ; B[X]",
    "par")`, or a compiled query. The other arguments are those of `compile`; they apply to all
    queries that are not compiled yet. `params` are for texts.
    """
    common: dict[str, Any] = {"stream": stream, "schema": schema, "limits": limits, **options}
    queries: dict[str, Query] = {}
    pairs = {name: _with_dialect(entry, dialect) for name, entry in _named(sources).items()}
    values = params or {}
    check_all_mentioned(values, [entry for entry, _ in pairs.values()])
    for name, (entry, language) in pairs.items():
        with about(f"query {name!r}"):
            if isinstance(entry, Query):
                queries[name] = entry
            else:
                needed = for_text(values, entry)
                queries[name] = compile(entry, dialect=language, params=needed, **common)
            _check_stream(queries, name)
    return QuerySet(queries)


def _named(sources: Sources) -> dict[str, Any]:
    if isinstance(sources, str) or not isinstance(sources, Mapping | Iterable):
        raise CereusError(
            f"several queries are needed, not a {type(sources).__name__}",
            hint="give a list or a dict of query texts; for one there is cereus.compile",
        )
    if isinstance(sources, Mapping):
        named = dict(sources)
    else:
        named = {str(number): each for number, each in enumerate(sources)}
    if not named:
        raise CereusError("no query was given", hint="give a list or a dict of query texts")
    return named


def _with_dialect(entry: Any, dialect: str | None) -> tuple[Any, str | None]:
    """The query and its dialect. A pair declares its own dialect, and so does a built query."""
    if isinstance(entry, tuple) and len(entry) == 2:
        return entry
    text = text_of_source(entry)  # of a built query, which may have parameters
    return (entry, dialect) if text is entry else (text, language_of_source(entry).name)


def _check_stream(queries: Mapping[str, Query], name: str) -> None:
    """Check that all queries agree on what the columns are, since the events are read once."""
    first = next(iter(queries))
    if queries[name].stream != queries[first].stream:
        raise CereusError(
            f"it is compiled for another stream than the query {first!r}",
            hint="compile all of them with the same Stream(…)",
        )


class QuerySet:
    """Queries that read the same events. The events are read once, conditions that several queries
    have are evaluated once, and queries that differ in constants only run as one."""

    def __init__(self, queries: Mapping[str, Query]) -> None:
        self.queries = dict(queries)

    def __getitem__(self, name: str) -> Query:
        return self.queries[name]

    def __len__(self) -> int:
        return len(self.queries)

    def flat(self, schema: pa.Schema) -> QuerySet:
        """The same queries with flat columns for variables that hold one event."""
        return QuerySet({name: query.flat(schema) for name, query in self.queries.items()})

    def run(
        self, data: Any, *, sort: bool = False, progress: Progress | None = None
    ) -> dict[str, Matches]:
        """All matches of every query, by its name."""
        events = source(data, self._stream, sort=sort)
        runs = self._runs(events)
        batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in self.queries}
        for name, batch in self._result_batches(events, runs, progress):
            batches[name].append(batch)
        notes: dict[str, list[str]] = {}
        for name, query in self.queries.items():  # a comprehension is a frame in Python 3.11
            notes[name] = query.notes(events, batches[name], above=2)
        by_name = {name: run for run in runs for name in run.names.values()}
        return {
            name: Matches(
                by_name[name].schema,
                batches[name],
                query.compiled,
                events,
                by_name[name].executor.shed,
                notes[name],
                by_name[name].executor.costs,
            )
            for name, query in self.queries.items()
        }

    def batches(
        self, data: Any, *, sort: bool = False, progress: Progress | None = None
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of `run` in record batches of bounded size, each with the name of its query."""
        events = source(data, self._stream, sort=sort)
        if len(self.queries) == 1:
            ((name, query),) = self.queries.items()
            return ((name, batch) for batch in query.batches(events, progress=progress))
        return self._result_batches(events, self._runs(events), progress)

    @property
    def _stream(self) -> Stream:
        return next(iter(self.queries.values())).stream

    def _runs(self, events: Source) -> list[Running]:
        """The runs of the queries over these events; one run may be for several queries."""
        from cereus.language.together import run_together

        def alone(query: CompiledQuery) -> Executor:
            return query.executor(events.schema, row_numbers=events.row_numbers)

        compiled = {name: query.compiled for name, query in self.queries.items()}
        return run_together(compiled, events.schema, alone, row_numbers=events.row_numbers)

    def with_events(self, events: Source) -> EventRuns:
        """Runs of the queries whose matches carry their events: those of the selected variables, or
        all."""
        from cereus.language.event_results import EventResults, EventRuns

        shown = tuple(events.schema.names)
        results = {
            name: EventResults(query.compiled, shown, not query.variables)
            for name, query in self.queries.items()
        }
        return EventRuns.of(results, events.schema)

    def event_batches(
        self, events: Source, runs: EventRuns, progress: Progress | None = None
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The matches with their events, in batches, each with the name of its query."""
        by_name = {name: run for run in runs.runs for name in run.names.values()}
        for name, batch in self._result_batches(events, runs.runs, progress, every_column=True):
            yield name, runs.batch(by_name[name], name, batch)

    def _result_batches(
        self,
        events: Source,
        runs: Sequence[Running],
        progress: Progress | None,
        *,
        every_column: bool = False,
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        needed = {c for query in self.queries.values() for c in query.columns(events.schema) or ()}
        columns = [name for name in events.schema.names if name in needed or every_column]
        read = matches = 0
        for batch in events.batches(columns):
            for run in runs:
                for name, part in run.push(batch):
                    matches += part.num_rows
                    yield name, part
            read += batch.num_rows
            if progress is not None:
                progress(read, matches)
        for run in runs:
            yield from run.finish()
