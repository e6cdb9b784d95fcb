"""Checks a pipeline before Spark starts: names, files, queries, columns."""

from __future__ import annotations

import graphlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from cereus.column_types import named_schema
from cereus.errors import CereusError, DataError, did_you_mean
from cereus.language import registry
from cereus.query import Query
from cereus.sources import Files, scan
from cereus.sources.places import EventFile, is_remote, matching, places
from cereus.sources.reading.delimited import CsvReader
from cereus.spark.files import refused_directory
from cereus.spark.pipeline.compiling import (
    SELF_DESCRIBING,
    Compiling,
    check_duration,
    check_known,
    is_local,
    known_columns,
    stream_columns,
)
from cereus.spark.pipeline.document import Document, Key
from cereus.spark.pipeline.graph import Graph
from cereus.spark.pipeline.kinds import Location
from cereus.spark.pipeline.rules import CheckedRules
from cereus.spark.pipeline.run.prometheus import parsed
from cereus.spark.pipeline.sinks.checking import SinkChecker
from cereus.spark.pipeline.sinks.spec import ConsoleSink, FileSink, ForeachSink, WebhookSink
from cereus.spark.pipeline.spec import FileSource, QueryOf, RuleFolder, Spec, StreamOf
from cereus.writing.target import FORMATS

COUNTS = ("max_files", "rows_per_second", "rows")
"""Keys of sources that are numbers."""
HERE = 'engine = "spark"; in this process there are files without options, console and foreach'


def check(document: Document, spec: Spec) -> tuple[dict[str, Query], dict[str, CheckedRules]]:
    """The queries of the pipeline, compiled, and its rules. All problems are raised at once."""
    graph = Graph(spec)
    checker = Checker(document, graph)
    checker.check_top()
    checker.check_names()
    checker.check_sources()
    checker.check_streams()
    SinkChecker(document, graph).check()
    compiling = Compiling(document, graph)
    queries, rules = compiling.queries(), compiling.rules()
    document.check()
    return queries, rules


class Checker:
    def __init__(self, document: Document, graph: Graph) -> None:
        self.document, self.spec, self.graph = document, graph.spec, graph
        self.wrong = document.wrong

    # ------------------------------------------------------------ the whole

    def check_top(self) -> None:
        if not self.spec.sinks:
            self.wrong(
                (), "nothing is written: there are no sinks", "add a table [sinks.some_name]"
            )
        for key in ("watermark", "trigger"):
            check_duration(self.document, (key,), getattr(self.spec, key), zero=key == "watermark")
        if self.spec.prometheus is not None:
            try:
                parsed(self.spec.prometheus)
            except CereusError as error:
                self.wrong(("prometheus",), error.message, error.hint)
        if self.spec.local:
            self.check_local()
        if self.spec.live:
            self.check_checkpoint(self.spec.checkpoint)

    def check_checkpoint(self, place: Location | None) -> None:
        """Check the place where Spark and Cereus write while they run."""
        if place is None:
            hint = 'checkpoint = "checkpoints/some_name"; Spark keeps its progress there'
            self.wrong((), "a live pipeline needs the key 'checkpoint'", hint)
        elif is_local(place):
            refused = refused_directory(Path(place))
            if refused is not None:
                self.wrong(("checkpoint",), *refused)

    def check_local(self) -> None:
        """Check that a pipeline without Spark has only existing files, and sinks that need no
        session."""
        if self.spec.live:
            self.wrong(
                ("mode",), "a live pipeline needs Spark", 'mode = "batch", or engine = "spark"'
            )
        for name, source in self.spec.sources.items():
            if not isinstance(source, FileSource) or not source.described or source.options:
                message = f"the source {name!r} is read by Spark"
                self.wrong(("sources", name), message, HERE)
        for name, sink in self.spec.sinks.items():
            known = isinstance(sink, ConsoleSink | ForeachSink | WebhookSink) or (
                isinstance(sink, FileSink)
                and sink.format in FORMATS
                and not (sink.options or sink.partition_by)
            )
            if not known:
                self.wrong(("sinks", name), f"the sink {name!r} is written by Spark", HERE)

    def check_names(self) -> None:
        """Check that every stream that is read exists, under one name, and that no query waits for
        itself."""
        for name in self.spec.streams:
            for query in self.graph.written.get(name, ()):
                message = f"the query {query!r} writes this stream, which is one of a source"
                self.wrong(("streams", name), message, "rename one of the two, or say into = …")
        for name, query_of in self.spec.queries.items():
            self.check_reads(("queries", name, "from"), query_of.from_)
            self.check_idle(name, query_of)
        for name, rules in self.spec.rules.items():
            self.check_reads(("rules", name, "from"), rules.from_)
            self.check_rules(name, rules)
        try:
            _ = self.graph.order
        except graphlib.CycleError as error:
            around = list(reversed(error.args[1]))
            message = f"queries read each other in a circle: {' → '.join(around)}"
            self.wrong(
                ("queries", around[0], "from"), message, "let one of them read another stream"
            )

    def check_reads(self, key: Key, names: tuple[str, ...]) -> None:
        check_known(self.document, key, names, self.graph.names, "stream")
        if not names:
            self.wrong(key, "this reads at least one stream")
        for name in names:
            if name in self.graph.changes:
                message = f"{name!r} has reports on rules: rows for a sink, and no events"
                self.wrong(key, message, "read it in a sink")

    def check_rules(self, name: str, of: RuleFolder) -> None:
        """Check that the names of rules are unique, and that their files are on this machine, where
        the driver runs."""
        key = ("rules", name)
        if name in self.spec.queries:
            self.wrong(key, "a query has this name already", "rename one of the two")
        taken = (*self.spec.streams, *self.graph.written)
        changes = of.changes or f"{name}_changes"
        if changes in taken or list(self.graph.changes.values()).count(name) != 1:
            message = f"there are two streams {changes!r}"
            self.wrong((*key, "changes"), message, 'changes = "some_other_name"')
        if not is_local(of.folder):
            message = "rules are read where the pipeline is started"
            self.wrong((*key, "folder"), message, "name a folder of that machine")

    def check_idle(self, name: str, of: QueryOf) -> None:
        """Check that `idle` is about a source."""
        key = ("queries", name, "idle")
        check_duration(self.document, key, of.idle)
        behind = [each for each in of.from_ if each not in self.spec.streams]
        if of.idle is not None and behind:
            message = f"idle is for queries of sources, and {behind[0]!r} is written by a query"
            self.wrong(key, message, "leave it out")

    # ------------------------------------------------------------ sources and streams

    def check_sources(self) -> None:
        for name, each in self.spec.sources.items():
            key = ("sources", name)
            for name_ in ("schema", "types"):
                if (columns := getattr(each, name_, None)) is not None:
                    self.schema((*key, name_), columns)
            for name_ in COUNTS:
                if (count := getattr(each, name_, None)) is not None and count < 1:
                    self.wrong((*key, name_), f"at least 1 is needed, not {count}")
            if isinstance(each, FileSource):
                self.check_files(key, each)

    def check_files(self, key: Key, files: FileSource) -> None:
        if files.described and self.document.is_sound(key):
            self.check_description(key, files)
        if is_local(files.path) and not _exists(files.path):
            hint = "check the path; it is seen from the directory of the pipeline file"
            self.wrong((*key, "path"), f"there is no file {str(files.path)!r}", hint)
        if self.spec.live and files.schema is None and files.format in ("csv", "json"):
            message = f"live {files.format} needs the key 'schema': its files do not say types"
            self.wrong(key, message, 'schema = { type = "string", ts = "timestamp" }')
        if self.spec.live and is_local(files.path):
            self.check_directory(key, files)

    def check_description(self, key: Key, files: FileSource) -> None:
        """Check how files are read, and that CSV files have the columns that are declared."""
        try:
            described = files.files()
            if files.format == "csv" and files.schema is not None and not files.header:
                for place in _csv_files(described):
                    CsvReader(described).names(place)
        except CereusError as error:
            self.wrong(key, error.message, error.hint)

    def check_directory(self, key: Key, files: FileSource) -> None:
        """Check that a directory that keeps filling has declared columns, or a file that has
        them."""
        path = Path(files.path)
        if path.is_file():
            hint = "new files will come: name the directory"
            self.wrong((*key, "path"), "a live source is a directory, not a file", hint)
        elif files.format in SELF_DESCRIBING and path.is_dir() and known_columns(files) is None:
            hint = 'schema = { type = "string", ts = "timestamp" }'
            if (reason := _unread(files)) is None:
                self.wrong(key, "no file says the columns yet: the key 'schema' is needed", hint)
            else:
                message = f"the files do not say the columns: {reason.message}"
                self.wrong((*key, "path"), message, reason.hint or hint)

    def schema(self, key: Key, columns: Mapping[str, Any]) -> pa.Schema | None:
        try:
            return named_schema(columns)
        except CereusError as error:
            self.wrong(key, error.message, error.hint)
            return None

    def check_streams(self) -> None:
        for name, of in self.spec.streams.items():
            key = ("streams", name)
            check_known(self.document, (*key, "source"), [of.source], self.spec.sources, "source")
            check_duration(self.document, (*key, "watermark"), of.watermark)
            if of.source in self.spec.sources:
                self.check_columns(key, of, stream_columns(self.spec, of), self.is_typed(name))
            if self.spec.live:
                self.check_live(key, name, of)

    def is_typed(self, stream: str) -> bool:
        """Whether a query of this stream needs types of events."""
        readers = [query for query in self.spec.queries.values() if stream in query.from_]
        dialects = [query.language for query in readers]
        if any(stream in rules.from_ for rules in self.spec.rules.values()):
            return True
        return not dialects or any(
            each not in registry.names() or registry.language(each).typed for each in dialects
        )

    def check_columns(
        self, key: Key, of: StreamOf, known: pa.Schema | None, is_typed: bool
    ) -> None:
        if known is None:
            return
        for name in ("type", "time", "keys", "stream", "tie", "order"):
            declared = getattr(of, name)
            columns = [declared] if isinstance(declared, str) else declared or ()
            declares = (*key, name) in self.document.spans
            if name == "type" and (of.type.lower() == "none" or not (is_typed or declares)):
                continue
            for column in columns:
                if column.split(".")[0] not in known.names:
                    hint = did_you_mean(column, known.names)
                    if name == "type" and not declares:
                        hint = 'name it: type = "…"; type = "none" when every event is an EVENT'
                    self.wrong((*key, name), f"the events have no column {column!r}", hint)

    def check_live(self, key: Key, name: str, of: StreamOf) -> None:
        matched = any(name in each.from_ for each in self.spec.matched.values())
        if matched and of.time is None:
            self.wrong(key, "live events need a time column", 'time = "some_column"')
        if matched and of.watermark is None and self.spec.watermark is None:
            hint = 'watermark = "10 seconds" here, or at the top for all streams'
            self.wrong(key, "how late may events come? the key 'watermark' is missing", hint)


def _unread(files: FileSource) -> CereusError | None:
    """Why existing files cannot be read; None if there are none."""
    try:
        described = files.files()
        places(described)
    except (DataError, OSError):
        return None
    try:
        _ = scan(described).schema
    except (DataError, OSError) as error:
        return error if isinstance(error, DataError) else DataError(str(error))
    return None


def _csv_files(files: Files) -> list[EventFile]:
    """The CSV files that exist here; Spark checks those elsewhere."""
    try:
        return [] if is_remote(files.paths[0]) else places(files)[0]
    except DataError:
        return []


def _exists(path: Location) -> bool:
    """Whether a file exists, or one that a pattern such as `data/*.csv` names."""
    try:
        return any(Path(each).exists() for each in matching(path))
    except DataError:
        return False
