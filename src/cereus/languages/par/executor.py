"""Runs PAR programs over Arrow batches: events → letters → classes of the machine → one lookup
each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.engine import snapshot
from cereus.engine.eventwise import EventwiseExecutor
from cereus.engine.ingest.batch_reader import BatchReader, Reading
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Codes, Ints, room_for
from cereus.engine.parallel.sharing import ResultOrder, Sharing
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.machine.runner import MachineRunner, Reactions
from cereus.plan.tests import EventTest
from cereus.state import checked
from cereus.stream import Stream

OUTPUTS = pa.list_(pa.string())
COMPLETIONS = ("failure", "incomplete", "success")


class ReactiveExecutor(EventwiseExecutor):
    """One program for every key; `tests` are the machine's atoms, in their order.

    Results come in the order of the events, however these were cut into batches. The remembered
    events are those of the last result: each result is about one event.
    """

    version = 2

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
        # in the order of time: looking up the state of a key costs less than grouping events
        keys = tuple((name,) for name in stream.keys)
        reading = Reading(tuple(tests), stream, keys, grouped=False)
        reader = BatchReader(reading, schema, row_numbers=row_numbers)
        super().__init__(reader, fingerprint, keep)
        self.machine, self.stream = machine, stream
        self.runner = MachineRunner(machine)
        self.states = self.runner.start()
        self._classes = np.zeros(0, np.int32)
        self._completions = pa.array(COMPLETIONS)
        self._shown = pa.array([sorted(names) for names in machine.output_sets], OUTPUTS)
        self._rows_of_last = np.zeros(0, np.int64)
        fields = [pa.field("position", pa.int64())]
        if stream.time is not None:
            fields.append(pa.field("time", schema.field(stream.time).type))
        fields += [pa.field("outputs", OUTPUTS), pa.field("completion", pa.string())]
        self.schema = pa.schema([*self.reader.substreams.fields, *fields])

    def _read(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        events = self.reader.read(batch)
        self.states = room_for(self.states, len(self.reader.substreams), 0)
        classes = self._class_of_letter()[events.classes]
        parts = list(self._run(classes, events.keys))
        if parts:
            yield self._result(batch, events, _joined(parts))

    def _run(self, classes: Codes, keys: Codes) -> Iterator[Reactions]:
        if self.stream.keys:
            return self.runner.feed_interleaved(classes, keys, self.states)
        return self.runner.feed(classes, np.zeros(1, np.int64), self.states)

    def _class_of_letter(self) -> Codes:
        """The machine's class for every letter seen so far, by its number."""
        letters = list(self.reader.known)
        if len(letters) > len(self._classes):
            new = [self.machine.class_of[letter] for letter in letters[len(self._classes) :]]
            self._classes = np.concatenate([self._classes, np.array(new, np.int32)])
        return self._classes

    def _result(
        self, batch: pa.RecordBatch, events: Events, reactions: Reactions
    ) -> pa.RecordBatch:
        places = events.places[reactions.rows]
        rows = events.row_numbers.of_places(places)
        self._rows_of_last = self.reader.rows_read(places)
        columns = [*self.reader.key_columns(events.keys[reactions.rows]), pa.array(rows)]
        taken = pa.array(places)
        if self.stream.time is not None:
            columns.append(batch.column(self.stream.time).take(taken))
        columns.append(self._shown.take(pa.array(reactions.outputs)))
        columns.append(self._completions.take(pa.array(reactions.completions + np.int8(1))))
        if self._keep:
            kept = batch.select(list(self._keep)).take(taken)
            self._events, self._event_rows = pa.Table.from_batches([kept]), rows
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def sharing(self) -> Sharing | None:
        return Sharing(self.readers, lambda: ResultOrder(0, self._rows_of_last), by_rows=True)

    def _forget_keys(self) -> int:
        """Forget the keys whose program is in its initial state, and renumber the others. The order
        of time is no longer checked for events of a forgotten key."""
        kept = np.flatnonzero(self.states[: len(self.reader.substreams)])
        self.reader.keep(kept)
        self.states = room_for(self.states[kept], 1, 0)
        return len(kept)

    def forget(self) -> None:
        self.reader.forget()
        self.states = self.runner.start()

    def save(self) -> bytes:
        known = self.states[: len(self.reader.substreams)]
        state = {"arrivals": self.reader.save(), "states": known.copy()}
        return snapshot.dump(self.header, state)

    def restore(self, snapshot_bytes: bytes) -> None:
        state: dict[str, Any] = snapshot.load(snapshot_bytes, self.header)
        with snapshot.restoring():
            self.reader.restore(state["arrivals"])
            keys = len(self.reader.substreams)
            states = checked.codes(state["states"], "the states of keys", keys)
            checked.within(states, 0, self.machine.states, "the state of a key")
            self.states = room_for(states, 1, 0)


def _joined(parts: list[Reactions]) -> Reactions:
    return Reactions(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.outputs for part in parts]),
        np.concatenate([part.completions for part in parts]),
    )
