"""Describes the plans of SASE+ query blocks for explain."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.automata.model import Slot
from cereus.explain.analysis import PlanAnalysis
from cereus.explain.conditions import slot_names
from cereus.explain.description import Description
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.memory import SlotMemory
from cereus.languages.sase.nfa.nfa import START, Nfa
from cereus.languages.sase.planning.block import block_of, is_local, without_values
from cereus.languages.sase.print import clause_text, query_text
from cereus.plan.plan import Plan


class SaseDescription(Description):
    positions = "WITHIN … EVENTS"

    def query_text(self, plan: Plan) -> str:
        return query_text(block_of(plan))

    def stages(self, plan: Plan) -> Iterator[str]:
        yield f"lang       sase text → {len(block_of(plan).parts)} components"
        yield "rewrite    proceed edges of NFA^b become one with the begin or ignore after them"

    def between(self, analysis: PlanAnalysis) -> Iterator[str]:
        """Clauses that compare events, and what is remembered for them."""
        plan = analysis.full_plan
        for clause in block_of(plan).clauses:
            if isinstance(clause.condition, sase.Equivalence) and plan.query.partition_by:
                yield f"{clause_text(clause)}: splits the stream"
            elif not is_local(clause):
                yield clause_text(clause)
        implied = set(plan.query.partition_by) - set(block_of(plan).equivalences)
        for path in sorted(implied):
            yield f"{'.'.join(path)}: all components are equal in it, so it splits the stream"
        if plan.traits.registers:
            names = slot_names(analysis)
            for slot, value in self.slot_values(plan).items():
                if slot in names:
                    yield f"    {names[slot]}: {value}"
        elif plan.why_values:
            yield f"    by states that remember values: {plan.why_values}"

    def skeleton(self, plan: Plan) -> Plan:
        return without_values(plan) if plan.traits.correlated else plan

    def only_adds(self, plan: Plan) -> bool:
        return not plan.traits.remembers_values  # with slots, the skeleton is the plan itself

    def slot_values(self, plan: Plan) -> dict[Slot, str]:
        automaton = plan.automaton
        if not isinstance(automaton, Nfa) or not isinstance(automaton.memory, SlotMemory):
            return {}
        return {**automaton.memory.named, START: "when it began"}

    def each_match(self, names: tuple[str, ...]) -> str:
        return f"each choice of events for {', '.join(names)} once"
