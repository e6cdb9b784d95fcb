"""The input of a kernel for one turn of reading."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.match.history import History
from cereus.engine.memory import NO_CODES, NO_COLUMNS, NO_INTS


@dataclass(frozen=True)
class KernelInput:
    """Events in groups, and what the kernel has to know about those that came before.

    classes, positions, measures, floors, columns, key_of, group_ends, waiting  as in `Events`
    base          the ordinal of the first event
    shown         what matches call the remembered events: their rows, or their ordinals
    known_from    the ordinal of the first remembered event
    known_floors  the floors of the remembered events, where a match may be reported later than
                  it ends
    """

    classes: Codes
    positions: Ints
    measures: Ints
    floors: Ints
    key_of: Codes
    group_ends: Ints
    shown: Ints
    base: int = 0
    known_from: int = 0
    known_floors: Ints = field(default_factory=lambda: NO_INTS)
    columns: Ints = field(default_factory=lambda: NO_COLUMNS)
    waiting: Codes = field(default_factory=lambda: NO_CODES)

    @classmethod
    def of(cls, events: Events, history: History, shown: Ints) -> KernelInput:
        """The input for events that the history already holds."""
        return cls(
            classes=events.classes,
            positions=events.positions,
            measures=events.measures,
            floors=events.floors,
            key_of=events.key_of,
            group_ends=events.group_ends,
            shown=shown,
            base=events.first_ordinal,
            known_from=history.first,
            known_floors=history.floors,
            columns=events.columns,
            waiting=events.waiting,
        )

    @classmethod
    def expiring(cls, keys: Codes, floors: Ints, history: History, shown: Ints) -> KernelInput:
        """An input without events, which lets time pass in these keys: partial matches that begin
        before the floor of their key have left the window."""
        none = np.zeros(len(keys), np.int64)
        return cls(
            classes=np.zeros(len(keys), np.int32),
            positions=none,
            measures=none,
            floors=floors,
            key_of=keys,
            group_ends=np.arange(1, len(keys) + 1),
            shown=shown,
            base=history.next_ordinal,
            known_from=history.first,
            known_floors=history.floors,
        )
