"""Matches → a file, batch by batch: Parquet, CSV, JSON lines or Arrow, by the file's suffix."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from cereus.errors import CereusError

FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
}

ROW_GROUP = 1 << 16


def format_of(path: Path) -> str:
    if path.suffix.lower() not in FORMATS:
        raise CereusError(
            f"cannot tell in which format to write {str(path)!r}",
            hint=f"end the name in one of {', '.join(FORMATS)}",
        )
    return FORMATS[path.suffix.lower()]


def make_room(path: Path, inputs: Sequence[str], *, overwrite: bool) -> None:
    """Make sure that `path` can be written; a file that is there goes only with `overwrite`."""
    format_of(path)
    if any(path.absolute() == Path(each).absolute() for each in inputs):
        raise CereusError(f"{str(path)!r} holds the events", hint="write to another file")
    need_directory(path)
    if not path.exists():
        return
    if not overwrite:
        raise CereusError(f"{str(path)!r} exists", hint="replace it with --overwrite")
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def need_directory(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise CereusError(f"there is no directory {str(path.parent)!r}", hint="make it first")


class Writer(ABC):
    """Writes record batches of one schema to one file; a context that closes it."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path, self.schema = path, schema

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is not None:
            self.path.unlink(missing_ok=True)  # half a result would look like a whole one


class ParquetOutput(Writer):
    """Small batches are gathered, because each one written becomes a row group of its own."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(path, schema)
        self._file = pq.ParquetWriter(path, schema)
        self._waiting: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        if sum(each.num_rows for each in self._waiting) >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._file.write_table(pa.Table.from_batches(self._waiting))
            self._waiting.clear()

    def close(self) -> None:
        self._flush()
        self._file.close()


class ArrowOutput(Writer):
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(path, schema)
        self._file = pa.ipc.new_file(path, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.write_batch(batch)

    def close(self) -> None:
        self._file.close()


class CsvOutput(Writer):
    """Lists and structs, which CSV does not have, are written as JSON text."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        fields = [f.with_type(pa.string()) if _is_nested(f.type) else f for f in schema]
        super().__init__(path, pa.schema(fields))
        self._file = csv.CSVWriter(path, self.schema)

    def write(self, batch: pa.RecordBatch) -> None:
        columns = [_as_json(each) if _is_nested(each.type) else each for each in batch.columns]
        self._file.write_batch(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def close(self) -> None:
        self._file.close()


class JsonOutput(Writer):
    """One object per line."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(path, schema)
        self._file = path.open("w", encoding="utf-8")

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.writelines(_json(row) + "\n" for row in batch.to_pylist())

    def close(self) -> None:
        self._file.close()


WRITERS: dict[str, type[Writer]] = {
    "parquet": ParquetOutput,
    "arrow": ArrowOutput,
    "csv": CsvOutput,
    "json": JsonOutput,
}


def writer(path: Path, schema: pa.Schema) -> Writer:
    return WRITERS[format_of(path)](path, schema)


def _is_nested(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind))


def _as_json(column: pa.Array) -> pa.Array:
    texts = [None if value is None else _json(value) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
