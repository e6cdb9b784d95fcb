"""Parquet, Arrow and ORC: files that contain the types of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.errors import DataError
from cereus.sources.places import EventFile, file_system

# imported where it is needed: with pandas installed it imports pandas, which takes as long as all
# of Cereus
if TYPE_CHECKING:
    import pyarrow.dataset as ds

BATCH_ROWS = 1 << 20
UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError)
"""The errors that Arrow raises for malformed data, and for names that are not UTF-8."""


CODED = pa.dictionary(pa.int32(), pa.string())
"""The type of texts that are read as dictionaries."""
CODED_BYTES = 3
"""The most bytes per row of a column of texts in a file that is all dictionary; one that is not has
at least five: a length of four, and a text."""


class ColumnarReader:
    """Reads the files of one format. In Parquet files, the texts of `coded` columns come as
    dictionaries, if they are stored as such: that takes less than half as long."""

    def __init__(self, format: str, coded: frozenset[str] = frozenset()) -> None:
        self.format = "ipc" if format == "arrow" else format
        self._coded = coded if format == "parquet" else frozenset()

    def look(self, place: EventFile) -> pa.Schema:
        try:
            schema = self._dataset([place], None).schema
            list(schema.names)  # decoded here, so that an error is one of this file
            return schema
        except UNREADABLE as error:
            raise self._wrong(place, error) from None

    def batches(
        self, places: Sequence[EventFile], schema: pa.Schema, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """The rows of files that have one schema."""
        try:
            dataset = self._coded_dataset(places, schema, columns)
            for batch in dataset.to_batches(columns=list(columns), **_scanning(dataset)):
                yield _valid(batch)
        except UNREADABLE as error:
            raise self._wrong(places[0], error) from None

    def possible_batches(
        self, places: Sequence[EventFile], schema: pa.Schema, columns: Sequence[str], where: Any
    ) -> Iterator[pa.RecordBatch | int]:
        """Like `batches`, without the row groups in which `where` is true for no row, as far as the
        bounds of their columns tell: a number stands for that many rows that were left out."""
        try:
            dataset = self._dataset(places, schema)
            read = self._coded_dataset(places, schema, columns)
            options = {"columns": list(columns), "schema": read.schema, **_scanning(read)}
            fragments = zip(dataset.get_fragments(), read.get_fragments(), strict=True)
            for fragment, to_read in fragments:
                for wanted, groups in _stretches(fragment, where, schema):
                    if wanted:
                        part = to_read.subset(row_group_ids=[each.id for each in groups])
                        yield from map(_valid, part.to_batches(**options))
                    else:
                        yield sum(each.num_rows for each in groups)
        except UNREADABLE as error:
            raise self._wrong(places[0], error) from None

    def take(self, places: Sequence[EventFile], schema: pa.Schema, rows: pa.Array) -> pa.Table:
        try:
            table = self._dataset(places, schema).take(rows)
            table.validate(full=True)
        except UNREADABLE as error:
            raise self._wrong(places[0], error) from None
        return table

    def count(self, places: Sequence[EventFile], schema: pa.Schema) -> int:
        try:
            return int(self._dataset(places, schema).count_rows())
        except UNREADABLE as error:
            raise self._wrong(places[0], error) from None

    @property
    def knows_counts(self) -> bool:
        return self.format in ("parquet", "ipc")

    def _dataset(
        self,
        places: Sequence[EventFile],
        schema: pa.Schema | None,
        format: ds.FileFormat | None = None,
    ) -> ds.Dataset:
        import pyarrow.dataset as ds

        system = file_system(places[0].url)[0]
        paths = [place.path for place in places]
        return ds.dataset(paths, format=format or self.format, filesystem=system, schema=schema)

    def _coded_dataset(
        self, places: Sequence[EventFile], schema: pa.Schema, columns: Sequence[str]
    ) -> ds.Dataset:
        """Files of one schema; texts that the first of them has as dictionaries come as such."""
        dataset, wanted = self._dataset(places, schema), self._coded.intersection(columns)
        fragment = next(dataset.get_fragments(), None) if wanted else None
        coded = wanted & _stored_as_dictionaries(fragment) if fragment is not None else frozenset()
        if not coded:
            return dataset
        import pyarrow.dataset as ds

        options = ds.ParquetReadOptions(dictionary_columns=sorted(coded))
        fields = [field.with_type(CODED) if field.name in coded else field for field in schema]
        return self._dataset(places, pa.schema(fields), ds.ParquetFileFormat(read_options=options))

    def _wrong(self, place: EventFile, error: Exception) -> DataError:
        return DataError(f"cannot read {place.name!r} as {self.format}: {_reason(error)}")


def _valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, if its lengths, places and letters fit each other. Arrow takes them as they stand
    in a file, and reading a damaged one would end the process."""
    batch.validate(full=True)
    return batch


def _reason(error: Exception) -> str:
    """The end of Arrow's message, without the names of the file and of its format, which come
    twice."""
    message = str(error).splitlines()[0]
    if "input source '" not in message:
        return message
    return message.rpartition("': ")[2].removeprefix("Invalid: ")


def _stretches(
    fragment: ds.ParquetFileFragment, where: Any, schema: pa.Schema
) -> Iterator[tuple[bool, list[Any]]]:
    """The row groups of a file in runs: those that may matter, and the others."""
    kept = {group.id for group in fragment.subset(where, schema=schema).row_groups}
    for wanted, groups in groupby(fragment.row_groups, lambda each: each.id in kept):
        yield wanted, list(groups)


def _stored_as_dictionaries(fragment: ds.ParquetFileFragment) -> frozenset[str]:
    """The columns of a file whose values are all stored in dictionaries of few values."""
    metadata = fragment.metadata
    sizes: dict[str, int] = {}
    plain: set[str] = set()
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            name = chunk.path_in_schema
            sizes[name] = sizes.get(name, 0) + chunk.total_uncompressed_size
            if not chunk.has_dictionary_page:
                plain.add(name)
    few = CODED_BYTES * metadata.num_rows
    return frozenset(name for name, size in sizes.items() if size <= few) - plain


def _scanning(dataset: ds.Dataset) -> dict[str, Any]:
    """Options to read only a little ahead, and to drop what was read: a file may be larger than
    memory."""
    import pyarrow.dataset as ds

    options: dict[str, Any] = {"batch_readahead": 2, "fragment_readahead": 1}
    if isinstance(getattr(dataset, "format", None), ds.ParquetFileFormat):
        # buffered column chunks would stay in memory until the whole file is read
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(pre_buffer=False)
    return {**options, "batch_size": BATCH_ROWS // 4}
