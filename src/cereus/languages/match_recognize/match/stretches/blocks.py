"""Blocks of rows, and the states in which runs may leap over them (`stretches_kernel`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables
from cereus.languages.match_recognize.match.stretches.slot_kinds import SlotKinds, slot_kinds
from cereus.languages.match_recognize.match.stretches.stretches_kernel import join_rests

MOST_CELLS = 1 << 27
"""Rows times states, at most; beyond, all rows are read."""
NOT_IN_BLOCKS = (codes.REMAINDER, codes.REMAINDER_FLOAT)
"""Operations that are not computed for blocks."""
SUMS = (codes.SUM_INT, codes.SUM_FLOAT)
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class RowBlocks:
    """Of every column, and of every state, what is known of the rows of a block.

    Blocks of the size number n begin at `starts[n]`. Behind those of all sizes, at the last of
    `starts`, are the *rests*: a small block and all rows behind it in its partition. Sums are those
    of the first rows of a block, one or more; `totals` of all its rows, `spreads` of their sizes.
    """

    low_ints: Ints
    high_ints: Ints
    low_floats: Floats
    high_floats: Floats
    any_valid: Bytes
    all_valid: Bytes
    low_sums: Floats
    high_sums: Floats
    spreads: Floats
    totals: Ints
    small_totals: Floats
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
    known: Bytes = field(default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.uint8))


def blocks(tables: SlotTables, rows: RowTables, bounds: Ints) -> RowBlocks | None:
    """What is known of blocks of rows, in partitions of these bounds; None where no run can
    leap."""
    count, states = len(rows.sets), len(tables.labels)
    loops = np.array([_loops(tables, state) for state in range(states)], np.uint8)
    if not loops.any() or not count or count * states > MOST_CELLS:
        return None
    alive = np.ascontiguousarray(rows.alive[rows.sets].T)
    sizes = [-(-count >> codes.BLOCK_BITS + level) for level in range(codes.BLOCK_SIZES)]
    sums = _sums(rows, count, tables.updates[np.isin(tables.updates[:, 0], SUMS)])
    found = RowBlocks(
        _with_rests(_reduced(np.minimum, rows.ints[:, :count]), sizes[0]),
        _with_rests(_reduced(np.maximum, rows.ints[:, :count]), sizes[0]),
        _with_rests(_reduced(np.minimum, rows.floats[:, :count]), sizes[0]),
        _with_rests(_reduced(np.maximum, rows.floats[:, :count]), sizes[0]),
        _with_rests(_reduced(np.maximum, rows.valid[:, :count]), sizes[0]),
        _with_rests(_reduced(np.minimum, rows.valid[:, :count]), sizes[0]),
        _with_rests(sums[0], sizes[0]),
        _with_rests(sums[1], sizes[0]),
        _with_rests(sums[2], sizes[0]),
        sums[3],
        sums[4],
        np.ascontiguousarray(_reduced(np.maximum, alive).T),
        np.ascontiguousarray(_reduced(np.minimum, alive).T),
        np.cumsum([0, *sizes]),
        _cuts(bounds, sizes[0]),
        _summed(tables, len(rows.valid)),
        loops,
        slot_kinds(tables),
    )
    join_rests(found, rows)
    return found


def _reduced(least_or_most: np.ufunc, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The least or the greatest value of each block, of all sizes one after the other."""
    found = []
    for level in range(codes.BLOCK_SIZES):
        begins = np.arange(0, values.shape[1], 2 if level else 1 << codes.BLOCK_BITS)
        values = least_or_most.reduceat(values, begins, axis=1)
        found.append(values)
    return np.concatenate(found, axis=1)


def _with_rests(values: npt.NDArray[Any], small: int) -> npt.NDArray[Any]:
    """With a copy of the smallest blocks behind the others, for `join_rests` to go on with."""
    return np.ascontiguousarray(np.concatenate([values, values[:, :small]], axis=1))


def _cuts(bounds: Ints, small: int) -> Ints:
    """Of each small block, the end of the partition of its last row, if that comes before the end
    of the next block; 0 if not."""
    found = np.zeros(small + 1, np.int64)
    last_to_first = bounds[::-1]
    found[last_to_first >> codes.BLOCK_BITS] = last_to_first
    return found[1:].copy()


def _sums(
    rows: RowTables, count: int, updates: npt.NDArray[np.int32]
) -> tuple[Floats, Floats, Floats, Ints, Floats]:
    """Of the columns that are added up: the least and the greatest sum of the first rows of each
    block, the sum of the sizes of all its values, and the sum of its
    values: whole ones in all blocks, any in the smallest."""
    size = 1 << codes.BLOCK_BITS
    columns, small = len(rows.valid), -(-count // size)
    padded = np.zeros((columns, small * size), np.float64)
    whole = np.zeros((columns, small * size), np.int64)
    for kind, _, column, _ in updates.tolist():
        values = (rows.ints if kind == codes.SUM_INT else rows.floats)[column, :count]
        padded[column, :count] = np.where(rows.valid[column, :count], values, 0)
        if kind == codes.SUM_INT:
            whole[column, :count] = np.where(rows.valid[column, :count], values, 0)
    first = np.cumsum(padded.reshape(columns, small, size), axis=2)
    spread = np.abs(padded).reshape(columns, small, size).sum(axis=2)
    of_small = np.ascontiguousarray(first[:, :, -1])
    level = (first.min(axis=2), first.max(axis=2), spread, of_small)
    total = whole.reshape(columns, small, size).sum(axis=2)
    lows, highs, spreads, totals = [level[0]], [level[1]], [spread], [total]
    for _ in range(codes.BLOCK_SIZES - 1):
        level, total = _paired(*level), _added(total)
        for found, each in zip((lows, highs, spreads), level, strict=False):
            found.append(each)
        totals.append(total)
    low, high, spread = (np.concatenate(each, axis=1) for each in (lows, highs, spreads))
    return low, high, spread, np.concatenate(totals, axis=1), of_small


def _summed(tables: SlotTables, columns: int) -> Bytes:
    """Which columns are added up: 1 as whole numbers, 2 as floats."""
    found = np.zeros(columns, np.uint8)
    for kind, _, column, _ in tables.updates.tolist():
        if kind in SUMS:
            found[column] = 1 + (kind == codes.SUM_FLOAT)
    return found


def _paired(
    low: Floats, high: Floats, spread: Floats, total: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """The same for blocks of twice the size."""
    right = low.shape[1] // 2
    least, most = low[:, 0::2].copy(), high[:, 0::2].copy()
    before = total[:, 0::2][:, :right]
    least[:, :right] = np.minimum(least[:, :right], before + low[:, 1::2])
    most[:, :right] = np.maximum(most[:, :right], before + high[:, 1::2])
    return least, most, _added(spread), _added(total)


def _added(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.add.reduceat(values, np.arange(0, values.shape[1], 2), axis=1)


def _loops(tables: SlotTables, state: int) -> int:
    """Whether what waits after a row of this state, if no other run goes on, is what waited before
    it, and the conditions of all that waits can be computed for blocks."""
    moves = tables.moves[tables.move_starts[state] : tables.move_starts[state + 1]]
    rows = moves[moves >= 0]
    if state not in rows or not all(_in_blocks(tables, tables.labels[q]) for q in rows):
        return 0
    return codes.GOES_ON if len(rows) == len(moves) else codes.MAY_END


def _in_blocks(tables: SlotTables, label: int) -> bool:
    code = tables.code[tables.code_starts[label] : tables.code_starts[label + 1]]
    return not np.isin(code[:, 0], NOT_IN_BLOCKS).any()
