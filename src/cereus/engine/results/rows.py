"""What the kernel found → Arrow tables, as users see them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.clauses.tree import AnyQuery, Output
from cereus.engine.match.history import History
from cereus.engine.match.memory import taken
from cereus.engine.match.runner import Runner
from cereus.engine.match.table import FIRST_SHOWN
from cereus.engine.results.distinct import Distinct
from cereus.engine.results.match_chunks import Found

Ints = npt.NDArray[np.int64]
POSITIONS = pa.list_(pa.int64())


class Results:
    """Turns what a runner finds into record batches of one schema:

    key columns, start, end, start_time, end_time (with a time column), positions, and one list
    column per selected variable: positions, or structs when attributes are selected.
    """

    def __init__(self, runner: Runner, schema: pa.Schema) -> None:
        self.runner = runner
        self.plan = runner.plan
        stream = self.plan.stream
        self.time_type = schema.field(stream.time).type if stream.time is not None else None
        self.schema = pa.schema([*runner.front.keys.fields, *self._fields(schema)])

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        """All columns after the keys."""
        fields = [*self._span_fields(), pa.field("positions", POSITIONS)]
        for output in self.plan.query.select or ():
            fields.append(pa.field(output.variable, _output_type(output, schema)))
        return fields

    def _span_fields(self) -> list[pa.Field]:
        spans = [pa.field("start", pa.int64()), pa.field("end", pa.int64())]
        if self.time_type is not None:
            spans.append(pa.field("start_time", self.time_type))
            spans.append(pa.field("end_time", self.time_type))
        return spans

    @property
    def deduplicated(self) -> bool:
        """Whether several kernel matches may be one row: they differ in unseen events only, or
        were found in two ways."""
        if self.plan.hides or self.plan.limited_late:
            return True
        return self.runner.table.ambiguous and self.plan.limit != 1

    def batches(self, found: Iterator[Found]) -> Iterator[pa.RecordBatch]:
        for chunk in self._distinct(found):
            batch = self.batch(chunk)
            del chunk  # its arrays may be written again once no result refers to them
            if batch.num_rows:
                yield batch
            del batch

    def batch(self, found: Found) -> pa.RecordBatch:
        history = self.runner.history
        columns = [*self._keys(found, history), *self._spans(found, history)]
        if self.plan.names is None:
            columns.append(_lists(found.offsets, self._rows(found.cells, history)))
        else:
            columns.extend(self._variables(found, history))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _keys(self, found: Found, history: History) -> list[pa.Array]:
        if not self.plan.keys:
            return []
        keys = history.keys[found.at - history.first]
        return self.runner.front.keys.columns(keys)

    def _spans(self, found: Found, history: History) -> list[pa.Array]:
        starts, ends = found.first - history.first, found.last - history.first
        columns = [pa.array(taken(history.rows, each)) for each in (starts, ends)]
        if self.time_type is not None:
            times = [taken(history.times, each) for each in (starts, ends)]
            columns += [times_of(each, self.time_type) for each in times]
        return columns

    def _rows(self, cells: Ints, history: History) -> Ints:
        return history.rows[cells - history.first] if self.runner.uses_ordinals else cells

    def _variables(self, found: Found, history: History) -> Iterator[pa.Array]:
        """Positions of all selected events, then a column per variable."""
        labels = self.runner.labels.shown
        codes = found.labels - FIRST_SHOWN
        seen = np.array([bool(label) for label in labels], bool)[codes]
        yield self._column(found, seen, None, history)
        for output in self.plan.query.select or ():
            held = np.array([output.variable in label for label in labels], bool)[codes]
            yield self._column(found, held, output, history)

    def _column(
        self,
        found: Found,
        chosen: npt.NDArray[np.bool_],
        output: Output | None,
        history: History,
    ) -> pa.Array:
        counts = np.zeros(len(chosen) + 1, np.int32)
        np.cumsum(chosen, out=counts[1:])
        offsets = counts[found.offsets]
        cells = found.cells[chosen]
        if output is None or not output.attributes:
            return _lists(offsets, self._rows(cells, history))
        assert history.payload is not None
        places = pa.array(cells - history.first)
        names = [".".join(path) for path in output.attributes]
        values = [read_path(history.payload, path).take(places) for path in output.attributes]
        structs = pa.StructArray.from_arrays(list(map(_one, values)), names)
        return pa.ListArray.from_arrays(pa.array(offsets), structs)

    def _distinct(self, found: Iterator[Found]) -> Iterator[Found]:
        """Every row once. The rows reported at one event are together, and are held back until
        the next event's come."""
        held = Distinct(self.plan.query.limit)
        for chunk in found:
            if not self.deduplicated:
                yield chunk
                continue
            labels = self.runner.labels.shown if len(chunk.labels) else []
            yield from held.add(chunk, np.array([bool(label) for label in labels], bool))
            del chunk
        yield from held.rest()


def needed_payload(query: AnyQuery) -> tuple[str, ...]:
    """The columns that selected attributes are read from."""
    return tuple(
        dict.fromkeys(path[0] for output in query.select or () for path in output.attributes)
    )


def _lists(offsets: npt.NDArray[np.int32], values: Ints) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


def times_of(values: Ints, kind: pa.DataType) -> pa.Array:
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        mirrored = np.where(values < 0, np.int64(-(2**63)) - values - 1, values)
        return pa.array(mirrored.view(np.float64)).cast(kind)
    if pa.types.is_date(kind):
        return pa.array(values).cast(pa.timestamp("us")).cast(kind)
    if pa.types.is_time32(kind):
        return pa.array(values).cast(pa.int32()).cast(kind)
    return pa.array(values).cast(kind)


def _output_type(output: Output, schema: pa.Schema) -> pa.DataType:
    if not output.attributes:
        return POSITIONS
    fields = [pa.field(".".join(path), type_at(schema, path)) for path in output.attributes]
    return pa.list_(pa.struct(fields))


def type_at(schema: pa.Schema, path: tuple[str, ...]) -> pa.DataType:
    kind = schema.field(path[0]).type
    for step in path[1:]:
        kind = kind.field(step).type
    return kind


def read_path(table: pa.Table, path: tuple[str, ...]) -> pa.ChunkedArray:
    column = table.column(path[0])
    for step in path[1:]:
        column = pc.struct_field(column, step)
    return column


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
