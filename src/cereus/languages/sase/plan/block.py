"""SASE+ → Plan, one for each query block: values in slots of the kernel where that can decide, else
in states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from cereus.automata.memory.compare import CannotRegister, Column
from cereus.clauses.tree import EventWindow, Output, ParsedQuery
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.nfa import Nfa
from cereus.languages.sase.places import Place, place
from cereus.languages.sase.plan.lower import ByValue
from cereus.languages.sase.plan.slots import BySlot
from cereus.languages.sase.print import to_text
from cereus.plan.plan import NO_SCHEMA, Plan
from cereus.stream import Stream

Aggregates = Mapping[str, sase.UserAggregate]


@dataclass(frozen=True)
class SasePlan(Plan):
    """The plan of a query block. `by_value`: states remember values, and `why_values`."""

    by_value: bool = False
    why_values: str | None = None
    dialect: str = "sase"

    @property
    def block(self) -> sase.Query:
        assert isinstance(self.query.formula, sase.Pattern)
        return self.query.formula.query

    @property
    def registers(self) -> bool:
        return bool(self.compared) and not self.by_value

    @property
    def remembers_values(self) -> bool:
        return bool(self.compared) and self.by_value

    @property
    def open_ended(self) -> bool:
        return False

    @property
    def closes(self) -> bool:
        assert isinstance(self.automaton, Nfa)
        return self.automaton.waits_for_time

    @property
    def ends_at_marks(self) -> bool:
        return True

    @property
    def hides(self) -> bool:
        return False

    @property
    def limited_late(self) -> bool:
        return False

    @property
    def position_sensitive(self) -> bool:
        return isinstance(self.query.window, EventWindow)


def build(
    query: sase.Query,
    stream: Stream,
    schema: pa.Schema | None = None,
    aggregates: Aggregates | None = None,
) -> SasePlan:
    """Make a plan for a block that has been checked (`sase_schema.checked`, with a schema)."""
    keyed = is_keyed(query)
    lowering, automaton, why = _lowered(query, stream, schema, keyed, aggregates or {})
    source = () if query.source is None or stream.stream is None else (query.source,)
    asked = ParsedQuery(
        sase.Pattern(query),
        select=tuple(Output(each.variable) for each in query.components),
        streams=source,
        partition_by=query.equivalences if keyed else (),
        window=query.window,
        text=to_text(sase.Program((sase.Union((query,)),))),
    )
    columns: tuple[Column, ...] = ()
    kept = 0
    if isinstance(lowering, BySlot):
        columns, kept = tuple(lowering.columns.numbers), len(lowering.slots)
    return SasePlan(
        asked,
        stream,
        lowering.tests.tests,
        automaton,
        compared=frozenset(lowering.compared),
        columns_compared=columns,
        by_value=isinstance(lowering, ByValue),
        why_values=why,
        slots=automaton.waits_for_time + kept,
    )


def is_keyed(query: sase.Query) -> bool:
    """Whether the attributes of equivalence tests split the stream: nothing then looks at events
    of other keys, as counting events or strict contiguity would."""
    strict = any(query.strategy(part.variable) is sase.Strategy.STRICT for part in query.parts)
    by_places = isinstance(query.window, EventWindow)
    return bool(query.equivalences) and not strict and not by_places


def _lowered(
    query: sase.Query,
    stream: Stream,
    schema: pa.Schema | None,
    keyed: bool,
    aggregates: Aggregates,
) -> tuple[BySlot | ByValue, Nfa, str | None]:
    """With slots where they can decide; else by values, and why."""
    why = None
    if schema is None:
        why = NO_SCHEMA
    else:
        by_slot = BySlot(query, stream, schema, keyed)
        try:
            return by_slot, by_slot.automaton(), None
        except CannotRegister as reason:
            why = str(reason)
    by_value = ByValue(query, stream, schema, keyed, aggregates=aggregates)
    automaton = by_value.automaton()
    return by_value, automaton, why if by_value.compared else None


def without_values(plan: SasePlan) -> SasePlan:
    """The plan without what its states would have to remember values for; slots can stay."""
    if not plan.remembers_values:
        return plan
    block = plan.block
    plain = tuple(part for part in block.parts if not isinstance(part, sase.Negated))
    where = tuple(_on_single_events(block, group) for group in block.where)
    return build(replace(block, pattern=sase.Sequence(plain), where=where), plan.stream)


def _on_single_events(block: sase.Query, group: sase.Group) -> sase.Group:
    heads = tuple(each for each in group.variables if not block.is_negated(each.name))
    clauses = tuple(
        clause
        for clause in group.clauses
        if is_local(clause) and not any(map(block.is_negated, ex.variables(clause.condition)))
    )
    return replace(group, variables=heads, clauses=clauses)


def is_local(clause: sase.Clause) -> bool:
    """Whether a clause asks something of single events."""
    names = ex.variables(clause.condition)
    return len(names) == 1 and place(clause.condition, *names) in (Place.FIRST, Place.EACH)
