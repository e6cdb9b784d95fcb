"""How a row of a variable changes each slot, as tables by slot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.tables import SlotTables

SEVERAL = (codes.SHIFT_ROW, codes.SHIFT_LABEL, codes.FIRST_ROWS)
"""Updates of slots that are next to each other."""
FLOATS = (codes.SUM_FLOAT, codes.MIN_FLOAT, codes.MAX_FLOAT)
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SlotKinds:
    """What the rows of each variable do to each slot.

    `kinds[label, slot]` is the update that a row of a variable makes, -1 if none; `columns` what
    it reads, `counts` the slot that counts its values, `places` the place among those of a group
    (of those that hold rows or labels). The same for slots that hold floats. Two variables `agree`
    if what both update they update alike."""

    agree: npt.NDArray[np.uint8]
    kinds: Ints
    columns: Ints
    counts: Ints
    places: Ints
    float_kinds: Ints
    float_columns: Ints
    float_counts: Ints


def slot_kinds(tables: SlotTables) -> SlotKinds:
    labels = len(tables.update_starts) - 1
    slots, real = tables.live.shape[1], tables.live_floats.shape[1]
    kinds = SlotKinds(
        np.zeros((labels, labels), np.uint8),
        np.full((labels, slots), -1, np.int32),
        np.zeros((labels, slots), np.int32),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.full((labels, real), -1, np.int32),
        np.zeros((labels, real), np.int32),
        np.zeros(real, np.int32),
    )
    for label in range(labels):
        begin, end = tables.update_starts[label], tables.update_starts[label + 1]
        for kind, slot, size, of in tables.updates[begin:end].tolist():
            _note(kinds, label, kind, slot, size, of)
    for label in range(labels):
        for other in range(labels):
            kinds.agree[label, other] = _agree(kinds, label, other)
    return kinds


def _agree(kinds: SlotKinds, label: int, other: int) -> bool:
    return all(
        np.all((of[label] < 0) | (of[other] < 0) | ((of[label] == of[other]) & same_column))
        for of, columns in (
            (kinds.kinds, kinds.columns),
            (kinds.float_kinds, kinds.float_columns),
        )
        for same_column in (columns[label] == columns[other],)
    )


def _note(kinds: SlotKinds, label: int, kind: int, slot: int, size: int, of: int) -> None:
    if kind == codes.SPREAD:
        kinds.float_kinds[label, slot : slot + 2] = kind
        kinds.float_columns[label, slot : slot + 2] = size
        kinds.float_counts[slot : slot + 2] = of
    elif kind in (codes.LAST_ROWS, codes.HEAD_ROWS):
        kinds.kinds[label, slot : slot + 2] = kind
    elif kind in FLOATS:
        kinds.float_kinds[label, slot] = kind
        kinds.float_columns[label, slot], kinds.float_counts[slot] = size, of
    elif kind in SEVERAL:
        kinds.kinds[label, slot : slot + size] = kind
        kinds.places[slot : slot + size] = np.arange(size)
    else:
        kinds.kinds[label, slot] = kind
        kinds.columns[label, slot], kinds.counts[slot] = size, of


def touched(tables: SlotTables) -> npt.NDArray[np.uint8]:
    """Whether rows of a variable change slots that a state needs, for each variable and state."""
    kinds = slot_kinds(tables)
    slots = (kinds.kinds >= 0).astype(np.int64) @ tables.live.T.astype(np.int64)
    floats = (kinds.float_kinds >= 0).astype(np.int64) @ tables.live_floats.T.astype(np.int64)
    return (slots + floats > 0).astype(np.uint8)
