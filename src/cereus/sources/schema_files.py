"""Files that list the columns of events."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from cereus.column_types import TYPE_NAMES, named_schema
from cereus.errors import CereusError
from cereus.sources.files import Files
from cereus.sources.formats import format_of
from cereus.sources.source import source
from cereus.stream import Stream


def schema_of(path: str, files: Files | None = None) -> pa.Schema:
    """The columns of a data file, read as `files` says, or those that a schema file lists.

    A schema file is JSON, `{"price": "double"}`, or one `price: double` per line.
    """
    file, files = Path(path), files or Files((path,))
    if "://" in path or any(mark in path for mark in "*?["):
        return source(files, Stream()).schema
    if not file.exists():
        raise CereusError(f"there is no file {path!r}", hint="check the path")
    described = files.format is not None or format_of(path) is not None
    if file.is_dir() or (described and not _is_schema(file)):
        return source(files, Stream()).schema
    return _listed(file)


def _is_schema(file: Path) -> bool:
    """Whether a .json file lists columns: it is one object whose values all name types."""
    if file.suffix.lower() != ".json" or not file.is_file() or file.stat().st_size > 1 << 20:
        return False
    try:
        columns = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(columns, dict) and all(map(_names_a_type, columns.values()))


def _names_a_type(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, str) and value.lower() in TYPE_NAMES)


def _listed(file: Path) -> pa.Schema:
    text = file.read_text(encoding="utf-8")
    try:
        columns = json.loads(text) if text.lstrip().startswith("{") else _lines(text)
    except ValueError as error:
        raise CereusError(f"cannot read the schema {str(file)!r}: {error}") from None
    return named_schema(columns)


def _lines(text: str) -> dict[str, str]:
    columns: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, colon, kind = line.partition("#")[0].partition(":")
        if colon and name.strip() and kind.strip():
            columns[name.strip()] = kind.strip()
        elif line.partition("#")[0].strip():
            raise ValueError(f"line {number} should read `name: type`, but reads {line.strip()!r}")
    return columns
