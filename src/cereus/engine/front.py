"""The front of the engine: a batch as it comes → the events that matter, as the kernel reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine import codes
from cereus.engine.columns import Clock, as_integers, read
from cereus.engine.compared import ComparedColumns
from cereus.engine.keys import KeyIndex
from cereus.engine.letters import Letters
from cereus.errors import DataError, did_you_mean
from cereus.lang import cel
from cereus.plan.plan import Plan

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
NO_INTS: Ints = np.zeros(0, np.int64)
NEVER = np.iinfo(np.int64).min


@dataclass
class Events:
    """Events that passed the tests, grouped by key, as parallel arrays.

    rows       row numbers in the input; `places` the same within the batch
    classes    what each event looks like to the automaton
    positions  its position within its key, where the pattern can tell (else 0)
    measures, floors  see `Clock`
    key_of, group_ends  the key of each group, and where the group ends
    """

    rows: Ints
    places: Ints
    classes: npt.NDArray[np.int32]
    positions: Ints
    measures: Ints
    floors: Ints
    times: Ints
    keys: Codes
    key_of: Codes
    group_ends: Ints
    grouped: bool = True
    # where the history stood when the batch came, filled in by the runner
    base: int = 0
    shown: Ints = field(default_factory=lambda: NO_INTS)
    known_from: int = 0
    known_floors: Ints = field(default_factory=lambda: NO_INTS)
    waiting: Codes = field(default_factory=lambda: np.zeros(0, np.int32))
    letters: list[int] = field(default_factory=list)
    columns: Ints = field(default_factory=lambda: np.zeros((1, 0), np.int64))

    def __len__(self) -> int:
        return len(self.rows)

    def sorted_by(self, order: Ints) -> None:
        for name in ("rows", "places", "classes", "positions", "measures", "floors", "keys"):
            setattr(self, name, getattr(self, name)[order])
        if len(self.times):
            self.times = self.times[order]
        if self.columns.shape[1]:
            self.columns = np.ascontiguousarray(self.columns[:, order])

    def places_of(self, key: int) -> slice | Ints:
        """Where the events of one key stand."""
        if not self.grouped:
            return np.flatnonzero(self.keys == key)
        group = int(np.searchsorted(self.key_of, key))
        if group == len(self.key_of) or self.key_of[group] != key:
            return slice(0, 0)
        begin = self.group_ends[group - 1] if group else 0
        return slice(int(begin), int(self.group_ends[group]))

    def runs(self) -> Iterator[Events]:
        """The same events in stretches of one key, in the order they came."""
        ends = np.flatnonzero(np.diff(self.keys)) + 1
        for begin, end in zip([0, *ends], [*ends, len(self.keys)], strict=True):
            yield self.part(int(begin), int(end))

    def part(self, begin: int, end: int) -> Events:
        """Some of the events, with the groups that they are in."""
        part = slice(begin, end)
        keys = self.keys[part]
        ends = np.append(np.flatnonzero(np.diff(keys)) + 1, end - begin)
        return Events(
            self.rows[part],
            self.places[part],
            self.classes[part],
            self.positions[part],
            self.measures[part],
            self.floors[part],
            self.times[part],
            keys,
            keys[ends - 1],
            ends,
            base=self.base + begin,
            waiting=self.waiting[part],
            letters=self.letters[part],
            columns=np.ascontiguousarray(self.columns[:, part]),
        )


class Front:
    """Reads batches of one schema for one plan; counts positions and watches the order of time."""

    def __init__(self, plan: Plan, schema: pa.Schema, row_numbers: Ints | None = None) -> None:
        stream = plan.stream
        self.row_numbers = row_numbers
        self.plan = plan
        self.clock = Clock(plan.query.window, stream, schema)
        self.letters = Letters(
            plan.tests,
            (stream.type,) if stream.type else None,
            (stream.stream,) if stream.stream else None,
            schema,
        )
        self.compared = ComparedColumns(plan.columns_compared)
        self.known: dict[int, int] = {}
        self._key_fields = [_field(schema, path) for path in plan.keys]
        self.row = 0
        self.forget()
        self.grouped = not (plan.keys and plan.query.consume is cel.Consume.ANY)

    def forget(self) -> None:
        """No key has been seen; the numbers of the letters stay."""
        self.keys = KeyIndex(self._key_fields)
        self.seen = np.zeros(1, np.int64)
        self.latest = {"time": np.full(1, NEVER), "window": np.full(1, NEVER)}

    def read(self, batch: pa.RecordBatch) -> Events | None:
        """The events of a batch that can matter, or None when there are none."""
        first_row = self.row
        self.row += batch.num_rows
        own = self._own_rows(batch)
        if own is not None:
            batch = batch.take(pa.array(own))
        times = self._times(batch, first_row)
        everyone = self.plan.position_sensitive
        # consumption across keys must know how far each key has come, so no event is dropped
        keep_all = everyone and not self.grouped
        places, classes = self.letters.classify(batch, self.known, keep_all=keep_all)
        keys = self._keys(batch, None if everyone else places)
        self._check_order("time", times, keys, places, first_row)
        positions = self._positions(keys, places, everyone, first_row)
        if everyone:
            keys = keys[places]
        if not len(places):
            return None
        measures, floors = self.clock.read(batch, places, positions, first_row)
        if self.clock.path not in (None, (self.plan.stream.time,)):
            self._check_order("window", measures, keys, None, first_row)
        whole = places if own is None else own[places]
        rows = first_row + whole
        if self.row_numbers is not None:
            rows = self.row_numbers[rows]
        kept = times[places] if len(times) else times
        shown = positions if everyone else np.zeros(len(places), np.int64)
        events = Events(
            rows, whole, classes, shown, measures, floors, kept, keys,
            np.zeros(1, np.int32), np.array([len(places)]), self.grouped,
        )  # fmt: skip
        events.columns = self.compared.read(batch, places)
        if self.plan.keys and self.grouped:
            order, events.key_of, events.group_ends = codes.group_rows(keys, len(self.keys))
            events.sorted_by(order)
        return events

    def save(self) -> dict[str, Any]:
        return {
            "letters": list(self.known),
            "strings": self.compared.strings,
            "keys": self.keys.save(),
            "row": self.row,
            "seen": self.seen,
            "latest": self.latest,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.known.update((letter, place) for place, letter in enumerate(saved["letters"]))
        self.keys.restore(saved["keys"])
        self.compared.strings.update(saved["strings"])
        self.row, self.seen, self.latest = saved["row"], saved["seen"], saved["latest"]

    # ------------------------------------------------------------ columns

    def _own_rows(self, batch: pa.RecordBatch) -> Ints | None:
        """The rows of the streams in FROM; None for all."""
        name = self.plan.stream.stream
        if name is None or not self.plan.query.streams:
            return None
        column = read(batch, (name,), "the stream column")
        wanted = pc.is_in(column, pa.array(self.plan.query.streams, pa.string()))
        return np.flatnonzero(wanted.to_numpy(zero_copy_only=False))

    def _times(self, batch: pa.RecordBatch, first_row: int) -> Ints:
        name = self.plan.stream.time
        if name is None:
            return NO_INTS
        what = f"the time column {name!r}"
        return as_integers(read(batch, (name,), "the time column"), what, first_row)

    def _keys(self, batch: pa.RecordBatch, places: Ints | None) -> Codes:
        """Key codes of the given rows, or of all."""
        size = batch.num_rows if places is None else len(places)
        if not self.plan.keys:
            return np.zeros(size, np.int32)
        columns = [read(batch, path, "the key column") for path in self.plan.keys]
        if places is not None:
            columns = [column.take(pa.array(places)) for column in columns]
        found = self.keys.encode(columns)
        for name, latest in self.latest.items():
            self.latest[name] = _longer(latest, len(self.keys), NEVER)
        self.seen = _longer(self.seen, len(self.keys), 0)
        return found

    def _positions(self, keys: Codes, places: Ints, everyone: bool, first_row: int) -> Ints:
        """Positions within the key; where the pattern cannot tell, row numbers do for order."""
        if not everyone:
            return places + first_row
        if self.plan.keys:
            counted: Ints = codes.count_positions(keys, self.seen)[places]
            return counted
        positions = places + self.seen[0]
        self.seen[0] += len(keys)
        return positions

    def _check_order(
        self, what: str, values: Ints, keys: Codes, places: Ints | None, first_row: int
    ) -> None:
        """Time must not go backwards inside a key: it would multiply matches silently."""
        if not len(values):
            return
        latest = self.latest[what]
        if not self.plan.keys or (len(values) > 1 and _ascending(values)):
            if not self.plan.keys:
                row = -1 if _ascending(values) else int(np.flatnonzero(np.diff(values) < 0)[0]) + 1
                row = 0 if values[0] < latest[0] else row
                latest[0] = values[-1]
            else:
                own = values if len(values) == len(keys) else values[places]
                row = (
                    -1
                    if np.all(own >= latest[keys])
                    else int(np.flatnonzero(own < latest[keys])[0])
                )
                latest[keys] = own
        else:
            own = values if len(values) == len(keys) else values[places]
            row = codes.first_backward(keys, own, latest)
        if row >= 0:
            raise self._backwards(what, row, keys, places, len(values), first_row)

    def _backwards(
        self, what: str, row: int, keys: Codes, places: Ints | None, size: int, first_row: int
    ) -> DataError:
        place = row if places is None or len(keys) == size else int(places[row])
        column = self.plan.stream.time if what == "time" else ".".join(self.clock.path or ())
        where = f" in {self.keys.describe(int(keys[row]))}" if self.plan.keys else ""
        return DataError(
            f"{column!r} goes backwards at row {first_row + place}{where}",
            hint=f"sort the events by {column!r} first, or run with sort=True",
        )


def _ascending(values: Ints) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _longer(array: Ints, size: int, fill: int) -> Ints:
    if size <= len(array):
        return array
    return np.concatenate([array, np.full(max(size, 2 * len(array)) - len(array), fill)])


def _field(schema: pa.Schema, path: tuple[str, ...]) -> pa.Field:
    field = schema.field(path[0]) if path[0] in schema.names else None
    for step in path[1:]:
        field = field.type.field(step) if field is not None else None
    if field is None:
        raise DataError(
            f"the key column {'.'.join(path)!r} is not in the events",
            hint=did_you_mean(path[0], schema.names),
        )
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(".".join(path), kind)
