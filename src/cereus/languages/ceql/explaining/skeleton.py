"""A plan without its conditions between events: the part that can be explored before any values are
known.

Where nothing is negated and nothing is chosen, leaving a filter out only adds matches. So a pattern
that never matches without it never matches.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.clauses.tree import Strategy
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.absence import is_correlated
from cereus.languages.ceql.planning.build import build
from cereus.languages.ceql.planning.keys import with_keys
from cereus.languages.ceql.planning.rewrite import rewrite, split_filters
from cereus.languages.ceql.predicates import is_between
from cereus.plan.plan import Plan
from cereus.syntax.tree import bottom_up


def skeleton(plan: Plan) -> Plan:
    """The plan of the same query without conditions between events."""
    if not plan.traits.correlated:
        return plan
    formula = bottom_up(rewrite(formula_of(plan), (split_filters,)), _without)
    return build(
        replace(cel.in_ceql(plan.query), formula=formula, count=False, timeouts=False),
        plan.stream,
        correlated=False,
    )


def formula_of(plan: Plan) -> cel.Formula:
    """The formula from which a plan was made."""
    return with_keys(cel.in_ceql(plan.query)).formula


def _without(node: cel.Formula) -> cel.Formula:
    return node.body if _correlates(node) and isinstance(node, cel.Filter) else node


def _correlates(node: cel.Formula) -> bool:
    return (
        isinstance(node, cel.Filter)
        and isinstance(node.predicate, cel.Holds)
        and is_between(node.predicate.condition)
    )


def conditions_between(plan: Plan) -> list[cel.Predicate]:
    """The conditions between events, as they stand in the query."""
    if not plan.traits.correlated:
        return []
    split = rewrite(formula_of(plan), (split_filters,))
    predicates = [n.predicate for n in split.walk() if isinstance(n, cel.Filter) and _correlates(n)]
    for node in split.walk():
        if isinstance(node, cel.Without):
            predicates += [e.predicate for e in node.events if e.predicate and is_correlated(e)]
    return list(dict.fromkeys(predicates))


def only_adds(plan: Plan) -> bool:
    """Whether the skeleton has every match of the plan: nothing is negated, nothing chosen."""
    choosing = (cel.Unless, cel.Select)
    plain = plan.query.strategy in (Strategy.ALL, Strategy.STRICT)
    return not plan.traits.correlated or (
        plain and not any(isinstance(node, choosing) for node in formula_of(plan).walk())
    )
