"""What all results have in common: chunks of matches in, record batches of one schema out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.match.history import History
from cereus.engine.match.runner import Runner
from cereus.engine.results.distinct import DistinctRows
from cereus.engine.results.match_chunks import Mask, MatchChunk
from cereus.engine.results.values import VariableEvents


class Results(ABC):
    """Turns the chunks of matches that a runner finds into record batches.

    The key columns come first; what follows them is up to the kind of results.
    """

    def __init__(self, runner: Runner, schema: pa.Schema) -> None:
        self.runner = runner
        self.plan = runner.plan
        stream = self.plan.stream
        self.time_type = schema.field(stream.time).type if stream.time is not None else None
        shown = runner.reader.key_index.fields[: len(self.plan.declared_keys)]
        self.schema = pa.schema([*shown, *self._fields(schema)])

    @abstractmethod
    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        """All columns after the keys; `schema` is that of the events."""

    @abstractmethod
    def batch(self, chunk: MatchChunk) -> pa.RecordBatch:
        """The rows of one chunk."""

    def batches(self, chunks: Iterator[MatchChunk]) -> Iterator[pa.RecordBatch]:
        """The rows of all chunks, each once."""
        for chunk in self._distinct(chunks):
            batch = self.batch(chunk)
            del chunk  # its arrays may be written again once no result refers to them
            if batch.num_rows:
                yield batch
            del batch

    @property
    def may_repeat(self) -> bool:
        """Several matches of the kernel may be one row: they differ in unseen events only, or
        one match was found in two ways."""
        if self.plan.traits.hides or self.plan.traits.limited_late:
            return True
        return self.runner.table.ambiguous and self.plan.traits.limit != 1

    def _distinct(self, chunks: Iterator[MatchChunk]) -> Iterator[MatchChunk]:
        """Every row once. The rows reported at one event are together, and are kept back until
        the next event's come."""
        rows = DistinctRows(self.plan.query.limit, mixed=self.plan.traits.closes)
        for chunk in chunks:
            if not self.may_repeat:
                yield chunk
                continue
            labels = self.runner.labels.shown if len(chunk.labels) else []
            yield from rows.add(chunk, np.array([bool(label) for label in labels], bool))
            del chunk
        yield from rows.rest()

    # ------------------------------------------------------------ what rows are made of

    @property
    def history(self) -> History:
        return self.runner.history

    def _key_columns(self, chunk: MatchChunk) -> list[pa.Array]:
        shown = len(self.plan.declared_keys)
        if not shown:
            return []
        keys = self.history.keys[chunk.at - self.history.first]
        return self.runner.reader.key_columns(keys)[:shown]

    def _in_variable(self, chunk: MatchChunk, variable: str) -> Mask:
        """The cells of the events of a variable."""
        labels = self.runner.labels.shown
        return np.array([variable in label for label in labels], bool)[chunk.labels - FIRST_SHOWN]

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
        return np.array([bool(label) for label in labels], bool)[chunk.labels - FIRST_SHOWN]
