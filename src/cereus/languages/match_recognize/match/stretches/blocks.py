"""Blocks of rows, and the states in which runs may leap over them (`stretches_kernel`)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables
from cereus.languages.match_recognize.match.stretches.blocks_kernel import read_blocks
from cereus.languages.match_recognize.match.stretches.slot_kinds import SlotKinds, slot_kinds

MOST_CELLS = 1 << 27
"""The most rows times states; with more, all rows are read."""
NOT_IN_BLOCKS = (codes.REMAINDER, codes.REMAINDER_FLOAT)
"""Operations that are not computed for blocks."""
SUMS = (codes.SUM_INT, codes.SUM_FLOAT)
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class RowBlocks:
    """What is known about the rows of a block, for every column and every state.

    Blocks of the size number n begin at `starts[n]`; `valid_counts` is how many values they have.
    After those of all sizes, at the last of `starts`, are the *rests*: a small block and all later
    rows of its partition. Sums are those of the first rows of a block, one or more; `sums` of all
    its rows (`totals`, if they are whole numbers), `spreads` of their absolute values.
    """

    low_ints: Ints
    high_ints: Ints
    low_floats: Floats
    high_floats: Floats
    any_valid: Bytes
    all_valid: Bytes
    valid_counts: Ints
    low_sums: Floats
    high_sums: Floats
    spreads: Floats
    sums: Floats
    totals: Ints
    any_alive: Bytes
    all_alive: Bytes
    starts: Ints
    cuts: Ints
    summed: Bytes
    loops: Bytes
    slots: SlotKinds
    registers: Ints = field(default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.int64))
    float_registers: Floats = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.float64)
    )
    known: npt.NDArray[np.int32] = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.int32)
    )


def blocks(tables: SlotTables, rows: RowTables, bounds: Ints) -> RowBlocks | None:
    """The blocks of rows, in partitions of these bounds; None if no run can leap."""
    count, states = len(rows.sets), len(tables.labels)
    loops = np.array([_loops(tables, state) for state in range(states)], np.uint8)
    if not loops.any() or not count or count * states > MOST_CELLS:
        return None
    sizes = [-(-count >> codes.BLOCK_BITS + level) for level in range(codes.BLOCK_SIZES)]
    starts = np.cumsum([0, *sizes])
    columns, without_rests = len(rows.valid), int(starts[-1])
    shape = (columns, without_rests + sizes[0])
    row_blocks = RowBlocks(
        low_ints=empty(shape, np.int64),
        high_ints=empty(shape, np.int64),
        low_floats=empty(shape, np.float64),
        high_floats=empty(shape, np.float64),
        any_valid=empty(shape, np.uint8),
        all_valid=empty(shape, np.uint8),
        valid_counts=empty((columns, without_rests), np.int64),
        low_sums=empty(shape, np.float64),
        high_sums=empty(shape, np.float64),
        spreads=empty(shape, np.float64),
        sums=empty(shape, np.float64),
        totals=empty((columns, without_rests), np.int64),
        any_alive=empty((without_rests, states), np.uint8),
        all_alive=empty((without_rests, states), np.uint8),
        starts=starts,
        cuts=_cuts(bounds, sizes[0]),
        summed=_summed(tables, columns),
        loops=loops,
        slots=slot_kinds(tables),
    )
    read_blocks(row_blocks, rows)
    return row_blocks


def _cuts(bounds: Ints, small: int) -> Ints:
    """For each small block, the end of the partition of its last row, if that comes before the end
    of the next block; 0 if not."""
    cuts = np.zeros(small + 1, np.int64)
    last_to_first = bounds[::-1]
    cuts[last_to_first >> codes.BLOCK_BITS] = last_to_first
    return cuts[1:].copy()


def _summed(tables: SlotTables, columns: int) -> Bytes:
    """Which columns are added up: 1 as whole numbers, 2 as floats."""
    summed = np.zeros(columns, np.uint8)
    for kind, _, column, _ in tables.updates.tolist():
        if kind in SUMS:
            summed[column] = 1 + (kind == codes.SUM_FLOAT)
    return summed


def _loops(tables: SlotTables, state: int) -> int:
    """Whether the same runs wait after a row of this state as before it, if no other run goes on,
    and the conditions of all that waits can be computed for blocks."""
    moves = tables.moves[tables.move_starts[state] : tables.move_starts[state + 1]]
    rows = moves[moves >= 0]
    if state not in rows or not all(_in_blocks(tables, tables.labels[q]) for q in rows):
        return 0
    return codes.GOES_ON if len(rows) == len(moves) else codes.MAY_END


def _in_blocks(tables: SlotTables, label: int) -> bool:
    code = tables.code[tables.code_starts[label] : tables.code_starts[label + 1]]
    return not np.isin(code[:, codes.OPERATION], NOT_IN_BLOCKS).any()
