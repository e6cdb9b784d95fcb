"""Parquet, Arrow and ORC: files that tell their columns themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.errors import DataError
from cereus.sources.places import EventFile, file_system

# Imported where it is needed: with pandas installed, it imports pandas, which takes as long as all
# of Cereus.
if TYPE_CHECKING:
    import pyarrow.dataset as ds

BATCH_ROWS = 1 << 20
UNREADABLE = (pa.ArrowException, OSError)
"""What Arrow raises when data is not what it seems."""


class ColumnarReader:
    """Reads the files of one format."""

    def __init__(self, format: str) -> None:
        self.format = "ipc" if format == "arrow" else format

    def look(self, place: EventFile) -> pa.Schema:
        try:
            return self._dataset([place], None).schema
        except UNREADABLE as error:
            raise self._wrong(place, error) from None

    def batches(
        self, places: Sequence[EventFile], schema: pa.Schema, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """The rows of files that have one schema."""
        dataset = self._dataset(places, schema)
        try:
            yield from dataset.to_batches(columns=list(columns), **_scanning(dataset))
        except UNREADABLE as error:
            raise self._wrong(places[0], error) from None

    def possible_batches(
        self, places: Sequence[EventFile], schema: pa.Schema, columns: Sequence[str], where: Any
    ) -> Iterator[pa.RecordBatch | int]:
        """The same without the row groups in which `where` is true of no row, as far as the bounds
        of their columns tell: a number stands for so many rows that were left out."""
        dataset = self._dataset(places, schema)
        options = {"columns": list(columns), "schema": schema, **_scanning(dataset)}
        try:
            for fragment in dataset.get_fragments():
                for wanted, groups in _stretches(fragment, where, schema):
                    if wanted:
                        part = fragment.subset(row_group_ids=[each.id for each in groups])
                        yield from part.to_batches(**options)
                    else:
                        yield sum(each.num_rows for each in groups)
        except UNREADABLE as error:
            raise self._wrong(places[0], error) from None

    def take(self, places: Sequence[EventFile], schema: pa.Schema, rows: pa.Array) -> pa.Table:
        return self._dataset(places, schema).take(rows)

    def count(self, places: Sequence[EventFile], schema: pa.Schema) -> int:
        return int(self._dataset(places, schema).count_rows())

    @property
    def knows_counts(self) -> bool:
        return self.format in ("parquet", "ipc")

    def _dataset(self, places: Sequence[EventFile], schema: pa.Schema | None) -> ds.Dataset:
        import pyarrow.dataset as ds

        system = file_system(places[0].url)[0]
        paths = [place.path for place in places]
        return ds.dataset(paths, format=self.format, filesystem=system, schema=schema)

    def _wrong(self, place: EventFile, error: Exception) -> DataError:
        return DataError(f"cannot read {place.name!r} as {self.format}: {_reason(error)}")


def _reason(error: Exception) -> str:
    """The end of Arrow's message: before it come the names of the file and of its format, twice."""
    message = str(error).splitlines()[0]
    if "input source '" not in message:
        return message
    return message.rpartition("': ")[2].removeprefix("Invalid: ")


def _stretches(
    fragment: ds.ParquetFileFragment, where: Any, schema: pa.Schema
) -> Iterator[tuple[bool, list[Any]]]:
    """The row groups of a file, those that may matter and the others, as they follow each other."""
    kept = {group.id for group in fragment.subset(where, schema=schema).row_groups}
    for wanted, groups in groupby(fragment.row_groups, lambda each: each.id in kept):
        yield wanted, list(groups)


def _scanning(dataset: ds.Dataset) -> dict[str, Any]:
    """Read little ahead, and drop what was read: a file may be larger than memory."""
    import pyarrow.dataset as ds

    options: dict[str, Any] = {"batch_readahead": 2, "fragment_readahead": 1}
    if isinstance(getattr(dataset, "format", None), ds.ParquetFileFormat):
        # buffered column chunks would stay in memory until the whole file is read
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(pre_buffer=False)
    return {**options, "batch_size": BATCH_ROWS // 4}
