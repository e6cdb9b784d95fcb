"""Finds the rules that a row can concern: an index over the constants that rules compare one column
with.

    name = ?    the rules by their constant
    price > ?   the rules in the order of their constants: those below the row's price

A row has a number, its price or the code of its name, and row i may concern the rules
order[begin[i]:end[i]]. The same numbers decide the other checks of a pair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.rules import routing
from cereus.engine.rules.shape import CONSTANT, EXACT, Constants
from cereus.expr import tree as ex
from cereus.expr.paths import column_at, type_at
from cereus.expr.types import Kind, kind_of

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
OPS = {
    "<": routing.LESS,
    "<=": routing.LESS_OR_EQUAL,
    ">": routing.GREATER,
    ">=": routing.GREATER_OR_EQUAL,
    "=": routing.EQUAL,
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


class Compared(NamedTuple):
    """`column op constant`; `place` is that of the constant in its condition."""

    path: tuple[str, ...]
    op: str
    place: int


def compared(condition: ex.Expression) -> list[Compared] | None:
    """A condition with places for constants as a list of comparisons that must all hold; None if it
    is something else."""
    match condition:
        case ex.Comparison(op, ex.Attribute() as left, ex.Attribute() as right) if op in OPS:
            if _is_column(left) and not _is_column(right):
                return [Compared(left.path, op, int(right.path[1]))]
            if _is_column(right) and not _is_column(left):
                return [Compared(right.path, MIRRORED[op], int(left.path[1]))]
        case ex.Between(ex.Attribute() as column, low, high) if _is_column(column):
            bounds = [(op, each) for op, each in ((">=", low), ("<=", high)) if each is not None]
            if all(isinstance(each, ex.Attribute) and not _is_column(each) for _, each in bounds):
                return [Compared(column.path, op, int(each.path[1])) for op, each in bounds]  # type: ignore[attr-defined]
        case ex.And(operands):
            parts = [compared(operand) for operand in operands]
            if None not in parts:
                return [each for part in parts for each in part or ()]
    return None


def _is_column(node: ex.Attribute) -> bool:
    return node.path[0] != CONSTANT and node.variable is None


class Stretches(NamedTuple):
    """For each row, a range of `order`, which lists rules."""

    order: Codes
    begin: Ints
    end: Ints


@dataclass(frozen=True)
class ColumnCheck(ABC):
    """A comparison of one column with the constant of each rule.

    constants  those of the rules, as numbers, by the number of the rule
    order      the rules in the order of their constants, which are `sorted`
    """

    path: tuple[str, ...]
    op: str
    constants: Floats
    order: Codes
    sorted: Floats

    @abstractmethod
    def numbers(self, batch: pa.RecordBatch, rows: Ints) -> Floats:
        """The numbers of these rows; NaN where no comparison holds."""

    def decides(self, batch: pa.RecordBatch) -> bool:
        """Whether the numbers of a batch are exact."""
        return True

    def possible(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_] | None:
        """The rows for which the comparison may hold in some rule; None for all."""
        return None

    def stretches(self, numbers: Floats) -> Stretches:
        """The rules for which the comparison holds, for each row."""
        nothing = np.isnan(numbers)
        begin, end = np.zeros(len(numbers), np.int64), np.full(len(numbers), len(self.sorted))
        if self.op in ("=", "<", "<="):  # constants from the number on
            side: Any = "right" if self.op == "<" else "left"
            begin = np.searchsorted(self.sorted, numbers, side=side)
        if self.op in ("=", ">", ">="):  # constants up to the number
            side = "left" if self.op == ">" else "right"
            end = np.searchsorted(self.sorted, numbers, side=side)
        if nothing.any():
            end = np.where(nothing, begin, end)
        return Stretches(self.order, begin, end)

    def _column(self, batch: pa.RecordBatch, rows: Ints) -> pa.Array:
        column = column_at(batch, self.path)
        return column if len(rows) == len(column) else column.take(pa.array(rows))


@dataclass(frozen=True)
class NumberCheck(ColumnCheck):
    """Numbers as doubles, where they fit."""

    def decides(self, batch: pa.RecordBatch) -> bool:
        column = column_at(batch, self.path)
        if not pa.types.is_integer(column.type) or column.type.bit_width <= 32:
            return True
        ends = pc.min_max(column).as_py()
        low, high = ends["min"] or 0, ends["max"] or 0
        return bool(low >= -EXACT and high <= EXACT)

    def numbers(self, batch: pa.RecordBatch, rows: Ints) -> Floats:
        floats = self._column(batch, rows).cast(pa.float64(), safe=False)
        numbers: Floats = floats.fill_null(np.nan).to_numpy(zero_copy_only=False)
        return numbers

    def possible(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_] | None:
        values = column_at(batch, self.path)
        if values.null_count:
            return None
        numbers, low, high = values.to_numpy(zero_copy_only=False), self.sorted[0], self.sorted[-1]
        if self.op in (">", ">="):
            rows = numbers >= low
        elif self.op in ("<", "<="):
            rows = numbers <= high
        else:
            rows = (numbers >= low) & (numbers <= high)
        return rows  # type: ignore[no-any-return]


@dataclass(frozen=True)
class WordCheck(ColumnCheck):
    """Compares strings by the places of the constants among `words`; for equality only."""

    words: pa.Array

    def numbers(self, batch: pa.RecordBatch, rows: Ints) -> Floats:
        return self._codes(self._column(batch, rows))

    def _codes(self, column: pa.Array) -> Floats:
        if pa.types.is_dictionary(column.type):
            entries = np.append(self._codes(column.dictionary), np.nan)
            places = column.indices.cast(pa.int64()).fill_null(len(entries) - 1)
            of_rows: Floats = entries[places.to_numpy()]
            return of_rows
        places = pc.index_in(column.cast(pa.string()), self.words).cast(pa.float64())
        codes: Floats = places.fill_null(np.nan).to_numpy(zero_copy_only=False)
        return codes

    def stretches(self, numbers: Floats) -> Stretches:
        """The rules for each row: the code of a string says where its rules begin."""
        starts = np.searchsorted(self.sorted, np.arange(len(self.words) + 2))
        places = np.where(np.isnan(numbers), len(self.words), numbers).astype(np.int64)
        return Stretches(self.order, starts[places], starts[places + 1])


def checks_of(
    condition: ex.Expression, constants: Mapping[int, Constants], schema: pa.Schema
) -> list[ColumnCheck] | None:
    """A condition as checks; None if they would not express exactly the condition."""
    parts = compared(condition)
    if parts is None:
        return None
    rules = np.array(sorted(constants), np.int32)
    checks = []
    for part in parts:
        values = [constants[rule][part.place] for rule in rules.tolist()]
        check = _check(part, values, rules, schema)
        if check is None:
            return None
        checks.append(check)
    return checks


def _check(
    part: Compared, values: Sequence[Any], rules: Codes, schema: pa.Schema
) -> ColumnCheck | None:
    kind = type_at(schema, part.path)
    if kind is None:
        return None
    if kind_of(kind) is Kind.STRING and isinstance(values[0], str) and part.op == "=":
        words = sorted(set(values))
        places = {word: place for place, word in enumerate(words)}
        numbers = np.array([places[value] for value in values], np.float64)
        return WordCheck(*_by_rule(part, numbers, rules), pa.array(words, pa.string()))
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if numeric and all(_is_exact(value) for value in values):
        return NumberCheck(*_by_rule(part, np.array(values, np.float64), rules))
    return None


def _by_rule(
    part: Compared, numbers: Floats, rules: Codes
) -> tuple[tuple[str, ...], str, Floats, Codes, Floats]:
    order = np.argsort(numbers, kind="stable")
    constants = np.zeros(int(rules[-1]) + 1)
    constants[rules] = numbers
    return part.path, part.op, constants, rules[order], numbers[order]


def _is_exact(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= EXACT)
