"""Sinks: where the rows of a stream go, batch or live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from cereus.spark.files import CSV, flat
from cereus.spark.pipeline.sinks.checking import function_of
from cereus.spark.pipeline.sinks.posting import hook_of, recent_of
from cereus.spark.pipeline.sinks.spec import (
    ConsoleSink,
    FileSink,
    ForeachSink,
    KafkaSink,
    MemorySink,
    MergeSink,
    Sink,
    TableSink,
    WebhookSink,
)
from cereus.spark.quoting import quoted
from cereus.spark.sinks.identity import check_identity
from cereus.spark.sinks.merge import Merge
from cereus.spark.sinks.webhook import Posting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@dataclass(frozen=True)
class SinkHome:
    """The surroundings of a sink: functions may lie beside the pipeline file, and another file
    remembers what it has sent from one run to the next."""

    file: Path
    sent: Path | None = None


def write(frame: DataFrame, sink: Sink, file: Path) -> None:
    """Write all rows now. `file` is the pipeline file."""
    if isinstance(sink, ConsoleSink):
        frame.show(sink.rows, truncate=sink.truncate)
    elif isinstance(sink, MemorySink):
        frame.cache().createOrReplaceTempView(sink.table)
        frame.count()  # now, and not when someone reads it
    elif isinstance(sink, ForeachSink | MergeSink | WebhookSink):
        _function(frame, sink, SinkHome(file))(frame, 0)
    elif isinstance(sink, KafkaSink):
        messages(frame, sink).write.format("kafka").options(**kafka_options(sink)).save()
    else:
        writer = _fitted(frame, sink).write.options(**_options(sink)).mode(sink.write or "error")
        writer = writer.partitionBy(*sink.partition_by) if sink.partition_by else writer
        if isinstance(sink, TableSink):
            writer.saveAsTable(sink.table)
        else:
            writer.format(sink.format).save(str(sink.path))


def start(
    frame: DataFrame,
    sink: Sink,
    place: SinkHome,
    writer_of: Callable[[DataFrame], DataStreamWriter],
) -> StreamingQuery:
    """Write rows as they come. `writer_of` makes the writer of a streaming DataFrame, with its
    name, trigger and checkpoint."""
    if isinstance(sink, ConsoleSink):
        writer = writer_of(frame).format("console")
        return writer.option("numRows", sink.rows).option("truncate", sink.truncate).start()
    if isinstance(sink, MemorySink):
        return writer_of(frame).format("memory").queryName(sink.table).start()
    if isinstance(sink, ForeachSink | MergeSink | WebhookSink):
        return writer_of(frame).foreachBatch(_function(frame, sink, place)).start()
    if isinstance(sink, KafkaSink):
        return (
            writer_of(messages(frame, sink)).format("kafka").options(**kafka_options(sink)).start()
        )
    writer = writer_of(_fitted(frame, sink)).options(**_options(sink))
    writer = writer.partitionBy(*sink.partition_by) if sink.partition_by else writer
    if isinstance(sink, TableSink):
        return writer.toTable(sink.table)
    return writer.format(sink.format).start(str(sink.path))


def _function(
    frame: DataFrame, sink: ForeachSink | MergeSink | WebhookSink, place: SinkHome
) -> Callable[[DataFrame, int], Any]:
    """The function that is called with the rows of every micro-batch."""
    if isinstance(sink, ForeachSink):
        return function_of(sink.function, place.file)
    check_identity(sink.identity, frame.columns)
    if isinstance(sink, MergeSink):
        return Merge(sink.table, sink.identity, sink.update)
    letters = None if sink.dead_letters is None else str(sink.dead_letters)
    return Posting(hook_of(sink), letters, recent_of(sink, place.sent), sink.time)


def messages(frame: DataFrame, sink: KafkaSink) -> DataFrame:
    """Rows as Kafka takes them: a key, if there is one, and a value."""
    check_identity(sink.key, frame.columns)
    value = F.to_json(F.struct("*")).alias("value")
    if not sink.key:
        return frame.select(value)
    key = F.to_json(F.struct(*(quoted((name,)) for name in sink.key))).alias("key")
    return frame.select(key, value)


def kafka_options(sink: KafkaSink) -> dict[str, Any]:
    return {"kafka.bootstrap.servers": sink.servers, "topic": sink.topic, **sink.options}


def _fitted(frame: DataFrame, sink: FileSink | TableSink) -> DataFrame:
    return flat(frame) if sink.format == "csv" else frame


def _options(sink: FileSink | TableSink) -> dict[str, Any]:
    return {**(CSV if sink.format == "csv" else {}), **sink.options}
