"""Prepares `dead_kernel`: which rows are alike, and for which clauses it is remembered where runs
came to nothing.

A slot that holds a row stands for the values that conditions read there: runs whose rows have the
same values do not differ. Prices and states repeat often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty, filled
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.runs.alike_kernel import number_alike
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables

PLACES = 1 << 14
AT_ONCE = 3
"""Starts that are decided within this many rows are not looked up."""
HOLD_ROWS = (codes.SHIFT_ROW, codes.FIRST_ROWS)
FROM_THE_START = (codes.AT_FIRST, codes.MATCH_LENGTH)
"""Operations whose results depend on the start of a run."""


@dataclass(frozen=True)
class Alike:
    """Which rows are alike: `rows[of[slot]]` has for every row the first one at which the same
    values are read through a slot; -1 for slots that hold no rows."""

    of: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]


def alike(tables: SlotTables, rows: RowTables) -> Alike:
    """Which rows are alike for the slots that hold them."""
    read = _read_through_slots(tables)
    kinds = sorted(set(read.values()))
    width = rows.valid.shape[1]
    firsts = empty((max(len(kinds), 1), width), np.int32)
    for place, columns in enumerate(kinds):
        table = filled(1 << width.bit_length() + 1, -1, np.int32)
        number_alike(rows, np.array(columns, np.int32), table, firsts[place])
    of = np.full(tables.live.shape[1], -1, np.int32)
    for slot, columns in read.items():
        of[slot] = kinds.index(columns)
    return Alike(of, firsts)


def _read_through_slots(tables: SlotTables) -> dict[int, tuple[int, ...]]:
    """The columns that are read at the rows in a slot, or in another slot of its group: rows move
    from one to the next."""
    operations = tables.code[: tables.code_starts[-1]]
    read = operations[operations[:, codes.OPERATION] == codes.AT_SLOT].tolist()
    groups = {(slot, size) for kind, slot, size, _ in tables.updates.tolist() if kind in HOLD_ROWS}
    columns_of = {}
    for first, size in groups if tables.update_starts[-1] else ():
        slots = range(first, first + size)
        columns = tuple(sorted({column for _, _, column, slot in read if slot in slots}))
        columns_of.update(dict.fromkeys(slots, columns))
    return columns_of


@dataclass(frozen=True)
class Places:
    """The arrays of places: `entries[n]` is a start, a row, a state, and slots; `float_entries` has
    slots that hold floats. A condition may read `back` rows before the row at hand, if they are in
    the match."""

    entries: npt.NDArray[np.int64]
    float_entries: npt.NDArray[np.float64]
    back: int


def places(tables: SlotTables, rows: RowTables) -> Places | None:
    """The places; None if the future of a run depends on where it started."""
    operations = tables.code[: tables.code_starts[-1]]
    if rows.length >= 0 or np.isin(operations[:, codes.OPERATION], FROM_THE_START).any():
        return None
    back = operations[operations[:, codes.OPERATION] == codes.AT_LAST, codes.READS_B]
    slots, real = tables.live.shape[1], tables.live_floats.shape[1]
    return Places(
        filled((PLACES, codes.DEAD_SLOTS + slots), -1, np.int64),
        filled((PLACES, real), 0, np.float64),
        int(back.max(initial=AT_ONCE)),
    )


def asks_for_numbers(tables: SlotTables) -> bool:
    """Whether conditions read the number of the match."""
    return bool((tables.code[: tables.code_starts[-1], 0] == codes.MATCH_NUMBER).any())
