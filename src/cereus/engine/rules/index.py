"""Which rules can a row concern? An index over the constants that all rules compare one column with.

    name = ?    the rules by their constant
    price > ?   the rules in the order of their constants: those below the row's price

Every index answers alike: row i may concern the rules order[begin[i]:end[i]]. It may list a rule
too many, never one too few; `exact` indexes list none too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.rules.shape import CONSTANT, EXACT
from cereus.expr import tree as ex
from cereus.expr.paths import column_at, type_at
from cereus.expr.types import Kind, kind_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True)
class Stretches:
    """For each row a stretch of `order`, which lists rules."""

    order: Ints
    begin: Ints
    end: Ints

    @property
    def total(self) -> int:
        return int((self.end - self.begin).sum())

    def pairs(self) -> tuple[Ints, Ints]:
        """Every row with every rule that it may concern: places among the rows, and rules."""
        sizes = self.end - self.begin
        rows = np.repeat(np.arange(len(sizes)), sizes)
        ends = np.cumsum(sizes)
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        return rows, self.order[within + np.repeat(self.begin, sizes)]


@dataclass(frozen=True)
class Compared:
    """A condition `column op constant` of all rules; `place` is that of the constant."""

    path: tuple[str, ...]
    op: str
    place: int


def compared(condition: ex.Expression) -> list[Compared]:
    """What a condition with places for constants demands of single columns, all together."""
    match condition:
        case ex.Comparison(op, ex.Attribute(path, None), ex.Attribute((constant, place))) if (
            constant == CONSTANT and path[0] != CONSTANT and op in MIRRORED
        ):
            return [Compared(path, op, int(place))]
        case ex.Comparison(op, ex.Attribute((constant, place)), ex.Attribute(path, None)) if (
            constant == CONSTANT and path[0] != CONSTANT and op in MIRRORED
        ):
            return [Compared(path, MIRRORED[op], int(place))]
        case ex.Between(ex.Attribute(path, None), low, high):
            bounds = [(">=", low), ("<=", high)]
            return [
                Compared(path, op, int(bound.path[1]))
                for op, bound in bounds
                if isinstance(bound, ex.Attribute) and bound.path[0] == CONSTANT
            ]
        case ex.And(operands):
            return [each for operand in operands for each in compared(operand)]
    return []


class Index:
    """The rules by what they compare one column with; `exact`, if nothing is left to check."""

    exact = False

    def stretches(self, batch: pa.RecordBatch, rows: Ints) -> Stretches:
        raise NotImplementedError


class Everyone(Index):
    """No index: a row may concern all rules."""

    def __init__(self, rules: Ints) -> None:
        self.order = rules

    def stretches(self, batch: pa.RecordBatch, rows: Ints) -> Stretches:
        size = len(rows)
        return Stretches(self.order, np.zeros(size, np.int64), np.full(size, len(self.order)))


class WordIndex(Index):
    """Rules that ask a column of strings for one value each."""

    exact = True

    def __init__(self, path: tuple[str, ...], constants: list[str], rules: Ints) -> None:
        self.path = path
        words, places = np.unique(np.array(constants, object), return_inverse=True)
        self.words = pa.array(words, pa.string())
        by_word = np.argsort(places, kind="stable")
        self.order = rules[by_word]
        # the last word stands for all that no rule asks for
        self.starts = np.append(np.searchsorted(places[by_word], np.arange(len(words) + 1)), 0)
        self.starts[-1] = self.starts[-2]

    def stretches(self, batch: pa.RecordBatch, rows: Ints) -> Stretches:
        column = column_at(batch, self.path)
        if len(rows) < len(column):
            column = column.take(pa.array(rows))
        places = self._places(column)
        return Stretches(self.order, self.starts[places], self.starts[places + 1])

    def _places(self, column: pa.Array) -> Ints:
        if pa.types.is_dictionary(column.type):
            entries = np.append(self._places(column.dictionary), len(self.words))
            indices = column.indices.cast(pa.int64())
            found: Ints = entries[indices.fill_null(len(entries) - 1).to_numpy()]
            return found
        text = column.cast(pa.string())
        found = pc.index_in(text, self.words).fill_null(len(self.words)).to_numpy()
        return found.astype(np.int64)


class NumberIndex(Index):
    """Rules that compare a column of numbers with one constant each.

    Numbers are looked up as doubles. Integers beyond 2**53 are rounded, which keeps their order but
    may make two of them one: so a constant that equals the rounded number is listed too.
    """

    def __init__(
        self, path: tuple[str, ...], op: str, constants: list[Any], rules: Ints, *, exact: bool
    ) -> None:
        self.path, self.op, self.exact = path, op, exact
        values = np.array(constants, np.float64)
        order = np.argsort(values, kind="stable")
        self.values, self.order = values[order], rules[order]

    def stretches(self, batch: pa.RecordBatch, rows: Ints) -> Stretches:
        numbers = self._numbers(batch, rows)
        size, none = len(self.values), np.isnan(numbers)
        begin, end = np.zeros(len(numbers), np.int64), np.full(len(numbers), size)
        if self.op in ("=", "<", "<="):  # the constants from the number on
            strict = self.op == "<" and self.exact
            begin = np.searchsorted(self.values, numbers, side="right" if strict else "left")
        if self.op in ("=", ">", ">="):  # the constants up to the number
            strict = self.op == ">" and self.exact
            end = np.searchsorted(self.values, numbers, side="left" if strict else "right")
        if none.any():
            end = np.where(none, begin, end)
        return Stretches(self.order, begin, end)

    def _numbers(self, batch: pa.RecordBatch, rows: Ints) -> Floats:
        """The numbers of these rows; NULL is NaN, which satisfies no comparison."""
        column = column_at(batch, self.path)
        if len(rows) < len(column):
            column = column.take(pa.array(rows))
        floats = column.cast(pa.float64(), safe=False)
        numbers: Floats = floats.fill_null(np.nan).to_numpy(zero_copy_only=False)
        return numbers


def index_of(
    each: Compared, constants: list[Any], rules: Ints, schema: pa.Schema
) -> Index | None:
    """An index for a comparison, where the types allow it; `constants` has one for each rule."""
    kind = type_at(schema, each.path)
    if kind is None or not constants:
        return None
    if kind_of(kind) is Kind.STRING and isinstance(constants[0], str):
        return WordIndex(each.path, constants, rules) if each.op == "=" else None
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not numbers or not isinstance(constants[0], int | float):
        return None
    narrow = pa.types.is_floating(kind) or kind.bit_width <= 32
    exact = narrow and all(isinstance(c, float) or abs(c) <= EXACT for c in constants)
    return NumberIndex(each.path, each.op, constants, rules, exact=exact)
