"""Loops that wait for rows of a key: `b` of `a b* c` where `c AS name = a.name AND …` and `b AS
name != a.name OR …`.

If a row has another name, `c` is false and `b` is true, whatever the other conditions are. So only
the rows of one name decide (`steady_kernel`), and blocks are made of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables
from cereus.languages.match_recognize.match.stretches.blocks import RowBlocks, blocks
from cereus.languages.match_recognize.match.stretches.slot_kinds import slot_kinds, touched

ANY = frozenset((True, False, None))
OF_PLACES = (codes.AT_FIRST, codes.AT_LAST, codes.MATCH_LENGTH)
"""Operations that depend on where the rows of a match are, and not only on their values."""
NO_KEY, NO_ROWS = -2, -1
"""The group of a row without a key, and of a row whose key no row of its partition has."""
SAMPLE = 1 << 12
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Truth = frozenset[bool | None]


class Equality(NamedTuple):
    """The column of the row at hand and the column of the row in a slot that must be equal."""

    column: int
    slot: int
    of_slot: int
    real: bool


@dataclass(frozen=True)
class RowKeys:
    """The rows of each partition by their key. `loops` numbers the states that wait for a key, and
    `slots` are those that hold a row with it; -1 for other states. For each such loop, and each row
    that its slot may hold, `groups` has the group of rows with the key of that row; `unreadable`
    the next row, from each row on, that the loop cannot read. Group g has the rows number
    `starts[g]` to `starts[g + 1]` of `order`, of which `blocks` are."""

    loops: Small
    slots: Small
    groups: Small
    unreadable: Small
    starts: Ints
    order: Small
    blocks: RowBlocks


def steady_loops(tables: SlotTables, blocks: RowBlocks) -> npt.NDArray[np.uint8]:
    """The states of loops whose rows change no slot that is still needed; counted states are left
    out."""
    changes = touched(tables)[tables.labels, np.arange(len(tables.labels))]
    steady: npt.NDArray[np.bool_] = (blocks.loops > 0) & (tables.again < 0) & (changes == 0)
    return steady.astype(np.uint8)


def row_keys(
    tables: SlotTables, rows: RowTables, bounds: Ints, steady: npt.NDArray[np.uint8]
) -> RowKeys | None:
    """The rows by key; None if no loop waits for a key."""
    conditions = _Conditions(tables, rows)
    keys = {int(q): set(conditions.keys(int(q))) for q in np.flatnonzero(steady)}
    columns = {key.column for every in keys.values() for key in every}
    if not columns:
        return None
    column = max(sorted(columns), key=conditions.distinct) if len(columns) > 1 else columns.pop()
    chosen = {q: min(of) for q, every in keys.items() if (of := _of_column(every, column))}
    real = next(iter(chosen.values())).real
    values = conditions.values(column, real)
    order = _ordered(values, bounds)
    starts = _group_starts(values[order], order, bounds)
    row_blocks = blocks(tables, _moved(rows, order), starts)
    if row_blocks is None:
        return None
    loops, slots = np.full((2, len(tables.labels)), -1, np.int32)
    groups = _Groups(values, order, starts, bounds)
    for number, (q, key) in enumerate(chosen.items()):
        loops[q], slots[q] = number, key.slot
    return RowKeys(
        loops,
        slots,
        np.stack([groups.of_rows(conditions, key) for key in chosen.values()]),
        np.stack([_unreadable(rows, q) for q in chosen]),
        starts,
        order.astype(np.int32),
        row_blocks,
    )


def _of_column(keys: set[Equality], column: int) -> list[Equality]:
    return [key for key in keys if key.column == column]


class _Conditions:
    """The conditions of variables as code, and their truth for rows that have another key."""

    def __init__(self, tables: SlotTables, rows: RowTables) -> None:
        self.tables, self.rows = tables, rows
        self.count = len(rows.sets)
        self.compared: list[int] = []
        self.updates = slot_kinds(tables).kinds >= 0

    def code(self, label: int) -> list[tuple[int, int, int, int]]:
        begin, end = self.tables.code_starts[label], self.tables.code_starts[label + 1]
        return [tuple(each) for each in self.tables.code[begin:end].tolist()]

    def keys(self, loop: int) -> Iterator[Equality]:
        """The equalities without which only a round of the loop goes on."""
        tables = self.tables
        moves = tables.moves[tables.move_starts[loop] : tables.move_starts[loop + 1]]
        again = int(tables.labels[loop])
        behind = {int(tables.labels[q]) for q in moves if q >= 0 and q != loop}
        labels = [again, *behind]
        every = [self.code(label) for label in labels]
        if any(op in OF_PLACES for code in every for op, *_ in code):
            return
        for key in {key for code in every for key in self.equalities(code).values()}:
            if self.updates[labels, key.slot].any():
                continue  # it is compared with the slot as the row itself has changed it
            if self.rows.valid[key.column, : self.count].all() and (
                self.answers(again, key) == {True}
                and not any(True in self.answers(label, key) for label in behind)
            ):
                yield key

    def equalities(self, code: list[tuple[int, int, int, int]]) -> dict[int, Equality]:
        """By register, which values of the row and of an earlier one it compares."""
        places: dict[int, tuple[int, int | None]] = {}
        compared = {}
        for op, to, a, b in code:
            if op in (codes.AT_ROW, codes.AT_SLOT):
                places[to] = a, b if op == codes.AT_SLOT else None
            elif op in (codes.EQUAL, codes.EQUAL_FLOAT) and {a, b} <= places.keys():
                pair = sorted((places[a], places[b]), key=lambda place: place[1] is not None)
                (column, none), (of_slot, slot) = pair
                if none is None and slot is not None:
                    alike = self.first_alike(column), slot, self.first_alike(of_slot)
                    compared[to] = Equality(*alike, op == codes.EQUAL_FLOAT)
        return compared

    def first_alike(self, column: int) -> int:
        """The first column that is compared and has the same values."""
        arrays = self.rows.ints, self.rows.floats, self.rows.valid
        for other in self.compared:
            if all(np.array_equal(each[other], each[column]) for each in arrays):
                return other
        self.compared.append(column)
        return column

    def answers(self, label: int, key: Equality) -> Truth:
        """The possible truths of a variable's condition where the two sides of a key differ."""
        code = self.code(label)
        without = {to for to, each in self.equalities(code).items() if each == key}
        truths: dict[int, Truth] = {0: frozenset((True,))}
        for op, to, a, b in code:
            x, y = truths.get(a, ANY), truths.get(b, ANY)
            if to in without:
                truths[to] = frozenset((False,))
            elif op == codes.NOT:
                truths[to] = frozenset(None if each is None else not each for each in x)
            elif op in (codes.AND, codes.OR):
                decides = op == codes.OR
                truths[to] = frozenset(_joined(decides, *pair) for pair in product(x, y))
            else:
                truths[to] = ANY
        return truths[0]

    def values(self, column: int, real: bool) -> npt.NDArray[np.int64 | np.float64]:
        numbers = self.rows.floats if real else self.rows.ints
        return numbers[column, : self.count]

    def distinct(self, column: int) -> int:
        """How many different values there are among some rows."""
        step = max(1, self.count // SAMPLE)
        return sum(len(np.unique(self.values(column, real)[::step])) for real in (False, True))


def _joined(decides: bool, x: bool | None, y: bool | None) -> bool | None:
    """OR, if `decides` is true; AND, if it is false."""
    if decides in (x, y):
        return decides
    return None if None in (x, y) else not decides


def _ordered(values: npt.NDArray[np.int64 | np.float64], bounds: Ints) -> Ints:
    """The rows sorted by partition and value (stable)."""
    if values.dtype == np.int64 and int(values.max()) - int(values.min()) < 1 << 16:
        values = (values - values.min()).astype(np.uint16)  # which are sorted by counting
    order: Ints = np.argsort(values, kind="stable")
    if len(bounds) > 2:
        order = order[np.argsort(_partitions(bounds, order), kind="stable")]
    return order


def _partitions(bounds: Ints, rows: Ints) -> Ints:
    partitions: Ints = np.searchsorted(bounds, rows, side="right")
    return partitions


def _group_starts(values: npt.NDArray[np.int64 | np.float64], order: Ints, bounds: Ints) -> Ints:
    begins = values[1:] != values[:-1]
    if len(bounds) > 2:
        partitions = _partitions(bounds, order)
        begins |= partitions[1:] != partitions[:-1]
    return np.concatenate([[0], np.flatnonzero(begins) + 1, [len(values)]]).astype(np.int64)


def _moved(rows: RowTables, order: Ints) -> RowTables:
    """The same rows in another order."""

    def moved(columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
        new = empty((len(columns), len(order)), columns.dtype)
        for place, column in enumerate(columns):
            column.take(order, out=new[place], mode="clip")
        return new

    return replace(
        rows,
        sets=rows.sets[order],
        ints=moved(rows.ints),
        floats=moved(rows.floats),
        valid=moved(rows.valid),
    )


@dataclass(frozen=True)
class _Groups:
    """Groups of rows with one value in one partition."""

    values: npt.NDArray[np.int64 | np.float64]
    order: Ints
    starts: Ints
    bounds: Ints

    def of_rows(self, conditions: _Conditions, key: Equality) -> Small:
        """For each row, the group that has its key."""
        groups = np.full(len(self.order), NO_ROWS, np.int32)
        if key.of_slot == key.column:
            groups[self.order] = np.repeat(
                np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts)
            )
            return groups
        keys = conditions.values(key.of_slot, key.real)
        different = np.unique(self.values)
        first = self.order[self.starts[:-1]]
        names = self._names(different, first, self.values[first])
        rows = np.arange(len(keys))
        wanted = self._names(different, rows, keys)
        at = np.minimum(np.searchsorted(names, wanted), len(names) - 1)
        same = (names[at] == wanted) & (self.values[first[at]] == keys)
        groups[same] = at[same]
        groups[conditions.rows.valid[key.of_slot, : len(keys)] == 0] = NO_KEY
        return groups

    def _names(
        self,
        different: npt.NDArray[np.int64 | np.float64],
        rows: Ints,
        values: npt.NDArray[np.int64 | np.float64],
    ) -> Ints:
        """Numbers of partitions and values, in the order of groups."""
        places = np.searchsorted(different, values)
        return _partitions(self.bounds, rows) * (len(different) + 1) + places


def _unreadable(rows: RowTables, state: int) -> Small:
    """For each row, the next one from there on that a state cannot read."""
    count = len(rows.sets)
    never = np.where(rows.alive[:, state][rows.sets] != 0, count, np.arange(count))
    return np.minimum.accumulate(never[::-1])[::-1].astype(np.int32)
