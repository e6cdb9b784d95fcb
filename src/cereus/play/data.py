"""The events of a playground: the samples, the files that it was started with, and uploaded
files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import CereusError, did_you_mean
from cereus.expr.types import Kind, kind_of
from cereus.language.registry import default_name
from cereus.play.samples import SAMPLES, file_example
from cereus.sources import Files, source
from cereus.stream import Stream

MOST_TYPES = 200
"""The most types that are listed; a column with more values has another meaning."""
TYPE_NAMES = ("type", "event_type", "eventtype", "event", "kind", "action", "activity")
"""Usual names of columns with the kind of an event."""
GIVEN = "given"
"""The name of the events that the playground was started with."""


@dataclass(frozen=True)
class PlayEvents:
    """Some events: the first of a file, if it has more than may be read."""

    name: str
    title: str
    about: str
    table: pa.Table
    stream: Stream
    examples: Mapping[str, str]
    file: str
    more: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def types(self) -> tuple[str, ...]:
        return types_of(self.table, self.stream.type)

    def described(self) -> dict[str, Any]:
        """The events as the page shows them."""
        stream = self.stream
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "rows": self.table.num_rows,
            "more": self.more,
            "columns": [{"name": f.name, "kind": str(f.type)} for f in self.table.schema],
            "types": list(self.types),
            "examples": dict(self.examples),
            "stream": {
                "type": stream.type or "",
                "time": stream.time or "",
                "keys": list(stream.keys),
                "stream": stream.stream or "",
                "unit": stream.unit or "",
                "where": stream.where or "",
            },
        }


def types_of(table: pa.Table, column: str | None) -> tuple[str, ...]:
    if column is None or column not in table.column_names:
        return ()
    values = pc.drop_null(pc.unique(table.column(column))).to_pylist()
    return tuple(sorted(map(str, values))) if len(values) <= MOST_TYPES else ()


@dataclass(frozen=True)
class GivenFiles:
    """The files that `cereus play INPUT` was started with, in values that JSON has. `type` is "" if
    no column has the type, None if it was not given."""

    paths: tuple[str, ...] = ()
    type: str | None = None
    time: str | None = None
    keys: tuple[str, ...] = ()
    stream: str | None = None
    unit: str | None = None
    where: str | None = None
    sort: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How the files are read: the arguments of `Files` that differ from their defaults."""


@dataclass
class PlayData:
    """All events by name, each read when it is first needed."""

    given: GivenFiles
    most: int
    uploads: dict[str, str] = field(default_factory=dict)
    """The paths of uploaded files, by the names of their events."""
    read: dict[str, PlayEvents] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [*([GIVEN] if self.given.paths else []), *self.uploads, *SAMPLES]

    def of(self, name: str) -> PlayEvents:
        if name not in self.names:
            raise CereusError(f"there are no events {name!r}", hint=did_you_mean(name, self.names))
        if name not in self.read:
            self.read[name] = self._read(name)
        return self.read[name]

    def _read(self, name: str) -> PlayEvents:
        if name == GIVEN:
            return self._files(name, self.given)
        if name in self.uploads:
            path = self.uploads[name]
            there = self._files(name, GivenFiles((path,)))
            return replace(there, file=Path(path).name)  # its path here means nothing
        return _sample(name)

    def open(self, name: str, path: str) -> PlayEvents:
        """Read an uploaded file; one that cannot be read is forgotten."""
        self.uploads[name] = path
        try:
            return self.of(name)
        except CereusError:
            del self.uploads[name]
            raise

    def _files(self, of: str, given: GivenFiles) -> PlayEvents:
        paths: Sequence[str] = given.paths
        described = source(Files(list(paths), **given.reading), Stream())
        table, more = _first(described, self.most)
        time = given.time or _time_column(table.schema)
        if given.sort and time is not None:
            table = table.sort_by(time)
        type_ = _type_column(table.schema) if given.type is None else given.type or None
        stream = Stream(
            type=type_,
            time=time,
            keys=given.keys,
            stream=given.stream,
            unit=given.unit,
            where=given.where,
        )
        stream.check(table.schema)
        name = Path(paths[0]).name or paths[0]
        others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        title = f"{name}{others}"
        text = file_example(types_of(table, type_), timed=time is not None)
        examples = {default_name(): text}
        return PlayEvents(
            of, title, f"{title}:", table, stream, examples, paths[0], more, given.reading
        )


def _first(described: Any, most: int) -> tuple[pa.Table, bool]:
    """The first events, and whether there are more."""
    batches, rows = [], 0
    for batch in described.batches():
        batches.append(batch)
        rows += batch.num_rows
        if rows > most:
            break
    table = pa.Table.from_batches(batches, described.schema)
    return table.slice(0, most), rows > most


def _type_column(schema: pa.Schema) -> str | None:
    """The column with the kind of an event, judged by its name."""
    texts = {f.name.lower(): f.name for f in schema if kind_of(f.type) is Kind.STRING}
    return next((texts[name] for name in TYPE_NAMES if name in texts), None)


def _time_column(schema: pa.Schema) -> str | None:
    """The first column that holds times."""
    times = (f.name for f in schema if kind_of(f.type) is Kind.TIMESTAMP)
    return next(times, None)


def _sample(name: str) -> PlayEvents:
    sample = SAMPLES[name]
    about = " ".join(sample.about.split())
    file = f"{name}.parquet"
    return PlayEvents(
        name, sample.title, about, sample.events(), sample.stream, sample.examples, file
    )
