"""Comparisons of a row with a value that does not change while a run waits: `price > 1.01 *
a.price`.

If one of several that are joined by AND is false in all rows of a block, so is the condition; if
one of several that are joined by OR is true, so is the condition. The other side of the comparison
is computed once for a wait (`steady_kernel`), not once for every block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.tables import SlotTables
from cereus.languages.match_recognize.match.stretches.slot_kinds import SlotKinds, slot_kinds

OF_ROWS = (codes.AT_ROW, codes.AT_FIRST, codes.AT_LAST, codes.MATCH_LENGTH)
OF_FLOATS = (codes.AVERAGE_FLOAT, codes.VARIANCE, codes.SAMPLE_VARIANCE)
"""Operations on a slot that holds floats, and one that counts them."""
OF_SLOTS = (
    *(codes.AT_SLOT, codes.AT_TAIL, codes.AT_HEAD, codes.PERCENTILE, codes.DISTINCT),
    *(codes.SLOT_INT, codes.SLOT_FLOAT, codes.AVERAGE_INT, *OF_FLOATS),
)
"""Operations that read only slots."""
CONSTANTS = (codes.CONSTANT_INT, codes.CONSTANT_FLOAT, codes.MATCH_NUMBER)
SIDES = {
    codes.EQUAL: (codes.ROW_EQUAL, codes.ROW_EQUAL),
    codes.LESS: (codes.ROW_LESS, codes.ROW_GREATER),
    codes.LESS_EQUAL: (codes.ROW_LESS_EQUAL, codes.ROW_GREATER_EQUAL),
}
"""How a row is compared, if it stands on the left or on the right."""
Operation = tuple[int, int, int, int]


@dataclass(frozen=True)
class Comparisons:
    """Those of the variable v are number `starts[v, 0]` to `starts[v, 1]` where it must not be
    true, and up to `starts[v, 2]` where it must be: the column of the row, how it is compared,
    whether as floats, and the register that has the other side. `complete[v, 0]` says that these
    are all of its condition, `complete[v, 1]` the same where it must be true."""

    starts: npt.NDArray[np.int32]
    parts: npt.NDArray[np.int32]
    complete: npt.NDArray[np.uint8]


def comparisons(tables: SlotTables) -> Comparisons:
    starts, complete = list[list[int]](), list[bool]()
    parts: list[Operation] = []
    kinds = slot_kinds(tables)
    for label in range(len(tables.code_starts) - 1):
        condition = _Condition(tables, kinds, label)
        ends = [len(parts)]
        for op in (codes.AND, codes.OR):
            joined = list(condition.joined_by(op))
            parts += [part for part in joined if part is not None]
            ends.append(len(parts))
            complete.append(None not in joined)
        starts.append(ends)
    return Comparisons(
        np.array(starts, np.int32),
        np.array(parts, np.int32).reshape(-1, 4),
        np.array(complete, np.uint8).reshape(-1, 2),
    )


class _Condition:
    """The condition of a variable, as the operations that write its registers."""

    def __init__(self, tables: SlotTables, kinds: SlotKinds, label: int) -> None:
        begin, end = tables.code_starts[label], tables.code_starts[label + 1]
        self.writes: dict[int, list[Operation]] = {}
        for op, to, a, b in tables.code[begin:end].tolist():
            self.writes.setdefault(to, []).append((op, to, a, b))
        self.updates = kinds.kinds[label] >= 0
        self.float_updates = kinds.float_kinds[label] >= 0

    def joined_by(self, op: int) -> Iterator[Operation | None]:
        """The operands of AND, or of OR; a single comparison counts as either. None for an operand
        that is not a comparison."""
        if 0 in self.writes:
            for register in self.operands(self.writes[0][-1][2], op):
                yield self.comparison(register)

    def operands(self, register: int, joined: int) -> Iterator[int]:
        op, _, a, b = self.writes[register][0]
        if op == joined:
            yield from self.operands(a, joined)
            yield from self.operands(b, joined)
        else:
            yield register

    def comparison(self, register: int) -> Operation | None:
        op, _, a, b = self.writes[register][0]
        if op == codes.NOT:
            inside = self.comparison(a)
            if inside is None or inside[1] != codes.ROW_EQUAL:
                return None
            return inside[0], codes.ROW_NOT_EQUAL, inside[2], inside[3]
        real = codes.EQUAL_FLOAT <= op <= codes.LESS_EQUAL_FLOAT
        op -= codes.EQUAL_FLOAT - codes.EQUAL if real else 0
        if op not in SIDES:
            return None
        for row, other, how in zip((a, b), (b, a), SIDES[op], strict=True):
            reads, _, column, _ = self.writes[row][0]
            if reads == codes.AT_ROW and self.stays(other):
                return column, how, int(real), other
        return None

    def stays(self, register: int) -> bool:
        """Whether a value is the same for all rows."""
        for op, to, a, b in self.writes[register]:
            if op in OF_ROWS or self.is_updated(op, a, b):
                return False
            if op in CONSTANTS or op in OF_SLOTS:
                continue
            read = {a} if op in (codes.VALID_IF, codes.COPY, codes.IF_KNOWN) else {a, b}
            if not all(self.stays(each) for each in read - {to}):
                return False
        return True

    def is_updated(self, op: int, a: int, b: int) -> bool:
        """Whether an operation reads a slot that a row of the variable changes."""
        if op == codes.SLOT_FLOAT:
            return bool(self.float_updates[b])
        if op in OF_FLOATS:
            return bool(self.float_updates[a] or self.updates[b])
        if op == codes.AVERAGE_INT:
            return bool(self.updates[a] or self.updates[b])
        return op in (*OF_SLOTS, codes.VALID_IF) and bool(self.updates[b])
