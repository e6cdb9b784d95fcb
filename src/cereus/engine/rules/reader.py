"""Reads batches for many rules at once: an event is there once for every rule that it concerns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.engine.ingest import codes
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.ingest.clock import RowNumbers
from cereus.engine.ingest.events import Events, no_events, zeros
from cereus.engine.ingest.substreams import Codes, Ints, longer
from cereus.engine.kernel import layout
from cereus.engine.rules.group import RuleGroup
from cereus.engine.rules.index import Stretches
from cereus.engine.rules.substreams import RULE_BITS, RuleSubstreams
from cereus.engine.rules.tests import Masks, Pairs, joined
from cereus.expr.tree import attributes


@dataclass(frozen=True)
class Row:
    """What is known of the rows of a batch that concern some rule; arrays are by row, and hold
    nothing of use at the others."""

    places: Ints
    alike: Masks
    keys: Codes
    measures: Ints
    floors: Ints


class RuleReader(BatchReader):
    """A reader for the rules of a group. Times, keys and positions are those of the stream; the
    events that it gives have a number for each pair of a rule and a key."""

    substreams: RuleSubstreams

    def __init__(self, *arguments: Any, rules: RuleGroup, **options: Any) -> None:
        self.rules = rules
        super().__init__(*arguments, **options)

    def _new_substreams(self, schema: pa.Schema, watched: tuple[str, ...]) -> RuleSubstreams:
        return RuleSubstreams(self.reading.keys, schema, watched, self.rules.names)

    def _read(self, batch: pa.RecordBatch) -> Events:
        numbers = RowNumbers(self.row, self._selected(batch), self.row_numbers)
        self.row += batch.num_rows
        if numbers.selected is not None:
            batch = batch.take(pa.array(numbers.selected))
        times = self._times(batch, numbers)
        concerned, masks = self.rules.tests.common(batch)
        varying = self.rules.tests.pairs(batch, concerned, masks)
        rows, positions = self._rows(batch, concerned, masks, varying, times, numbers)
        with self.lock:
            pairs = self._pairs(varying, rows)
            classes = codes.dense_classes(np.ascontiguousarray(pairs.masks), self.known)
        if not len(pairs.rows):
            return no_events(numbers)
        events = Events(
            row_numbers=numbers,
            places=pairs.rows,
            classes=classes,
            positions=zeros(len(pairs.rows)) if positions is None else positions[pairs.rows],
            times=times[pairs.rows] if len(times) else times,
            keys=self.substreams.index.numbers(pairs.rules, rows.keys[pairs.rows]),
            key_of=np.zeros(1, np.int32),
            group_ends=np.array([len(pairs.rows)]),
            grouped=self.reading.grouped,
            measures=rows.measures[pairs.rows],
            floors=rows.floors[pairs.rows],
        )
        return self._in_order(self._without_useless(events), batch)

    # ------------------------------------------------------------ rows

    def _rows(
        self,
        batch: pa.RecordBatch,
        concerned: Ints,
        masks: Masks,
        varying: Pairs,
        times: Ints,
        numbers: RowNumbers,
    ) -> tuple[Row, Ints | None]:
        """The rows that concern a rule, and the positions of all rows, if they are counted."""
        size, alike = batch.num_rows, np.zeros(batch.num_rows, np.uint64)
        alike[concerned] = masks & self.rules.tests.alike
        concerns = alike != 0
        concerns[varying.rows] = True
        places = np.flatnonzero(concerns)
        counted = self.reading.counts_positions
        everyone = counted or self.reading.watches_keys
        keys = self.substreams.codes(batch, None if everyone else places)
        time = self.stream.time
        self.substreams.check_order("time", time, times, keys, places, numbers)
        positions = self._positions_of_all(keys) if counted else None
        of_places = keys[places] if everyone else keys
        measures, floors = self._measures(batch, places, of_places, positions, times, numbers)
        row = Row(
            places,
            alike,
            _scattered(of_places, places, size),
            _scattered(measures, places, size),
            _scattered(floors, places, size),
        )
        return row, positions

    def _positions_of_all(self, keys: Codes) -> Ints:
        self.seen = longer(self.seen, self.counted_keys, 0)
        positions: Ints = codes.count_positions(keys, self.seen)
        return positions

    def _measures(
        self,
        batch: pa.RecordBatch,
        places: Ints,
        keys: Codes,
        positions: Ints | None,
        times: Ints,
        numbers: RowNumbers,
    ) -> tuple[Ints, Ints]:
        """How windows are measured, at these places."""
        clock = self.clock
        assert clock is not None
        order = places + numbers.first if positions is None else positions[places]
        of_places = times[places] if len(times) else times
        measures, floors = clock.read(batch, places, order, of_places, numbers)
        if clock.path is not None and not clock.follows_time:
            column, chosen = ".".join(clock.path), numbers.at(places)
            self.substreams.check_order("window", column, measures, keys, None, chosen)
        return measures, floors

    # ------------------------------------------------------------ pairs of a row and a rule

    def _pairs(self, varying: Pairs, rows: Row) -> Pairs:
        """All pairs that pass a test. What all rules ask alike concerns them all, unless it can
        only go on with what is begun: then it concerns those that are awake."""
        tests = self.rules.tests
        varying = varying._replace(masks=varying.masks | rows.alike[varying.rows])
        everyone = rows.places[rows.alike[rows.places] != 0]
        if not len(everyone):
            return varying
        waking = self._wakes(rows.alike[everyone])
        pairs = joined([varying, _product(everyone[waking], tests.rules, rows.alike)], tests.size)
        others = everyone[~waking]
        if not len(others):
            return pairs
        awake = self._awake(pairs, rows, int(rows.floors[others].min()))
        at, rules = _of_keys(awake, rows.keys[others]).pairs()
        self.rules.share_awake = len(at) / (len(others) * max(1, len(tests.rules)))
        going_on = Pairs(others[at], rules, rows.alike[others[at]])
        return joined([pairs, going_on], tests.size)

    def _wakes(self, masks: Masks) -> Any:
        """Which letters do more than go on with what is begun."""
        if self.idle_keys is None:
            return np.ones(len(masks), bool)
        classes = codes.dense_classes(np.ascontiguousarray(masks), self.known)
        return self.idle_keys.wakes(self.known)[classes] != layout.WAKES_NOT

    def _awake(self, pairs: Pairs, rows: Row, floor: int) -> Ints:
        """The pairs of a key and a rule that are awake, or are woken in this batch; sorted."""
        woken = self._wakes(pairs.masks)
        fresh = _numbers(rows.keys[pairs.rows[woken]], pairs.rules[woken])
        assert self.idle_keys is not None
        rules, keys = self.substreams.index.parts()
        before = np.flatnonzero(self.idle_keys.of_keys(len(rules)) >= floor)
        return np.unique(np.concatenate([fresh, _numbers(keys[before], rules[before])]))

    def _compared(self, batch: pa.RecordBatch, places: Ints, to: Codes | None) -> Ints:
        """Places come several times, so the rows are taken one by one."""
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
        """By the pairs that the kernel counts."""
        _, of_pairs = self.substreams.index.parts()
        return self.seen[of_pairs] if len(of_pairs) else super().seen_by_key(keys)

    def keep(self, codes: Ints) -> None:
        if self.reading.counts_positions and self.substreams.of_keys.paths:
            alive = np.unique(self.substreams.index.parts()[1][codes])
            self.seen = longer(self.seen, self.counted_keys, 0)[alive]
        if self.idle_keys is not None:
            self.idle_keys.keep(codes, len(self.key_index))
        self.substreams.keep(codes)


def _scattered(values: Any, places: Ints, size: int) -> Any:
    """The values at their places among all rows."""
    if len(places) == size:
        return values
    result = np.zeros(size, values.dtype)
    result[places] = values
    return result


def _product(rows: Ints, rules: Ints, masks: Masks) -> Pairs:
    """Every row with every rule."""
    every = np.repeat(rows, len(rules))
    return Pairs(every, np.tile(rules, len(rows)), masks[every])


def _numbers(keys: Codes, rules: Ints) -> Ints:
    """Pairs of a key and a rule as numbers, in the order of keys."""
    return keys.astype(np.int64) << RULE_BITS | rules


def _of_keys(pairs: Ints, keys: Codes) -> Stretches:
    """For each of these keys the rules that it is paired with; the pairs are sorted."""
    wanted = keys.astype(np.int64)
    begin = np.searchsorted(pairs, wanted << RULE_BITS)
    end = np.searchsorted(pairs, (wanted + 1) << RULE_BITS)
    return Stretches(pairs & ((1 << RULE_BITS) - 1), begin, end)
