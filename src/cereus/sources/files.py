"""Files: where events are, and how their text is read. Both engines follow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from cereus.column_types import named_type
from cereus.errors import CereusError, did_you_mean, switch
from cereus.sources.formats import COMPRESSIONS, FORMATS
from cereus.sources.reading.texts import Notation

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Files:
    """Files of events of one format, described: read alike in this process and on Spark.

    paths        files, directories, patterns (`day/*.csv`), URLs, or "-" for standard input
    format       "csv", "json", "parquet", "arrow" or "orc"; if not given, by the suffix
    types        {column: type} for columns whose type is not to be inferred
    schema       all columns with their types, by name: a CSV file with other columns is refused
    header       of CSV: the first line has the names of the columns; or the names, if none has
    delimiter    of CSV: what separates columns; a tab in .tsv files, else a comma
    nulls        of CSV: the texts that stand for NULL
    multiline    of CSV: quoted texts may have line ends
    infer        of CSV and JSON: the types of texts are inferred, from all files; False: texts
    time_format  how times are written, as of strptime, beside ISO 8601: "%d.%m.%Y %H:%M"
    decimal      of CSV and JSON: the sign before decimals, "." or ","; 1.234,50 is a number then
    compression  "gzip", "zstd", "bz2" or "none"; if not given, by the suffix
    """

    paths: tuple[str, ...]
    format: str | None = None
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    schema: Mapping[str, pa.DataType] | None = None
    header: bool | tuple[str, ...] = True
    delimiter: str | None = None
    nulls: tuple[str, ...] = ("",)
    multiline: bool = False
    infer: bool = True
    time_format: str | None = None
    decimal: str = "."
    compression: str | None = None

    def __init__(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        format: str | None = None,
        types: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | pa.Schema | None = None,
        header: bool | Iterable[str] = True,
        delimiter: str | None = None,
        nulls: str | Iterable[str] = ("",),
        multiline: bool = False,
        infer: bool = True,
        time_format: str | None = None,
        decimal: str = ".",
        compression: str | None = None,
    ) -> None:
        values = {
            "paths": _paths(paths),
            "format": _one_of(format, FORMATS, "format"),
            "types": _types(types or {}),
            "schema": None if schema is None else _types(schema),
            "header": header if isinstance(header, bool) else _names(header),
            "delimiter": _delimiter(delimiter),
            "nulls": _texts(nulls),
            "multiline": switch("multiline", multiline),
            "infer": switch("infer", infer),
            "time_format": _time_format(time_format),
            "decimal": _decimal(decimal),
            "compression": _one_of(compression, COMPRESSIONS, "compression"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def notation(self) -> Notation:
        """How its texts write times and numbers."""
        return Notation(self.time_format, self.decimal)

    def given_type(self, column: str) -> pa.DataType | None:
        """The type of a column that is not to be inferred."""
        return {**(self.schema or {}), **self.types}.get(column)

    def at(self, paths: Iterable[str]) -> Files:
        """The same description of other files."""
        return replace(self, paths=tuple(paths))


def _paths(paths: str | Path | Iterable[str | Path]) -> tuple[str, ...]:
    many = paths if isinstance(paths, Iterable) else [paths]
    listed = [paths] if isinstance(paths, str | Path) else list(many)
    for each in listed:
        if not isinstance(each, str | Path):
            raise CereusError(
                f"a path is a text, not a {type(each).__name__}", hint='write Files("events.csv")'
            )
    if not listed:
        raise CereusError("no file was given", hint='write Files("events.csv")')
    return tuple(map(str, listed))


def _types(types: Any) -> dict[str, pa.DataType]:
    if isinstance(types, pa.Schema):
        return {column.name: column.type for column in types}
    if not isinstance(types, Mapping):
        raise CereusError(
            f"types are given by column, not as a {type(types).__name__}",
            hint='write types={"price": "double"}',
        )
    return {name: named_type(kind, name) for name, kind in types.items()}


def _texts(nulls: str | Iterable[str]) -> tuple[str, ...]:
    listed = (nulls,) if isinstance(nulls, str) or not isinstance(nulls, Iterable) else tuple(nulls)
    if not all(isinstance(each, str) for each in listed):
        raise CereusError("nulls= are texts", hint='write nulls=["", "n/a"]')
    return listed


def _names(names: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(names) if isinstance(names, Iterable) else ()
    if isinstance(names, str) or not listed or not all(isinstance(n, str) for n in listed):
        raise CereusError(
            "header= is True, or a list of the names of the columns",
            hint='write header=["ts", "type", "price"]',
        )
    return listed


def _time_format(format: str | None) -> str | None:
    if format is not None and not isinstance(format, str):
        raise CereusError("time_format= is a text", hint='write time_format="%d.%m.%Y %H:%M"')
    if format is not None and "%" not in format:
        raise CereusError(
            f"{format!r} names no part of a time",
            hint='write it as of strptime: time_format="%d.%m.%Y %H:%M"',
        )
    return format


def _decimal(sign: str) -> str:
    if sign not in (".", ","):
        raise CereusError(
            f"decimals cannot be written after {sign!r}", hint='write decimal="," or leave it out'
        )
    return sign


def _delimiter(delimiter: str | None) -> str | None:
    known = {"tab": "\t", "\\t": "\t"}
    written = known.get(delimiter, delimiter) if isinstance(delimiter, str) else None
    if delimiter is not None and (written is None or len(written) != 1 or written in '"\n\r'):
        raise CereusError(
            f"{delimiter!r} cannot separate columns", hint="write one character, as ; or tab"
        )
    return written


def _one_of(name: str | None, known: Iterable[str], what: str) -> str | None:
    if name is not None and name not in known:
        raise CereusError(f"unknown {what} {name!r}", hint=did_you_mean(str(name), known))
    return name
