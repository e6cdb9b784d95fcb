"""The graph of a pipeline: who writes and reads each stream, its columns, and the order of the
queries."""

from __future__ import annotations

import graphlib
from dataclasses import dataclass, replace
from functools import cached_property

from cereus.language.protocol import Language
from cereus.language.registry import language, names
from cereus.spark.pipeline.sinks.spec import Sink
from cereus.spark.pipeline.spec import QueryOf, RuleFolder, Spec, StreamOf
from cereus.stream import Stream

NO_COLUMN = "none"
TYPE = "type"
"""The column with the query of a match, where matches are events."""
STREAM = "stream"
"""The column with the stream of an event, if a query reads several."""


@dataclass(frozen=True)
class Flow:
    """A stream by name: of a source, or written by queries.

    stream     which columns are what
    queries    the queries that write it; () for a stream of a source
    """

    name: str
    stream: Stream
    queries: tuple[str, ...] = ()
    of: StreamOf | None = None

    @property
    def tie(self) -> tuple[str, ...]:
        return self.of.tie if self.of else ()

    @property
    def order(self) -> str | None:
        return self.of.order if self.of else None


@dataclass(frozen=True)
class Graph:
    """The streams of a pipeline with their writers and readers."""

    spec: Spec

    @cached_property
    def written(self) -> dict[str, tuple[str, ...]]:
        """The queries and rules that write each stream of matches."""
        written: dict[str, tuple[str, ...]] = {}
        for name, of in self.spec.matched.items():
            into = of.into or name
            written[into] = (*written.get(into, ()), name)
        return written

    @cached_property
    def changes(self) -> dict[str, str]:
        """The streams of changes of rules, each with the name of the rules."""
        return {of.changes or f"{name}_changes": name for name, of in self.spec.rules.items()}

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.spec.streams, *self.written, *self.changes)))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The queries and rules, each after those that it reads. `graphlib.CycleError` if there
        is no such order."""
        before = {
            name: [writer for stream in query.from_ for writer in self.written.get(stream, ())]
            for name, query in self.spec.matched.items()
        }
        return tuple(graphlib.TopologicalSorter(before).static_order())

    def into(self, query: str) -> str:
        return self.spec.matched[query].into or query

    def readers(self, stream: str) -> list[QueryOf | RuleFolder | Sink]:
        everyone = (*self.spec.matched.values(), *self.spec.sinks.values())
        return [each for each in everyone if stream in _read(each)]

    # ------------------------------------------------------------ which columns are what

    def flow(self, name: str) -> Flow:
        if name in self.spec.streams:
            of = self.spec.streams[name]
            kind = None if of.type.lower() == NO_COLUMN else of.type
            stream = Stream(type=kind, time=of.time, keys=of.keys, stream=of.stream, unit=of.unit)
            return Flow(name, stream, of=of)
        first = self.written[name][0]
        read = self.read_by(first)
        time = None if read.time is None else self._result_time(first)
        return Flow(name, Stream(type=TYPE, time=time, unit=read.unit), self.written[name])

    def _result_time(self, query: str) -> str:
        """The column of its matches that has their time. An unknown language is refused
        elsewhere."""
        if query in self.spec.rules:
            return Language.result_time
        dialect = self.spec.queries[query].language
        return (language(dialect) if dialect in names() else Language).result_time

    def read_by(self, query: str) -> Stream:
        """The stream that a query, or rules, are compiled for. Of several streams the first one
        gives the names of the columns, and one more column has the stream of an event."""
        of = self.spec.matched[query]
        stream = self.flow(of.from_[0]).stream
        if len(of.from_) > 1:
            stream = replace(stream, stream=STREAM)
        return replace(stream, keys=of.keys) if of.keys else stream


def _read(reader: QueryOf | RuleFolder | Sink) -> tuple[str, ...]:
    return (reader.from_,) if isinstance(reader.from_, str) else reader.from_
