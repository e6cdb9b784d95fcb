"""Totals in states, in slots and in terms are the same totals."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cereus.automata.memory.terms import Term, slot
from cereus.automata.memory.totals import TOTALS, Totals, update, with_event, without_events
from cereus.automata.model import Slot

SLOT, COLUMN = Slot(True, 1, 0), 0
KEPT = {
    "first": "first",
    "last": "last",
    "count": "count",
    "sum int": "sum",
    "min int": "min",
    "max int": "max",
}
"""How slots keep what an aggregate of integers asks for."""
VALUES = st.lists(st.none() | st.integers(-5, 5), max_size=6)


def value(term: Term, kept: Any, event: Any) -> Any:
    """A term as the kernel computes it: totals leave NULL out."""
    match term:
        case Term("slot", _):
            return kept
        case Term("column", _):
            return event
        case Term("constant", (constant,)):
            return constant
        case Term("known", (operand,)):
            return int(value(operand, kept, event) is not None)
    left, right = (value(operand, kept, event) for operand in term.operands)
    if left is None or right is None:
        return right if left is None else left
    return {"min int": min, "max int": max}.get(term.op, lambda a, b: a + b)(left, right)


def in_terms(how: str, events: list[Any]) -> Any:
    kept = value(without_events(how), None, None)
    for place, event in enumerate(events):
        kept = value(with_event(how, COLUMN, slot(SLOT) if place else None), kept, event)
    return kept


@pytest.mark.parametrize("how", KEPT)
@given(VALUES)
def test_terms_compute_what_states_remember(how: str, events: list[int | None]) -> None:
    totals = Totals()
    for event in events:
        totals = totals.plus(event)
    assert in_terms(how, events) == totals.value(KEPT[how], ("x",))


@given(VALUES)
def test_events_are_counted_with_their_nulls(events: list[int | None]) -> None:
    totals = Totals()
    for event in events:
        totals = totals.plus(event)
    assert in_terms("tally", events) == totals.value("count", None) == len(events)


def test_an_average_is_of_the_values_that_are_known() -> None:
    assert Totals().plus(1).plus(None).plus(2).value("avg", ("x",)) == 1.5
    assert Totals().plus(None).value("avg", ("x",)) is None


def test_min_and_max_pass_over_nan() -> None:
    totals = Totals().plus(math.nan).plus(2.0)
    assert (totals.min, totals.max) == (2.0, 2.0)
    assert math.isnan(totals.sum)


def test_sums_that_are_no_numbers_are_one_value() -> None:
    """A state with one would be another state at every event, and not the one of its snapshot."""
    infinite = Totals().plus(math.inf).plus(-math.inf)
    assert infinite.plus(1.0) == infinite.plus(2.0)._replace(last=1.0)
    assert infinite.plus(math.nan) == infinite.plus(math.nan)


@pytest.mark.parametrize("how", TOTALS)
def test_a_total_is_updated_by_every_event(how: str) -> None:
    for first in (True, False):
        made = update(SLOT, how, COLUMN, first=first)
        assert made is not None
        assert made.how == how


def test_only_the_first_event_sets_what_is_kept_of_the_first() -> None:
    assert update(SLOT, "first", COLUMN, first=False) is None
    for how, first in (("first", True), ("last", False), ("set", True)):
        made = update(SLOT, how, COLUMN, first=first)
        assert made is not None
        assert made.how == "set"
