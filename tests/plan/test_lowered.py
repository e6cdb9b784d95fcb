"""Values are in slots of the kernel where these can decide, else in states, and it is said why."""

from __future__ import annotations

import pyarrow as pa

from cereus.automata.construct import AtomAutomaton
from cereus.automata.memory.refusal import CannotUseSlots, naming
from cereus.plan.lowered import NO_SCHEMA, Lowered, slots_else_values

SCHEMA = pa.schema({"x": pa.int64()})
ATOM = AtomAutomaton(0, frozenset({"a"}))
VALUES = Lowered(ATOM, (), frozenset(), correlated=True)
SLOTS = Lowered(ATOM, (), frozenset(), correlated=True, in_slots=True, slots=1)


def by_slots(schema: pa.Schema) -> Lowered[AtomAutomaton]:
    assert schema is SCHEMA
    return SLOTS


def refusing(schema: pa.Schema) -> Lowered[AtomAutomaton]:
    with naming("a.x < b.x"):
        raise CannotUseSlots("it compares strings by their order")


def test_slots_are_used_where_they_can_decide() -> None:
    assert slots_else_values(SCHEMA, by_slots, lambda: VALUES) is SLOTS


def test_a_refusal_says_which_condition_and_why() -> None:
    lowered = slots_else_values(SCHEMA, refusing, lambda: VALUES)
    assert not lowered.in_slots
    assert lowered.why_values == "a.x < b.x: it compares strings by their order"


def test_slots_are_not_tried_without_types_or_for_another_reason() -> None:
    assert slots_else_values(None, by_slots, lambda: VALUES).why_values == NO_SCHEMA
    lowered = slots_else_values(SCHEMA, by_slots, lambda: VALUES, why_not="of MAX")
    assert lowered.why_values == "of MAX"


def test_nothing_is_said_where_no_condition_is_between_events() -> None:
    plain = Lowered(ATOM, (), frozenset(), correlated=False)
    assert slots_else_values(SCHEMA, refusing, lambda: plain).why_values is None
