"""Rows that refer to the events of a match by their row numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import AnyQuery, Output
from cereus.engine.ingest.clock import as_times
from cereus.engine.memory import taken
from cereus.engine.results.match_chunks import Mask, MatchChunk
from cereus.engine.results.results import Results
from cereus.expr.paths import column_at, type_at
from cereus.plan.returned import shown_paths

Ints = npt.NDArray[np.int64]
POSITIONS = pa.list_(pa.int64())


class PositionRows(Results):
    """Rows of (key columns, start, end, start_time, end_time, positions, computed values, one
    column per selected variable): lists of row numbers, or of structs when attributes are
    selected."""

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        fields = [*span_fields(self.time_type), *self._deadline_fields()]
        fields.append(pa.field("positions", POSITIONS))
        fields += self._returned_fields()
        for output in self.plan.query.select or ():
            fields.append(pa.field(output.name, _output_type(output, schema)))
        return fields

    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        columns = [*self._key_columns(chunk), *self._spans(chunk), *self._deadlines(chunk)]
        if self.plan.names is None:
            columns.append(_lists(chunk.offsets, self._rows(chunk.cells)))
            columns.extend(self._returned(chunk))
        else:
            columns.extend(self._variables(chunk))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _spans(self, chunk: MatchChunk) -> list[pa.Array]:
        history = self.history
        starts, ends = chunk.first - history.first, chunk.last - history.first
        columns = [pa.array(taken(history.rows, each)) for each in (starts, ends)]
        if self.time_type is not None:
            times = [taken(history.times, each) for each in (starts, ends)]
            columns += [as_times(each, self.time_type) for each in times]
        return columns

    def _rows(self, cells: Ints) -> Ints:
        if not self.runner.uses_ordinals:
            return cells
        return taken(self.history.rows, cells - self.history.first)

    def _variables(self, chunk: MatchChunk) -> Iterator[pa.Array]:
        """Row numbers of all selected events, computed values, then a column per variable."""
        yield self._column(chunk, self._selected(chunk), None)
        yield from self._returned(chunk)
        for output in self.plan.query.select or ():
            yield self._column(chunk, self._in_variable(chunk, output.variable), output)

    def _column(self, chunk: MatchChunk, chosen: Mask, output: Output | None) -> pa.Array:
        offsets, cells = chunk.cells_where(chosen)
        if output is None or not output.attributes:
            return _lists(offsets, self._rows(cells))
        assert self.history.payload is not None
        places = pa.array(cells - self.history.first)
        return structs_of(self.history.payload, places, output.attributes, offsets)


def span_fields(time_type: pa.DataType | None) -> list[pa.Field]:
    """Where a match starts and ends, and when, if there is a time column."""
    spans = [pa.field("start", pa.int64()), pa.field("end", pa.int64())]
    if time_type is not None:
        spans += [pa.field("start_time", time_type), pa.field("end_time", time_type)]
    return spans


def needed_payload(query: AnyQuery) -> tuple[str, ...]:
    """The columns of events that the selected values are read from."""
    return tuple(dict.fromkeys(path[0] for path in shown_paths(query)))


def _output_type(output: Output, schema: pa.Schema) -> pa.DataType:
    return struct_lists(output.attributes, schema) if output.attributes else POSITIONS


def _lists(offsets: npt.NDArray[np.int32], values: Ints) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


# ---------------------------------------------------------------- events with their attributes


def struct_lists(paths: tuple[tuple[str, ...], ...], schema: pa.Schema) -> pa.DataType:
    """The type of a list of events that have these attributes."""
    return pa.list_(pa.struct([pa.field(".".join(p), type_at(schema, p)) for p in paths]))


def structs_of(
    events: pa.Table,
    places: pa.Array,
    paths: tuple[tuple[str, ...], ...],
    offsets: npt.NDArray[np.int32],
) -> pa.Array:
    """Lists of the events at these places, cut by the offsets, with these attributes."""
    values = [as_array(column_at(events, path).take(places)) for path in paths]
    structs = pa.StructArray.from_arrays(values, [".".join(path) for path in paths])
    return pa.ListArray.from_arrays(pa.array(offsets), structs)


def as_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
