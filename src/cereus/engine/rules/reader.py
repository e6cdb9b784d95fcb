"""Reads batches for many rules at once: an event appears once for every rule that it concerns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cereus.engine.ingest import codes
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.ingest.clock import RowNumbers
from cereus.engine.ingest.events import Events, no_events, zeros
from cereus.engine.ingest.substreams import Codes, Ints, room_for
from cereus.engine.kernel import layout
from cereus.engine.match.forgetting import NEVER
from cereus.engine.memory import taken
from cereus.engine.rules import routing
from cereus.engine.rules.group import RuleGroup
from cereus.engine.rules.substreams import RuleSubstreams
from cereus.engine.rules.tests import Masks, Part, merged
from cereus.expr.tree import attributes


class ConcernedRows(NamedTuple):
    """The rows of a batch that concern some rule, at `places`. The arrays are by row, and mean
    nothing at other rows.

    alike  the passed tests, of those that all rules share
    """

    places: Ints
    alike: Masks
    keys: Codes
    measures: Ints
    floors: Ints
    positions: Ints | None


class Routed(NamedTuple):
    """ConcernedRows with the pairs of a rule and a key that they go to, and their classes."""

    rows: Ints
    pairs: Codes
    classes: Codes


class RuleReader(BatchReader):
    """A reader for the rules of a group. Times, keys and positions are those of the stream; the
    events that it gives have a number for each pair of a rule and a key."""

    substreams: RuleSubstreams

    def __init__(self, *arguments: Any, rules: RuleGroup, **options: Any) -> None:
        self.rules = rules
        super().__init__(*arguments, **options)
        if self.idle_keys is not None and self.reading.counts_positions:
            with self.lock:  # a gap must not change unstarted runs, as it would with `START`
                self.idle_keys = self.idle_keys if self.idle_keys.gaps_are_nothing() else None

    def _new_substreams(self, schema: pa.Schema, watched: tuple[str, ...]) -> RuleSubstreams:
        return RuleSubstreams(self.reading.keys, schema, watched, self.rules.names)

    def _read(self, batch: pa.RecordBatch) -> Events:
        numbers = RowNumbers(self.row, self._selected(batch), self.row_numbers)
        self.row += batch.num_rows
        if numbers.selected is not None:
            batch = batch.take(pa.array(numbers.selected))
        times = self._times(batch, numbers)
        concerning = self.rules.tests.concerning(batch)
        parts = self.rules.tests.parts(concerning)
        places = _occurring(concerning.alike, parts)
        rows = self._rows(batch, places, concerning.alike, times, numbers)
        with self.lock:
            routed = self._routed(parts, rows)
        if not len(routed.rows):
            return no_events(numbers)
        return self._in_order(self._events(routed, rows, times, numbers), batch)

    def _events(
        self, routed: Routed, rows: ConcernedRows, times: Ints, numbers: RowNumbers
    ) -> Events:
        at, counted = routed.rows, rows.positions is not None
        measures = taken(rows.measures, at)
        of_events = measures if self.clock is not None and self.clock.by_time else times
        if len(times) and of_events is times:
            of_events = taken(times, at)
        return Events(
            row_numbers=numbers,
            places=at,
            classes=routed.classes,
            positions=taken(rows.positions, at) if counted else zeros(len(at)),  # type: ignore[arg-type]
            times=of_events,
            keys=routed.pairs,
            key_of=np.zeros(1, np.int32),
            group_ends=np.array([len(at)]),
            grouped=self.reading.grouped,
            measures=measures,
            floors=taken(rows.floors, at),
        )

    # ------------------------------------------------------------ rows

    def _rows(
        self, batch: pa.RecordBatch, places: Ints, alike: Masks, times: Ints, numbers: RowNumbers
    ) -> ConcernedRows:
        size, counted = batch.num_rows, self.reading.counts_positions
        every = self.reading.every_key
        keys = self.substreams.codes(batch, None if every else places)
        self.substreams.check_order("time", self.stream.time, times, keys, places, numbers)
        positions = self._positions_of_all(keys) if counted else None
        keys = keys[places] if every else keys
        assert self.clock is not None
        order = places + numbers.first if positions is None else positions[places]
        of_places = times[places] if len(times) else times
        measures, floors = self._measures(
            self.clock, batch, places, order, of_places, keys, numbers
        )
        return ConcernedRows(
            places,
            alike,
            keys=_scattered(keys, places, size),
            measures=_scattered(measures, places, size),
            floors=_scattered(floors, places, size),
            positions=positions,
        )

    def _positions_of_all(self, keys: Codes) -> Ints:
        self.seen = room_for(self.seen, self.counted_keys, 0)
        positions: Ints = codes.count_positions(keys, self.seen)
        return positions

    # ------------------------------------------------------------ pairs of a row and a rule

    def _routed(self, parts: list[Part], rows: ConcernedRows) -> Routed:
        """All pairs of an event and a rule that it matters to. Tests that all rules share concern
        all rules, unless they can only continue partial matches: then they concern the rules that
        are awake."""
        tests, idle = self.rules.tests, self.idle_keys
        going_on = self._going_on(rows)
        everyone = rows.places[(rows.alike[rows.places] != 0) & (going_on[rows.places] < 0)]
        parts = [*parts, (np.uint64(0), *_product(everyone, tests.rules))]
        pairs = merged(parts, rows.places, rows.alike, tests.size)
        index = self.substreams.index
        numbers = index.numbers(pairs.rules, taken(rows.keys, pairs.rows))
        classes = codes.dense_classes(np.ascontiguousarray(pairs.masks), self.known)
        if idle is None:
            return Routed(pairs.rows, numbers, classes)
        idle.woken = room_for(idle.woken, len(index), NEVER)
        routed = Routed(
            *routing.awake_pairs(
                pairs.rows,
                numbers,
                classes,
                idle.wakes(self.known),
                rows.places,
                going_on,
                rows.keys,
                rows.measures,
                rows.floors,
                index.parts()[1],
                len(self.substreams.of_keys),
                idle.woken,
            )
        )
        self.rules.note(len(routed.rows), len(pairs.rows), int((going_on >= 0).sum()))
        return routed

    def _going_on(self, rows: ConcernedRows) -> Codes:
        """The classes of rows by the tests that all rules share, where these wake no rule; else
        -1."""
        going_on = np.full(len(rows.alike), -1, np.int32)
        alike = rows.alike[rows.places]
        if self.idle_keys is None or not alike.any():
            return going_on
        classes = codes.dense_classes(alike, self.known)
        wakes = self.idle_keys.wakes(self.known)[classes] != layout.WAKES_NOT
        going_on[rows.places] = np.where(wakes | (alike == 0), -1, classes)
        return going_on

    def _compared(self, batch: pa.RecordBatch, places: Ints, to: Codes | None) -> Ints:
        """The compared columns. Places come several times, so the rows are taken one by one."""
        columns = {path[0] for c in self.compared.columns for path in attributes(c.expression)}
        if not self.compared.columns:
            return super()._compared(batch, places, to)
        names = [name for name in batch.schema.names if name in columns]
        rows = batch.select(names or batch.schema.names[:1]).take(pa.array(places))
        return self.compared.read(rows, np.arange(len(places)), to)

    # ------------------------------------------------------------ positions are those of keys

    @property
    def counted_keys(self) -> int:
        return len(self.substreams.of_keys)

    def seen_by_key(self, keys: int) -> Ints:
        """The number of events of the key of each pair."""
        _, of_pairs = self.substreams.index.parts()
        return self.seen[of_pairs] if len(of_pairs) else super().seen_by_key(keys)

    def keep(self, codes: Ints) -> None:
        if self.reading.counts_positions and self.substreams.of_keys.paths:
            alive = np.unique(self.substreams.index.parts()[1][codes])
            self.seen = room_for(self.seen, self.counted_keys, 0)[alive]
        if self.idle_keys is not None:
            self.idle_keys.keep(codes, len(self.key_index))
        self.substreams.keep(codes)


def _scattered(values: Any, places: Ints, size: int) -> Any:
    """The values put at their places among all rows."""
    if len(places) == size:
        return values
    result = np.zeros(size, values.dtype)
    result[places] = values
    return result


def _occurring(alike: Masks, parts: list[Part]) -> Ints:
    """The rows that concern some rule."""
    concerns = alike != 0
    for _, rows, _ in parts:
        concerns[rows] = True
    return np.flatnonzero(concerns)


def _product(rows: Ints, rules: Codes) -> tuple[Ints, Codes]:
    """Every row with every rule."""
    return np.repeat(rows, len(rules)), np.tile(rules, len(rows))
