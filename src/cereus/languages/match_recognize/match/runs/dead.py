"""For which clauses it is remembered where runs came to nothing (`dead_kernel`), and the room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cereus.engine.memory import filled
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables

PLACES = 1 << 14
AT_ONCE = 3
"""Starts that are decided by so many rows are none to look up."""
FROM_THE_START = (codes.AT_FIRST, codes.MATCH_LENGTH)
"""Operations that tell starts apart, wherever their runs are."""


@dataclass(frozen=True)
class Places:
    """`entries[n]` is a start, a row, a state, and slots; `float_entries` has slots that hold
    floats. A condition may ask for `back` rows before the row at hand, if they are of the match."""

    entries: npt.NDArray[np.int64]
    float_entries: npt.NDArray[np.float64]
    back: int


def places(tables: SlotTables, rows: RowTables) -> Places | None:
    """None where what becomes of a run depends on where it started."""
    operations = tables.code[: tables.code_starts[-1]]
    if rows.length >= 0 or np.isin(operations[:, 0], FROM_THE_START).any():
        return None
    back = operations[operations[:, 0] == codes.AT_LAST, 3]
    slots, real = tables.live.shape[1], tables.live_floats.shape[1]
    return Places(
        filled((PLACES, 3 + slots), -1, np.int64),
        filled((PLACES, real), 0, np.float64),
        int(back.max(initial=AT_ONCE)),
    )


def asks_for_numbers(tables: SlotTables) -> bool:
    """Whether conditions ask for the number of the match."""
    return bool((tables.code[: tables.code_starts[-1], 0] == codes.MATCH_NUMBER).any())
