"""A plan without its conditions between events: what can be looked at before any values are known.

Where nothing is negated and nothing is chosen, leaving a filter out only adds matches, so what
never matches without it never matches.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.clauses.tree import Strategy
from cereus.expr.tree import Expression, variables
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.plan import build
from cereus.languages.ceql.rewrite import bottom_up, is_local, rewrite, split_filters
from cereus.languages.sase.plan.block import SasePlan, without_values
from cereus.languages.sremo import tree as sremo
from cereus.plan.plan import Plan


def skeleton(plan: Plan) -> Plan:
    """The plan of the same query without conditions between events."""
    if not plan.correlated or isinstance(plan.query.formula, sremo.Pattern):
        return plan  # a SREMO's automaton passes what it has no values for
    if isinstance(plan, SasePlan):
        return without_values(plan)
    formula = bottom_up(rewrite(plan.query.formula, (split_filters,)), _without)
    return build(replace(plan.query, formula=formula, count=False), plan.stream)


def _without(node: cel.Formula) -> cel.Formula:
    return node.body if _correlates(node) and isinstance(node, cel.Filter) else node


def _correlates(node: cel.Formula) -> bool:
    return (
        isinstance(node, cel.Filter)
        and isinstance(node.predicate, cel.Holds)
        and is_between(node.predicate.condition)
    )


def is_between(condition: Expression) -> bool:
    """Whether a condition is about several events together."""
    return len(variables(condition)) > 1 or not is_local(condition)


def conditions_between(plan: Plan) -> list[cel.Predicate]:
    """The conditions between events, as they stand in the query."""
    if not plan.correlated:
        return []
    split = rewrite(plan.query.formula, (split_filters,))
    found = [n.predicate for n in split.walk() if isinstance(n, cel.Filter) and _correlates(n)]
    return list(dict.fromkeys(found))


def only_adds(plan: Plan) -> bool:
    """Whether the skeleton has every match of the plan: nothing is negated, nothing chosen."""
    if isinstance(plan.query.formula, sremo.Pattern):
        nodes = sremo.rewritten(plan.query.formula.expression).walk()
        return not plan.correlated or not any(isinstance(n, sremo.Complement) for n in nodes)
    if isinstance(plan, SasePlan):
        return not plan.remembers_values  # with slots, the skeleton is the plan itself
    choosing = (cel.Unless, cel.Select)
    plain = plan.query.strategy in (Strategy.ALL, Strategy.STRICT)
    return not plan.correlated or (
        plain and not any(isinstance(node, choosing) for node in plan.query.formula.walk())
    )
