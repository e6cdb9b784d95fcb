"""A pattern → the plan that the automaton kernel runs."""

from __future__ import annotations

import pyarrow as pa

from cereus.automata.construct import AtomAutomaton, ConcatenationAutomaton
from cereus.automata.model import Automaton
from cereus.explain.description import Description
from cereus.language.pattern import PatternQuery
from cereus.plan.lowered import Lowered
from cereus.plan.plan import Plan
from cereus.plan.tests import EventTest, TestSet
from cereus.plan.traits import PatternFacts
from then_language.tree import Event, Pattern, Then, is_at_once, to_text


class ThenDescription(Description):
    positions = "at once"

    def query_text(self, plan: Plan) -> str:
        return plan.text


class ThenQuery(PatternQuery[Pattern]):
    dialect = "then"
    description = ThenDescription()

    def to_text(self) -> str:
        return to_text(self.tree.formula)

    def build(self, schema: pa.Schema | None) -> Plan:
        tests = TestSet()
        automaton = self._automaton(self.tree.formula, tests)
        facts = PatternFacts(position_sensitive=any(map(is_at_once, self.tree.formula.walk())))
        return Plan.of(self.tree, self.stream, Lowered(automaton, tests.tests), facts)

    def _automaton(self, pattern: Pattern, tests: TestSet) -> Automaton:
        if isinstance(pattern, Then):
            left, right = (self._automaton(each, tests) for each in (pattern.left, pattern.right))
            return ConcatenationAutomaton(left, right, pattern.at_once)
        assert isinstance(pattern, Event)
        return AtomAutomaton(tests.bit(EventTest(pattern.type)), frozenset({pattern.type}))
