"""Atoms of PAR programs and primitives of the event algebra → tests on one event."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from cereus.errors import UnknownNameError, did_you_mean
from cereus.expr.check import check, coerce
from cereus.expr.tree import Expression, attributes
from cereus.plan.tests import EventTest, conjuncts
from cereus.stream import Stream


def event_test(
    type: str | None,
    condition: Expression | None,
    schema: pa.Schema | None = None,
    text: str | None = None,
) -> EventTest:
    """The test of a type (None: any) and a condition. With a schema the condition is checked
    against it; `text` is where its spans point to."""
    if condition is None:
        return EventTest(type)
    if schema is not None:
        check(condition, schema, text)
        condition = coerce(condition, schema)
    return EventTest(type, conditions=conjuncts(condition))


def check_stream(stream: Stream, schema: pa.Schema) -> None:
    """The columns of the stream are there, and those with names hold text."""
    stream.check(schema)
    for name in (stream.type, stream.time, *stream.keys):
        if name is not None and name not in schema.names:
            raise UnknownNameError(
                f"the stream's column {name!r} is not in the events",
                hint=did_you_mean(name, schema.names),
            )


def columns_read(tests: Iterable[EventTest], stream: Stream) -> frozenset[tuple[str, ...]]:
    """The columns that tests, time and keys are read from, and the condition of the stream."""
    tested = {path for test in tests for each in test.conditions for path in attributes(each)}
    stream_columns = (stream.type, stream.time, *stream.keys)
    tested |= stream.where_columns
    return frozenset(tested.union((name,) for name in stream_columns if name is not None))
