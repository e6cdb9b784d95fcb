"""What the kernel found → Arrow tables in which the matches carry their events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import AnyQuery
from cereus.engine.match.history import History
from cereus.engine.match.runner import Runner
from cereus.engine.match.table import FIRST_SHOWN
from cereus.engine.results.counts import CountResults
from cereus.engine.results.match_chunks import Found
from cereus.engine.results.rows import Results, read_path, times_of, type_at

Ints = npt.NDArray[np.int64]
EVENTS = "events"


@dataclass(frozen=True)
class EventShape:
    """What of its events a match carries.

    columns  the columns of an event, wherever one is shown
    listed   whether all events of the match are listed, in the column `events`
    own      a boolean column: matches whose last event says false are not reported
    """

    columns: tuple[str, ...]
    listed: bool = True
    own: str | None = None

    def payload(self, query: AnyQuery) -> tuple[str, ...]:
        """The columns that have to be remembered."""
        selected = any(not output.attributes for output in query.select or ())
        whole = (self.listed or selected) and not query.count
        return (*(self.columns if whole else ()), *([self.own] if self.own else []))

    def only_own(self, batch: pa.RecordBatch, ends: Ints, history: History) -> pa.RecordBatch:
        """The rows of a batch that are to be reported; `ends` are the last events."""
        if self.own is None:
            return batch
        assert history.payload is not None
        own = history.payload.column(self.own).take(pa.array(ends - history.first))
        return batch.filter(_whole(own))


class EventResults(Results):
    """Key columns, start_time and end_time (with a time column), one list of structs per selected
    variable, and `events`, the list of all events of the match."""

    def __init__(self, runner: Runner, schema: pa.Schema, shape: EventShape) -> None:
        self.shape = shape
        super().__init__(runner, schema)

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        fields = []
        if self.time_type is not None:
            fields += [pa.field(name, self.time_type) for name in ("start_time", "end_time")]
        for output in self.plan.query.select or ():
            paths = output.attributes or tuple((name,) for name in self.shape.columns)
            inner = [pa.field(".".join(path), type_at(schema, path)) for path in paths]
            fields.append(pa.field(output.variable, pa.list_(pa.struct(inner))))
        if self.shape.listed:
            inner = [pa.field(name, schema.field(name).type) for name in self.shape.columns]
            fields.append(pa.field(EVENTS, pa.list_(pa.struct(inner))))
        return fields

    def batch(self, found: Found) -> pa.RecordBatch:
        history = self.runner.history
        columns = self._keys(found, history)
        if self.time_type is not None:
            for ordinals in (found.first, found.last):
                columns.append(times_of(history.times[ordinals - history.first], self.time_type))
        columns += self._lists(found, history)
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return self.shape.only_own(batch, found.last, history)

    def _lists(self, found: Found, history: History) -> list[pa.Array]:
        """A column per selected variable, then the events."""
        columns = []
        labels = self.runner.labels.shown
        everything = tuple((name,) for name in self.shape.columns)
        for output in self.plan.query.select or ():
            held = np.array([output.variable in label for label in labels], bool)
            chosen = held[found.labels - FIRST_SHOWN]
            columns.append(_structs(found, history, chosen, output.attributes or everything))
        if self.shape.listed:
            shown: npt.NDArray[np.bool_] | None = None
            if self.plan.names is not None:
                seen = np.array([bool(label) for label in labels], bool)
                shown = seen[found.labels - FIRST_SHOWN]
            columns.append(_structs(found, history, shown, everything))
        return columns


class OwnCounts(CountResults):
    """Counts, of the events that are to be reported here only."""

    def __init__(self, runner: Runner, schema: pa.Schema, shape: EventShape) -> None:
        self.shape = shape
        super().__init__(runner, schema)

    def batch(self, found: Found) -> pa.RecordBatch:
        return self.shape.only_own(super().batch(found), found.at, self.runner.history)


def _structs(
    found: Found,
    history: History,
    chosen: npt.NDArray[np.bool_] | None,
    paths: tuple[tuple[str, ...], ...],
) -> pa.Array:
    """Per match the list of the chosen events, each with the given attributes."""
    offsets, cells = found.offsets, found.cells
    if chosen is not None:
        counts = np.zeros(len(chosen) + 1, np.int32)
        np.cumsum(chosen, out=counts[1:])
        offsets, cells = counts[found.offsets], cells[chosen]
    assert history.payload is not None
    places = pa.array(cells - history.first)
    values = [_whole(read_path(history.payload, path).take(places)) for path in paths]
    structs = pa.StructArray.from_arrays(values, [".".join(path) for path in paths])
    # the kernel writes to its arrays again; what is shown must not change with them
    return pa.ListArray.from_arrays(pa.array(offsets.copy()), structs)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
