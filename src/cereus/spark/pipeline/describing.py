"""The text of `--dry-run`: sources → streams → queries → sinks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cereus.language.compiled import sections
from cereus.query import Query
from cereus.spark.pipeline.graph import STREAM, Graph
from cereus.spark.pipeline.rules import CheckedRules
from cereus.spark.pipeline.sinks.spec import (
    FileSink,
    ForeachSink,
    KafkaSink,
    MergeSink,
    Sink,
    WebhookSink,
)
from cereus.spark.pipeline.spec import FileSource, KafkaSource, RateSource, Source, Spec
from cereus.stream import Stream

SUMMARY = ("stages", "memory", "bounds")
"""The parts of an explanation that tell what will run, and what it will hold."""
LEFT_OUT = ("lang ", "rewrite ")
"""Stages that only concern the text, which is shown above."""


def describe(
    file: str, spec: Spec, queries: Mapping[str, Query], rules: Mapping[str, CheckedRules]
) -> str:
    graph = Graph(spec)
    parts = {
        "pipeline": _pipeline_lines(file, spec),
        "sources": _rows((name, _source(of)) for name, of in spec.sources.items()),
        "streams": _rows((name, _stream(graph, name)) for name in spec.streams),
        "queries": _queries(graph, queries),
        "rules": _rows((name, _rules(graph, name, of)) for name, of in rules.items()),
        "sinks": _rows((name, _sink(of)) for name, of in spec.sinks.items()),
        "warnings": list(warnings(graph, queries, rules)),
    }
    return sections(parts)


def warnings(
    graph: Graph, queries: Mapping[str, Query], rules: Mapping[str, CheckedRules]
) -> Iterator[str]:
    """Warnings that a person should read before the pipeline runs."""
    for name, query in queries.items():
        yield from (f"{name}: {warning}" for warning in query.warnings)
    for name, of in rules.items():
        yield from (f"{name}: {warning}" for warning in of.warnings())
    for stream in graph.names:
        if not graph.readers(stream) and stream not in graph.changes:
            yield f"nothing reads the stream {stream!r}"
    if graph.spec.live and graph.spec.trigger is None and not graph.spec.matched:
        yield "no query: events are only copied"


def _pipeline_lines(file: str, spec: Spec) -> list[str]:
    if spec.local:
        return [f"{file}: {spec.mode} in this process"]
    lines = [f"{file}: {spec.mode} on Spark, {spec.spark.master}"]
    if spec.live:
        lines.append(f"checkpoint {spec.checkpoint}")
        lines.append(f"trigger    {spec.trigger or 'as soon as there are events'}")
    return lines + [f"{name} = {value}" for name, value in spec.spark.conf.items()]


def _rows(rows: Iterable[tuple[str, str]]) -> list[str]:
    listed = list(rows)
    width = max((len(name) for name, _ in listed), default=0)
    return [f"{name:{width}}  {text}" for name, text in listed]


def _source(of: Source) -> str:
    if isinstance(of, FileSource):
        return f"{of.format} {of.path}"
    if isinstance(of, KafkaSource):
        return f"kafka {', '.join(of.topic)} at {of.servers}"
    if isinstance(of, RateSource):
        return f"rate, {of.rows_per_second} rows a second"
    return f"table {of.table}"


def _stream(graph: Graph, name: str) -> str:
    of = graph.spec.streams[name]
    text = f"{of.source} → {roles(graph.flow(name).stream)}"
    text += f"; where {of.where}" if of.where else ""
    if graph.spec.live:
        text += f"; watermark {of.watermark or graph.spec.watermark or '–'}"
    return text


def roles(stream: Stream) -> str:
    """`type: type, time: ts, keys: name`"""
    columns = {
        "type": stream.type or "none (every event is an EVENT)",
        "time": stream.time,
        "keys": ", ".join(stream.keys),
        "unit": stream.unit,
        "stream": stream.stream if stream.stream != STREAM else None,
    }
    return ", ".join(f"{role}: {column}" for role, column in columns.items() if column)


def _queries(graph: Graph, queries: Mapping[str, Query]) -> list[str]:
    """The queries in the order in which they run, so that each comes below those it reads."""
    lines = []
    for name in graph.order:
        if name not in queries:
            continue
        of = graph.spec.queries[name]
        lines.append(f"{name}  {' + '.join(of.from_)} → {graph.into(name)} ({of.language})")
        lines += [f"    {line}" for line in _text(queries[name])]
        lines += [f"    {part}" for part in _shaping(of.select, of.where)]
        lines += [f"    {line}" for line in _summary(queries[name])]
    return lines


def _rules(graph: Graph, name: str, rules: CheckedRules) -> str:
    of = graph.spec.rules[name]
    text = f"{' + '.join(of.from_)} → {graph.into(name)} ({rules.summary} in {rules.folder})"
    return "; ".join([text, *_shaping(of.select, of.where)])


def _text(query: Query) -> list[str]:
    lines = [line.rstrip() for line in query.text.strip().splitlines()]
    indent = min((len(x) - len(x.lstrip()) for x in lines[1:] if x.strip()), default=0)
    return [lines[0], *(line[indent:] for line in lines[1:] if line.strip())]


def _shaping(select: tuple[str, ...], where: str | None) -> Iterator[str]:
    if where:
        yield f"where     {where}"
    if select:
        yield f"select    {', '.join(select)}"


def _summary(query: Query) -> Iterator[str]:
    for title, body in explained(query).items():
        lines = [line for line in body if not line.startswith(LEFT_OUT)]
        for place, line in enumerate(lines if title in SUMMARY else ()):
            yield f"{title if place == 0 else '':8}  {line}"


def explained(query: Query) -> dict[str, list[str]]:
    """The sections of an explanation, by title."""
    parts = (part.splitlines() for part in query.explain().split("\n\n"))
    return {first: [line.strip() for line in rest] for first, *rest in parts}


def _sink(of: Sink) -> str:
    return f"{of.from_} → {target(of)}"


def target(of: Sink) -> str:
    """`parquet out/alerts`"""
    if isinstance(of, FileSink):
        return f"{of.format} {of.path}" + (f" ({of.write})" if of.write else "")
    if isinstance(of, ForeachSink):
        return f"the function {of.function}"
    if isinstance(of, KafkaSink):
        return f"kafka {of.topic} at {of.servers}"
    if isinstance(of, MergeSink):
        return f"merged into {of.table} by {', '.join(of.identity)}"
    if isinstance(of, WebhookSink):
        return f"webhook {of.url}" + (f", once per {of.once_per}" if of.once_per else "")
    return f"{of.format} {getattr(of, 'table', '')}".rstrip()
