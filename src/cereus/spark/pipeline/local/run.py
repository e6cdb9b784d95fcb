"""Runs a pipeline on tables in memory; every query is matched as on Spark, with the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.clauses.tree import AttributeWindow
from cereus.errors import CereusError, DataError
from cereus.language.event_results import EventResults, EventRun
from cereus.language.pattern import PatternQuery
from cereus.language.result_counts import ResultCounts
from cereus.query import Query
from cereus.rules.output import RULE
from cereus.rules.recognizer import RuleChange, RuleRecognizer
from cereus.sources import to_table
from cereus.spark.batch.ordering import places_in_order
from cereus.spark.pipeline.document import Key, PipelineError
from cereus.spark.pipeline.graph import STREAM, TYPE, Flow
from cereus.spark.pipeline.local.shaping import shaped
from cereus.spark.pipeline.local.sinks import write
from cereus.spark.pipeline.run.metrics import Metrics
from cereus.spark.pipeline.spec import FileSource

if TYPE_CHECKING:
    from cereus.spark.pipeline.pipeline import Pipeline

CHANGES = pa.schema(
    {"rule": pa.string(), "version": pa.int64(), "change": pa.string(), "error": pa.string()}
)
"""The columns of reports on changes of rules."""


def run_local(pipeline: Pipeline, report: Callable[[Metrics], None]) -> list[Metrics]:
    run = LocalRun(pipeline)
    begin = time.perf_counter()
    run.write()
    metrics = run.metrics(time.perf_counter() - begin)
    for each in metrics:
        report(each)
    return metrics


@dataclass
class LocalRun:
    """The tables of one run. All of them are made before the first sink is written."""

    pipeline: Pipeline
    tables: dict[str, pa.Table] = field(default_factory=dict)
    sources: dict[str, pa.Table] = field(default_factory=dict)
    counts: dict[str, tuple[int, int | float | None]] = field(default_factory=dict)
    """The numbers of events and of matches of every query that ran; None where it is not known."""
    changes: dict[str, list[RuleChange]] = field(default_factory=dict)
    """The changes of the rules of every folder that ran."""

    def write(self) -> None:
        sinks = self.pipeline.spec.sinks
        for sink in sinks.values():
            self.stream(sink.from_)
        for name, sink in sinks.items():
            with self.at(("sinks", name)):
                write(self.stream(sink.from_), sink, self.pipeline.document.path)

    def stream(self, name: str) -> pa.Table:
        if name not in self.tables:
            self.tables[name] = self._made(name)
        return self.tables[name]

    def _made(self, name: str) -> pa.Table:
        if name in self.pipeline.spec.streams:
            return self._of_source(name)
        if name in self.pipeline.graph.changes:
            return self._changes(name)
        writers = self.pipeline.graph.written[name]
        with self.at(("queries", writers[-1], "into")):
            return _union([self._matches(query) for query in writers])

    def _of_source(self, name: str) -> pa.Table:
        of = self.pipeline.spec.streams[name]
        if of.source not in self.sources:
            with self.at(("sources", of.source)):
                source = self.pipeline.spec.sources[of.source]
                assert isinstance(source, FileSource)
                self.sources[of.source] = to_table(source.files())
        with self.at(("streams", name)):
            return _zoned(shaped(self.sources[of.source], of.select, of.where), of.time)

    # ------------------------------------------------------------ matching

    def _matches(self, name: str) -> pa.Table:
        if name in self.pipeline.spec.rules:
            return self._matches_of_rules(name)
        of, query = self.pipeline.spec.queries[name], self.pipeline.queries[name]
        flows = [self.pipeline.graph.flow(each) for each in of.from_]
        with self.at(("queries", name, "from")):
            events = self._joined(flows)
        with self.at(("queries", name)):
            query.compiled.check(events.schema)
            ordered = _ordered(events, query, flows[0])
            shown = of.columns or tuple(events.column_names)
            results = EventResults(query.compiled, shown, of.events)
            every, counts = matched(results, ordered)
            self.counts[name] = events.num_rows, counts.matches
            matches = shaped(every, of.select, of.where)
            return _typed(matches, of.type or name, declared=of.type is not None)

    def _matches_of_rules(self, name: str) -> pa.Table:
        of, rules = self.pipeline.spec.rules[name], self.pipeline.rules[name]
        flows = [self.pipeline.graph.flow(each) for each in of.from_]
        with self.at(("rules", name, "from")):
            events = self._joined(flows)
        with self.at(("rules", name)):
            recognizer = RuleRecognizer(
                stream=rules.stream, schema=events.schema, rules=rules.rules, limits=rules.limits
            )
            self.changes[name] = recognizer.changes
            order = (str(rules.stream.time), *flows[0].tie, *events.column_names)
            ordered = _sorted(events, [(each,) for each in order])
            results = pa.concat_tables([recognizer.push(ordered), recognizer.finish()])
            matches = shaped(results, of.select, of.where)
            self.counts[name] = events.num_rows, matches.num_rows
            named = RULE in matches.column_names and TYPE not in matches.column_names
            if of.type is None and named:
                return matches.add_column(0, TYPE, matches.column(RULE))
            return _typed(matches, of.type or name, declared=of.type is not None)

    def _changes(self, stream: str) -> pa.Table:
        """The changes of rules as a table."""
        name = self.pipeline.graph.changes[stream]
        self.stream(self.pipeline.graph.into(name))
        rows = [asdict(each) for each in self.changes[name]]
        return pa.Table.from_pylist(rows, CHANGES)

    def _joined(self, flows: Sequence[Flow]) -> pa.Table:
        """The events that a query reads. Several streams are joined under the column names of the
        first one, and every event says its stream."""
        tables = [self.stream(flow.name) for flow in flows]
        if len(flows) == 1:
            return tables[0]
        return _union(
            [
                _renamed(table, flow, flows[0]).append_column(
                    STREAM, pa.array([flow.name] * table.num_rows, pa.string())
                )
                for flow, table in zip(flows, tables, strict=True)
            ]
        )

    # ------------------------------------------------------------ what came of it

    def metrics(self, seconds: float) -> list[Metrics]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return [
            Metrics.of_run(name, now, *self.counts[name], seconds)
            for name in self.pipeline.graph.order
            if name in self.counts
        ]

    @contextmanager
    def at(self, key: Key) -> Iterator[None]:
        """Turn errors inside into problems with this key of the file."""
        document = self.pipeline.document
        try:
            yield
        except PipelineError:
            raise  # it has its place already
        except CereusError as error:
            place = (*key, "text") if key[0] == "queries" and len(key) == 2 else key
            document.wrong_query(place if place in document.spans else key, error)
        document.check()


def matched(results: EventResults, events: pa.Table) -> tuple[pa.Table, ResultCounts]:
    """The results, and what they are."""
    run = EventRun.of(results, events.schema)
    batches = []
    for batch in events.combine_chunks().to_batches():
        batches += [results.batch(part, run.executor) for part in run.executor.push(batch)]
    batches += [results.batch(part, run.executor) for part in run.executor.finish()]
    return pa.Table.from_batches(batches, run.schema), ResultCounts.of(batches, results.query)


def _ordered(events: pa.Table, query: Query, flow: Flow) -> pa.Table:
    """The events in the order of time; events of one time are ordered by their values, as on
    Spark."""
    order = query.stream.time or flow.order
    assert order is not None
    read = {path[0] for path in query.compiled.columns(events.schema)} | {order, *flow.tie}
    window: list[tuple[str, ...]] = []
    compiled = query.compiled
    if isinstance(compiled, PatternQuery) and isinstance(compiled.tree.window, AttributeWindow):
        window = [compiled.tree.window.attribute]
    needed = [name for name in events.column_names if name in read]
    names = [(name,) for name in (*flow.tie, *needed, *events.column_names)]
    paths = dict.fromkeys([(order,), *window, *names])
    return _sorted(events, paths)


def _sorted(events: pa.Table, paths: Iterable[tuple[str, ...]]) -> pa.Table:
    ordered = dict.fromkeys(paths)
    return events.take(places_in_order(events, ordered)) if events.num_rows > 1 else events


def _zoned(table: pa.Table, name: str | None) -> pa.Table:
    """Times without a zone are in UTC, as in a pipeline on Spark."""
    if name is None or name not in table.column_names:
        return table
    kind = table.schema.field(name).type
    if not pa.types.is_timestamp(kind) or kind.tz is not None:
        return table
    place = table.column_names.index(name)
    return table.set_column(place, name, table.column(name).cast(pa.timestamp(kind.unit, "UTC")))


def _renamed(table: pa.Table, flow: Flow, first: Flow) -> pa.Table:
    """The table with the names of the first stream for type and time."""
    names = {flow.stream.type: first.stream.type, flow.stream.time: first.stream.time}
    new = {old: name for old, name in names.items() if old and name and old != name}
    for old, name in new.items():
        if name in table.column_names:
            raise DataError(
                f"in the stream {flow.name!r} {old!r} is to be called {name!r}, as in the first "
                "stream, but there is such a column already",
                hint="rename one of them with select = […]",
            )
    return table.rename_columns([new.get(each, each) for each in table.column_names])


def _union(tables: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"the streams cannot be put together: {reason}",
            hint="give the column one type in all of them: select = […]",
        ) from None


def _typed(matches: pa.Table, kind: str, *, declared: bool) -> pa.Table:
    """Matches as events: their type is the name of their query."""
    if TYPE not in matches.column_names:
        types = pa.array([kind] * matches.num_rows, pa.string())
        return matches.add_column(0, TYPE, types)
    if declared:
        raise DataError(
            f"the matches have a column {TYPE!r} already", hint="choose others with select = […]"
        )
    return matches
