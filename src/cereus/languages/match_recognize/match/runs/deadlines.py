"""Finds starts that cannot be completed in time, by a pass back over the rows.

`ts <= FIRST(bad.ts) + INTERVAL '1' HOUR` on a variable means that its rows come within an hour of
the start, where every match begins with bad; WITHIN means that for all rows. Where a pattern waits
for something that comes too late, each start would read all rows of its window in vain. The pass
back finds, for every row and state, how soon the last such row of a match may come; a run for which
that is too late is not begun.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.memory import empty
from cereus.expr import tree as ex
from cereus.expr.arrow.vector import PER_SECOND, from_arrow
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import Bound, Leaf
from cereus.languages.match_recognize.match.matching import Ints, Moves
from cereus.languages.match_recognize.match.needs import Part, parts
from cereus.languages.match_recognize.match.program import DONE
from cereus.languages.match_recognize.match.rows import rows_kernel
from cereus.languages.match_recognize.match.searched import Searched

MOST_CELLS = 1 << 27
"""The most rows times states: 512 MB. With more, no pass is made."""


@dataclass(frozen=True)
class Deadlines:
    """Rows of states that are `bounded` come at most `length` after the start, by `times`.
    `latest[row, state]` is the first row that can be the last such row of a match that goes on
    with this state here; -1 if there need be none, -2 if no match is completed."""

    times: Ints
    length: int
    latest: npt.NDArray[np.int32]


def deadlines(searched: Searched, joint: Mapping[str, frozenset[str]]) -> Deadlines | None:
    """The bounds on matches in time; None if there are none, or they would take too much memory.
    Variables in `joint` stand for several."""
    bound, automaton, rows = searched.bound, searched.automaton, searched.rows
    times, length = searched.times, searched.length
    bounded = [True] * len(automaton)
    if times is None:
        first = {automaton.labels[q] for moves in automaton.begin for q in moves if q != DONE}
        starts = {name for label in first for name in joint.get(label, (label,))}
        windows = {name: _window(bound, starts, name) for name in bound.clause.variables()}
        bounded = [windows.get(label) is not None for label in automaton.labels]
        column = None if not any(bounded) else rows.column(bound.order[0].path[0])
        if column is None or column.null_count:
            return None
        times = np.ascontiguousarray(from_arrow(column).values, np.int64)
        length = max(each for each in windows.values() if each is not None) + 1
    if len(rows) * len(automaton) > MOST_CELLS:
        return None
    latest = empty((max(len(rows), 1), len(automaton)), np.int32)
    moves = Moves.of(automaton)
    rows_kernel.latest_rows(
        searched.letters.numbers,
        rows.bounds,
        searched.readable,
        moves.starts,
        moves.moves,
        moves.last,
        np.array(bounded, np.uint8),
        latest,
    )
    return Deadlines(times, length - 1, latest)


def _window(bound: Bound, starts: set[str], variable: str) -> int | None:
    """How long after the start (a row of one of `starts`) the rows of a variable come at most, in
    units of the time."""
    if not bound.order or bound.order[0].descending:
        return None
    lengths = [
        _length(part, bound, starts)
        for part in parts(bound, variable)
        if not part.of_row and isinstance(part.expression, ex.Comparison | ex.Between)
    ]
    return min((each for each in lengths if each is not None), default=None)


def _length(part: Part, bound: Bound, starts: set[str]) -> int | None:
    name = bound.order[0].path[0]
    small, large = _sides(part.expression)
    here, first = values.Place(), values.Place(first=True)

    def reads(node: ex.Expression | None, place: values.Place) -> bool:
        leaf = part.leaves.get(node.path[0]) if isinstance(node, ex.Attribute) else None
        return leaf is not None and _is_time(leaf, name, place, bound, starts)

    match small, large:
        case node, ex.Arithmetic("+", begin, ex.Literal(length)) if reads(node, here) and reads(
            begin, first
        ):
            return _units(length, bound.schema.field(name).type)
        case ex.Arithmetic("-", node, begin), ex.Literal(length) if reads(node, here) and reads(
            begin, first
        ):
            return _units(length, bound.schema.field(name).type)
    return None


def _sides(node: ex.Expression) -> tuple[ex.Expression | None, ex.Expression | None]:
    """The smaller and the larger side of a comparison."""
    match node:
        case ex.Comparison("<" | "<=", left, right):
            return left, right
        case ex.Comparison(">" | ">=", left, right):
            return right, left
        case ex.Between(operand, _, high):
            return operand, high
    return None, None


def _is_time(leaf: Leaf, name: str, place: values.Place, bound: Bound, starts: set[str]) -> bool:
    """Whether a leaf is the time of the row at hand, or of the first row of the match."""
    if not isinstance(leaf, values.At) or leaf.argument != ex.Attribute((name,)):
        return False
    if not place.first:
        return leaf.place == place
    of = leaf.place.variable
    begins_with = of is None or starts <= bound.clause.members(of)
    return begins_with and leaf.place == values.Place(of, first=True)


def _units(length: object, kind: pa.DataType) -> int | None:
    if isinstance(length, timedelta) and (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        sample = from_arrow(pa.array([], kind))
        assert sample.kind is Kind.TIMESTAMP
        return -(-(length // timedelta(microseconds=1)) * PER_SECOND[sample.unit] // 10**6)
    if isinstance(length, int | float) and pa.types.is_integer(kind) and kind != pa.uint64():
        return ceil(length)
    return None
