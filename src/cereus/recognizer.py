"""Recognizer: events pushed as they come, matches as they complete, state that can be saved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from numbers import Real
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.executor import Executor
from cereus.engine.ingest.substreams import OR_SORT
from cereus.engine.snapshot import sealed, unsealed
from cereus.engine.turns import in_turn
from cereus.errors import (
    CereusError,
    DataError,
    LimitError,
    QuerySyntaxError,
    SnapshotError,
    switch,
)
from cereus.matches import Matches
from cereus.sources import Source, to_schema, to_table
from cereus.state.arrow import schema_from
from cereus.state.damage import damaged
from cereus.syntax.parsing import errors_in

if TYPE_CHECKING:
    from cereus.query import Query

KEEPS, FINISHED, REMEMBERS = 1, 2, 4
"""Flags in a snapshot: it has the events; nothing more may be pushed; no key is forgotten."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}


@contextmanager
def pushed() -> Iterator[None]:
    """Errors in events that come one after the other do not tell to sort all of them."""
    try:
        yield
    except DataError as error:
        if error.hint is None or not error.hint.endswith(OR_SORT):
            raise
        hint = f"push events in the order of their times: {error.hint.removesuffix(OR_SORT)}"
        raise type(error)(error.message, hint=hint) from None


class Recognizer:
    """One run of a query over a stream that comes in pieces.

    `push` takes any Arrow-like table, record batch or list of dicts. How the stream is cut into
    pieces makes no difference to the matches. Positions count over the whole stream. One thread
    at a time pushes; pickled, it is its query and a snapshot.
    """

    def __init__(
        self,
        query: Query,
        *,
        keep_events: bool = False,
        schema: pa.Schema | None = None,
        forget_idle: bool = True,
    ) -> None:
        self._query = query
        self._turn = threading.Lock()
        self._keep = switch("keep_events", keep_events)
        self._forgets = switch("forget_idle", forget_idle)
        self._executor: Executor | None = None
        self._schema: pa.Schema | None = None
        self._finished = False
        self._promised: list[int | datetime] = []  # promised before the columns were known
        if schema is not None:
            self._open(to_schema(schema))

    def __repr__(self) -> str:
        return f"<Recognizer of {self._query!r}; events read: {self.costs.events:,}>"

    def _open(self, schema: pa.Schema) -> Executor:
        keep = tuple(schema.names) if self._keep else ()
        self._executor = self._query.executor(schema, keep=keep)  # refuses some schemas
        self._schema = schema
        if self._forgets:
            self._executor.forget_idle()
        for time in self._promised:
            list(self._executor.advance(self._counted(time)))  # nothing waits for it yet
        return self._executor

    @in_turn
    def push(self, events: Any) -> Matches:
        """Read events and return the matches that they complete."""
        if self._finished:
            raise CereusError("this recognizer is finished", hint="make a new one: q.recognizer()")
        if isinstance(events, list) and not events and self._schema is None:
            return self._matches([])  # the columns are not known yet
        table = to_table(events, self._schema)
        executor = self._executor or self._open(table.schema)
        if table.schema != self._schema:
            table = self._fitted(table)
        batches: list[pa.RecordBatch] = []
        for batch in table.combine_chunks().to_batches():
            with self._ended_half_way(), errors_in(None), pushed():
                batches.extend(executor.push(batch))  # the first event completes the plan
        return self._matches(batches)

    @contextmanager
    def _ended_half_way(self) -> Iterator[None]:
        """Finish the recognizer if a limit, an error that matching finds, or Ctrl-C stops it
        half-way through a batch: it has read some events, and not others. Batches that are refused
        change nothing."""
        try:
            yield
        except BaseException as error:
            if not _is_refusal(error):
                self._finished = True
            raise

    def _fitted(self, table: pa.Table) -> pa.Table:
        """The table with the columns of the first batch. Harmless differences in type are cast."""
        assert self._schema is not None
        missing = [name for name in self._schema.names if name not in table.column_names]
        if missing:
            raise DataError(
                f"the column {missing[0]!r} was in the first batch, but is not here",
                hint="give every batch the columns of the first",
            )
        try:
            return table.select(self._schema.names).cast(self._schema)
        except (ValueError, pa.ArrowException) as error:
            raise DataError(
                f"this batch does not have the types of the first one: {error}",
                hint="cast the columns, or compile with schema=… for all batches",
            ) from None

    @in_turn
    def advance(self, time: int | datetime) -> Matches:
        """Promise that no event before `time` will come, and return the matches that waited for
        this. `time` is a datetime where the time column has timestamps (in UTC if it has no zone),
        or a number in the units of the column."""
        check_time(time)
        if self._executor is None:
            self._promised.append(time)
            return self._matches([])
        with self._ended_half_way():
            batches = list(self._executor.advance(self._counted(time)))
        return self._matches(batches)

    def _counted(self, time: int | datetime) -> int:
        """A time in the units of the time column."""
        if not isinstance(time, datetime):
            return time
        return counted_in(time, self._query.stream.time, self._schema)

    @in_turn
    def finish(self) -> Matches:
        """End the stream, and return the matches that waited for its end."""
        with self._ended_half_way():
            batches = list(self._executor.finish()) if self._executor is not None else []
        self._finished = True
        return self._matches(batches)

    def _matches(self, batches: list[pa.RecordBatch]) -> Matches:
        schema = self._executor.schema if self._executor is not None else pa.schema([])
        source = None
        if self._keep and self._executor is not None and self._schema is not None:
            source = _Remembered(self._executor, self._schema)
        shed = self._executor.shed if self._executor is not None else []
        return Matches(schema, batches, self._query.compiled, source, shed, (), self.costs)

    @property
    def costs(self) -> Costs:
        """Counts of the work so far, since the first event or since it was restored."""
        return Costs() if self._executor is None else self._executor.costs

    @in_turn
    def snapshot(self) -> bytes:
        """The state as bytes; `q.restore(bytes)` goes on from it, here or in another process."""
        if self._executor is None or self._schema is None:
            raise CereusError("nothing has been pushed yet", hint="push a batch first")
        header: bytes = self._schema.serialize().to_pybytes()
        flags = KEEPS * self._keep | FINISHED * self._finished | REMEMBERS * (not self._forgets)
        size = len(header).to_bytes(8, "little")
        return sealed(bytes([flags]) + size + header + self._executor.save())

    def __reduce__(self) -> tuple[Callable[..., Recognizer], tuple[Any, ...]]:
        if self._executor is not None:
            return Recognizer.restored, (self._query, self.snapshot())
        options = self._keep, self._forgets, self._finished, self._promised
        return _unpushed, (self._query, *options)

    @classmethod
    def restored(cls, query: Query, snapshot: bytes) -> Recognizer:
        if not isinstance(snapshot, bytes | bytearray | memoryview):
            raise SnapshotError(
                f"a snapshot is bytes, not a {type(snapshot).__name__}",
                hint="give what recognizer.snapshot() gave",
            )
        data = unsealed(snapshot)
        state = 9 + int.from_bytes(data[1:9], "little")
        if state > len(data) or data[0] > KEEPS | FINISHED | REMEMBERS:
            raise damaged("it is cut short")
        schema = schema_from(data[9:state])
        recognizer = cls(
            query,
            keep_events=bool(data[0] & KEEPS),
            schema=schema,
            forget_idle=not data[0] & REMEMBERS,
        )
        assert recognizer._executor is not None
        recognizer._executor.restore(bytes(data[state:]))
        recognizer._finished = bool(data[0] & FINISHED)
        return recognizer


def _is_refusal(error: BaseException) -> bool:
    """Whether events were refused before any of them was read."""
    if isinstance(error, DataError):
        return not error.while_matching
    return isinstance(error, CereusError) and not isinstance(error, LimitError | QuerySyntaxError)


def _unpushed(
    query: Query, keep: bool, forgets: bool, finished: bool, promised: list[int | datetime]
) -> Recognizer:
    """A recognizer that has seen no event yet."""
    recognizer = Recognizer(query, keep_events=keep, forget_idle=forgets)
    recognizer._finished, recognizer._promised = finished, list(promised)
    return recognizer


def counted_in(time: datetime, name: str | None, schema: pa.Schema | None) -> int:
    """A time in the units of the time column."""
    kind = None if name is None or schema is None else schema.field(name).type
    if kind is None or not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        raise DataError(
            "advance() takes a number here: the time column has no timestamps",
            hint="give a number in the units of the column",
        )
    return counted_since_1970(time, kind.unit if pa.types.is_timestamp(kind) else "us")


def check_time(time: Any) -> None:
    """Refuse a promised time that the engine cannot count."""
    if isinstance(time, datetime):
        return
    is_number = isinstance(time, Real) and not isinstance(time, bool)
    if not is_number:
        raise DataError(
            "advance() takes a datetime, or a number in units of the time column, not a "
            f"{type(time).__name__}",
            hint="write advance(datetime(2025, 3, 3)), or advance(300) of a column of numbers",
        )
    if not -(2**63) <= time < 2**63:
        raise DataError(
            f"advance() was given {time}, which is no time that a column can hold",
            hint="give a datetime, or a number of the column's unit",
        )


def counted_since_1970(time: datetime, unit: str) -> int:
    """The number of full units since 1970."""
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    microseconds = (aware - EPOCH) // timedelta(microseconds=1)
    return microseconds * 1000 if unit == "ns" else microseconds // MICROSECONDS[unit]


class _Remembered(Source):
    """The events that a recognizer has kept, by row number."""

    def __init__(self, executor: Executor, schema: pa.Schema) -> None:
        events, rows = executor.events, executor.event_rows
        super().__init__(schema, schema.empty_table() if events is None else events)
        object.__setattr__(self, "_places", {int(row): i for i, row in enumerate(rows)})

    def take(self, rows: pa.Array) -> pa.Table:
        places: dict[int, int] = self._places  # type: ignore[attr-defined]
        assert self.table is not None
        return self.table.take(pa.array([places[row] for row in rows.to_pylist()], pa.int64()))
