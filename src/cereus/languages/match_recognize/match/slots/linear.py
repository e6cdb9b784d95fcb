"""Finds comparisons that are linear in the totals of runs.

`price > 1.01 * sum(a.price * a.volume) / sum(a.volume)` holds only where `price * sum(a.volume) -
1.01 * sum(a.price * a.volume)` is 0 or more: a sum of totals, each with a coefficient that is a
number or a column of the row at hand. Divisors that are never negative are multiplied away.
Anything else raises `NotLinear`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import Vector
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import NUMBER
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.needs import Part, names_in, parts
from cereus.languages.match_recognize.match.slots.lowering import Lowering
from cereus.languages.match_recognize.match.slots.tables import Base

NUMBERS = (Kind.INTEGER, Kind.FLOAT)
FAR = 4
"""From this many rows before the one at hand on, a comparison with them tells more than bounds
do."""


class NotLinear(Exception):
    """An expression that is not linear in totals."""


@dataclass(frozen=True)
class SlotTotal:
    """A number that runs add up: in a slot, or the length of the match."""

    slot: int
    kind: int = codes.SLOT_INT


LENGTH = SlotTotal(-1, codes.MATCH_LENGTH)


@dataclass(frozen=True)
class Coefficient:
    """A number, or one for each row (NaN for NULL). The numbers that it was computed from are
    nowhere larger than `size`, which bounds its rounding error: little may be left of a difference
    of large numbers. The size of an infinite number is infinite."""

    value: Any
    size: float

    @staticmethod
    def of(value: Any) -> Coefficient:
        return Coefficient(value, float(np.nanmax(np.abs(value), initial=0)))

    def __add__(self, other: Coefficient) -> Coefficient:
        return Coefficient(self.value + other.value, self.size + other.size)

    def __mul__(self, other: Coefficient) -> Coefficient:
        return Coefficient(self.value * other.value, self.size * other.size)


ONE, MINUS_ONE, NOTHING = Coefficient(1.0, 1.0), Coefficient(-1.0, 1.0), Coefficient(0.0, 0.0)
Terms = dict[SlotTotal | None, Coefficient]
"""The coefficients of totals; that of None is the constant term."""


@dataclass(frozen=True)
class Quotient:
    """Terms, divided by others that are never negative (None: by 1)."""

    over: Terms
    under: Terms | None = None


def linear_conditions(lowering: Lowering, loop: str, variable: str) -> Iterator[Terms]:
    """Terms that are 0 or more wherever the condition of a variable holds, after rows of another
    that were read in a loop."""
    for part in parts(lowering.bound, variable):
        if part.of_row:
            continue
        reader = _Reader(lowering, part, loop, variable)
        for over, under in _differences(part):
            try:
                with np.errstate(all="ignore"):
                    difference = _added(reader.read(over), _times(MINUS_ONE, reader.read(under)))
            except NotLinear:
                continue
            if reader.farthest >= FAR or any(total is not None for total in difference.over):
                yield difference.over


def _differences(part: Part) -> Iterator[tuple[ex.Expression, ex.Expression]]:
    """Pairs of which the first is not less than the second where a condition holds. A truth value
    counts as 0 or more where it is true."""
    match part.expression:
        case ex.Comparison("<" | "<=", left, right):
            yield right, left
        case ex.Comparison(">" | ">=", left, right):
            yield left, right
        case ex.Comparison("=", left, right):
            yield left, right
            yield right, left
        case ex.Attribute():
            yield part.expression, ex.Literal(0)
        case ex.Between(operand, low, high):
            for small, large in ((low, operand), (operand, high)):
                if small is not None and large is not None:
                    yield large, small


class _Reader:
    """Reads the expressions of one conjunct of a variable, behind rows of a loop."""

    def __init__(self, lowering: Lowering, part: Part, loop: str, variable: str) -> None:
        self.lowering, self.part = lowering, part
        self.loop, self.variable = loop, variable
        self.farthest = 0

    def read(self, node: ex.Expression) -> Quotient:
        leaves = [self.part.leaves[name] for name in names_in(node)]
        if not leaves:
            return Quotient({None: Coefficient.of(_numbers(value_of(node, {})))})
        bases = {self.lowering.places.base(leaf) for leaf in leaves}
        if len(bases) == 1:
            (base,) = bases
            if isinstance(base, Base) and (back := self.rows_back(base)) is not None:
                self.farthest = max(self.farthest, back)
                vector = self.lowering.columns.vector(node, self.part, base)
                if back and _is_known_without_a_row(vector):
                    raise NotLinear
                return Quotient({None: Coefficient.of(_moved(_numbers(vector), back))})
        match node:
            case ex.Attribute((name,)):
                return self.total(self.part.leaves[name])
            case ex.Negate(operand):
                return _times(MINUS_ONE, self.read(operand))
            case ex.Arithmetic("+", left, right):
                return _added(self.read(left), self.read(right))
            case ex.Arithmetic("-", left, right):
                return _added(self.read(left), _times(MINUS_ONE, self.read(right)))
            case ex.Arithmetic("*", left, right):
                return _multiplied(self.read(left), self.read(right))
            case ex.Arithmetic("/", left, right):
                return self.divided(self.read(left), self.read(right))
        raise NotLinear

    def rows_back(self, base: Base) -> int | None:
        """How far before the row at hand a place is; None if that differs. If there is no such row,
        NULL makes no condition true, whatever is read instead."""
        if base.label or base.first or base.best is not None:
            return None
        if base.members is None:
            return base.offset
        if self.loop not in base.members or not self.lowering.places.lie_together(base.members):
            return None
        return base.offset + (self.variable not in base.members)

    def total(self, leaf: Any) -> Quotient:
        """An aggregate, by the slots that hold it."""
        if not isinstance(leaf, values.Over):
            raise NotLinear
        members = self.lowering.bound.clause.members(leaf.variable)
        if leaf.argument is None:
            if leaf.variable is None:
                return Quotient({LENGTH: ONE})
            return Quotient({SlotTotal(self.group(("count", members)).at): ONE})
        if NUMBER in names_in(leaf.argument):
            raise NotLinear
        group = self.group(("sum", members, repr(leaf.argument)))
        count = SlotTotal(group.at)
        total = (
            SlotTotal(group.float_at, codes.SLOT_FLOAT) if group.floats else SlotTotal(group.at + 1)
        )
        match leaf.function:
            case "count":
                return Quotient({count: ONE})
            case "sum" | "count_if":
                return Quotient({total: ONE})
            case "avg":
                return Quotient({total: ONE}, {count: ONE})
            case "bool_and":  # true, where it is 0
                return Quotient({total: ONE, count: MINUS_ONE})
            case "bool_or":
                return Quotient({total: ONE, None: MINUS_ONE})
        raise NotLinear

    def group(self, key: Any) -> Any:
        if key not in self.lowering.groups.groups:
            raise NotLinear
        return self.lowering.groups.groups[key]

    def divided(self, left: Quotient, right: Quotient) -> Quotient:
        if right.under is not None:
            raise NotLinear
        if right.over.keys() == {None}:
            by = np.asarray(right.over[None].value, np.float64)
            return _times(Coefficient.of(np.where(by == 0, np.nan, 1 / by)), left)
        positive = all(self.is_positive(total, given) for total, given in right.over.items())
        if left.under is not None or not positive:
            raise NotLinear
        return Quotient(left.over, right.over)

    def is_positive(self, total: SlotTotal | None, coefficient: Coefficient) -> bool:
        """Whether a coefficient and its total are never negative."""
        return bool(np.all(coefficient.value >= 0)) and (total is None or self.only_grows(total))

    def only_grows(self, total: SlotTotal) -> bool:
        columns = self.lowering.columns
        return all(
            kind not in (codes.SUM_INT, codes.SUM_FLOAT)
            or not np.any((columns.numbers[column] < 0) & columns.valid[column])
            for updates in self.lowering.groups.updates.values()
            for kind, slot, column, _ in updates
            if (kind == codes.SUM_FLOAT) == (total.kind == codes.SLOT_FLOAT) and slot == total.slot
        )


def _numbers(vector: Vector) -> Any:
    """A number, or one for each row; NaN for NULL."""
    if vector.kind not in NUMBERS:
        raise NotLinear
    numbers = np.asarray(vector.values, np.float64)
    valid = vector.validity()
    return numbers if valid is None else np.where(valid, numbers, np.nan)


def _is_known_without_a_row(vector: Vector) -> bool:
    """Whether there is a value even without a row, as with CASE and coalesce: the last entry."""
    valid = vector.validity()
    return valid is None or bool(valid[-1])


def _moved(numbers: Any, back: int) -> Any:
    """The numbers of the rows `back` before; NaN if there is none."""
    if np.ndim(numbers) == 0 or back == 0:
        return numbers
    return np.concatenate([np.full(min(back, len(numbers)), np.nan), numbers[:-back]])


def _times(by: Coefficient, quotient: Quotient) -> Quotient:
    return Quotient(_scaled(quotient.over, by), quotient.under)


def _scaled(terms: Terms, by: Coefficient) -> Terms:
    return {total: coefficient * by for total, coefficient in terms.items()}


def _multiplied(left: Quotient, right: Quotient) -> Quotient:
    for one, other in ((left, right), (right, left)):
        if one.under is None and one.over.keys() == {None}:
            return _times(one.over[None], other)
    raise NotLinear


def _added(left: Quotient, right: Quotient) -> Quotient:
    if left.under is None and right.under is None:
        return Quotient(_sum(left.over, right.over))
    for one, other in ((left, right), (right, left)):
        if one.under is None and one.over.keys() == {None} and other.under is not None:
            return Quotient(_sum(_scaled(other.under, one.over[None]), other.over), other.under)
    if left.under is not None and right.under is not None and _same(left.under, right.under):
        return Quotient(_sum(left.over, right.over), left.under)
    raise NotLinear


def _same(left: Terms, right: Terms) -> bool:
    return left.keys() == right.keys() and all(
        np.all(left[each].value == right[each].value) for each in left
    )


def _sum(left: Terms, right: Terms) -> Terms:
    return {
        total: left.get(total, NOTHING) + right.get(total, NOTHING) for total in {**left, **right}
    }
