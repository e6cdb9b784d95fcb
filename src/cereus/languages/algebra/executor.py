"""Runs event expressions over Arrow batches: events → primitives → ticks → instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine import snapshot
from cereus.engine.eventwise import EventwiseExecutor
from cereus.engine.ingest.batch_reader import BatchReader, Reading
from cereus.engine.ingest.clock import as_times
from cereus.engine.ingest.substreams import Ints
from cereus.engine.match.forgetting import NEVER
from cereus.engine.parallel.sharing import ResultOrder, Sharing
from cereus.languages.algebra.detect.detector import Detector
from cereus.languages.algebra.detect.program import DetectorProgram
from cereus.languages.algebra.detect.run import Instances
from cereus.plan.tests import EventTest
from cereus.state import checked
from cereus.stream import Stream

WORD = 64
ROWS = pa.list_(pa.int64())


class DetectingExecutor(EventwiseExecutor):
    """One expression for every key; `tests` are the program's primitives, in their order.

    A key's last tick may go on in the next batch, and waits. Without a time column every event is a
    tick, and nothing waits; positions are times then, so no key is forgotten. With a time column,
    keys are forgotten that remember nothing, or nothing that a restriction lets matter.
    """

    version = 2

    def __init__(
        self,
        program: DetectorProgram,
        tests: Sequence[EventTest],
        stream: Stream,
        schema: pa.Schema,
        *,
        fingerprint: str,
        merge_ties: bool = False,
        keep: tuple[str, ...] = (),
        row_numbers: Ints | None = None,
    ) -> None:
        keys = tuple((name,) for name in stream.keys)
        reading = Reading(tuple(tests), stream, keys, counts_positions=stream.time is None)
        reader = BatchReader(reading, schema, row_numbers=row_numbers)
        super().__init__(reader, fingerprint, keep)
        self.program, self.stream, self.merge_ties = program, stream, merge_ties
        self.waits_for_time = stream.time is not None
        self.detector = self._new_detector()
        self.kind = pa.int64() if stream.time is None else schema.field(stream.time).type
        self._masks = np.zeros((0, program.words), np.uint64)
        if keep:
            self._events = schema.empty_table().select(list(keep))
        self._turn, self._keys_of_last = 0, np.zeros(0, np.int64)
        fields = [pa.field("start", self.kind), pa.field("end", self.kind)]
        if program.values:
            fields.append(pa.field("constituents", ROWS))
        self.schema = pa.schema([*self.reader.substreams.fields, *fields])

    def _new_detector(self) -> Detector:
        return Detector(self.program, repeated="merge" if self.merge_ties else "refuse")

    def forget_idle(self) -> None:
        self._forgets = self.stream.time is not None

    def _read(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        events = self.reader.read(batch)
        rows = events.rows
        self._remember(batch, events.places, rows)
        masks, keys = self._mask_of_letter()[events.classes], events.keys.astype(np.int64)
        times = events.positions if self.stream.time is None else events.times
        self._turn = 0
        yield from self._result(self.detector.push(times, masks, rows=rows, keys=keys))
        self._turn = 1
        if self.stream.time is None:
            yield from self._result(self.detector.finish())
        elif not self.stream.keys and batch.num_rows:
            # one key: any event shows that time has gone on, even one that is no primitive
            latest = int(self.reader.substreams.latest["time"][0])
            yield from self._result(self.detector.advance(latest))
        yield from self._ended_ticks()

    def _ended_ticks(self) -> Iterator[pa.RecordBatch]:
        """The results of ticks that are over. With many keys, what they remember grows too old:
        while events come in the order of time over all keys, older ticks are closed, and from then
        on such an event is refused."""
        longest, progress = self.program.layout.longest_age, self.reader.substreams.progress
        many = self._forgets and len(self.reader.substreams) >= self._forget_at
        if longest is None or not many or not progress.in_order or progress.latest == NEVER:
            return
        horizon = progress.latest - longest
        progress.closed = max(progress.closed, horizon)
        yield from self._result(self.detector.advance(horizon))

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        return self._result(self.detector.advance(time))

    def finish(self) -> Iterator[pa.RecordBatch]:
        return self._result(self.detector.finish())

    def _mask_of_letter(self) -> npt.NDArray[np.uint64]:
        """The letters seen so far, by their numbers, in the words that the program reads."""
        letters = list(self.reader.known)[len(self._masks) :]
        if letters:
            low = (1 << WORD) - 1
            words = range(self.program.words)
            new = [[letter >> WORD * word & low for word in words] for letter in letters]
            self._masks = np.concatenate([self._masks, np.array(new, np.uint64)])
        return self._masks

    def _result(self, instances: Instances) -> Iterator[pa.RecordBatch]:
        if not len(instances):
            return
        self._keys_of_last = instances.keys
        columns = self.reader.key_columns(instances.keys)
        columns += [as_times(instances.starts, self.kind), as_times(instances.ends, self.kind)]
        if self.program.values:
            offsets = pa.array(instances.offsets.astype(np.int32))
            columns.append(pa.ListArray.from_arrays(offsets, pa.array(instances.rows)))
        yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    # ------------------------------------------------------------ remembered events

    def _remember(self, batch: pa.RecordBatch, places: Ints, rows: Ints) -> None:
        """Add the new events, and drop those that no state mentions any more. A state is read as
        numbers only, so an event whose row equals a time may stay a little longer: never more are
        kept than the state has numbers."""
        if self._events is None:
            return
        mentioned = np.concatenate([self.detector.states.ravel(), self.detector.waiting.rows])
        kept = np.flatnonzero(np.isin(self._event_rows, mentioned))
        new = batch.select(list(self._keep)).take(pa.array(places))
        old = self._events.take(pa.array(kept))
        self._events = pa.concat_tables([old, pa.Table.from_batches([new])])
        self._event_rows = np.concatenate([self._event_rows[kept], rows])

    # ------------------------------------------------------------ state

    def sharing(self) -> Sharing | None:
        return Sharing(self.readers, lambda: ResultOrder(self._turn, self._keys_of_last))

    def _forget_keys(self) -> int:
        """Forget the keys that remember nothing that matters, and renumber the others."""
        kept = self.detector.busy_keys(len(self.reader.substreams))
        self.detector.keep(kept)
        self.reader.keep(kept)
        return len(kept)

    def forget(self) -> None:
        self.reader.forget()
        self.detector = self._new_detector()

    def save(self) -> bytes:
        state = {
            "arrivals": self.reader.save(),
            "detector": self.detector.snapshot(),
            "events": self._events,
            "event rows": self._event_rows,
        }
        return snapshot.dump(self.header, state)

    def restore(self, snapshot_bytes: bytes) -> None:
        state: dict[str, Any] = snapshot.load(snapshot_bytes, self.header)
        with snapshot.restoring():
            self.reader.restore(state["arrivals"])
            self.detector.restore(checked.of_type(state["detector"], bytes, "the detector"))
            known = max(1, len(self.reader.substreams))
            checked.refuse_unless(self.detector.keys <= known, "there is a key too many")
            self._restore_events(state)

    def _restore_events(self, state: dict[str, Any]) -> None:
        rows = checked.integers(state["event rows"], "the rows of events")
        if self._events is None:
            checked.refuse_unless(state["events"] is None, "it remembers events")
        else:
            schema = self._events.schema
            self._events = checked.table(state["events"], "the events", schema, len(rows))
        self._event_rows = rows
