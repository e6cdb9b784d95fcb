"""The common part of all results: chunks of matches in, record batches of one schema out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cereus.clauses.tree import TIMEOUTS
from cereus.engine.ingest.clock import as_times, deadline_span, later
from cereus.engine.ingest.substreams import Codes
from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.match.after.skipping import SkippingRunner
from cereus.engine.match.history import History
from cereus.engine.match.runner import Runner
from cereus.engine.parallel.sharing import NotSplitError, ResultOrder
from cereus.engine.results.distinct import DistinctRows
from cereus.engine.results.match_chunks import Mask, MatchChunk, together
from cereus.engine.results.values import MatchValues, VariableEvents
from cereus.expr.arrow.value_type import value_type
from cereus.plan.returned import returned_variables


class Results(ABC):
    """Turns the chunks of matches that a runner finds into record batches.

    The key columns come first; the kind of results decides what follows them.
    """

    def __init__(self, runner: Runner, schema: pa.Schema) -> None:
        self.runner = runner
        self.plan = runner.plan
        stream = self.plan.stream
        self.time_type = schema.field(stream.time).type if stream.time is not None else None
        self.returned_types = tuple(value_type(each.value, schema) for each in self.plan.returned)
        fields = zip(self.plan.keys, runner.reader.key_index.fields, strict=True)
        keys = [field for path, field in fields if path in self.plan.shown_keys]
        self.schema = pa.schema([*keys, *self._fields(schema)])
        self.notes_keys = False
        self.keys_of_last: Codes = np.zeros(0, np.int32)
        """The keys of the rows that were made last, if they are noted."""

    @abstractmethod
    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        """All columns after the keys; `schema` is that of the events."""

    @abstractmethod
    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        """The rows of one chunk."""

    def begun(self, chunk: MatchChunk) -> pa.RecordBatch:
        """The rows of one chunk of partial matches."""
        return self.batch(chunk)

    def batches(self, chunks: Iterator[MatchChunk]) -> Iterator[pa.RecordBatch]:
        """The rows of all chunks, each once."""
        chunks = self._distinct(self._taken(chunks))
        for chunk in together(chunks) if self._piecemeal else chunks:
            batch = self.batch(chunk)
            del chunk  # its arrays may be written again once no result refers to them
            if batch.num_rows:
                yield batch
            del batch

    @property
    def _piecemeal(self) -> bool:
        """Whether matches come a few at a time, because they are chosen event by event."""
        chosen = self.plan.traits.chosen_late or isinstance(self.runner, SkippingRunner)
        return chosen and not self.plan.traits.closes

    def _taken(self, chunks: Iterator[MatchChunk]) -> Iterator[MatchChunk]:
        """The matches that AFTER MATCH SKIP does not leave out."""
        if not isinstance(self.runner, SkippingRunner):
            return chunks
        return map(self.runner.taken, chunks)

    @property
    def may_repeat(self) -> bool:
        """Whether several matches of the kernel may be one row: they differ only in unseen events,
        or one match was found in two ways."""
        traits = self.plan.traits
        if traits.hides or (traits.limited_late and traits.chosen_late):
            return True
        return self.runner.table.ambiguous and (traits.limited_late or traits.limit != 1)

    def _distinct(self, chunks: Iterator[MatchChunk]) -> Iterator[MatchChunk]:
        """Every row once. The rows reported at one event come together, and are kept back until
        those of the next event come."""
        rows = DistinctRows(self.plan.query.limit, mixed=self.plan.traits.closes)
        for chunk in chunks:
            if not self.may_repeat:
                yield chunk
                continue
            labels = self.runner.labels.shown if len(chunk.labels) else []
            yield from rows.add(chunk, np.array([bool(label) for label in labels], bool))
            del chunk
        yield from rows.rest()

    def order_of_last(self) -> ResultOrder:
        """The order of the rows that were made last, if keys are noted."""
        if self.plan.traits.closes and self.may_repeat:
            raise NotSplitError("rows that are found in several ways come when all are known")
        return ResultOrder(int(self.runner.expiring), self.keys_of_last)

    # ------------------------------------------------------------ what rows are made of

    @property
    def history(self) -> History:
        return self.runner.history

    def _key_columns(self, chunk: MatchChunk) -> list[pa.Array]:
        shown = self.plan.shown_keys
        if not shown and not self.notes_keys:
            return []
        keys = self.history.keys[chunk.at - self.history.first]
        if self.notes_keys:
            self.keys_of_last = keys
        columns = self.runner.reader.key_columns(keys) if shown else []
        if not shown:
            return []
        return [each for path, each in zip(self.plan.keys, columns, strict=True) if path in shown]

    @property
    def key_paths(self) -> tuple[tuple[str, ...], ...]:
        """The keys that have a column of the same name."""
        return self.plan.declared_keys

    def _deadline_fields(self) -> list[pa.Field]:
        if self.plan.query.timeouts:
            kinds = [pa.bool_(), pa.string(), pa.string()]
            kinds += [] if self.time_type is None else [self.time_type]
            return [*map(pa.field, TIMEOUTS, kinds)]
        waits = self.plan.query.unfollowed is not None
        return [pa.field("deadline", self.time_type)] if waits else []

    def _deadlines(self, chunk: MatchChunk) -> list[pa.Array]:
        """The columns for a match that waited: when it was clear that nothing follows it, and that
        it is not a partial match."""
        if self.plan.query.timeouts:
            nulls = (pa.nulls(len(chunk), each.type) for each in self._deadline_fields()[1:])
            return [pa.array(np.zeros(len(chunk), bool)), *nulls]
        unfollowed = self.plan.query.unfollowed
        if unfollowed is None:
            return []
        span = deadline_span(
            unfollowed.window, self.plan.stream, self.runner.schema, "NOT FOLLOWED BY"
        )
        ends = self.history.times[chunk.last - self.history.first]
        return [as_times(later(ends, span), self.time_type)]

    def _returned_fields(self) -> list[pa.Field]:
        names = [column.name for column in self.plan.returned]
        return [*map(pa.field, names, self.returned_types)]

    def _returned(self, chunk: MatchChunk) -> list[pa.Array]:
        """The values that are computed for each match."""
        if not self.plan.returned:
            return []
        names = returned_variables(self.plan.query)
        variables = {name: self.variable_events(chunk, name) for name in names}
        values = MatchValues(self.payload, variables, len(chunk))
        columns = zip(self.plan.returned, self.returned_types, strict=True)
        return [values.value(column.value, kind) for column, kind in columns]

    def _in_variable(self, chunk: MatchChunk, variable: str) -> Mask:
        """The cells of the events of a variable."""
        labels = self.runner.labels.shown
        return _by_label(chunk, [variable in label for label in labels])

    def variable_events(self, chunk: MatchChunk, variable: str) -> VariableEvents:
        """The places of the events of a variable among the remembered ones."""
        offsets, cells = chunk.cells_where(self._in_variable(chunk, variable))
        return VariableEvents(cells - self.history.first, offsets.astype(np.int64))

    @property
    def payload(self) -> pa.Table:
        """The columns that are kept of the remembered events."""
        payload = self.history.payload
        return pa.table({}) if payload is None else payload

    def _selected(self, chunk: MatchChunk) -> Mask:
        """The cells of the events of some selected variable."""
        labels = self.runner.labels.shown
        return _by_label(chunk, [bool(label) for label in labels])


def _by_label(chunk: MatchChunk, chosen: list[bool]) -> Mask:
    """The cells with a chosen label, among those that show something."""
    of_label = np.array([*(False,) * FIRST_SHOWN, *chosen], bool)
    return of_label.take(chunk.labels, mode="clip")
