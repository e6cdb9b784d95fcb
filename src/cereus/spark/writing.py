"""Writes rows of a DataFrame to the same files as the local engine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds

from cereus.errors import CereusError
from cereus.spark.files import CSV, flat
from cereus.spark.quoting import map_in_arrow
from cereus.spark.schemas import arrow_schema
from cereus.writing.target import Target, make_room
from cereus.writing.writers import writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTS = ".cereus-parts"


def write_frame(frame: DataFrame, target: Target) -> None:
    """Write a frame. Spark's tasks write a folder; a file is written here, from parts that they
    wrote beside it."""
    if target.remote:
        _by_spark(frame, target)
        return
    schema = arrow_schema(frame.schema)
    beside = Path.cwd() if target.standard_output else target.path.absolute().parent
    folder = target.path.absolute() if target.folder else beside / f"{PARTS}-{os.getpid()}"
    parts = target if target.folder else Target(str(folder), "arrow", folder=True)
    make_room(parts)
    try:
        _write_parts(frame, Target(str(folder), parts.format, True, parts.compression), schema)
        if not target.folder:
            _gathered(folder, target, schema)
        elif not any(folder.iterdir()):
            with writer(target, schema):
                pass  # a file that only has the columns
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if not target.folder:
        shutil.rmtree(folder, ignore_errors=True)


def _write_parts(frame: DataFrame, target: Target, schema: pa.Schema) -> None:
    """Write a part for each task that has rows. It gets its name when it is complete: a task that
    runs again replaces it."""
    target.path.mkdir(parents=True, exist_ok=True)

    def written(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        final = target.part(context.partitionId())
        begun = final.path.with_name(f".{context.taskAttemptId()}-{final.path.name}")
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is not None:
            hidden = Target(str(begun), target.format, compression=target.compression)
            with writer(hidden, schema) as file:
                file.write(first)
                for batch in batches:
                    file.write(batch)
            begun.replace(final.path)
        yield pa.RecordBatch.from_pydict({"part": pa.array([context.partitionId()], pa.int32())})

    map_in_arrow(frame, written, "part int").count()


def _gathered(folder: Path, target: Target, schema: pa.Schema) -> None:
    """Join the parts into one file, in their order."""
    parts = sorted(str(path) for path in folder.glob("part-*"))
    make_room(target)
    with writer(target, schema) as file:
        for path in parts:
            for batch in ds.dataset(path, format="ipc").to_batches():
                file.write(batch)


def _by_spark(frame: DataFrame, target: Target) -> None:
    if target.format == "arrow":
        raise CereusError("Spark does not write Arrow files there", hint="write .parquet")
    rows = flat(frame) if target.format == "csv" else frame
    options = CSV if target.format == "csv" else {}
    rows.write.format(target.format).options(**options).save(target.name)
