"""The output of rules: one table for all of them, whatever their languages and clauses."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from cereus.engine.ingest.substreams import key_field
from cereus.engine.results.event_rows import EVENTS
from cereus.errors import CereusError
from cereus.stream import Stream
from cereus.writing.expressible import shown_rows
from cereus.writing.json_text import json_text

RULE, VERSION, VALUES = "rule", "version", "values"
TIMES = ("start_time", "end_time")


def output_schema(stream: Stream, events: pa.Schema) -> pa.Schema:
    """The name and version of the rule, the keys of the stream, when the match starts and ends, the
    values that the rule computes (as JSON), and the events of the match."""
    keys = [key_field(events, (name,)) for name in stream.keys]
    times = (
        [] if stream.time is None else [(name, events.field(stream.time).type) for name in TIMES]
    )
    schema = pa.schema(
        [
            (RULE, pa.string()),
            (VERSION, pa.int64()),
            *keys,
            *times,
            (VALUES, pa.string()),
            (EVENTS, pa.list_(pa.struct(list(events)))),
        ]
    )
    seen: set[str] = set()
    for name in schema.names:
        if name in seen:
            raise CereusError(
                f"the matches of rules have a column {name!r} already", hint="rename the key"
            )
        seen.add(name)
    return schema


def output(name: str, version: int, matches: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Matches as rows of the table of all rules."""
    size, present = matches.num_rows, matches.schema.names
    columns: list[pa.Array] = []
    for field in schema:
        if field.name == RULE:
            columns.append(pa.repeat(pa.scalar(name), size))
        elif field.name == VERSION:
            columns.append(pa.repeat(pa.scalar(version, pa.int64()), size))
        elif field.name == VALUES:
            columns.append(_values(matches, schema))
        elif field.name in present:
            columns.append(matches.column(field.name).cast(field.type))
        else:
            columns.append(pa.nulls(size, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _values(matches: pa.RecordBatch, schema: pa.Schema) -> pa.Array:
    """The values without a column of their own, as JSON; null if there are none."""
    names = [name for name in matches.schema.names if name not in schema.names]
    if not names:
        return pa.nulls(matches.num_rows, pa.string())
    rows = shown_rows(matches.select(names))
    return pa.array(
        [json_text(row, default=_plain, ensure_ascii=False) for row in rows], pa.string()
    )


def _plain(value: Any) -> Any:
    """A value in a form that JSON has."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value)
