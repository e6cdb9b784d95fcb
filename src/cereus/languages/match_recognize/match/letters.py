"""Rows → letters: which conditions of the row hold, as numbers that the kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.memory import empty
from cereus.errors import LimitError
from cereus.expr import tree as ex
from cereus.expr.arrow import operators
from cereus.expr.arrow.evaluate import attributes_in, value_of
from cereus.expr.arrow.vector import Vector, boolean, both, from_arrow
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.needs import Part, names_in, parts
from cereus.languages.match_recognize.match.sorting import (
    BLOCK,
    SortedRows,
    one_array,
)

MOST_LETTERS = 1 << 16
FEW_BITS, MOST_BITS = 8, 16
LARGE = 2 * BLOCK
"""Up to this many rows are read all at once."""


@dataclass(frozen=True)
class RowLetters:
    """The letters of rows: `numbers[row]` is the row's letter; `holds[letter]` are the variables
    whose conditions of the row hold there, as a mask over the variables in their order."""

    numbers: npt.NDArray[np.uint16]
    holds: list[int]


@dataclass(frozen=True)
class RowConditions:
    """The conditions on single rows, without repetitions: `truths[n]` is a conjunction, `names[n]`
    its name, and `meaning[n]` the variables that it decides. The variables in `always` have no
    condition."""

    truths: tuple[tuple[Part, ...], ...]
    names: tuple[str, ...]
    meaning: tuple[int, ...]
    always: int

    @cached_property
    def leaves(self) -> tuple[values.At, ...]:
        every = (leaf for of in self.truths for part in of for leaf in part.leaves.values())
        return tuple(leaf for leaf in every if isinstance(leaf, values.At))

    @cached_property
    def reach(self) -> int:
        """How far from a row the conditions look."""
        return max((abs(leaf.place.shift) for leaf in self.leaves), default=0)

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that they read."""
        return frozenset(name for leaf in self.leaves for name in names_in(leaf.argument))


def row_conditions(bound: Bound) -> RowConditions:
    """The conditions of the variables on single rows, or on rows at a constant distance."""
    return bound.once("row conditions", lambda: _row_conditions(bound))


def _row_conditions(bound: Bound) -> RowConditions:
    truths: dict[str, tuple[Part, ...]] = {}
    meaning: dict[str, int] = {}
    always = 0
    for place, variable in enumerate(bound.clause.variables()):
        of_row = tuple(part for part in parts(bound, variable) if part.of_row)
        if not of_row:
            always |= 1 << place
            continue
        key = repr([(part.expression, dict(part.leaves)) for part in of_row])
        truths[key] = of_row
        meaning[key] = meaning.get(key, 0) | 1 << place
    return RowConditions(tuple(truths.values()), tuple(truths), tuple(meaning.values()), always)


def letters(bound: Bound, rows: SortedRows, of: RowConditions | None = None) -> RowLetters:
    """The letter of every row, in the order of positions."""
    of = row_conditions(bound) if of is None else of
    if len(of.truths) > MOST_BITS:
        columns = RowColumns(rows)
        numbers, alphabet = _many([_truth(columns, each, len(rows)) for each in of.truths])
    else:
        wide = _bits(of, rows) if rows.truths is None else _known_bits(of, rows, rows.truths)
        numbers, alphabet = _numbered(wide, len(of.truths))
    return RowLetters(numbers, [of.always | _meant(letter, of.meaning) for letter in alphabet])


def _known_bits(
    of: RowConditions, rows: SortedRows, known: dict[str, npt.NDArray[np.bool_]]
) -> npt.NDArray[np.uint16]:
    """Like `_bits`, where other clauses read the same rows: no truth is computed twice."""
    new = [n for n, name in enumerate(of.names) if name not in known]
    if new:
        bits = _bits(replace(of, truths=tuple(of.truths[n] for n in new)), rows)
        known.update((of.names[n], bits >> place & 1 != 0) for place, n in enumerate(new))
    every = np.zeros(len(rows), np.uint16)
    for place, name in enumerate(of.names):
        every |= known[name] * np.uint16(1 << place)
    return every


def _bits(of: RowConditions, rows: SortedRows) -> npt.NDArray[np.uint16]:
    """A bit for every truth. If there are many rows, they are read in blocks, whose columns stay in
    the cache."""
    if len(rows) <= LARGE:
        return _bits_of(of, rows)
    if rows.rows is not None:  # blocks are cut from columns in order
        for name in of.columns:
            rows.column(name)
    bits = empty(len(rows), np.uint16)
    for low in range(0, len(rows), BLOCK):
        high = min(low + BLOCK, len(rows))
        begin, end = max(low - of.reach, 0), min(high + of.reach, len(rows))
        bits[low:high] = _bits_of(of, rows.block(begin, end))[low - begin : high - begin]
    return bits


def _bits_of(of: RowConditions, rows: SortedRows) -> npt.NDArray[np.uint16]:
    columns = RowColumns(rows)
    bits: npt.NDArray[Any] = np.zeros(len(rows), np.uint8 if len(of.truths) <= 8 else np.uint16)
    for place, each in enumerate(of.truths):
        bits |= _truth(columns, each, len(rows)).view(np.uint8) * bits.dtype.type(1 << place)
    return bits.astype(np.uint16, copy=False)


def _meant(letter: int, meaning: Sequence[int]) -> int:
    mask = 0
    for place, variables in enumerate(meaning):
        if letter >> place & 1:
            mask |= variables
    return mask


def _numbered(wide: npt.NDArray[np.uint16], bits: int) -> tuple[npt.NDArray[np.uint16], list[int]]:
    """One number per row for its truths, and the truths that each number stands for. With few
    truths every combination has a number, whatever the rows are."""
    if bits <= FEW_BITS:
        return wide, list(range(1 << bits))
    present = np.flatnonzero(np.bincount(wide, minlength=1 << bits))
    places = np.zeros(1 << bits, np.uint16)
    places[present] = np.arange(len(present))
    return places[wide], [int(each) for each in present]


def _many(masks: list[npt.NDArray[np.bool_]]) -> tuple[npt.NDArray[np.uint16], list[int]]:
    packed = np.packbits(np.stack(masks, axis=1), axis=1, bitorder="little")
    distinct, numbers = np.unique(packed, axis=0, return_inverse=True)
    if len(distinct) > MOST_LETTERS:
        raise LimitError(
            f"the conditions hold in more than {MOST_LETTERS:,} combinations",
            hint="use fewer variables",
        )
    meanings = [int.from_bytes(each.tobytes(), "little") for each in distinct]
    return numbers.reshape(-1).astype(np.uint16), meanings


def _truth(columns: RowColumns, conditions: tuple[Part, ...], length: int) -> npt.NDArray[np.bool_]:
    truth: Any = np.True_
    for part in conditions:
        truth = truth & operators.truth(columns.value(part)).values
    every: npt.NDArray[np.bool_] = truth if np.ndim(truth) else np.full(length, bool(truth))
    return every


class RowColumns:
    """Values of the rows, and of rows at a constant distance that stay in their partition."""

    def __init__(self, rows: SortedRows) -> None:
        self.rows = rows
        self._values: dict[values.At, pa.Array | Vector] = {}

    def value(self, part: Part) -> Vector:
        """The value of a conjunct of the row."""
        columns = {
            ex.Attribute((name,)): self.leaf(leaf)  # type: ignore[arg-type]
            for name, leaf in part.leaves.items()
        }
        return value_of(part.expression, columns)

    def leaf(self, at: values.At) -> pa.Array | Vector:
        if at not in self._values:
            unmoved = self.argument(at.argument)
            shift = at.place.shift
            self._values[at] = unmoved if not shift else self.moved(unmoved, shift)
        return self._values[at]

    def argument(self, argument: ex.Expression) -> pa.Array | Vector:
        """The value of an expression of one row, on every row."""
        if isinstance(argument, ex.Attribute) and len(argument.path) == 1:
            return self.rows.column(argument.path[0])
        return value_of(argument, self.read(argument))

    def read(self, argument: ex.Expression) -> dict[ex.Attribute, pa.Array]:
        columns = {}
        for attribute in attributes_in(argument):
            data = self.rows.column(attribute.path[0])
            for name in attribute.path[1:]:
                data = pa.compute.struct_field(data, name)
            columns[attribute] = data
        return columns

    def moved(self, data: pa.Array | Vector, shift: int) -> Vector:
        """Each row's value from the row `shift` further on; null outside its partition."""
        vector = data if isinstance(data, Vector) else from_arrow(data)
        if vector.kind is Kind.NULL:
            return vector
        if vector.constant:
            length = len(self.rows)
            vector = replace(vector, values=_spread(vector.values, length))
        inside = _inside(self.rows.bounds, shift)
        if isinstance(vector.values, pa.Array):
            return replace(vector, values=_moved_array(vector.values, shift, inside))
        valid = both(None if vector.valid is None else _moved(vector.valid, shift), inside)
        values_ = _moved(vector.values, shift)
        if vector.kind is Kind.BOOLEAN:
            return boolean(values_, valid)
        return replace(vector, values=values_, valid=valid)


def _spread(constant: Any, length: int) -> Any:
    if isinstance(constant, pa.Scalar):
        return pa.repeat(constant, length)
    return np.full(length, constant)


def _moved(data: Any, shift: int) -> Any:
    data = np.broadcast_to(data, np.shape(data))
    moved = np.empty_like(data)
    if abs(shift) >= len(data):
        moved[:] = 0
    elif shift < 0:
        moved[:-shift], moved[-shift:] = 0, data[:shift]
    else:
        moved[-shift:], moved[:-shift] = 0, data[shift:]
    return moved


def _inside(bounds: npt.NDArray[np.int64], shift: int) -> npt.NDArray[np.bool_]:
    """Which rows have a row of their partition `shift` further on."""
    length, size = int(bounds[-1]), abs(shift)
    inside = np.ones(length, np.bool_)
    if size > 16:
        positions = np.arange(length) - np.repeat(bounds[:-1], np.diff(bounds))
        lengths = np.repeat(np.diff(bounds), np.diff(bounds))
        fits: npt.NDArray[np.bool_] = (positions + shift >= 0) & (positions + shift < lengths)
        return fits
    for step in range(size):
        if shift < 0:
            edge = bounds[:-1] + step
            inside[edge[edge < length]] = False
        else:
            edge = bounds[1:] - 1 - step
            inside[edge[edge >= 0]] = False
    return inside


def _moved_array(data: pa.Array, shift: int, inside: npt.NDArray[np.bool_]) -> pa.Array:
    places = np.arange(len(data), dtype=np.int64) + shift
    return one_array(data).take(pa.array(np.where(inside, places, 0), mask=~inside))
