"""Describes a stream: which columns of a table are the type, the time and the keys of events."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

import pyarrow as pa

from cereus.clauses.tree import TimeWindow
from cereus.errors import (
    CereusError,
    DataError,
    RefusedError,
    UnknownNameError,
    did_you_mean,
    known_names,
    shortened,
)
from cereus.expr.check import check
from cereus.expr.paths import type_at
from cereus.expr.text import parse_condition
from cereus.expr.tree import Expression, attributes
from cereus.expr.types import Kind, kind_of

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0.001}
"""Microseconds in one unit of a time column that holds plain numbers."""


@dataclass(frozen=True)
class Stream:
    """Which columns are what.

    type    the column that names an event's type; None: every event has the type EVENT
    time    the column with an event's time; None: there are no times, only positions
    keys    columns that split the stream into substreams (PARTITION BY in the query adds to them)
    stream  the column that names the stream an event came on, for queries FROM several streams
    unit    what one unit of a numeric time column is: "s", "ms", "us" or "ns"
    where   a condition; events for which it is not true are not there at all, not even as places
    """

    type: str | None = "type"
    time: str | None = None
    keys: tuple[str, ...] = ()
    stream: str | None = None
    unit: str | None = None
    where: str | None = None

    def __init__(
        self,
        *,
        type: str | None = "type",
        time: str | None = None,
        keys: str | Iterable[str] = (),
        stream: str | None = None,
        unit: str | None = None,
        where: str | None = None,
    ) -> None:
        if unit is not None and not (isinstance(unit, str) and unit in UNITS):
            shown = shortened(repr(unit))
            raise CereusError(f"unknown time unit {shown}", hint="use one of s, ms, us, ns")
        if where is not None and not isinstance(where, str):
            raise _no_condition(where)
        names = (keys,) if isinstance(keys, str) or not isinstance(keys, Iterable) else tuple(keys)
        _check_names([name for name in (type, time, stream) if name is not None], names)
        set_field = object.__setattr__
        set_field(self, "type", type)
        set_field(self, "time", time)
        set_field(self, "keys", names)
        set_field(self, "stream", stream)
        set_field(self, "unit", unit)
        set_field(self, "where", where)
        _ = self.condition  # a condition that cannot be parsed is refused here

    def __repr__(self) -> str:
        """Fingerprints of queries contain this text, so a stream without a condition shows no
        condition."""
        values = (self.type, self.time, self.keys, self.stream, self.unit)
        names = ("type", "time", "keys", "stream", "unit")
        shown = [f"{name}={value!r}" for name, value in zip(names, values, strict=True)]
        shown += [] if self.where is None else [f"where={self.where!r}"]
        return f"Stream({', '.join(shown)})"

    @property
    def condition(self) -> Expression | None:
        """The condition of the stream, parsed; events that do not satisfy it are left out."""
        return None if self.where is None else _parsed(self.where)

    @property
    def where_columns(self) -> frozenset[tuple[str, ...]]:
        return frozenset() if self.condition is None else frozenset(attributes(self.condition))

    def check(self, schema: pa.Schema) -> None:
        """Check that column names are distinct, and that columns of types and streams hold text."""
        refuse_repeated(schema.names, "the events have")
        if self.condition is not None:
            check(self.condition, schema, self.where)
        self.check_time(schema)
        for name, what in ((self.type, "type"), (self.stream, "stream")):
            if name is None or name not in schema.names:
                continue
            kind = schema.field(name).type
            if kind_of(kind) not in (Kind.STRING, Kind.NULL):
                raise DataError(
                    f"the {what} column {name!r} has the type {kind}, but must hold text",
                    hint="name another column, or cast this one to a string",
                )

    def need_time(self, names: Sequence[str]) -> None:
        """Check that the time column, if there is one, is among the columns of the events."""
        if self.time is not None and self.time not in names:
            raise DataError(
                f"the time column {self.time!r} is not in the events",
                hint=did_you_mean(self.time, names),
            )

    def need_unit(self, otherwise: str = "") -> float:
        """The microseconds in one unit of a time column that holds plain numbers."""
        if self.unit is None:
            raise CereusError(
                f"the time column {self.time!r} holds plain numbers: seconds or milliseconds?",
                hint=f'say Stream(time="{self.time}", unit="ms"){otherwise}',
            )
        return UNITS[self.unit]

    def need_columns(self, schema: pa.Schema) -> None:
        """Every column of the stream must be among those of the events."""
        named = {"type": self.type, "time": self.time, "stream": self.stream}
        keys = [("key", key) for key in self.keys]
        for what, name in [*named.items(), *keys]:
            if name is not None and name not in schema.names:
                hint = _of_field(what, name, schema) or did_you_mean(name, schema.names)
                if what == "type" and name == Stream.type:  # nobody has named it
                    hint = (
                        'name the column with the types of events: Stream(type="…"), or write '
                        f"Stream(type=None): all are EVENTs then; {known_names(schema.names)}"
                    )
                raise UnknownNameError(
                    f"the {what} column {name!r} is not in the events", hint=hint
                )

    def check_time(self, schema: pa.Schema) -> None:
        """Check the type of the time column, before any event is read here or by a worker."""
        if self.time is None or self.time not in schema.names:
            return
        kind = schema.field(self.time).type
        if kind_of(kind) in (Kind.STRING, Kind.BOOLEAN, Kind.OTHER):
            text = kind_of(kind) is Kind.STRING
            raise DataError(
                f"the time column {self.time!r} has the type {kind}, which is no time",
                hint=f'read it as one: Files(…, types={{"{self.time}": "timestamp"}}), with '
                'time_format="%d.%m.%Y %H:%M" if it is not as in ISO 8601, or convert it before, '
                "as pandas.to_datetime, Spark's to_timestamp and datetime.fromisoformat do"
                if text
                else "a timestamp, a date or a number is needed",
            )


@lru_cache(maxsize=256)
def _parsed(where: str) -> Expression:
    return parse_condition(where)


def _no_condition(where: object) -> CereusError:
    return CereusError(
        f"where= is a condition as text, not a {type(where).__name__}",
        hint="write where=\"type != 'HEARTBEAT'\"",
    )


def _of_field(what: str, name: str, schema: pa.Schema) -> str | None:
    """A hint if a name is not that of a column, but of a field of one: `event.category`."""
    if type_at(schema, tuple(name.split("."))) is None:
        return None
    match what:
        case "type":
            return (
                "it is a field of a column: write Stream(type=None), and ask for it in conditions: "
                f"* AS a FILTER a[{name} = '…']"
            )
        case "key":
            return (
                f"it is a field of a column: write PARTITION BY {name} in the query, or copy it to "
                "a column"
            )
    return "it is a field of a column: copy it to a column"


def refuse_repeated(names: Sequence[str], has: str) -> None:
    """Refuse two columns of one name, since a query could not name one of them. `has` begins the
    message: "the events have"."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"{has} two columns {name!r}", hint="rename or drop one of them")
        seen.add(name)


def _check_names(*columns: Iterable[Any]) -> None:
    for column in itertools.chain(*columns):
        if not isinstance(column, str):
            raise CereusError(
                f"a column is named by a text, not by a {type(column).__name__}: "
                f"{shortened(repr(column))}",
                hint='write Stream(type="…", time="…", keys=["…"])',
            )


def no_time(window: TimeWindow, schema: pa.Schema | None) -> RefusedError:
    """The error of a window in time over events whose time column is not declared."""
    columns = [] if schema is None else [f.name for f in schema if pa.types.is_timestamp(f.type)]
    known = columns[0] if len(columns) == 1 else "…"
    several = f"; {' and '.join(columns)} hold times" if 1 < len(columns) < 6 else ""
    return RefusedError(
        "WITHIN a length of time needs a time column",
        span=window.span,
        hint=f'say which one it is: Stream(time="{known}"){several}',
    )


def time_window(
    window: TimeWindow, stream: Stream, schema: pa.Schema | None
) -> tuple[tuple[str, ...], Any]:
    """The column that a window in time is measured by, and its size in the column's own values."""
    if stream.time is None:
        raise no_time(window, schema)
    path = (stream.time,)
    kind = None if schema is None else schema.field(stream.time).type
    plain = kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind))
    if not plain:
        return path, timedelta(microseconds=window.microseconds)
    if stream.unit is None:
        raise RefusedError(
            f"the time column {stream.time!r} holds plain numbers: which unit?",
            span=window.span,
            hint=f'say Stream(time="{stream.time}", unit="ms"), or write WITHIN n [column]',
        )
    return path, window.microseconds / UNITS[stream.unit]
