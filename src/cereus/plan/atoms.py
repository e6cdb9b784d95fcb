"""Atoms of PAR programs and primitives of the event algebra → tests on one event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from cereus.expr.check import check, coerce
from cereus.expr.tree import Expression, attributes, conjuncts
from cereus.plan.tests import EventTest
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
    """Check that the columns of the stream exist, and that those with names hold text."""
    stream.check(schema)
    # Languages whose events are only tested never read the column of streams.
    replace(stream, stream=None).need_columns(schema)


def columns_read(tests: Iterable[EventTest], stream: Stream) -> frozenset[tuple[str, ...]]:
    """The columns that are read: by tests, by the condition of the stream, as times and as keys."""
    tested = {path for test in tests for each in test.conditions for path in attributes(each)}
    stream_columns = (stream.type, stream.time, *stream.keys)
    tested |= stream.where_columns
    return frozenset(tested.union((name,) for name in stream_columns if name is not None))
