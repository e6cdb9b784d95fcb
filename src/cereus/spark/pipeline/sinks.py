"""Sinks: where the rows of a stream go, batch or live."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cereus.spark.files import CSV, flat
from cereus.spark.pipeline.checking import function_of
from cereus.spark.pipeline.spec import (
    ConsoleSink,
    FileSink,
    ForeachSink,
    MemorySink,
    Sink,
    TableSink,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def write(frame: DataFrame, sink: Sink, file: Path) -> None:
    """All rows, now. `file` is that of the pipeline: functions may lie beside it."""
    if isinstance(sink, ConsoleSink):
        frame.show(sink.rows, truncate=sink.truncate)
    elif isinstance(sink, MemorySink):
        frame.cache().createOrReplaceTempView(sink.table)
        frame.count()  # now, and not when somebody looks
    elif isinstance(sink, ForeachSink):
        function_of(sink.function, file)(frame, 0)
    else:
        writer = _fitted(frame, sink).write.options(**_options(sink)).mode(sink.write or "error")
        writer = writer.partitionBy(*sink.partition_by) if sink.partition_by else writer
        if isinstance(sink, TableSink):
            writer.saveAsTable(sink.table)
        else:
            writer.format(sink.format).save(str(sink.path))


def start(
    frame: DataFrame, sink: Sink, file: Path, writer_of: Callable[[DataFrame], DataStreamWriter]
) -> StreamingQuery:
    """Rows as they come. `writer_of` makes the writer of a streaming DataFrame, with its name,
    trigger and checkpoint."""
    if isinstance(sink, ConsoleSink):
        writer = writer_of(frame).format("console")
        return writer.option("numRows", sink.rows).option("truncate", sink.truncate).start()
    if isinstance(sink, MemorySink):
        return writer_of(frame).format("memory").queryName(sink.table).start()
    if isinstance(sink, ForeachSink):
        return writer_of(frame).foreachBatch(function_of(sink.function, file)).start()
    writer = writer_of(_fitted(frame, sink)).options(**_options(sink))
    writer = writer.partitionBy(*sink.partition_by) if sink.partition_by else writer
    if isinstance(sink, TableSink):
        return writer.toTable(sink.table)
    return writer.format(sink.format).start(str(sink.path))


def _fitted(frame: DataFrame, sink: FileSink | TableSink) -> DataFrame:
    return flat(frame) if sink.format == "csv" else frame


def _options(sink: FileSink | TableSink) -> dict[str, Any]:
    return {**(CSV if sink.format == "csv" else {}), **sink.options}
