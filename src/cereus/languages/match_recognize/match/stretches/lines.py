"""Conditions that are linear in totals, as lines over the rows of blocks (`lines_kernel`).

While a run waits in a loop, a total at a row r is its value now plus what the loop adds up to r.
With sums from the first row on, that is `t + before[r]`, where t is the same for all r. So a
condition that is linear in totals, of which at most one has a coefficient that differs from row to
row, is `intercept[r] + slope[r] * x + y >= 0`: x and y are numbers of the run. Of the lines of a
block only their upper envelope counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.linear import (
    NOTHING,
    SlotTotal,
    Terms,
    linear_conditions,
)
from cereus.languages.match_recognize.match.slots.lowering import Lowering
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables
from cereus.languages.match_recognize.match.stretches.blocks import RowBlocks
from cereus.languages.match_recognize.match.stretches.lines_kernel import joined, smallest

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
EPSILON = 2.3e-16
ROUNDINGS = 64
"""The most operations whose rounding errors a line has in it."""
ADDS = {
    codes.SLOT_INT: (codes.COUNT_ROWS, codes.COUNT_VALID, codes.SUM_INT),
    codes.SLOT_FLOAT: (codes.SUM_FLOAT,),
}
"""The updates of a total, by the kind of its slot."""
Update = tuple[int, int]
"""An update that adds something up, and the column that it reads."""
MOST_ROWS = 1 << 22
"""The most rows that lines are drawn over; the envelopes of as many may take a gigabyte."""
MOST_LINES = 16
"""The most conditions, each for one loop; fewer where there are many rows, so that all of them take
no more than four of this many rows."""


@dataclass(frozen=True)
class Added:
    """A total that a line asks for: its slot, what kind that is, its coefficient (0 if that is the
    slope), and what the loop has added up before each row (a number among `before`, or -1)."""

    slot: int
    kind: int
    coefficient: float
    before: int


@dataclass(frozen=True)
class Line:
    """A condition of a variable, where a run waits in a loop of another."""

    loop: int
    label: int
    intercepts: Floats
    slopes: Floats
    margin: float
    added: tuple[Added, ...]


class RowLines:
    """The lines of all conditions that have them, as arrays. Those of the variable `label` in a
    loop of `loop` are number `firsts[loop, label]` and the following, up to `ends[loop, label]`.

    The envelope of a block has the lines `hull_starts[line, block]` to `hull_starts[line, block +
    1]`, by their slopes."""

    def __init__(self, lines: Sequence[Line], befores: Sequence[Floats], labels: int) -> None:
        self.firsts = np.zeros((labels, labels), np.int32)
        self.ends = np.zeros((labels, labels), np.int32)
        for place, line in enumerate(lines):
            if self.ends[line.loop, line.label] == 0:
                self.firsts[line.loop, line.label] = place
            self.ends[line.loop, line.label] = place + 1
        self.intercepts = np.stack([line.intercepts for line in lines])
        self.slopes = np.stack([line.slopes for line in lines])
        self.margins = np.array([line.margin for line in lines])
        every = [each for line in lines for each in line.added]
        self.added_starts = np.cumsum([0, *(len(line.added) for line in lines)]).astype(np.int32)
        self.added = np.array(
            [(each.slot, each.kind, each.before) for each in every], np.int32
        ).reshape(-1, 3)
        self.coefficients = np.array([each.coefficient for each in every])
        self.before = np.stack([*befores, np.zeros_like(self.intercepts[0])])

    def read_blocks(self, blocks: RowBlocks) -> None:
        """Work out the envelopes of all blocks."""
        self.starts = blocks.starts
        hulls = [
            _envelopes(blocks.starts.tolist(), intercepts, slopes)
            for intercepts, slopes in zip(self.intercepts, self.slopes, strict=True)
        ]
        sizes = np.cumsum([0, *(len(slopes) for slopes, _, _ in hulls)])
        self.hull_slopes = np.concatenate([slopes for slopes, _, _ in hulls])
        self.hull_intercepts = np.concatenate([intercepts for _, intercepts, _ in hulls])
        self.hull_starts = np.stack(
            [size + starts for size, (_, _, starts) in zip(sizes, hulls, strict=False)]
        )


def row_lines(
    lowering: Lowering, tables: SlotTables, rows: RowTables, bounds: Ints, blocks: RowBlocks
) -> RowLines | None:
    """The lines of conditions that end loops; None if there are none, or too many rows."""
    if len(rows.sets) > MOST_ROWS:
        return None
    maker = _Maker(tables, rows, bounds)
    most = min(MOST_LINES, 4 * MOST_ROWS // max(1, len(rows.sets)))
    names = lowering.variables
    lines: list[Line] = []
    for loop, label in _waits(tables, blocks):
        for terms in linear_conditions(lowering, names[loop], names[label]):
            line = maker.line(loop, label, terms)
            if line is not None and len(lines) < most:
                lines.append(line)
    if not lines:
        return None
    made = RowLines(lines, maker.befores, len(tables.code_starts) - 1)
    made.read_blocks(blocks)
    return made


def _envelopes(
    starts: list[int], intercepts: Floats, slopes: Floats
) -> tuple[Floats, Floats, Ints]:
    """The upper envelopes of the lines of all blocks, in the order of blocks: slopes, intercepts,
    and where each begins."""
    places = np.zeros(starts[-1] + 1, np.int64)
    levels = [smallest(starts[1], slopes, intercepts, places)]
    for below, first, end in zip(starts, starts[1:], starts[2:], strict=False):
        levels.append(joined(*levels[-1], below, first, end, places))
    return (
        np.concatenate([slopes for slopes, _ in levels]),
        np.concatenate([intercepts for _, intercepts in levels]),
        places,
    )


def _waits(tables: SlotTables, blocks: RowBlocks) -> list[tuple[int, int]]:
    """The variables of loops, and of what follows them."""
    pairs = {
        (int(tables.labels[loop]), int(tables.labels[state]))
        for loop in np.flatnonzero(blocks.loops)
        for state in tables.moves[tables.move_starts[loop] : tables.move_starts[loop + 1]]
        if state >= 0 and state != loop
    }
    return sorted(pairs)


class _Maker:
    """Makes the lines of conditions over the rows of a table."""

    def __init__(self, tables: SlotTables, rows: RowTables, bounds: Ints) -> None:
        self.tables, self.rows, self.bounds = tables, rows, bounds
        self.count = len(rows.sets)
        self.longest = int(np.diff(bounds).max(initial=0))
        self.befores: list[Floats] = []
        self._places: dict[Update, int] = {}

    def line(self, loop: int, label: int, terms: Terms) -> Line | None:
        """A line; None if several coefficients differ from row to row, or numbers are too large."""
        with np.errstate(all="ignore"):
            alone = terms.get(None, NOTHING)
            intercepts = np.zeros(self.count) + self.of_rows(alone.value)
            slopes = np.zeros(self.count)
            margin = alone.size * EPSILON * ROUNDINGS
            added, steep = [], 0
            for total, given in terms.items():
                if total is None:
                    continue
                factor = self.of_rows(given.value)
                constant = np.ndim(factor) == 0
                if constant and factor == 0:
                    continue
                by_loop, at_row = self.update(loop, total), self.update(label, total)
                intercepts = intercepts + factor * self.here(by_loop, at_row)
                before = -1 if by_loop is None else self.before(by_loop)
                coefficient = float(factor) if constant else 0.0
                added.append(Added(total.slot, total.kind, coefficient, before))
                margin += given.size * self.rounding(total)
                if not constant:
                    slopes, steep = factor, steep + 1
        if steep > 1 or not np.isfinite(margin):
            return None
        never = np.isnan(intercepts) | np.isnan(slopes) | ~self.possible(label)
        intercepts = np.where(never, -np.inf, intercepts)
        slopes = np.where(never, 0.0, slopes)
        highest = float(np.abs(intercepts[~never]).max(initial=0))
        steepest = float(np.abs(slopes).max(initial=1))
        if not np.isfinite(4 * highest * steepest):
            return None  # products of differences are computed to find where lines meet
        return Line(loop, label, intercepts, slopes, margin, tuple(added))

    def of_rows(self, value: Any) -> Any:
        return value if np.ndim(value) == 0 else value[: self.count]

    def possible(self, label: int) -> npt.NDArray[np.bool_]:
        """The rows that a state of this variable can read."""
        states = np.flatnonzero(self.tables.labels == label)
        allowed: npt.NDArray[np.bool_] = np.any(self.rows.alive[:, states] != 0, axis=1)
        return allowed[self.rows.sets]

    def update(self, label: int, total: SlotTotal) -> Update | None:
        """The update of a total by a row of a variable."""
        if total.kind == codes.MATCH_LENGTH:
            return codes.COUNT_ROWS, 0
        begin, end = self.tables.update_starts[label], self.tables.update_starts[label + 1]
        for kind, slot, column, _ in self.tables.updates[begin:end].tolist():
            if slot == total.slot and kind in ADDS[total.kind]:
                return kind, column
        return None

    def steps(self, update: Update) -> npt.NDArray[Any]:
        """The number that each row adds."""
        kind, column = update
        if kind == codes.COUNT_ROWS:
            return np.ones(self.count, np.int64)
        valid = self.rows.valid[column, : self.count]
        if kind == codes.COUNT_VALID:
            return valid.astype(np.int64)
        numbers = self.rows.ints if kind == codes.SUM_INT else self.rows.floats
        return numbers[column, : self.count] * valid

    def before(self, update: Update) -> int:
        """The number of the column of sums before each row of a partition."""
        if update not in self._places:
            self._places[update] = len(self.befores)
            self.befores.append(self.sums_before(update))
        return self._places[update]

    def sums_before(self, update: Update) -> Floats:
        exact = np.longdouble if update[0] == codes.SUM_FLOAT else np.int64
        sums = np.zeros(self.count + 1, exact)
        np.cumsum(self.steps(update), dtype=exact, out=sums[1:])
        first = np.repeat(sums[self.bounds[:-1]], np.diff(self.bounds))
        before: Floats = (sums[:-1] - first).astype(np.float64)
        return before

    def here(self, loop: Update | None, at_row: Update | None) -> Any:
        """The part of a total at each row that is not the same for all rows."""
        before = 0.0 if loop is None else self.befores[self.before(loop)]
        return before if at_row is None else before + self.steps(at_row)

    def rounding(self, total: SlotTotal) -> float:
        """The greatest rounding error of a total: floats are added one by one."""
        updates = {self.update(label, total) for label in range(len(self.tables.update_starts) - 1)}
        largest = sum(self.largest(update) for update in updates if update is not None)
        steps = self.longest if total.kind == codes.SLOT_FLOAT else 0
        return largest * EPSILON * (steps + ROUNDINGS)

    def largest(self, update: Update) -> float:
        """The greatest sum of the absolute values that the rows of a partition add. It is that of
        all rows, if sums from the first row on have no more digits than others."""
        sums = np.zeros(self.count + 1)
        np.cumsum(np.abs(self.steps(update)), out=sums[1:])
        if np.finfo(np.longdouble).eps > EPSILON / 2:
            return float(sums[-1])
        return float(np.diff(sums[self.bounds]).max(initial=0))
