"""Matches of a SASE+ block → their output: rows of a result, or events for other queries.

Both name the events of the *input* that a match is made of, also if the block reads the output of
another query: an event between queries carries its constituents, hidden in the column OF.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.engine.ingest.clock import as_times
from cereus.engine.match.after.skipping import SkippingRunner
from cereus.engine.match.runner import Runner
from cereus.engine.results.aggregates import Ints
from cereus.engine.results.match_chunks import MatchChunk
from cereus.engine.results.results import Results
from cereus.engine.results.rows import span_fields
from cereus.engine.results.values import lists
from cereus.expr import tree as ex
from cereus.languages.sase.planning.program import Stage, between
from cereus.languages.sase.run.values import Aggregates, Values
from cereus.state import checked
from cereus.stream import Stream

OF = "__of"
"""A hidden column of events between queries: the events of the input that they are made of."""
TIME, LAST, BLOCK, END, BINDING = "__time", "__last", "__block", "__end", "__binding"
"""Hidden columns that order these events: time, the arrival of the last event of the input behind
them, block, last event that the block has read, and the events of each variable."""
ORDER = (TIME, LAST, BLOCK, END)
ARRIVAL, ROW, AT, EVENT = "place", "row", "at", "event"
"""Of an event of the input: the number of its arrival (rows may have been sorted), its row number,
its time, and the columns of it that are kept."""


@dataclass(frozen=True)
class Constituents:
    """The events of the input that matches are made of, in their order; cut by the offsets."""

    offsets: Ints
    arrivals: Ints
    rows: Ints
    times: Ints
    events: pa.Array | None

    def listed(self) -> pa.Array:
        """The constituents as a column of events between queries."""
        columns = {ARRIVAL: self.arrivals, ROW: self.rows, AT: self.times}
        arrays: dict[str, pa.Array] = {name: pa.array(values) for name, values in columns.items()}
        if self.events is not None:
            arrays[EVENT] = self.events
        structs = pa.StructArray.from_arrays(list(arrays.values()), list(arrays))
        return lists(self.offsets, structs)

    @classmethod
    def merged(cls, of: pa.Array, offsets: Ints) -> Constituents:
        """The constituents of matches of events that have constituents themselves, each event once.
        `offsets` cuts `of` into matches."""
        inner = of.offsets.to_numpy() - of.offsets[0].as_py()
        flat = of.flatten()
        arrivals = flat.field(ARRIVAL).to_numpy()
        sizes = np.diff(inner[offsets])
        match = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((arrivals, match))
        same = np.zeros(len(order), bool)
        same[1:] = (np.diff(arrivals[order]) == 0) & (np.diff(match[order]) == 0)
        kept = order[~same]
        ends = np.cumsum(np.bincount(match[kept], minlength=len(sizes)))
        chosen = flat.take(pa.array(kept))
        has_events = any(field.name == EVENT for field in flat.type)
        return cls(
            np.concatenate([np.zeros(1, np.int64), ends]),
            chosen.field(ARRIVAL).to_numpy(),
            chosen.field(ROW).to_numpy(),
            chosen.field(AT).to_numpy(),
            chosen.field(EVENT) if has_events else None,
        )


def of_type(keep: Mapping[str, pa.DataType]) -> pa.DataType:
    """The type of the column OF, when these columns of events are kept."""
    fields = [pa.field(name, pa.int64()) for name in (ARRIVAL, ROW, AT)]
    if keep:
        fields.append(pa.field(EVENT, pa.struct([pa.field(n, kind) for n, kind in keep.items()])))
    return pa.list_(pa.struct(fields))


class BlockOutput(Results):
    """The matches of one block, as rows of the result or as events for other queries.

    keep         the columns of the input's events that results may show
    row_numbers  what the rows of the input are called, when they were put in order
    """

    def __init__(
        self,
        runner: Runner,
        stage: Stage,
        number: int,
        schema: pa.Schema,
        stream: Stream,
        aggregates: Aggregates,
        *,
        keep: tuple[str, ...],
        row_numbers: Ints | None,
        result: bool,
    ) -> None:
        self.stage, self.number, self.block = stage, number, stage.blocks[number]
        self.stream, self.aggregates, self.keep = stream, aggregates, keep
        self.arrivals = None if row_numbers is None else _inverse(row_numbers)
        self.result = result
        self.last_constituents: Constituents | None = None
        """The constituents of the rows of the result made last."""
        super().__init__(runner, schema)
        self.keys = tuple(name for name in stream.keys if name not in stage.names)
        fields = [runner.reader.key_index.fields[stream.keys.index(name)] for name in self.keys]
        self.schema = pa.schema([*fields, *self._fields(schema)])

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        """The columns of the output that come after the keys."""
        values = [*map(pa.field, self.stage.names, self.block.kinds)]
        if self.result:
            rows = pa.list_(pa.int64())
            variables = [pa.field(name, rows) for name in self.stage.columns]
            spans = [*span_fields(self.time_type), *self._deadline_fields()]
            return [*spans, pa.field("positions", rows), *values, *variables]
        after = between(self.stream)
        fields = [pa.field(after.type, pa.string()), *values]
        if self.time_type is not None:
            fields.append(pa.field(after.time, self.time_type))
        kept = schema if self.block.source is None else _events_of(schema)
        fields.append(pa.field(OF, of_type({name: kept.field(name).type for name in self.keep})))
        order = [pa.field(name, pa.int64()) for name in ORDER]
        return [*fields, *order, pa.field(BINDING, pa.list_(pa.int64()))]

    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        """The matches that HAVING keeps."""
        values = self._values(chunk)
        having = self.block.query.having
        if having is not None:
            chunk = chunk.only(values.mask(having))
            values = self._values(chunk)
        if isinstance(self.runner, SkippingRunner):
            chunk = self.runner.taken(chunk)
            values = self._values(chunk)
        return self._batch(chunk, values)

    def begun(self, chunk: MatchChunk) -> pa.RecordBatch:
        """The partial matches. HAVING is about whole matches, so it does not apply."""
        return self._batch(chunk, self._values(chunk, complete=False))

    def _batch(self, chunk: MatchChunk, values: Values) -> pa.RecordBatch:
        returned = [
            values.value(expression, kind)
            if _is_there(expression, values)
            else pa.nulls(len(chunk), kind)
            for expression, kind in zip(
                self.block.query.output.values, self.block.kinds, strict=True
            )
        ]
        make = self._row if self.result else self._event
        columns = [*self._key_columns(chunk), *make(chunk, values, returned)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _taken(self, chunks: Iterator[MatchChunk]) -> Iterator[MatchChunk]:
        """The matches that are taken, after HAVING."""
        return chunks

    @property
    def key_paths(self) -> tuple[tuple[str, ...], ...]:
        return tuple((name,) for name in self.stream.keys)

    def _key_columns(self, chunk: MatchChunk) -> list[pa.Array]:
        """The key columns that are not among the values."""
        every = super()._key_columns(chunk)
        return [every[self.stream.keys.index(name)] for name in self.keys]

    # ------------------------------------------------------------ matches

    def _values(self, chunk: MatchChunk, *, complete: bool = True) -> Values:
        variables = {}
        for component in self.block.query.components:
            bound = self.variable_events(chunk, component.variable)
            checked.refuse_unless(
                not complete or not bound.is_empty.any(), "a match lacks a variable"
            )
            variables[component.variable] = bound
        return Values(self.payload, variables, len(chunk), self.aggregates)

    def constituents(self, chunk: MatchChunk) -> Constituents:
        places = chunk.cells - self.history.first
        return self._made_of(places, chunk.offsets.astype(np.int64))

    def _made_of(self, places: Ints, offsets: Ints) -> Constituents:
        """The events of the input behind the remembered events at some places."""
        history = self.history
        if self.block.source is not None:
            assert history.payload is not None
            of = history.payload.column(OF).take(pa.array(places)).combine_chunks()
            return Constituents.merged(of, offsets)
        rows, times = history.rows[places], np.zeros(len(places), np.int64)
        if self.time_type is not None:
            times = history.times[places]
        events = None
        if self.keep:
            assert history.payload is not None
            taken = history.payload.select(list(self.keep)).take(pa.array(places))
            events = _structs(taken)
        return Constituents(offsets, self._arrivals(rows), rows, times, events)

    def _arrivals(self, rows: Ints) -> Ints:
        if self.arrivals is None or self.block.source is not None:
            return rows
        return self.arrivals[rows]

    # ------------------------------------------------------------ rows of the result

    def _row(self, chunk: MatchChunk, values: Values, returned: list[pa.Array]) -> list[pa.Array]:
        of = self.constituents(chunk)
        first, last = of.offsets[:-1], of.offsets[1:] - 1
        columns = [pa.array(of.rows[first]), pa.array(of.rows[last])]
        if self.time_type is not None:
            columns += [as_times(of.times[each], self.time_type) for each in (first, last)]
        self.last_constituents = of
        variables = []
        for name in self.stage.variables:
            events = values.variables[name]
            made_of = self._made_of(events.places, events.offsets)
            variables.append(lists(made_of.offsets, pa.array(made_of.rows)))
        columns += self._deadlines(chunk)
        return [*columns, lists(of.offsets, pa.array(of.rows)), *returned, *variables]

    # ------------------------------------------------------------ events

    def _event(self, chunk: MatchChunk, values: Values, returned: list[pa.Array]) -> list[pa.Array]:
        columns: list[Any] = [pa.array([self.stage.type] * len(chunk), pa.string()), *returned]
        history, ends = self.history, chunk.last - self.history.first
        order = end = self._arrivals(history.rows[ends])
        if self.time_type is not None:
            order = history.times[ends]
            columns.append(as_times(order, self.time_type))
        of = self.constituents(chunk)
        last = of.arrivals[of.offsets[1:] - 1]
        columns.append(of.listed())
        columns += map(pa.array, (order, last, np.full(len(chunk), self.number), end))
        return [*columns, self._binding(chunk)]

    def _binding(self, chunk: MatchChunk) -> pa.Array:
        """The arrivals of a match's events with a -1 before those of each variable. Sorted by these
        lists, matches come in the order of the reference."""
        arrivals = self._arrivals(self.history.rows[chunk.cells - self.history.first])
        new = np.ones(len(arrivals), bool)
        new[1:] = np.diff(chunk.labels) != 0
        new[chunk.offsets[:-1]] = True
        values = np.insert(arrivals, np.flatnonzero(new), -1)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(new)])
        return lists(chunk.offsets + before[chunk.offsets], pa.array(values))


def _is_there(expression: ex.Expression, values: Values) -> bool:
    """Whether all variables that a value reads have events."""
    names = {getattr(node, "variable", None) for node in expression.walk()} - {None}
    return not any(values.variables[str(name)].is_empty.any() for name in names)


def _inverse(numbers: Ints) -> Ints:
    places = np.empty(len(numbers), np.int64)
    places[numbers] = np.arange(len(numbers))
    return places


def _structs(table: pa.Table) -> pa.Array:
    made = table.combine_chunks().to_struct_array()
    return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made


def _events_of(schema: pa.Schema) -> pa.Schema:
    """The kept columns of the events that events between queries are made of."""
    inner = schema.field(OF).type.value_type
    names = [field.name for field in inner]
    return pa.schema(list(inner.field(EVENT).type) if EVENT in names else [])
