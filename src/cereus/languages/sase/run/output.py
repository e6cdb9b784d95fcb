"""Matches of a SASE+ block → what they put out: rows of a result, or events for other queries.

Both say which events of the *input* a match is made of, also where the block reads the output of
another query: an event between queries carries, hidden in the column OF, its own constituents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.match.history import History
from cereus.engine.match.runner import Runner
from cereus.engine.match.table import FIRST_SHOWN
from cereus.engine.results.match_chunks import Found
from cereus.engine.results.rows import Results, times_of
from cereus.languages.sase.plan.program import Stage, between
from cereus.languages.sase.run.values import Aggregates, Held, Ints, Values, lists
from cereus.stream import Stream

OF, TIME, BLOCK, END, BINDING = "__of", "__time", "__block", "__end", "__binding"
"""Hidden columns of events between queries: the events of the input that they are made of; and
what orders them: time, block, last event, and the events of each variable."""
PLACE, ROW, AT, EVENT = "place", "row", "at", "event"
"""Of an event of the input: its place in the order it came in, its row number, its time, and the
columns of it that are kept."""


@dataclass(frozen=True)
class Constituents:
    """The events of the input that matches are made of, in their order; cut by the offsets."""

    offsets: Ints
    places: Ints
    rows: Ints
    times: Ints
    events: pa.Array | None

    def listed(self) -> pa.Array:
        """As a column of events between queries."""
        columns = {PLACE: self.places, ROW: self.rows, AT: self.times}
        arrays: dict[str, pa.Array] = {name: pa.array(values) for name, values in columns.items()}
        if self.events is not None:
            arrays[EVENT] = self.events
        structs = pa.StructArray.from_arrays(list(arrays.values()), list(arrays))
        return lists(self.offsets, structs)

    @classmethod
    def merged(cls, of: pa.Array, offsets: Ints) -> Constituents:
        """Those of matches of events that have their own: each event once. `offsets` cuts `of`
        into matches."""
        inner = of.offsets.to_numpy() - of.offsets[0].as_py()
        flat = of.flatten()
        places = flat.field(PLACE).to_numpy()
        sizes = np.diff(inner[offsets])
        match = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((places, match))
        same = np.zeros(len(order), bool)
        same[1:] = (np.diff(places[order]) == 0) & (np.diff(match[order]) == 0)
        kept = order[~same]
        ends = np.cumsum(np.bincount(match[kept], minlength=len(sizes)))
        chosen = flat.take(pa.array(kept))
        has_events = any(field.name == EVENT for field in flat.type)
        return cls(
            np.concatenate([np.zeros(1, np.int64), ends]),
            chosen.field(PLACE).to_numpy(),
            chosen.field(ROW).to_numpy(),
            chosen.field(AT).to_numpy(),
            chosen.field(EVENT) if has_events else None,
        )


def of_type(keep: Mapping[str, pa.DataType]) -> pa.DataType:
    """The type of the column OF, when these columns of events are kept."""
    fields = [pa.field(name, pa.int64()) for name in (PLACE, ROW, AT)]
    if keep:
        fields.append(pa.field(EVENT, pa.struct([pa.field(n, kind) for n, kind in keep.items()])))
    return pa.list_(pa.struct(fields))


class BlockOutput(Results):
    """What the runner of one block finds, as rows of the result or as events.

    keep         the columns of the input's events that results may ask for
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
        self.places = None if row_numbers is None else _inverse(row_numbers)
        self.result = result
        self.told: Constituents | None = None
        """What the rows of the result made last are made of."""
        super().__init__(runner, schema)
        self.keys = tuple(name for name in stream.keys if name not in stage.names)
        own = [runner.front.keys.fields[stream.keys.index(name)] for name in self.keys]
        self.schema = pa.schema([*own, *self._fields(schema)])

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        """All columns after the keys."""
        values = [*map(pa.field, self.stage.names, self.block.kinds)]
        if self.result:
            rows = pa.list_(pa.int64())
            variables = [pa.field(name, rows) for name in self.stage.variables]
            return [*self._span_fields(), pa.field("positions", rows), *values, *variables]
        after = between(self.stream)
        fields = [pa.field(after.type, pa.string()), *values]
        if self.time_type is not None:
            fields.append(pa.field(after.time, self.time_type))
        kept = schema if self.block.source is None else _events_of(schema)
        fields.append(pa.field(OF, of_type({name: kept.field(name).type for name in self.keep})))
        order = [pa.field(name, pa.int64()) for name in (TIME, BLOCK, END)]
        return [*fields, *order, pa.field(BINDING, pa.list_(pa.int64()))]

    def batch(self, found: Found) -> pa.RecordBatch:
        """The matches that HAVING keeps."""
        history = self.runner.history
        values = self._values(found, history)
        having = self.block.query.having
        if having is not None:
            found = chosen(found, values.mask(having))
            values = self._values(found, history)
        returned = [
            values.value(expression, kind)
            for expression, kind in zip(
                self.block.query.output.values, self.block.kinds, strict=True
            )
        ]
        make = self._row if self.result else self._event
        columns = [*self._own_keys(found, history), *make(found, history, values, returned)]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _own_keys(self, found: Found, history: History) -> list[pa.Array]:
        every = self._keys(found, history)
        return [every[self.stream.keys.index(name)] for name in self.keys]

    # ------------------------------------------------------------ matches

    def _values(self, found: Found, history: History) -> Values:
        labels = self.runner.labels.shown
        codes = found.labels - FIRST_SHOWN
        cells = found.cells - history.first
        held = {}
        for component in self.block.query.components:
            own = np.array([component.variable in label for label in labels], bool)[codes]
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(own)])
            held[component.variable] = Held(cells[own], before[found.offsets])
        events = history.payload if history.payload is not None else pa.table({})
        return Values(events, held, len(found), self.aggregates)

    def constituents(self, found: Found, history: History) -> Constituents:
        cells, offsets = found.cells - history.first, found.offsets.astype(np.int64)
        return self._made_of(cells, offsets, history)

    def _made_of(self, cells: Ints, offsets: Ints, history: History) -> Constituents:
        """The events of the input behind the remembered events at some places."""
        if self.block.source is not None:
            assert history.payload is not None
            of = history.payload.column(OF).take(pa.array(cells)).combine_chunks()
            return Constituents.merged(of, offsets)
        rows, times = history.rows[cells], np.zeros(len(cells), np.int64)
        if self.time_type is not None:
            times = history.times[cells]
        events = None
        if self.keep:
            assert history.payload is not None
            taken = history.payload.select(list(self.keep)).take(pa.array(cells))
            events = _structs(taken)
        return Constituents(offsets, self._places(rows), rows, times, events)

    def _places(self, rows: Ints) -> Ints:
        return rows if self.places is None or self.block.source is not None else self.places[rows]

    # ------------------------------------------------------------ rows of the result

    def _row(
        self, found: Found, history: History, values: Values, returned: list[pa.Array]
    ) -> list[pa.Array]:
        of = self.constituents(found, history)
        first, last = of.offsets[:-1], of.offsets[1:] - 1
        columns = [pa.array(of.rows[first]), pa.array(of.rows[last])]
        if self.time_type is not None:
            columns += [times_of(of.times[each], self.time_type) for each in (first, last)]
        self.told = of
        variables = []
        for name in self.stage.variables:
            held = self._made_of(values.held[name].places, values.held[name].offsets, history)
            variables.append(lists(held.offsets, pa.array(held.rows)))
        return [*columns, lists(of.offsets, pa.array(of.rows)), *returned, *variables]

    # ------------------------------------------------------------ events

    def _event(
        self, found: Found, history: History, values: Values, returned: list[pa.Array]
    ) -> list[pa.Array]:
        columns: list[Any] = [pa.array([self.stage.type] * len(found), pa.string()), *returned]
        ends = found.last - history.first
        order = end = self._places(history.rows[ends])
        if self.time_type is not None:
            order = history.times[ends]
            columns.append(times_of(order, self.time_type))
        columns.append(self.constituents(found, history).listed())
        columns += [pa.array(order), pa.array(np.full(len(found), self.number)), pa.array(end)]
        return [*columns, self._binding(found, history)]

    def _binding(self, found: Found, history: History) -> pa.Array:
        """The places of a match's events with a -1 before those of each variable: in the order
        of these lists, matches come as those of the reference do."""
        cells = self._places(history.rows[found.cells - history.first])
        new = np.ones(len(cells), bool)
        new[1:] = np.diff(found.labels) != 0
        new[found.offsets[:-1]] = True
        places = np.insert(cells, np.flatnonzero(new), -1)
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(new)])
        return lists(found.offsets + before[found.offsets], pa.array(places))


def chosen(found: Found, kept: npt.NDArray[np.bool_]) -> Found:
    """Some of the matches."""
    if kept.all():
        return found
    sizes = np.diff(found.offsets)
    cells = np.repeat(kept, sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int32)
    labels = found.labels[cells] if len(found.labels) else found.labels
    return Found(
        found.cells[cells],
        labels,
        offsets,
        found.first[kept],
        found.last[kept],
        found.at[kept],
    )


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
