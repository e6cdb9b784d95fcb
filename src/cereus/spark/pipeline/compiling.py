"""Compiles the queries of a pipeline before Spark starts: for the columns of their streams, if
these are known by then. Errors in a query are shown in the pipeline file."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from cereus.column_types import named_schema
from cereus.errors import CereusError, DataError, QueryError, QuerySyntaxError, did_you_mean
from cereus.language import registry
from cereus.language.protocol import Language
from cereus.limits import Limits
from cereus.query import Query, compile
from cereus.rules.rule import rules_in
from cereus.sources import scan
from cereus.spark.pipeline.document import Document, Key
from cereus.spark.pipeline.graph import Graph
from cereus.spark.pipeline.kinds import Location
from cereus.spark.pipeline.rules import CheckedRules, refused_in
from cereus.spark.pipeline.spec import (
    FileSource,
    KafkaSource,
    RateSource,
    Source,
    Spec,
    StreamOf,
)
from cereus.syntax.literals import microseconds, split_duration

AVAILABLE_NOW = "available now"
SELF_DESCRIBING = ("parquet", "orc")


class Compiling:
    def __init__(self, document: Document, graph: Graph) -> None:
        self.document, self.spec, self.graph = document, graph.spec, graph
        self.wrong = document.wrong

    def queries(self) -> dict[str, Query]:
        """The queries by name, in the order in which they run."""
        compiled = {name: self.query(name) for name in self.sound if name in self.spec.queries}
        queries = {name: query for name, query in compiled.items() if query is not None}
        if self.spec.live:
            for name in (*queries, *self.spec.rules):
                self.check_emitted_in_time(name, queries)
        return queries

    @property
    def _order(self) -> tuple[str, ...]:
        try:
            return self.graph.order
        except graphlib.CycleError:
            return ()  # this has been reported

    def check_emitted_in_time(self, name: str, queries: Mapping[str, Query]) -> None:
        """Refuse to read matches that are emitted late. Those of rules may be: rules may wait for
        time to pass, now or after they have changed."""
        table = "rules" if name in self.spec.rules else "queries"
        for stream in self.spec.matched[name].from_:
            writers = self.graph.written.get(stream, ())
            late = [each for each in writers if each in queries]
            ruled = any(each in self.spec.rules for each in writers)
            if ruled or any(queries[each].compiled.emits_late for each in late):
                error = emitted_late(stream)
                self.wrong((table, name, "from"), error.message, error.hint)

    # ------------------------------------------------------------ rules

    def rules(self) -> dict[str, CheckedRules]:
        """The rules of every folder, by the name of their table."""
        checked = {name: self.folder(name) for name in self._order if self._has_rules(name)}
        return {name: each for name, each in checked.items() if each is not None}

    def _has_rules(self, name: str) -> bool:
        return name in self.spec.rules and name in self.sound

    def folder(self, name: str) -> CheckedRules | None:
        of, key = self.spec.rules[name], ("rules", name)
        stream = self.graph.read_by(name)
        limits = self.limits((*key, "limits"), of.limits, None)
        if stream.time is None:
            message = f"rules need a time, and the stream {of.from_[0]!r} has none"
            self.wrong((*key, "from"), message, 'time = "some_column" in its table')
            return None
        try:
            rules = rules_in(str(of.folder))
        except CereusError as error:
            self.wrong((*key, "folder"), error.message, error.hint)
            return None
        try:
            refused = refused_in(rules, stream, self.columns_read(name), limits)
        except CereusError as error:
            self.wrong((*key, "keys") if of.keys else key, error.message, error.hint)
            return None
        return CheckedRules(str(of.folder), stream, limits, tuple(rules), tuple(refused))

    # ------------------------------------------------------------ queries

    @cached_property
    def sound(self) -> dict[str, None]:
        """The queries and rules whose inputs have no errors, each after those that it reads: so
        only their own errors are reported, not those of others again."""
        sound: dict[str, None] = {}
        for name in self._order:
            if all(self._is_sound_stream(each, sound) for each in self.spec.matched[name].from_):
                sound[name] = None
        return sound

    def _is_sound_stream(self, name: str, sound: dict[str, None]) -> bool:
        if name in self.spec.streams:
            source = self.spec.streams[name].source
            return self.document.is_sound(("streams", name)) and self.document.is_sound(
                ("sources", source)
            )
        writers = self.graph.written.get(name, ())
        return bool(writers) and all(writer in sound for writer in writers)

    def query(self, name: str) -> Query | None:
        of, key = self.spec.queries[name], ("queries", name)
        stream, schema = self.graph.read_by(name), self.columns_read(name)
        if stream.time is None and self.graph.flow(of.from_[0]).order is None:
            self.no_order(name)
            return None
        text, where = self.text(key, of.text, of.file)
        if text is None:
            return None
        try:
            limits = self.limits((*key, "limits"), of.limits, of.language)
            options: dict[str, Any] = dict(of.options)
            return compile(
                text,
                dialect=of.language,
                stream=stream,
                schema=schema,
                limits=limits,
                params=of.params,
                **options,
            )
        except CereusError as error:
            self.wrong_query(name, where, error)
            return None

    def wrong_query(self, name: str, where: str, error: CereusError) -> None:
        of, key = self.spec.queries[name], ("queries", name)
        if of.language not in registry.names():
            self.wrong((*key, "dialect"), error.message, error.hint)
        elif of.options and not isinstance(error, QueryError):
            self.wrong((*key, "options"), error.message, error.hint)
        elif where == "text":
            self.document.wrong_query((*key, "text"), error)
        else:
            self.wrong((*key, where), error.message, error.hint)

    def no_order(self, name: str) -> None:
        stream = self.spec.queries[name].from_[0]
        if stream in self.spec.streams:
            message = f"the stream {stream!r} has no time column: which column orders its events?"
            self.wrong(("streams", stream), message, 'time = "some_column", or order = "…"')
        else:
            message = f"the matches in {stream!r} have no time, because what they are of has none"
            self.wrong(("queries", name, "from"), message, "give the stream of the source a time")

    def text(self, key: Key, text: str | None, file: Location | None) -> tuple[str | None, str]:
        if (text is None) == (file is None):
            there = "are both there" if text is not None else "are both missing"
            self.wrong(key, f"the keys 'text' and 'file' {there}", "give one of the two")
            return None, "text"
        if text is not None:
            return text, "text"
        try:
            return Path(str(file)).read_text(encoding="utf-8"), "file"
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.wrong((*key, "file"), f"cannot read {str(file)!r}: {reason}", "check the path")
            return None, "file"

    def limits(self, key: Key, values: Mapping[str, Any], dialect: str | None) -> Limits:
        """The limits that the language has; unknown ones are refused elsewhere. Rules may be of any
        language."""
        language = registry.language(dialect) if dialect in registry.names() else Language
        known = language.limits if dialect else tuple(each.name for each in fields(Limits))
        check_known(self.document, key, values, known, "limit")
        return Limits(**{name: value for name, value in values.items() if name in known})

    def columns_read(self, name: str) -> pa.Schema | None:
        """The columns that a query reads, if they are known without Spark."""
        streams = self.spec.matched[name].from_
        if len(streams) > 1 or streams[0] not in self.spec.streams:
            return None
        return stream_columns(self.spec, self.spec.streams[streams[0]])


def emitted_late(stream: str) -> DataError:
    """The error for matches that Spark would take for late events, and drop."""
    return DataError(
        f"the matches in {stream!r} are emitted after their time has passed, when it is certain "
        "that nothing follows: live, no query can read them",
        hint="write them to a sink, and read that in a pipeline of its own",
    )


def check_known(
    document: Document, key: Key, names: Iterable[str], known: Iterable[str], what: str
) -> None:
    for name in names:
        if name not in known:
            document.wrong(key, f"there is no {what} {name!r}", did_you_mean(name, known))


def check_duration(document: Document, key: Key, text: str | None, *, zero: bool = True) -> None:
    if text is None or (key[-1] == "trigger" and text == AVAILABLE_NOW):
        return
    amounts = split_duration(text)
    try:
        length = -1 if not amounts else microseconds(amounts, (0, 0))
    except QuerySyntaxError as error:
        document.wrong(key, error.reason, error.hint)
        return
    if length < 0 or (length == 0 and not zero):
        more = f' or "{AVAILABLE_NOW}"' if key[-1] == "trigger" else ""
        document.wrong(key, f"{text!r} is not a length of time", f'write "10 seconds"{more}')


# ---------------------------------------------------------------- columns


def stream_columns(spec: Spec, of: StreamOf) -> pa.Schema | None:
    """The columns of a stream, if they are known without Spark."""
    return None if of.select else known_columns(spec.sources[of.source])


def known_columns(of: Source) -> pa.Schema | None:
    """The columns of a source as far as they can be known without Spark."""
    if isinstance(of, RateSource):
        return pa.schema({"timestamp": pa.timestamp("us"), "value": pa.int64()})
    if isinstance(of, FileSource | KafkaSource) and of.schema is not None:
        try:
            return named_schema(of.schema)
        except CereusError:
            return None
    if isinstance(of, FileSource) and of.format in SELF_DESCRIBING and is_local(of.path):
        try:
            columns = scan(of.files()).schema
        except (DataError, OSError):
            return None  # patterns of paths, unusual layouts: Spark may read them
        return columns if columns.names else None
    return None


def is_local(path: Location) -> bool:
    return "://" not in path
