"""Rows in which the matches carry their events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import AnyQuery
from cereus.engine.ingest.clock import as_times
from cereus.engine.match.history import History
from cereus.engine.match.runner import Runner
from cereus.engine.results.match_chunks import Mask, MatchChunk
from cereus.engine.results.results import Results
from cereus.engine.results.rows import as_array, struct_lists, structs_of

Ints = npt.NDArray[np.int64]
Paths = tuple[tuple[str, ...], ...]
EVENTS = "events"


@dataclass(frozen=True)
class EventShape:
    """What of its events a match carries.

    columns   the columns of an event, wherever one is shown
    listed    all events of the match are listed, in the column `events`
    reported  a boolean column: matches whose last event says false are not reported
    """

    columns: tuple[str, ...]
    listed: bool = True
    reported: str | None = None

    @property
    def paths(self) -> Paths:
        return tuple((name,) for name in self.columns)

    def payload(self, query: AnyQuery) -> tuple[str, ...]:
        """The columns that have to be remembered."""
        selected = any(not output.attributes for output in query.select or ())
        shows_events = (self.listed or selected) and not query.count
        return (
            *(self.columns if shows_events else ()),
            *([self.reported] if self.reported else []),
        )

    def only_reported(self, batch: pa.RecordBatch, ends: Ints, history: History) -> pa.RecordBatch:
        """The rows of a batch that are to be reported; `ends` are the ordinals of last events."""
        if self.reported is None:
            return batch
        assert history.payload is not None
        reported = history.payload.column(self.reported).take(pa.array(ends - history.first))
        return batch.filter(as_array(reported))


class EventRows(Results):
    """Rows of (key columns, start_time, end_time, computed values, one list of structs per selected
    variable, `events`: the list of all events of the match). Times need a time column."""

    def __init__(self, runner: Runner, schema: pa.Schema, shape: EventShape) -> None:
        self.shape = shape
        super().__init__(runner, schema)

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        fields = []
        if self.time_type is not None:
            fields += [pa.field(name, self.time_type) for name in ("start_time", "end_time")]
        fields += [*self._deadline_fields(), *self._returned_fields()]
        for output in self.plan.query.select or ():
            shown = struct_lists(output.attributes or self.shape.paths, schema)
            fields.append(pa.field(output.name, shown))
        if self.shape.listed:
            fields.append(pa.field(EVENTS, struct_lists(self.shape.paths, schema)))
        return fields

    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        history, columns = self.history, self._key_columns(chunk)
        if self.time_type is not None:
            for ordinals in (chunk.first, chunk.last):
                columns.append(as_times(history.times[ordinals - history.first], self.time_type))
        columns += [*self._deadlines(chunk), *self._returned(chunk), *self._lists(chunk)]
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return self.shape.only_reported(batch, chunk.last, history)

    def _lists(self, chunk: MatchChunk) -> list[pa.Array]:
        """A column per selected variable, then the events."""
        columns = []
        for output in self.plan.query.select or ():
            chosen = self._in_variable(chunk, output.variable)
            columns.append(self._structs(chunk, chosen, output.attributes or self.shape.paths))
        if self.shape.listed:
            selected = None if self.plan.names is None else self._selected(chunk)
            columns.append(self._structs(chunk, selected, self.shape.paths))
        return columns

    def _structs(self, chunk: MatchChunk, chosen: Mask | None, paths: Paths) -> pa.Array:
        """For each match the list of the chosen events, each with the given attributes."""
        # a copy, since the kernel writes to its arrays again
        offsets, cells = chunk.offsets.copy(), chunk.cells
        if chosen is not None:
            offsets, cells = chunk.cells_where(chosen)
        assert self.history.payload is not None
        places = pa.array(cells - self.history.first)
        return structs_of(self.history.payload, places, paths, offsets)
