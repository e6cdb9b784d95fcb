"""What is known about the events of a query file: their columns, and the roles of these.

It stands in comments at the top of the file,

    -- schema: trades.parquet
    -- time: ts
    -- type: none

or, for all files of a folder and those below it, in `cereus.toml` under `[events]`, or in what the
editor gives the server at the start. The first of these that has something is used. `schema` is a
file of events, or one that lists columns; in TOML it may also be a table of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cereus.column_types import named_schema
from cereus.errors import CereusError
from cereus.lsp.features import Surroundings
from cereus.sources import Files, source
from cereus.sources.schema_files import schema_of
from cereus.stream import Stream

NAMES = ("schema", "type", "time", "keys", "unit")
COMMENT = re.compile(rf"\s*+--\s*+({'|'.join(NAMES)}):\s*+(\S.*)")
FILE = "cereus.toml"
MOST_TYPES = 200


def surroundings_of(text: str, path: str, given: Mapping[str, Any]) -> Surroundings:
    """What is known about the events of a query file. An error belongs to the file that says it."""
    folder = Path(path).parent
    named = {**_only_known(given, Path.cwd()), **_of_folder(folder), **_of_comments(text, folder)}
    if not named:
        return Surroundings()
    schema = named.get("schema")
    keys = named.get("keys") or ()
    stream = Stream(
        type=_type(named.get("type", "type")),
        time=named.get("time", None if schema is not None else "time"),
        keys=re.split(r",\s*", keys) if isinstance(keys, str) else keys,
        unit=named.get("unit"),
    )
    columns = None if schema is None else _schema(schema)
    types: tuple[str, ...] = ()
    if columns is not None and isinstance(schema, Path) and stream.type in columns.names:
        types = _types(schema, str(stream.type))
    return Surroundings(stream, columns, types)


def _type(name: Any) -> Any:
    """The type column; None if there is none, `-- type: none`, as on the command line."""
    return None if isinstance(name, str) and name.lower() == "none" else name


def _of_comments(text: str, folder: Path) -> dict[str, Any]:
    named = {}
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("--"):
            break
        comment = COMMENT.match(line)
        if comment is not None:
            named[comment[1]] = comment[2].rstrip()
    return _only_known(named, folder)


def _of_folder(folder: Path) -> dict[str, Any]:
    for each in (folder, *folder.absolute().parents):
        if (each / FILE).is_file():
            return _only_known(_events_table(each / FILE), each)
    return {}


def _events_table(file: Path) -> Mapping[str, Any]:
    try:
        read = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CereusError(f"cannot read {file}: {error}") from None
    events = read.get("events", {})
    if not isinstance(events, Mapping):
        raise CereusError(f"events in {file} is no table", hint="write it below [events]")
    return events


def _only_known(named: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    kept = {name: value for name, value in named.items() if name in NAMES and value}
    if isinstance(kept.get("schema"), str):
        kept["schema"] = folder / kept["schema"]
    return kept


def _schema(schema: Any) -> pa.Schema:
    if isinstance(schema, Mapping):
        return named_schema(schema)
    if not isinstance(schema, Path):
        hint = 'write the name of a file, or columns: {price = "double"}'
        raise CereusError(f"schema is {schema!r}, which names no columns", hint=hint)
    # The name may still be being typed: no folder and no pattern is walked, no device is read.
    if not schema.is_file():
        kind = "a folder" if schema.is_dir() else "no file"
        raise CereusError(f"{str(schema)!r} is {kind}", hint="name one with events or columns")
    return _read(str(schema), schema.stat().st_mtime)


@lru_cache(maxsize=32)
def _read(path: str, changed: float) -> pa.Schema:
    """The schema of a file, read once for each change of the file."""
    try:
        return schema_of(path, Files(path))
    except (OSError, ValueError) as error:
        raise CereusError(f"cannot read {path!r}: {error}") from None


def _types(schema: Path, column: str) -> tuple[str, ...]:
    """The types of events in a file; none if it only lists columns."""
    with suppress(CereusError, OSError):
        first = next(source([str(schema)], Stream()).batches([column]), None)
        values = [] if first is None else pc.unique(first.column(0)).drop_null().to_pylist()
        return tuple(sorted(map(str, values[:MOST_TYPES])))
    return ()
