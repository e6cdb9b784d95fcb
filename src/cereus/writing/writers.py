"""Record batches → one file of a format, batch by batch."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from base64 import b64encode
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from cereus.errors import CereusError
from cereus.sources.places import file_system
from cereus.writing.expressible import expressing
from cereus.writing.json_text import json_text
from cereus.writing.target import Target, make_room

ROW_GROUP = 1 << 16


class Writer(ABC):
    """Writes record batches of one schema. As a context it closes the file, and removes it after an
    error: half a result would look like a whole one."""

    def __init__(self, target: Target, schema: pa.Schema, stream: Any) -> None:
        self.target = target
        self.schema = pa.schema([f.with_type(written_type(f.type)) for f in schema])
        self.stream = stream

    def write(self, batch: pa.RecordBatch) -> None:
        """Rows with the columns of the schema, by name."""
        with in_format(self.target):
            self.put(self.fitted(batch))

    @abstractmethod
    def put(self, rows: pa.RecordBatch) -> None:
        """Write rows, whose columns are those of the schema."""

    def finish(self) -> None:  # noqa: B027
        """Write what is left."""

    def fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Columns in the order and of the types of the schema."""
        columns = [batch.column(field.name).cast(field.type) for field in self.schema]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.give_up()
            return
        try:
            with in_format(self.target):
                self.finish()
        except BaseException:
            self.give_up()
            raise
        self.stream.close()

    def give_up(self) -> None:
        """Close the file, and remove it."""
        with suppress(pa.ArrowException, OSError):
            self.finish()
        discard(self.target, self.stream)


def written_type(kind: pa.DataType) -> pa.DataType:
    """A type that every format can hold: NULL as text, values in place of dictionaries."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pa.struct([field.with_type(written_type(field.type)) for field in fields])
    if pa.types.is_list(kind):
        return pa.list_(pa.field("item", written_type(kind.value_type)))
    return kind


def opened(target: Target) -> Any:
    """A stream of bytes to a target."""
    try:
        if target.standard_output:
            raw: Any = pa.PythonFile(_Kept(sys.stdout), mode="w")
        elif target.remote:
            system, path = file_system(target.name)
            raw = system.open_output_stream(path, compression=None)
        else:
            raw = pafs.LocalFileSystem().open_output_stream(str(target.path), compression=None)
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0]
        raise CereusError(
            f"cannot write {target.name!r}: {reason}",
            hint="write somewhere else, or see what is in the way",
        ) from None
    return raw if target.compression is None else pa.CompressedOutputStream(raw, target.compression)


def in_format(target: Target) -> AbstractContextManager[None]:
    """Turn errors of Arrow inside into errors about values that a format does not have."""
    others = "write an .arrow file, which holds everything, or compute something else of the column"
    return expressing(f"the rows have values that {target.format}", others)


class _Kept:
    """Standard output, which is not closed here."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self.stream = getattr(stream, "buffer", stream)

    def write(self, data: bytes) -> int:
        return int(self.stream.write(data))

    def flush(self) -> None:
        self.stream.flush()

    def close(self) -> None:
        self.stream.flush()


class ParquetOutput(Writer):
    """Writes Parquet. Small batches are collected, because each one written becomes a row group."""

    def __init__(self, target: Target, schema: pa.Schema, stream: Any) -> None:
        super().__init__(target, schema, stream)
        self._file = pq.ParquetWriter(self.stream, self.schema)
        self._waiting: list[pa.RecordBatch] = []

    def put(self, rows: pa.RecordBatch) -> None:
        self._waiting.append(rows)
        if sum(each.num_rows for each in self._waiting) >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._file.write_table(pa.Table.from_batches(self._waiting))
            self._waiting.clear()

    def finish(self) -> None:
        self._flush()
        self._file.close()


class ArrowOutput(Writer):
    def __init__(self, target: Target, schema: pa.Schema, stream: Any) -> None:
        super().__init__(target, schema, stream)
        # what comes out of a pipe has no end to look at first
        new = pa.ipc.new_stream if target.standard_output else pa.ipc.new_file
        self._file = new(self.stream, self.schema)

    def put(self, rows: pa.RecordBatch) -> None:
        self._file.write_batch(rows)

    def finish(self) -> None:
        self._file.close()


class CsvOutput(Writer):
    """Writes CSV. Lists and structs, which CSV does not have, are written as JSON text."""

    def __init__(self, target: Target, schema: pa.Schema, stream: Any) -> None:
        super().__init__(target, schema, stream)
        flat = [f.with_type(pa.string()) if _is_nested(f.type) else f for f in self.schema]
        options = csv.WriteOptions(delimiter=target.delimiter)
        self._flat = pa.schema(flat)
        self._file = csv.CSVWriter(self.stream, self._flat, write_options=options)

    def put(self, rows: pa.RecordBatch) -> None:
        columns = [_as_json(each) if _is_nested(each.type) else each for each in rows.columns]
        self._file.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._flat))

    def finish(self) -> None:
        self._file.close()


class JsonOutput(Writer):
    """Writes JSON lines: one object per line."""

    def put(self, rows: pa.RecordBatch) -> None:
        lines = (as_json(row) + "\n" for row in rows.to_pylist())
        self.stream.write("".join(lines).encode("utf-8"))


WRITERS: dict[str, type[Writer]] = {
    "parquet": ParquetOutput,
    "arrow": ArrowOutput,
    "csv": CsvOutput,
    "json": JsonOutput,
}


def writer(target: Target, schema: pa.Schema) -> Writer:
    """A writer of one file; of a folder, of its first part."""
    if target.folder:
        target.path.mkdir(parents=True, exist_ok=True)
        target = target.part(_parts(target.path))
    stream = opened(target)
    try:
        with in_format(target):
            return WRITERS[target.format](target, schema, stream)
    except BaseException:
        discard(target, stream)
        raise


def discard(target: Target, stream: Any) -> None:
    """Close a file, and remove it."""
    try:
        stream.close()
    finally:
        if not (target.standard_output or target.remote):
            target.path.unlink(missing_ok=True)


def write_table(target: Target, table: pa.Table) -> None:
    """Write a whole table, in the place of what is there."""
    make_room(target)
    with writer(target, table.schema) as file:
        for batch in table.to_batches():
            file.write(batch)


def _parts(folder: Path) -> int:
    """The number of parts in a folder, which is the number of the next one."""
    return sum(1 for _ in folder.glob("part-*"))


def _is_nested(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind))


def _as_json(column: pa.Array) -> pa.Array:
    texts = [None if value is None else as_json(value) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def as_json(value: Any) -> str:
    return json_text(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode()  # as Spark writes them
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
