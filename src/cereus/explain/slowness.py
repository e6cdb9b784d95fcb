"""Finds what is known to be slow before it runs."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.automata.memory.absence import AbsenceFilter
from cereus.automata.memory.distance import InSlots
from cereus.automata.memory.filters import ComparisonFilter, TermFilter
from cereus.automata.model import Automaton
from cereus.clauses.tree import EventWindow, TimeWindow
from cereus.plan.lowered import NO_SCHEMA
from cereus.plan.plan import Plan

SlotFilter = ComparisonFilter | TermFilter | AbsenceFilter | InSlots
"""Conditions that registers decide."""
LONG = 60_000_000
MANY = 1_000
"""A window of more microseconds, or of more events, has so many values that it matters whether an
event is compared with each of them."""


def slowness(plan: Plan) -> list[str]:
    """A warning where events are compared by Python and not by the compiled kernel, or with every
    value in a long window."""
    if plan.traits.registers:
        return _compared_with_all(plan)
    if not plan.traits.remembers_values or plan.why_values in (None, NO_SCHEMA):
        return []
    return [
        "this is slow: values are compared in Python, not in the compiled kernel, because "
        f"{plan.why_values}; expect at most some 100,000 events a second"
    ]


def comparisons(automaton: Automaton) -> Iterator[SlotFilter]:
    """The conditions in an automaton that registers decide, in the order of their numbers."""

    def filters_in(part: object) -> Iterator[SlotFilter]:
        if isinstance(part, SlotFilter):
            yield part
        if isinstance(part, Automaton):
            for value in vars(part).values():
                yield from filters_in(value)

    return iter(sorted(filters_in(automaton), key=lambda node: node.number))


def _compared_with_all(plan: Plan) -> list[str]:
    """A warning for each condition for which no index helps. Partial matches are indexed by values
    that they have to equal, or be above or below; an equality, or a key, leaves few of them."""
    if plan.keys or not is_long(plan):
        return []
    nodes = list(comparisons(plan.automaton))
    if any(isinstance(node, ComparisonFilter) and node.op == "=" for node in nodes):
        return []
    return [
        f"this may be slow: {node.text} is computed for an event and every value in the window "
        "that it may be compared with; keep WITHIN short, or compare for equality as well"
        for node in nodes
        if isinstance(node, TermFilter) and any(value.needed for value in node.values)
    ]


def is_long(plan: Plan) -> bool:
    """Whether a window has many values. If there is no window, another warning says so."""
    match plan.query.window:
        case TimeWindow(microseconds):
            return microseconds > LONG
        case EventWindow(size):
            return size > MANY
    return False
