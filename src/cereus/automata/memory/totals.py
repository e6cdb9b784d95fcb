"""What is kept about all events of a variable: totals, and the values of its first and last event.

States that remember values keep them as `Totals`. Slots keep one value each: `how` says which. A
move updates the slot (`update`), and a term computes the value (`with_event`); both agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from cereus.automata.memory.terms import Term, column, constant
from cereus.automata.memory.terms import slot as read
from cereus.automata.model import Slot, Update
from cereus.expr.python.aggregates import EVERY_VALUE, of_every_value
from cereus.state.classes import state_class

COUNTS = ("count", "tally")
"""The number of values that are not NULL, and the number of events."""
TOTALS = (
    *COUNTS, "sum int", "sum float", "min int", "max int", "min float", "max float", "carry int",
)  # fmt: skip
"""The updates of slots that add something up; NULL adds nothing."""
EXACT = Context(prec=1000)
"""Sums of decimals are exact: those of a column have 76 digits."""
BASE, DEVIATIONS, SQUARES = SPREAD = "base", "deviations", "squares"
"""What a standard deviation is computed from: the first value that is not NULL, and the sums of the
distances from it and of their squares. They are floats. Whole numbers of moderate size add up
exactly. And since the base is one of the values, little is lost where the sums are subtracted."""
SINGLE = ("set", "first", "last")
"""The value of one event: of the only event, the first, the last."""
EXTREMES = ("least int", "greatest int", "least float", "greatest float")
"""The least and the greatest value; NULL if one is, NaN if one is."""
EVERY = "every"
"""The set of all values."""


# ---------------------------------------------------------------- in states


@state_class("totals")
class Totals(NamedTuple):
    """All that the aggregates of one attribute of a variable may read; `values` only if one of them
    needs every value (`Totals.keeping`)."""

    known: int = 0
    sum: Any = None
    min: Any = None
    max: Any = None
    first: Any = None
    last: Any = None
    events: int = 0
    values: tuple[Any, ...] | None = None

    @classmethod
    def keeping(cls, functions: Iterable[str]) -> Totals:
        """The totals of no events, with room for what these aggregates need."""
        return cls(values=() if not set(EVERY_VALUE).isdisjoint(functions) else None)

    def plus(self, value: Any) -> Totals:
        """The totals with one more event, which has this value."""
        first = value if self.events == 0 else self.first
        if value is None:
            return self._replace(first=first, last=None, events=self.events + 1)
        return Totals(
            self.known + 1,
            _sum(self.sum, value),
            _extreme(min, self.min, value),
            _extreme(max, self.max, value),
            first,
            value,
            self.events + 1,
            None if self.values is None else (*self.values, value),
        )

    def value(self, function: str, attribute: object, parameter: float | None = None) -> Any:
        """The value of an aggregate; without an attribute it counts events."""
        if attribute is None:
            return self.events
        if function == "avg":
            return None if self.sum is None else average(self.sum, self.known)
        if function == "sum":
            return fitting(self.sum)
        if function in EVERY_VALUE:
            return of_every_value(function, self.values or (), parameter)
        return self.known if function == "count" else getattr(self, function)


def _sum(so_far: Any, value: Any) -> Any:
    """The sum with one more value. Only numbers have a sum; times and texts are kept only for min,
    max, first and last."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if so_far is None:
        return value
    return EXACT.add(so_far, value) if isinstance(value, Decimal) else one_nan(so_far + value)


def one_nan(value: Any) -> Any:
    """The value, where all NaN are one object: NaN equals nothing and would be a new value each
    time, but Python finds an object equal to itself in a tuple or a set."""
    return math.nan if isinstance(value, float) and value != value else value


def average(total: Any, count: int) -> Any:
    """The average, rounded once; it is a double for decimals too."""
    return float(Fraction(total) / count) if isinstance(total, Decimal) else total / count


def fitting(value: Any) -> Any:
    """A sum, or NULL for an integer that does not fit 64 bits."""
    return None if isinstance(value, int) and abs(value) >= 2**63 else value


def _extreme(choose: Callable[[Any, Any], Any], so_far: Any, value: Any) -> Any:
    """The extreme with one more value. NaN is skipped, since it is not ordered."""
    if value != value:
        return so_far
    return value if so_far is None else choose(so_far, value)


# ---------------------------------------------------------------- in slots


def update(
    slot: Slot, how: str, number: int, *, first: bool, base: Slot | None = None
) -> Update | None:
    """How a slot changes with the event at hand, whose value is in column `number`; `first`: there
    was no event before. `base` is the slot of the BASE that DEVIATIONS and SQUARES are from."""
    if how == "first" and not first:
        return None
    if how in SPREAD:
        before = None if first else read(slot)
        return Update(slot, "compute", -1, with_event(how, number, before, base))
    if how == EVERY:
        return Update(slot, "insert", number)
    return Update(slot, "set" if how in SINGLE or (first and how in EXTREMES) else how, number)


def with_event(how: str, number: int, before: Term | None, base: Slot | None = None) -> Term:
    """The value with the event at hand; `before` is the value without it, if there was an event."""
    if how == "first" and before is not None:
        return before
    if how in SPREAD:
        return _spread(how, column(number), before, None if base is None else read(base))
    if how in SINGLE or how == EVERY:
        return column(number)
    new = constant(1) if how == "tally" else column(number)
    if how == "count":
        new = _known(new)
    if before is None:
        return Term(how, (constant(None), new)) if how in ("sum int", "carry int") else new
    return Term("add int" if how in COUNTS else how, (before, new))


def _spread(how: str, new: Term, before: Term | None, base: Term | None) -> Term:
    """One of SPREAD with a new value. The base of an infinite value or NaN is no number, so that
    the sums are none either."""
    if how == BASE:
        return new if before is None else Term("if", (_known(before), before, new))
    none = Term("subtract float", (new, new))
    if before is None or base is None:
        return none
    distance = Term("subtract float", (new, base))
    more = distance if how == DEVIATIONS else Term("multiply float", (distance, distance))
    more = Term("if", (_known(base), Term("add float", (before, more)), none))
    return Term("if", (_known(new), more, before))


def _known(value: Term) -> Term:
    return Term("known", (value,))


def without_events(how: str) -> Term:
    """The value while there is no event."""
    return constant(0 if how in COUNTS else None)
