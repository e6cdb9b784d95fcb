"""How CEQL describes its plans."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.explain.analysis import PlanAnalysis
from cereus.explain.conditions import by_registers
from cereus.explain.description import Description
from cereus.languages.ceql.explaining import growth, skeleton
from cereus.languages.ceql.explaining.misread import misread
from cereus.languages.ceql.explaining.skeleton import formula_of
from cereus.languages.ceql.planning.build import RULES
from cereus.languages.ceql.planning.rewrite import RULES as LOCAL_RULES
from cereus.languages.ceql.planning.rewrite import anchor_choices, choose_no_exceptions, rewrite
from cereus.languages.ceql.print import formula_text, predicate_text, to_text
from cereus.languages.ceql.tree import in_ceql
from cereus.plan.lowered import NO_SCHEMA
from cereus.plan.plan import Plan

RARE_RULES = (choose_no_exceptions, anchor_choices)
"""Rules that change hardly any formula."""


class CeqlDescription(Description):
    positions = ": :+ START ALL STRICT, or WITHIN … EVENTS"
    fewer_matches = "use :+ in place of +, NEXT, LAST, MAX or COUNT(*), LIMIT, or a short WITHIN"

    def query_text(self, plan: Plan) -> str:
        return to_text(in_ceql(plan.query))

    def stages(self, plan: Plan) -> Iterator[str]:
        formula = formula_of(plan)
        yield f"lang       ceql text → formula with {sum(1 for _ in formula.walk())} parts"
        rules = RULES if plan.traits.correlated else LOCAL_RULES
        rules = tuple(rule for rule in rules if rule not in RARE_RULES or rule(formula) != formula)
        names = ", ".join(rule.__name__ for rule in rules)
        yield f"rewrite    {names}: {formula_text(rewrite(formula, rules))}"

    def between(self, analysis: PlanAnalysis) -> Iterator[str]:
        """Each condition, what decides it, and what is remembered for it."""
        plan = analysis.full_plan
        if plan.traits.registers:
            yield from by_registers(analysis)
            return
        conditions = growth.conditions(plan)
        for predicate, _, _, why in conditions:
            yield predicate_text(predicate)
            if why is not None or (len(conditions) == 1 and plan.why_values != NO_SCHEMA):
                yield f"    by states that remember values: {why or plan.why_values}"
            elif plan.why_values == NO_SCHEMA:
                yield (
                    "    by registers, as soon as the types of its columns are known, if they "
                    "suffice"
                )
            else:
                yield (
                    "    by states that remember values, as all are when one must: "
                    f"{plan.why_values}"
                )

    def skeleton(self, plan: Plan) -> Plan:
        return skeleton.skeleton(plan)

    def only_adds(self, plan: Plan) -> bool:
        return skeleton.only_adds(plan)

    def conditions(self, plan: Plan) -> list[str]:
        return [predicate_text(each) for each in skeleton.conditions_between(plan)]

    def exponential(self, plan: Plan) -> list[str]:
        return [*growth.exponential(plan), *growth.many_parts(plan)]

    def misread(self, plan: Plan) -> list[str]:
        return misread(formula_of(plan))

    def values_read(self, plan: Plan) -> list[str]:
        return growth.values_read(plan)
