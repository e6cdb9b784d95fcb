"""JSON lines: one object to a line; a column has one type in all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.json as json

from cereus.errors import DataError
from cereus.expr.types import kind_of
from cereus.sources.columns import joined_schema
from cereus.sources.files import Files
from cereus.sources.places import EventFile
from cereus.sources.reading.blocks import Span, arrow_owned, blocks
from cereus.sources.reading.json_numbers import exact_schema
from cereus.sources.reading.texts import NUMERIC, TextKinds

PARSED_AT_ONCE = 1 << 22


class JsonReader:
    """Reads the files of one description."""

    def __init__(self, files: Files) -> None:
        self.files = files

    def look(self, place: EventFile, kinds: TextKinds) -> pa.Schema:
        """The columns of a file; `kinds` sees the texts, which may be times."""
        if self.files.schema is not None:
            return pa.schema([(n, _as_text(kind)) for n, kind in self.files.schema.items()])
        schema = pa.schema([])
        for block in self._blocks(place, None):
            raw = pa.schema([self._raw(field) for field in self._inferred(place, block)])
            schema = joined_schema([(place.name, schema), (place.name, raw)])
            texts = [field.name for field in raw if pa.types.is_string(field.type)]
            inferred = [n for n in texts if self.files.infer and self.files.given_type(n) is None]
            if inferred:
                table = self._parsed(place, block, raw)
                kinds.see((name, table.column(name)) for name in inferred)
        return schema

    def _inferred(self, place: EventFile, block: bytes) -> pa.Schema:
        """The columns of a block, whose types may be others in other blocks."""

        def parses(field: pa.Field) -> bool:
            try:
                self._parsed(place, block, pa.schema([field]))
            except DataError:
                return False
            return True

        return exact_schema(self._parsed(place, block), block, parses)

    def _raw(self, field: pa.Field) -> pa.Field:
        """A column as it is read from a file, before its texts become values. Arrow takes some
        texts for times, by what the first of them look like. Decimals are read as such, because
        doubles would round them."""
        given = self.files.given_type(field.name)
        decimal = given is not None and pa.types.is_decimal(given)
        if decimal and kind_of(field.type) in NUMERIC:
            return field.with_type(given)
        return field.with_type(_as_text(field.type))

    def tables(
        self, place: EventFile, schema: pa.Schema, span: Span | None, columns: Sequence[str]
    ) -> Iterator[pa.Table]:
        """The values with the types in `schema`; a column that an object lacks is NULL there."""
        wanted = pa.schema([schema.field(name) for name in columns])
        for block in self._blocks(place, span):
            yield self._parsed(place, block, wanted).select(list(columns))

    def _blocks(self, place: EventFile, span: Span | None) -> Iterator[bytes]:
        try:
            yield from (block for block in blocks(place, span) if not block.isspace())
        except OSError as error:
            raise DataError(f"cannot read {place.name!r}: {error}") from None

    def _parsed(self, place: EventFile, block: bytes, schema: pa.Schema | None = None) -> pa.Table:
        options = json.ParseOptions(
            explicit_schema=schema,
            unexpected_field_behavior="infer" if schema is None else "ignore",
        )
        try:
            return _table(block, options)
        except pa.ArrowException as error:
            numbers = TEXTS_OF_NUMBERS.sub(rb"\1", block)
            if numbers != block:
                with suppress(pa.ArrowException):
                    return _table(numbers, options)
            raise DataError(
                f"cannot read {place.name!r} as json: {str(error).splitlines()[0]}",
                hint=_hint(block),
            ) from None


TEXTS_OF_NUMBERS = re.compile(rb'(?<=[:,\[])(?:\s*)"(NaN|-?Infinity)"(?=\s*[,}\]])')
"""Special numbers as texts. JSON has no such numbers: they are written as texts
(`cereus.writing.json_text`), beside numbers of the same column, which Arrow does not read. It does
read them without quotes."""


def _table(block: bytes, options: json.ParseOptions) -> pa.Table:
    size = json.ReadOptions(block_size=min(len(block), PARSED_AT_ONCE))
    return json.read_json(arrow_owned(block), read_options=size, parse_options=options)


def _hint(block: bytes) -> str | None:
    if block.lstrip().startswith(b"["):
        return "a JSON file has one event to a line, {…}; this one is an array: jq -c '.[]' does it"
    return None


def _as_text(kind: pa.DataType) -> pa.DataType:
    """The type with texts in place of times."""
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_as_text(field.type)) for field in _fields(kind)])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_as_text(kind.value_type)))
    return kind


def _fields(kind: Any) -> list[pa.Field]:
    return [kind.field(place) for place in range(kind.num_fields)]
