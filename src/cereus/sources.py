"""What people have events in → Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from cereus.errors import CereusError, DataError, did_you_mean
from cereus.stream import Stream

BATCH_ROWS = 1 << 20
STREAM_COLUMN = "__stream"
SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json",
            ".ndjson": "json", ".arrow": "ipc", ".feather": "ipc", ".orc": "orc"}  # fmt: skip
KNOWN_FORMATS = f"known: {', '.join(sorted(SUFFIXES))}"

UNREADABLE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)
"""What Arrow raises when data is not what it seems."""


@dataclass(frozen=True)
class Source:
    """Events that can be read in batches and fetched by row number.

    `row_numbers` is set when the rows were put in order: what each row is called in the input.
    """

    schema: pa.Schema
    table: pa.Table | None = None
    dataset: ds.Dataset | None = None
    row_numbers: npt.NDArray[np.int64] | None = None
    original: pa.Table | None = None

    @property
    def num_rows(self) -> int:
        if self.table is not None:
            return int(self.table.num_rows)
        assert self.dataset is not None
        return int(self.dataset.count_rows())

    def quick_count(self) -> int | None:
        """How many rows there are, when that is known without reading them."""
        if self.table is None and not _knows_its_size(self.dataset):
            return None
        return self.num_rows

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        if self.table is not None:
            table = self.table if columns is None else self.table.select(columns)
            for at in range(0, table.num_rows, BATCH_ROWS):
                part = table.slice(at, BATCH_ROWS).combine_chunks().to_batches()
                yield part[0]
            return
        assert self.dataset is not None
        try:
            yield from self.dataset.to_batches(columns=columns, **_scanning(self.dataset))
        except UNREADABLE as error:
            raise DataError(f"cannot read the events: {error}") from None

    def take(self, rows: pa.Array) -> pa.Table:
        """Rows by their numbers in the input."""
        if self.original is not None:
            return self.original.take(rows)
        if self.table is not None:
            return self.table.take(rows)
        assert self.dataset is not None
        return self.dataset.take(rows)


def source(data: Any, stream: Stream, *, sort: bool = False) -> Source:
    """Events from anything: Arrow, pandas, polars, DuckDB, a path, or {stream: events}."""
    if isinstance(data, Source):
        return data
    if isinstance(data, Mapping) and stream.stream is not None:
        data = _merged({str(name): to_table(part) for name, part in data.items()}, stream)
    if _is_path(data) and not sort:
        dataset = _dataset(data)
        return Source(dataset.schema, dataset=dataset)
    table = to_table(data)
    if not sort:
        return Source(table.schema, table)
    if stream.time is None:
        raise DataError("sorting needs a time column", hint='say Stream(time="…")')
    _need_time(table, stream.time)
    order = pc.sort_indices(table.column(stream.time))
    # sort_indices is stable, so events of one time keep their order
    return Source(
        table.schema,
        table.take(order),
        row_numbers=order.to_numpy().astype(np.int64),
        original=table,
    )


def to_schema(schema: Any) -> pa.Schema:
    """A schema, or what can stand for one: {"column": type}, a table."""
    if isinstance(schema, pa.Schema):
        return schema
    try:
        return schema.schema if isinstance(schema, pa.Table | pa.RecordBatch) else pa.schema(schema)
    except (TypeError, ValueError):
        raise CereusError(
            f"a schema is needed, not a {type(schema).__name__}",
            hint="give a pyarrow schema, table.schema, or {column: type}",
        ) from None


def to_table(data: Any, schema: pa.Schema | None = None) -> pa.Table:
    """Any table-like object as an Arrow table, without copying where that is possible.

    `schema` is for lists of dicts, which do not have one."""
    try:
        return _table(data, schema)
    except UNREADABLE as error:
        raise DataError(f"cannot read the events: {error}") from None


def _table(data: Any, schema: pa.Schema | None) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if _is_path(data):
        return _dataset(data).to_table()
    if isinstance(data, list) and all(isinstance(part, Mapping) for part in data):
        return pa.Table.from_pylist(data, schema=schema)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)])
    if type(data).__module__.startswith("pandas") and hasattr(data, "columns"):
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "to_arrow_table"):
        return data.to_arrow_table()
    if isinstance(data, Mapping):
        return pa.table(dict(data))
    raise DataError(
        f"cannot read the events: a {type(data).__name__} is not a table",
        hint="give a pyarrow, pandas or polars table, a DuckDB relation, a list of dicts, or paths",
    )


def _is_path(data: Any) -> bool:
    """A path or a list of paths; a list of dicts is a list of events."""
    if isinstance(data, list):
        return bool(data) and all(isinstance(part, str | Path) for part in data)
    return isinstance(data, str | Path)


def _dataset(data: str | Path | list[Any]) -> ds.Dataset:
    paths = [Path(part) for part in (data if isinstance(data, list) else [data])]
    files, kind = files_of(paths)
    try:
        return ds.dataset([str(path) for path in files], format=kind)
    except (*UNREADABLE, OSError) as error:
        raise DataError(
            f"cannot read {str(paths[0])!r} as {kind}: {_reason(error)}", hint=_hint(files, kind)
        ) from None


def files_of(paths: Sequence[Path]) -> tuple[list[Path], str]:
    """The files of events, those inside directories included, and their one format."""
    for path in paths:
        if not path.exists():
            raise DataError(f"there is no file {str(path)!r}", hint="check the path")
    files = [file for path in paths for file in _inside(path)]
    kinds = {_format(file) for file in files}
    if len(kinds) > 1:
        raise DataError(
            f"the inputs are of different formats: {', '.join(sorted(kinds))}",
            hint="run the query over files of one format",
        )
    (kind,) = kinds
    return _not_empty(files, kind), kind


def _inside(path: Path) -> list[Path]:
    """A file itself; of a directory, the files whose format is known, but for those that Spark
    and others hide there (`_SUCCESS`, `.part.crc`)."""
    if not path.is_dir():
        return [path]
    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix.lower() in SUFFIXES
        and file.is_file()
        and not any(part.startswith(("_", ".")) for part in file.relative_to(path).parts)
    ]
    if not files:
        known = ", ".join(sorted(SUFFIXES))
        raise DataError(
            f"there are no events in the directory {str(path)!r}", hint=f"known: {known}"
        )
    return files


def _not_empty(files: list[Path], kind: str) -> list[Path]:
    """The files without empty files of text, as Spark writes them: those have no columns."""
    if kind not in ("csv", "json"):
        return files
    filled = [file for file in files if file.stat().st_size]
    if not filled:
        hint = "a CSV file begins with the names of its columns" if kind == "csv" else None
        raise DataError(f"{str(files[0])!r} is empty", hint=hint)
    return filled


def _reason(error: Exception) -> str:
    """The end of Arrow's message: before it come the names of the file and of its format, twice."""
    message = str(error)
    if "input source '" not in message:
        return message
    return message.rpartition("': ")[2].removeprefix("Invalid: ")


def _hint(paths: list[Path], kind: str) -> str | None:
    if kind == "csv" and any(map(_has_other_separators, paths)):
        return "columns are separated by commas"
    if kind == "json" and any(map(_contains_an_array, paths)):
        return "a JSON file has one event to a line, {…}; this one is an array: jq -c '.[]' does it"
    return None


def _has_other_separators(path: Path) -> bool:
    with path.open("rb") as file:
        first = file.readline(4096)
    return b"," not in first and (b";" in first or b"\t" in first)


def _contains_an_array(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(256).lstrip().startswith(b"[")


def _scanning(dataset: ds.Dataset) -> dict[str, Any]:
    """Read little ahead, and drop what was read: a file may be larger than memory."""
    options: dict[str, Any] = {"batch_readahead": 2, "fragment_readahead": 1}
    format_ = getattr(dataset, "format", None)
    if isinstance(format_, ds.ParquetFileFormat):
        # buffered column chunks would stay in memory until the whole file is read
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(pre_buffer=False)
    return {**options, "batch_size": BATCH_ROWS // 4}


def _knows_its_size(dataset: ds.Dataset | None) -> bool:
    """Parquet, Arrow and ORC files say how many rows they have; CSV and JSON have to be read."""
    known = (ds.ParquetFileFormat, ds.IpcFileFormat)
    return isinstance(dataset, ds.FileSystemDataset) and isinstance(dataset.format, known)


def _format(path: Path) -> str:
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"cannot tell the format of {str(path)!r}",
            hint=KNOWN_FORMATS,
        )
    return SUFFIXES[path.suffix.lower()]


def _merged(parts: dict[str, pa.Table], stream: Stream) -> pa.Table:
    """Several streams as one, by time (in the order given where times are equal)."""
    assert stream.stream is not None
    named = [
        part.append_column(stream.stream, pa.array([name] * part.num_rows, pa.string()))
        for name, part in parts.items()
    ]
    try:
        table = pa.concat_tables(named, promote_options="default")
    except UNREADABLE as error:
        raise DataError(f"the streams cannot be put together: {error}") from None
    if stream.time is None:
        return table
    _need_time(table, stream.time)
    return table.take(pc.sort_indices(table.column(stream.time)))


def _need_time(table: pa.Table, time: str) -> None:
    if time not in table.column_names:
        hint = did_you_mean(time, table.column_names)
        raise DataError(f"the time column {time!r} is not in the events", hint=hint)
