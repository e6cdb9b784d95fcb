"""Rows of events → one row per bucket, and packed results → rows. Neither keeps any state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import TaskContext

from cereus.errors import DataError
from cereus.spark.live.hashing import buckets_of
from cereus.spark.live.recipe import AT, BUCKET, DATA
from cereus.spark.live.settling import settle
from cereus.spark.worker import joined

PACKED = pa.schema([(BUCKET, pa.int32()), (DATA, pa.binary())])
PACKED_AT_ONCE = 1 << 18
"""The number of rows that are packed together: each packed row has a fixed cost, here and where it
is read."""
PACKED_TYPE = f"{BUCKET} int, {DATA} binary"


@dataclass(frozen=True)
class Packing:
    """Packs the events of these buckets: in a row, BUCKET is the index of one of them. `events` are
    the columns that travel; `keys` decide the bucket if there is no column BUCKET."""

    buckets: tuple[int, ...]
    events: pa.Schema
    time: str
    keys: tuple[str, ...] = ()

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack batches. The first task has a row for every bucket, so that all of them see every
        watermark."""
        context = TaskContext.get()
        if context is None or context.partitionId() == 0:
            every = pa.array(self.buckets, pa.int32())
            yield pa.record_batch([every, pa.nulls(len(every), pa.binary())], schema=PACKED)
        for batch in joined(batches, PACKED_AT_ONCE):
            yield self.packed(batch)
        settle()

    def packed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch, one row per bucket that has any."""
        if AT not in batch.schema.names:  # it is the time column itself
            batch = batch.append_column(AT, batch.column(self.time).cast(pa.int64()))
        if batch.column(AT).null_count:
            raise DataError(
                f"the time column {self.time!r} is null in an event",
                hint="drop such events first, or fill the column in",
            )
        buckets = self._places(batch).astype(np.int16)
        order = np.argsort(buckets, kind="stable")
        names = self.events.names
        columns = [batch.column(name).cast(self.events.field(name).type) for name in names]
        events = pa.RecordBatch.from_arrays(columns, schema=self.events).take(pa.array(order))
        present, begins = np.unique(buckets[order], return_index=True)
        ends = np.append(begins[1:], len(order))
        data = [
            to_bytes(events.slice(int(begin), int(end - begin)))
            for begin, end in zip(begins, ends, strict=True)
        ]
        numbers = pa.array(np.array(self.buckets, np.int32)[present])
        return pa.record_batch([numbers, pa.array(data, pa.binary())], schema=PACKED)

    def _places(self, batch: pa.RecordBatch) -> npt.NDArray[Any]:
        if self.keys:
            return buckets_of([batch.column(name) for name in self.keys], len(self.buckets))
        return batch.column(BUCKET).to_numpy()  # type: ignore[no-any-return]


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results in rows of packed results."""
    for batch in batches:
        for data in batch.column(DATA):
            if data.is_valid:
                yield from pa.ipc.open_stream(data.as_buffer())
    settle()


def to_bytes(*batches: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def from_bytes(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
