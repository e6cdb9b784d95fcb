"""Scan: described files with known columns; the rows of all of them, or of one piece."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cereus.errors import DataError, did_you_mean, shortened
from cereus.sources.columns import joined_schema
from cereus.sources.files import Files
from cereus.sources.formats import TEXT
from cereus.sources.places import EventFile, places
from cereus.sources.reading.blocks import SPAN, Span, spans
from cereus.sources.reading.columnar import CODED, ColumnarReader
from cereus.sources.reading.delimited import CsvReader
from cereus.sources.reading.json_lines import JsonReader
from cereus.sources.reading.texts import KINDS, TIMES, TextKinds, column_of_type
from cereus.sources.reading.time_formats import fitting_formats
from cereus.sources.supported import supported_batch, supported_schema
from cereus.stream import refuse_repeated


@dataclass(frozen=True)
class KnownFile:
    """A file with its columns, as they are read from it."""

    place: EventFile
    raw: pa.Schema


@dataclass(frozen=True)
class FilePiece:
    """The unit of reading: files that have the same columns, or a span of one file."""

    parts: tuple[KnownFile, ...]
    span: Span | None = None


@dataclass(frozen=True)
class Scan:
    """Rows of files, in their order. `schema` has the columns of all files, by name; a column that
    a file lacks is NULL in its rows. The values in the names of directories come last."""

    files: Files
    kind: str
    parts: tuple[KnownFile, ...]
    schema: pa.Schema

    def batches(
        self, columns: Sequence[str] | None = None, coded: frozenset[str] = frozenset()
    ) -> Iterator[pa.RecordBatch]:
        """The rows. The texts of `coded` columns come as dictionaries, if files have them as
        such."""
        for piece in self.pieces(None):
            yield from self.read(piece, columns, coded)

    def possible_batches(
        self,
        columns: Sequence[str],
        where: Callable[[pa.Schema], Any],
        coded: frozenset[str] = frozenset(),
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows that may matter, each batch with the number of its first row. `where` makes the
        condition on columns that rows in a file must satisfy (`pruning`); without bounds in the
        files, all rows are given."""
        row = 0
        for piece in self.pieces(None):
            for each in self._possible(piece, columns, where, coded):
                if isinstance(each, int):
                    row += each
                else:
                    yield row, each
                    row += each.num_rows

    def _possible(
        self,
        piece: FilePiece,
        columns: Sequence[str],
        where: Callable[[pa.Schema], Any],
        coded: frozenset[str],
    ) -> Iterator[pa.RecordBatch | int]:
        raw = piece.parts[0].raw
        same = [f for f in raw if f.name in self.schema.names and self.schema.field(f.name) == f]
        condition = where(pa.schema(same)) if self.kind == "parquet" else None
        if condition is None:
            yield from self.read(piece, columns, coded)
            return
        wanted = pa.schema([self.schema.field(name) for name in columns])
        names = [name for name in columns if name in raw.names]
        places_ = [each.place for each in piece.parts]
        reader = ColumnarReader(self.kind, self._texts(raw, coded))
        for each in reader.possible_batches(places_, raw, names, condition):
            if isinstance(each, int):
                yield each
            else:
                table = pa.Table.from_batches([supported_batch(each)])
                yield from self._fitted(table, wanted, piece.parts[0].place, coded).to_batches()

    def pieces(self, size: int | None = SPAN) -> list[FilePiece]:
        """The files in parts that can be read separately. Without `size`, files of text are not
        cut."""
        if self.kind in TEXT:
            at_once = size is None or self.files.multiline
            return [
                FilePiece((part,), span)
                for part in self.parts
                for span in ([None] if at_once else spans(part.place, size or SPAN))
            ]
        alike = itertools.groupby(self.parts, key=_likeness)
        return [FilePiece(tuple(group)) for _, group in alike]

    def _texts(self, raw: pa.Schema, coded: frozenset[str]) -> frozenset[str]:
        """The coded columns that are texts in the files and in the schema."""
        fields = [field for field in raw if field.name in coded and field.name in self.schema.names]
        kinds = {field.name: (field.type, self.schema.field(field.name).type) for field in fields}
        return frozenset(name for name, kind in kinds.items() if kind == (pa.string(), pa.string()))

    def read(
        self,
        piece: FilePiece,
        columns: Sequence[str] | None = None,
        coded: frozenset[str] = frozenset(),
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a piece, with the columns of all."""
        names = self.schema.names if columns is None else list(columns)
        wanted = pa.schema([self.schema.field(name) for name in names])
        for table in self._raw(piece, names, coded):
            yield from self._fitted(table, wanted, piece.parts[0].place, coded).to_batches()

    def take(self, rows: pa.Array) -> pa.Table:
        """Rows by their numbers, in the given order."""
        numbers = rows.to_numpy(zero_copy_only=False)
        order, taken, begin = numbers.argsort(kind="stable"), [], 0
        inverse = order.argsort(kind="stable")
        ascending = numbers[order]
        for batch in self.batches():
            low, high = ascending.searchsorted([begin, begin + batch.num_rows])
            if high > low:
                taken.append(batch.take(pa.array(ascending[low:high] - begin)))
            begin += batch.num_rows
            if high == len(ascending):
                break
        table = pa.Table.from_batches(taken, self.schema)
        return table.take(pa.array(inverse)) if taken else table

    def count(self) -> int:
        if self.kind in TEXT:
            return sum(batch.num_rows for batch in self.batches(self.schema.names[:1]))
        reader = ColumnarReader(self.kind)
        return sum(
            reader.count([part.place for part in piece.parts], piece.parts[0].raw)
            for piece in self.pieces()
        )

    @property
    def knows_count(self) -> bool:
        """Whether the number of rows is known without reading them."""
        return self.kind not in TEXT and ColumnarReader(self.kind).knows_counts

    # ------------------------------------------------------------ reading

    def _raw(
        self, piece: FilePiece, names: Iterable[str], coded: frozenset[str]
    ) -> Iterator[pa.Table]:
        part = piece.parts[0]
        columns = [name for name in names if name in part.raw.names]
        if self.kind not in TEXT:
            places_ = [each.place for each in piece.parts]
            reader = ColumnarReader(self.kind, self._texts(part.raw, coded))
            for batch in reader.batches(places_, part.raw, columns):
                yield pa.Table.from_batches([supported_batch(batch)])
            return
        some = columns or part.raw.names[:1]  # how many rows there are
        if self.kind == "csv":
            yield from CsvReader(self.files).tables(part.place, part.raw.names, piece.span, some)
        else:
            yield from JsonReader(self.files).tables(part.place, part.raw, piece.span, some)

    def _fitted(
        self, table: pa.Table, wanted: pa.Schema, place: EventFile, coded: frozenset[str]
    ) -> pa.Table:
        values = dict(place.values)
        columns = []
        for field in wanted:
            if field.name in table.column_names:
                column = table.column(field.name)
            elif values.get(field.name) is None:
                column = pa.chunked_array([pa.nulls(table.num_rows, field.type)])
            else:
                column = pa.chunked_array([[values[field.name]] * table.num_rows], pa.string())
            stays = field.name in coded and field.type == pa.string() and column.type == CODED
            if column.type != field.type and not stays:
                column = column_of_type(column, field.type, field.name, self.files.notation)
            columns.append(column)
        kinds = zip(wanted, columns, strict=True)
        fields = [field.with_type(column.type) for field, column in kinds]
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _likeness(part: KnownFile) -> tuple[object, ...]:
    return part.place.values, part.place.url, part.raw.serialize().to_pybytes()


# ---------------------------------------------------------------- looking


def scan(files: Files) -> Scan:
    """Find files, their columns, and the types of these."""
    listed, kind = places(files)
    kinds = TextKinds(KINDS if kind == "csv" else TIMES, files.notation)
    parts = tuple(KnownFile(place, _raw_schema(files, kind, place, kinds)) for place in listed)
    typed = [(part.place.name, _typed(files, kind, part.raw, kinds)) for part in parts]
    schema = joined_schema([*typed, *_partition_schema(files, listed)])
    _check_given(files, schema)
    _check_time_format(files, schema, kinds)
    return Scan(files, kind, parts, _declared(files, schema))


def _raw_schema(files: Files, kind: str, place: EventFile, kinds: TextKinds) -> pa.Schema:
    if kind == "csv":
        return CsvReader(files).look(place, kinds)
    if kind == "json":
        return JsonReader(files).look(place, kinds)
    schema = ColumnarReader(kind).look(place)
    refuse_repeated(schema.names, f"{place.name!r} has")
    return schema.remove_metadata()


def _typed(files: Files, kind: str, raw: pa.Schema, kinds: TextKinds) -> pa.Schema:
    """The columns with their given types, or with the types of their texts."""
    fields = []
    for field in supported_schema(raw):
        given = files.given_type(field.name)
        if given is None and kind in TEXT and files.infer and pa.types.is_string(field.type):
            given = kinds.kind(field.name, pa.null() if kind == "csv" else pa.string())
        fields.append(pa.field(field.name, field.type if given is None else given))
    return pa.schema(fields)


def _partition_schema(files: Files, listed: Sequence[EventFile]) -> Iterator[tuple[str, pa.Schema]]:
    """The columns from the names of directories; `day=1` is a number if all values of `day` are."""
    kinds = TextKinds(KINDS)
    for place in listed:
        kinds.see(
            (name, pa.chunked_array([pa.array([v], pa.string())])) for name, v in place.values
        )
    names = dict.fromkeys(name for place in listed for name, _ in place.values)
    for name in names:
        kind = files.given_type(name) or kinds.kind(name, pa.string())
        yield f"{name}=…", pa.schema([(name, kind)])


def _check_given(files: Files, schema: pa.Schema) -> None:
    for name in files.types:
        if name not in schema.names:
            raise DataError(
                f"the events have no column {name!r}, whose type is given",
                hint=did_you_mean(name, schema.names),
            )


def _check_time_format(files: Files, schema: pa.Schema, kinds: TextKinds) -> None:
    """A format in which no text is written, while a text is in another one, is a mistake."""
    if files.time_format is None or any(pa.types.is_temporal(kind) for kind in schema.types):
        return
    for name, text in kinds.first.items():
        for likely in fitting_formats(text):
            raise DataError(
                f"no column has times that are written as {files.time_format!r}; {name!r} begins "
                f"with {shortened(text)!r}",
                hint=f'say time_format="{likely}"',
            )


def _declared(files: Files, schema: pa.Schema) -> pa.Schema:
    """The columns in the order of the declaration, if there is one; others are left out. (A CSV
    file can have no others, except those of its directories.)"""
    if files.schema is None:
        return schema
    return pa.schema([(name, files.given_type(name)) for name in files.schema])
