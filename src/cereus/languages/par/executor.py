"""PAR programs over Arrow batches: events → letters → classes of the machine → one lookup each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine import snapshot
from cereus.engine.executor import Executor
from cereus.engine.ingest.event_reader import Arrivals
from cereus.engine.ingest.substreams import Codes, Ints, longer
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.machine.runner import Found, Runner
from cereus.plan.tests import EventTest
from cereus.stream import Stream

VERSION = 2
"""Of the snapshots."""

OUTPUTS = pa.list_(pa.string())
COMPLETIONS = pa.array(["failure", "incomplete", "success"])


class ReactiveExecutor(Executor):
    """One program for every key; `tests` are the machine's atoms, in their order.

    Results come in the order of the events, however these were cut into batches.
    """

    def __init__(
        self,
        machine: Machine,
        tests: Sequence[EventTest],
        stream: Stream,
        schema: pa.Schema,
        *,
        fingerprint: str,
        keep: tuple[str, ...] = (),
        row_numbers: Ints | None = None,
    ) -> None:
        self.machine, self.stream = machine, stream
        self.header = {"version": VERSION, "query fingerprint": fingerprint}
        self.arrivals = Arrivals(tests, stream, schema, row_numbers)
        self.runner = Runner(machine)
        self.states = self.runner.start()
        self._classes = np.zeros(0, np.int32)
        self._shown = pa.array([sorted(names) for names in machine.output_sets], OUTPUTS)
        self._keep = keep
        self._events: pa.Table | None = None
        self._event_rows = np.zeros(0, np.int64)
        fields = [pa.field("position", pa.int64())]
        if stream.time is not None:
            fields.append(pa.field("time", schema.field(stream.time).type))
        fields += [pa.field("outputs", OUTPUTS), pa.field("completion", pa.string())]
        self.schema = pa.schema([*self.arrivals.substreams.fields, *fields])

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        places, letters, _, keys = self.arrivals.read_in_order(batch)
        self.states = longer(self.states, len(self.arrivals.substreams), 0)
        classes = self._class_of_letter()[letters]
        parts = list(self._run(classes, keys))
        if parts:
            found = _joined(parts)
            yield self._result(batch, places[found.rows], keys[found.rows], found)

    def _run(self, classes: Codes, keys: Codes) -> Iterator[Found]:
        if self.stream.keys:
            return self.runner.feed_interleaved(classes, keys, self.states)
        return self.runner.feed(classes, np.zeros(1, np.int64), self.states)

    def _class_of_letter(self) -> Codes:
        """The machine's class of every letter seen so far, by its number."""
        letters = list(self.arrivals.known)
        if len(letters) > len(self._classes):
            new = [self.machine.class_of[letter] for letter in letters[len(self._classes) :]]
            self._classes = np.concatenate([self._classes, np.array(new, np.int32)])
        return self._classes

    def _result(
        self, batch: pa.RecordBatch, places: Ints, keys: Codes, found: Found
    ) -> pa.RecordBatch:
        rows = self.arrivals.rows(places, batch)
        columns = [*self.arrivals.key_columns(keys), pa.array(rows)]
        taken = pa.array(places)
        if self.stream.time is not None:
            columns.append(batch.column(self.stream.time).take(taken))
        columns.append(self._shown.take(pa.array(found.outputs)))
        columns.append(COMPLETIONS.take(pa.array(found.completions + np.int8(1))))
        if self._keep:
            kept = batch.select(list(self._keep)).take(taken)
            self._events, self._event_rows = pa.Table.from_batches([kept]), rows
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def forget(self) -> None:
        self.arrivals.forget()
        self.states = self.runner.start()

    def save(self) -> bytes:
        known = self.states[: len(self.arrivals.substreams)]
        state = {"arrivals": self.arrivals.save(), "states": known.copy()}
        return snapshot.dump(self.header, state)

    def restore(self, snapshot_bytes: bytes) -> None:
        state: dict[str, Any] = snapshot.load(snapshot_bytes, self.header)
        self.arrivals.restore(state["arrivals"])
        self.states = longer(state["states"], 1, 0)

    @property
    def events(self) -> pa.Table | None:
        """Those of the last result: each result is about one event."""
        return self._events

    @property
    def event_rows(self) -> npt.NDArray[np.int64]:
        return self._event_rows


def _joined(parts: list[Found]) -> Found:
    return Found(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.outputs for part in parts]),
        np.concatenate([part.completions for part in parts]),
    )
