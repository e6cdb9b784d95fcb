"""Sinks of a pipeline without Spark: files, the terminal, a function."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from cereus.spark.pipeline.sinks.checking import function_of
from cereus.spark.pipeline.sinks.posting import post_table
from cereus.spark.pipeline.sinks.spec import (
    ConsoleSink,
    FileSink,
    ForeachSink,
    Sink,
    WebhookSink,
)
from cereus.writing.target import Target, make_room
from cereus.writing.writers import writer


def write(table: pa.Table, sink: Sink, file: Path) -> None:
    """Write all rows now. `file` is the pipeline file: functions may lie beside it."""
    if isinstance(sink, ConsoleSink):
        _show(table, sink)
    elif isinstance(sink, ForeachSink):
        function_of(sink.function, file)(table, 0)
    elif isinstance(sink, WebhookSink):
        post_table(table, sink)
    else:
        assert isinstance(sink, FileSink)  # the others are refused before anything runs
        _write(table, sink)


def _write(table: pa.Table, sink: FileSink) -> None:
    """Write a folder, as Spark does."""
    target = Target(str(sink.path), sink.format, folder=True)
    if sink.write == "overwrite":
        make_room(target)
    with writer(target, table.schema) as file:
        for batch in table.to_batches():
            file.write(batch)


def _show(table: pa.Table, sink: ConsoleSink) -> None:
    for row in table.slice(0, sink.rows).to_pylist():
        shown = ", ".join(f"{name}={value}" for name, value in row.items())
        print(f"{shown[:97]} …" if sink.truncate and len(shown) > 100 else shown)
    if table.num_rows > sink.rows:
        print(f"… {table.num_rows - sink.rows:,} more")
