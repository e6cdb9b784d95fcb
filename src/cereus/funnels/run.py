"""Batches of events → one row for each key: how far it came, when it began, how long it took."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cereus.engine.ingest.batch_reader import BatchReader, Reading
from cereus.engine.ingest.clock import UNIT_PER_SECOND, as_times
from cereus.engine.interrupts import interruptible
from cereus.funnels.chains import Chains, Times, longest_chains
from cereus.funnels.spec import FunnelSpec
from cereus.plan.tests import TestSet
from cereus.stream import UNITS

LEVEL, ENTERED, TOOK = "level", "entered", "took"
"""The columns of a key: the number of its last step, when it took the first, and the seconds from
each step to the next."""


class FunnelRun:
    """Reads the batches of one schema, in the order of time within each key."""

    def __init__(self, spec: FunnelSpec, schema: pa.Schema, *, row_numbers: Any = None) -> None:
        spec.check(schema)
        self.spec, self.schema = spec, schema
        tests = TestSet()
        self.bits = [tests.bit(step.test(schema)) for step in spec.steps]
        paths = tuple((name,) for name in spec.stream.keys)
        reading = Reading(tests.tests, spec.stream, paths, grouped=False)
        self.reader = BatchReader(reading, schema, row_numbers=row_numbers)
        self._keys: list[Any] = []
        self._times: list[Any] = []
        self._classes: list[Any] = []
        self._segments: list[pa.RecordBatch] = []

    def push(self, batch: pa.RecordBatch) -> None:
        """Remember the events that can be a step."""
        events = self.reader.read(batch)
        if len(events):
            self._keys.append(events.keys)
            self._times.append(events.times)
            self._classes.append(events.classes)
            self._segments.append(batch.select(list(self.spec.by)).take(pa.array(events.places)))

    def finish(self) -> pa.Table:
        """A row for each key with an event that can be a step."""
        keys = _joined(self._keys, np.int64)
        together = interruptible(len(keys), lambda: np.argsort(keys, kind="stable"))
        times = _joined(self._times, np.int64)[together]
        chains = self._chains(keys[together], times, together)
        entered = chains.places[:, 0]
        begun = entered >= 0
        first = np.where(begun, entered, 0)
        kind = self.schema.field(str(self.spec.stream.time)).type
        columns = self.reader.key_columns(chains.keys)
        if len(keys):
            columns += [
                _null_unless(begun, column.take(pa.array(together[first])))
                for column in self._segment_columns()
            ]
            began = _null_unless(begun, as_times(times[first], kind))
        else:
            columns += [pa.nulls(0, self.schema.field(name).type) for name in self.spec.by]
            began = pa.nulls(0, kind)
        levels = pa.array(chains.levels.astype(np.int32))
        columns += [levels, began, self._took(chains, times, kind)]
        return pa.table(dict(zip(keys_schema(self.spec, self.schema).names, columns, strict=True)))

    def _chains(self, keys: Any, times: Times, together: Any) -> Chains:
        passing = np.zeros((1 + max(self.bits), max(1, len(self.reader.known))), np.bool_)
        for letter, number in self.reader.known.items():
            passing[_bits(letter), number] = True
        classes = _joined(self._classes, np.int64)[together]
        masks = (passing[bit][classes] for bit in self.bits)
        spec = self.spec
        within, *gaps = [spec.span(each, self.schema) for each in (spec.within, *spec.gaps)]
        return longest_chains(keys, self._measured(times), masks, within, gaps)

    def _measured(self, times: Times) -> Times:
        """Times as numbers that can be subtracted: the integers of float times cannot."""
        kind = self.schema.field(str(self.spec.stream.time)).type
        if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return times
        return np.asarray(as_times(times, kind).cast(pa.float64()))

    def _took(self, chains: Chains, times: Times, kind: pa.DataType) -> pa.Array:
        measured = self._measured(times)
        at = np.where(chains.places >= 0, chains.places, 0)
        steps = measured[at] if len(measured) else np.zeros(at.shape)
        seconds = np.diff(steps, axis=1) / units_per_second(kind, self.spec.stream.unit)
        later = chains.places[:, 1:] >= 0
        offsets = np.concatenate([[0], np.cumsum(later.sum(axis=1))]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(seconds[later]))

    def _segment_columns(self) -> list[pa.Array]:
        return [
            pa.chunked_array([batch.column(name) for batch in self._segments]).combine_chunks()
            for name in self.spec.by
        ]


def keys_schema(spec: FunnelSpec, schema: pa.Schema) -> pa.Schema:
    """The columns of `FunnelRun.finish`."""
    fields = [schema.field(name) for name in (*spec.stream.keys, *spec.by)]
    fields = [_plain(field) for field in fields]
    time = schema.field(str(spec.stream.time))
    more = [(LEVEL, pa.int32()), (ENTERED, time.type), (TOOK, pa.list_(pa.float64()))]
    return pa.schema([*fields, *(pa.field(name, kind) for name, kind in more)])


def _plain(field: pa.Field) -> pa.Field:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(field.name, kind)


def units_per_second(kind: pa.DataType, unit: str | None) -> float:
    """How many units of the time column are a second."""
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind):
        return float(UNIT_PER_SECOND[kind.unit])
    return 1e6 / UNITS[unit or "us"]  # dates are read as microseconds


def _bits(letter: int) -> list[int]:
    """The bits that are set."""
    numbers = []
    while letter:
        numbers.append((letter & -letter).bit_length() - 1)
        letter &= letter - 1
    return numbers


def _joined(parts: list[Any], kind: Any) -> Any:
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)


def _null_unless(kept: Any, column: pa.Array) -> pa.Array:
    """The column, with null where a key has taken no step."""
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return plain.take(pa.array(np.arange(len(plain)), mask=~kept))
