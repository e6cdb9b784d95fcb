"""Describes the plans of SREMO for explain."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.explain.analysis import PlanAnalysis
from cereus.explain.description import Description
from cereus.expr.print import condition_text
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.print import expression_text, to_text
from cereus.plan.plan import Plan


class SremoDescription(Description):
    fewer_matches = "use LIMIT, or a short WITHIN"
    positions = ". between events without skip*, & ! [1..w], or WITHIN … EVENTS"

    def query_text(self, plan: Plan) -> str:
        return to_text(sremo.in_sremo(plan.query))

    def stages(self, plan: Plan) -> Iterator[str]:
        expression = _pattern(plan).expression
        parts = sum(1 for _ in expression.walk())
        yield f"lang       sremo text → expression with {parts} parts"
        written_out = expression_text(sremo.rewritten(expression))
        yield f"rewrite    any and next written out: {written_out}"

    def between(self, analysis: PlanAnalysis) -> Iterator[str]:
        yield from self.conditions(analysis.full_plan)

    def conditions(self, plan: Plan) -> list[str]:
        return [condition_text(each) for each in _pattern(plan).conditions_on_registers]

    def skeleton(self, plan: Plan) -> Plan:
        return plan  # its automaton lets letters without values pass

    def only_adds(self, plan: Plan) -> bool:
        nodes = sremo.rewritten(_pattern(plan).expression).walk()
        return not plan.traits.correlated or not any(
            isinstance(node, sremo.Complement) for node in nodes
        )


def _pattern(plan: Plan) -> sremo.Pattern:
    return sremo.in_sremo(plan.query).formula
