"""Computes MEASURES over all cells at once: gathers for places, segmented reductions and scans for
aggregates. Nothing here goes match by match."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import attributes_in, value_of
from cereus.expr.arrow.vector import to_arrow
from cereus.languages.match_recognize import tree, values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, Bound, BoundFormula, Leaf
from cereus.languages.match_recognize.match.letters import RowColumns
from cereus.languages.match_recognize.match.needs import names_in
from cereus.languages.match_recognize.match.sorting import SortedRows, one_array
from cereus.languages.match_recognize.output.aggregates import (
    ONE_VALUE,
    Segments,
    WholeMatches,
    aggregated,
    reduced,
)
from cereus.languages.match_recognize.output.cells import Bools, Cells, Ints, Matched


class Measures:
    """The columns of the output that are computed from the matches."""

    def __init__(self, bound: Bound, rows: SortedRows, matched: Matched, cells: Cells) -> None:
        self.bound, self.rows, self.matched, self.cells = bound, rows, matched, cells
        self._leaves: dict[Leaf, pa.Array] = {}
        self._seen: dict[tuple[str | None, bool], tuple[Ints, Ints, Ints | None]] = {}
        self._one_row = bound.clause.rows is tree.Rows.ONE
        self._columns = RowColumns(rows)
        self._labels = pa.array(bound.clause.variables(), pa.string())
        self._zoned = any(
            pa.types.is_timestamp(kind) and kind.tz is not None for kind in bound.schema.types
        )

    def column(self, formula: BoundFormula) -> pa.Array:
        if formula.bare is not None:
            return self.leaf(formula.bare)
        columns = {
            ex.Attribute((str(place),)): self.leaf(leaf)
            for place, leaf in enumerate(formula.leaves)
        }
        result = self._array(value_of(formula.expression, columns), len(self.cells))
        unmatched = self.cells.match < 0
        return _null_where(result, unmatched) if unmatched.any() else result

    def _array(self, vector: Any, length: int) -> pa.Array:
        data = to_arrow(vector, length)
        if isinstance(data, pa.Scalar):
            data = pa.repeat(data, length)
        if pa.types.is_timestamp(data.type) and not self._zoned:
            data = data.cast(pa.timestamp(data.type.unit))
        return one_array(data)

    def leaf(self, leaf: Leaf) -> pa.Array:
        if leaf not in self._leaves:
            self._leaves[leaf] = self._computed(leaf)
        return self._leaves[leaf]

    def _computed(self, leaf: Leaf) -> pa.Array:
        if isinstance(leaf, values.Number):
            return self._numbers(self.cells.match)
        if isinstance(leaf, values.Over):
            return self._over(leaf)
        return self._at(leaf)

    def _numbers(self, match: Ints) -> pa.Array:
        """The numbers of matches; null for rows of no match, and for those that timed out."""
        numbers = self.matched.numbers
        if not len(numbers):
            return pa.nulls(len(match), pa.int64())
        none = match < 0
        if self.matched.matches.timed_out is not None:
            none |= self.matched.matches.timed_out[match]
        return pa.array(numbers[match], pa.int64(), mask=none if none.any() else None)

    # ------------------------------------------------------------ places

    def _at(self, at: values.At) -> pa.Array:
        position, exists = self._positions(at.place)
        return self._argument(at.argument, position, exists, self.cells.match)

    def _ranges(self, variable: str | None, final: bool) -> tuple[Ints, Ints, Ints | None]:
        key = (variable, final or self._one_row)
        if key not in self._seen:
            self._seen[key] = self._rows_seen(*key)
        return self._seen[key]

    def _universal(self, variable: str | None) -> bool:
        """Whether every row of a match is one of the variable."""
        if variable is None:
            return True
        return self.bound.clause.members(variable) >= set(self.matched.automaton.labels)

    def _rows_seen(self, variable: str | None, final: bool) -> tuple[Ints, Ints, Ints | None]:
        """For each cell the rows it sees of a variable: from, to (within the rows mapped to the
        variable), and the numbers of those rows (None: all matched rows)."""
        match, row = self.cells.match, self.cells.row
        if self._one_row and self._universal(variable):
            return self.matched.offsets[:-1], self.matched.offsets[1:], None
        starts, ends = self.matched.offsets[match], self.matched.offsets[match + 1]
        to = ends if final else row + 1
        nothing = row < 0
        if nothing.any():
            starts, to = np.where(nothing, 0, starts), np.where(nothing, 0, to)
        if self._universal(variable):
            return starts, to, None
        rows, before = self.matched.mapped(self.bound.clause.members(variable))
        return before[starts], before[to], rows

    def _positions(self, place: values.Place) -> tuple[Ints, Bools | None]:
        """The position of a place for each cell, and where there is one (None: everywhere)."""
        match = self.cells.match
        if self._one_row and not self._universal(place.variable):
            members = self.bound.clause.members(place.variable)
            at, rows = self.matched.nth(members, place.first, place.offset), None
            exists = at >= 0
        else:
            low, high, rows = self._ranges(place.variable, place.final)
            at = low + place.offset if place.first else high - 1 - place.offset
            exists = (at >= low) & (at < high)
        if exists.all():
            position = (at if rows is None else rows[at]) + self.matched.moves[match]
        elif not exists.any():
            return np.zeros(len(at), np.int64), exists
        else:
            at = np.where(exists, at, 0)
            position = (at if rows is None else rows[at]) + self.matched.moves[match]
        if place.shift:
            position = position + place.shift
            part = self.matched.partition[match]
            inside = position >= self.matched.bounds[part]
            inside &= position < self.matched.bounds[part + 1]
            exists &= inside
        return position, None if exists.all() else exists

    def _argument(
        self, argument: ex.Expression, position: Ints, exists: Bools | None, match: Ints
    ) -> pa.Array:
        """The value of an expression of one row at these positions."""
        indices = pa.array(position, mask=None if exists is None else ~exists)
        if isinstance(argument, ex.Attribute):
            return self._read(argument, indices, position, exists, match)
        columns = {
            attribute: self._read(attribute, indices, position, exists, match)
            for attribute in attributes_in(argument)
        }
        result = self._array(value_of(argument, columns), len(position))
        return result if exists is None else _null_where(result, ~exists)

    def _read(
        self,
        attribute: ex.Attribute,
        indices: pa.Array,
        position: Ints,
        exists: Bools | None,
        match: Ints,
    ) -> pa.Array:
        first, *rest = attribute.path
        if first == LABEL:
            return self._label(position, exists, match)
        if first == NUMBER:
            return self._numbers(match)
        data = self.rows.take(first, indices)
        for name in rest:
            data = pc.struct_field(data, name)
        return data

    def _label(self, position: Ints, exists: Bools | None, match: Ints) -> pa.Array:
        """The variables of rows; null outside their match."""
        if not len(self.matched.label_codes):
            return pa.nulls(len(position), pa.string())
        row = position - self.matched.moves[match]
        inside = (row >= self.matched.offsets[match]) & (row < self.matched.offsets[match + 1])
        inside &= match >= 0
        if exists is not None:
            inside &= exists
        codes = self.matched.label_codes[np.where(inside, row, 0)]
        return self._labels.take(pa.array(codes, mask=~inside))

    # ------------------------------------------------------------ aggregates

    def _over(self, over: values.Over) -> pa.Array:
        if self._one_row and self._reduces(over):
            return self._reduced(over)
        low, high, rows = self._ranges(over.variable, over.final)
        if over.argument is None:
            return self._known(pa.array(high - low))
        match, position, first = self.matched.placed(rows)
        data = [self._argument(each, position, None, match) for each in over.arguments]
        segments = Segments(low, high, first)
        return self._known(aggregated(over.function, data, segments, over.then))

    def _reduces(self, over: values.Over) -> bool:
        """Whether an aggregate is reduced from the rows in place."""
        if over.argument is None:
            return not self._universal(over.variable)
        special = {LABEL, NUMBER} & names_in(over.argument)
        return over.function in ONE_VALUE and not special

    def _reduced(self, over: values.Over) -> pa.Array:
        universal = self._universal(over.variable)
        members = None if universal else self.bound.clause.members(over.variable)
        matched = self.matched
        chosen = matched.chosen(members)
        by = WholeMatches(matched.matches, matched.offsets, matched.moves, chosen)
        if over.argument is None:
            return pa.array(by.counts(None))
        data = self._columns.argument(over.argument)
        if not isinstance(data, pa.Array):
            data = self._array(data, len(self.rows))
        return reduced(over.function, data, by)

    def _known(self, column: pa.Array) -> pa.Array:
        """The column with nulls for rows of no match: they have no aggregates, not even counts."""
        unmatched = self.cells.match < 0
        return _null_where(column, unmatched) if unmatched.any() else column


def _null_where(column: pa.Array, mask: npt.NDArray[np.bool_]) -> pa.Array:
    places = np.arange(len(column), dtype=np.int64)
    return column.take(pa.array(places, mask=mask))
