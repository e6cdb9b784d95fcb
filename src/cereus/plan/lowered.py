"""A pattern that a language has lowered, before it is a plan: an automaton, its tests, its
memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import pyarrow as pa

from cereus.automata.memory.exception import Watching
from cereus.automata.memory.refusal import CannotUseSlots
from cereus.automata.memory.slots import Column
from cereus.automata.memory.terms import PastKind
from cereus.automata.model import Automaton
from cereus.plan.tests import EventTest, TestSet

NO_SCHEMA = "the types of the columns are not known yet"
"""Why slots are not tried."""

Made = TypeVar("Made", bound=Automaton, covariant=True)


@dataclass(frozen=True)
class Lowered(Generic[Made]):
    """A pattern as an automaton over tests of events, and what it remembers of them.

    compared    the attributes whose values are compared between events
    correlated  whether there are conditions between events (`count(a) > 3` reads no attribute)
    in_slots    whether slots decide them
    columns     with slots: the columns whose values they keep
    slots       the most values that a partial match may have to keep in slots
    why_values  where states remember values: why slots do not
    past        with slots: the events that are remembered by key, whatever runs there are
    scoped      with slots: the kernel chooses for a strategy inside the pattern
    grows       under MAX: one run is left of those that begin at an event (`automata.growing`)
    nests       under MAX: that run has the events of all that begin after it as well
    watching    with slots: what is watched beside the pattern, whose runs ask about it
    """

    automaton: Made
    tests: tuple[EventTest, ...]
    compared: frozenset[tuple[str, ...]] = frozenset()
    correlated: bool = False
    in_slots: bool = False
    columns: tuple[Column, ...] = ()
    slots: int = 0
    why_values: str | None = None
    past: tuple[PastKind, ...] = ()
    scoped: bool = False
    grows: bool = False
    nests: bool = False
    watching: Watching | None = None


def slots_else_values(
    schema: pa.Schema | None,
    by_slots: Callable[[pa.Schema], Lowered[Made]],
    by_values: Callable[[], Lowered[Made]],
    *,
    why_not: str | None = None,
) -> Lowered[Made]:
    """Lower with values in slots of the kernel, if these can decide every condition between events;
    else with values in the automaton's states, which decide anything, more slowly. Slots need the
    types of columns; `why_not` is another reason not to try them."""
    if schema is None:
        why_not = NO_SCHEMA
    elif why_not is None:
        try:
            return by_slots(schema)
        except CannotUseSlots as reason:
            why_not = str(reason)
    lowered = by_values()
    return replace(lowered, why_values=why_not if lowered.correlated else None)


def with_tests(made: Lowered[Made], tests: Iterable[EventTest]) -> tuple[Lowered[Made], int]:
    """The same with more tests, and the bits of these."""
    known = TestSet()
    for test in made.tests:
        known.bit(test)
    mask = 0
    for test in tests:
        mask |= 1 << known.bit(test)
    return replace(made, tests=known.tests), mask
