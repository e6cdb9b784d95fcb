"""The events of a batch on their way to a kernel, as parallel arrays.

docs/design.md has a glossary of the numbers that say which event is meant: row, place, position,
ordinal, measure and floor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import RowNumbers
from cereus.engine.ingest.substreams import Codes, Ints, moved
from cereus.engine.memory import NO_CODES, NO_COLUMNS, NO_INTS, taken

NO_AMOUNTS: npt.NDArray[np.float64] = np.zeros((0, 0))
MOST_KEPT = 7 / 8
"""If more than this share of the events would be kept, leaving out the others is not worth the
work."""
_ZEROS: list[Ints] = [np.zeros(1 << 10, np.int64)]


def zeros(size: int) -> Ints:
    """Zeros that nobody writes to. They are shared, since fresh memory costs more than reading from
    it."""
    made = _ZEROS[0]
    if size > len(made):
        made = _ZEROS[0] = np.zeros(2 * size, np.int64)
    return made[:size]


@dataclass(frozen=True)
class Events:
    """Events of one batch that passed the tests, an entry for each in every array.

    row_numbers  what their rows in the input are called
    places     where each stands in the batch
    classes    the number of its letter: what it looks like to the automaton
    positions  its position within its key, where positions are counted (else 0)
    measures, floors  how windows are measured (`Clock`); empty without a clock
    times      its time as an integer; empty without a time column
    keys       the number of its key
    key_of, group_ends  the key of each group, and where the group ends
    grouped    the events of each key stand together
    columns    the values that are compared between events: one row per column
    first_ordinal  the ordinal of the first event; the others follow it
    letters    what letters carry besides the passed tests, where they carry values
    amounts    what is added to totals over matches: one column per total
    waiting    the state before each event of the runs that have marked nothing; a kernel notes it
    """

    row_numbers: RowNumbers
    places: Ints
    classes: Codes
    positions: Ints
    times: Ints
    keys: Codes
    key_of: Codes
    group_ends: Ints
    grouped: bool = True
    measures: Ints = field(default_factory=lambda: NO_INTS)
    floors: Ints = field(default_factory=lambda: NO_INTS)
    columns: Ints = field(default_factory=lambda: NO_COLUMNS)
    first_ordinal: int = 0
    letters: Sequence[int] = ()
    amounts: npt.NDArray[np.float64] = field(default_factory=lambda: NO_AMOUNTS)
    waiting: Codes = field(default_factory=lambda: NO_CODES)

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def rows(self) -> Ints:
        """Their row numbers in the input."""
        return self.row_numbers.of_places(self.places)

    def changed(self, **arrays: Any) -> Events:
        """The same events with some arrays replaced. It does what `dataclasses.replace` does in a
        third of the time; a batch is changed several times."""
        made = object.__new__(Events)
        made.__dict__.update(self.__dict__)
        made.__dict__.update(arrays)
        return made

    def only(self, chosen: Ints) -> Events:
        """Only these events, before they are sorted by key. All events, if leaving some out is not
        worth the work."""
        if len(chosen) >= MOST_KEPT * len(self):
            return self
        return self.changed(
            keys=taken(self.keys, chosen),
            group_ends=np.array([len(chosen)]),
            **self._changed(len(chosen), lambda values: taken(values, chosen)),
        )

    def by_group(self, to: Codes, key_of: Codes, group_ends: Ints) -> Events:
        """The events sorted by group; `to` says where each goes."""
        return self.changed(
            keys=codes.repeated(key_of, group_ends),
            key_of=key_of,
            group_ends=group_ends,
            **self._changed(len(self), lambda values: moved(values, to)),
        )

    def _changed(self, size: int, change: Callable[[Ints], Ints]) -> dict[str, Any]:
        """The arrays of events after a change of their order or number.

        Moving arrays is most of what keys cost. So an array whose result is known is not moved, and
        one array under two names is moved once.
        """
        counted = bool(self.positions.any())
        names = ["places", "classes", "measures", "floors", "times"]
        names += ["positions"] if counted else []
        arrays = {name: getattr(self, name) for name in names if len(getattr(self, name))}
        distinct = {id(values): values for values in arrays.values()}
        changed = {which: change(values) for which, values in distinct.items()}
        result = {name: changed[id(values)] for name, values in arrays.items()}
        return result if counted else {**result, "positions": zeros(size)}

    def places_of(self, key: int) -> slice | Ints:
        """Where the events of one key are in these arrays."""
        if not self.grouped:
            return np.flatnonzero(self.keys == key)
        group = int(np.searchsorted(self.key_of, key))
        if group == len(self.key_of) or self.key_of[group] != key:
            return slice(0, 0)
        begin = self.group_ends[group - 1] if group else 0
        return slice(int(begin), int(self.group_ends[group]))

    def part(self, begin: int, end: int) -> Events:
        """Some of the events, with the groups that they are in."""
        part = slice(begin, end)
        keys = self.keys[part]
        ends = np.append(np.flatnonzero(np.diff(keys)) + 1, end - begin)
        return self.changed(
            places=self.places[part],
            classes=self.classes[part],
            positions=self.positions[part],
            measures=self.measures[part],
            floors=self.floors[part],
            times=self.times[part],
            keys=keys,
            key_of=keys[ends - 1],
            group_ends=ends,
            first_ordinal=self.first_ordinal + begin,
            waiting=self.waiting[part],
            letters=self.letters[part],
            columns=np.ascontiguousarray(self.columns[:, part]),
            amounts=self.amounts[part],
        )


def no_events(row_numbers: RowNumbers) -> Events:
    """The events of a batch in which nothing matters."""
    return Events(row_numbers, NO_INTS, NO_CODES, NO_INTS, NO_INTS, NO_CODES, NO_CODES, NO_INTS)
