"""Turns filters of a formula into conditions on single events and on what was stored before
them."""

from __future__ import annotations

from dataclasses import replace

from cereus.expr.tree import (
    Attribute,
    Expression,
    has_aggregates,
    rebuild,
    variables,
    without_variable,
)
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.predicates import as_condition, conditions_of, is_between
from cereus.translate.leaves import Around, StoredVariables, VariableCondition, places
from cereus.translate.limits import refused


def filter_conditions(node: cel.Filter, condition: Expression) -> Around:
    """A filter on one variable, or between several: a condition on the last, with the others
    stored."""
    if has_aggregates(condition):
        raise refused(node, "an aggregate is about several events, and a register holds one")
    if any(">" in name for name in variables(condition)):
        raise refused(node, "SREMO has no streams to tell apart")
    if not is_between(condition):
        (name,) = variables(condition)
        return (VariableCondition(name, without_variable(condition)),)
    bound, names = places(node.body), variables(condition)
    if not names <= bound.keys():
        raise refused(node, "a variable of this filter may hold nothing")
    last = max(names, key=lambda name: bound[name].first)
    here = {n for n in names if bound[n].once and bound[n].events == bound[last].events} | {last}
    for name in names - here:
        if not bound[name].once or bound[name].last >= bound[last].first:
            raise refused(
                node,
                f"{name} may hold several events, none, or one after {last}",
                "a register holds the last event stored in it",
            )
    on_event = _on_event(condition, frozenset(here))
    return (VariableCondition(last, on_event), StoredVariables(frozenset(names - here)))


def _on_event(condition: Expression, here: frozenset[str]) -> Expression:
    """The condition with some variables read from the event at hand."""
    if isinstance(condition, Attribute):
        return replace(condition, variable=None) if condition.variable in here else condition
    return rebuild(condition, lambda child: _on_event(child, here))


def variables_of(predicate: cel.Predicate) -> list[str]:
    return sorted({name for each in conditions_of(predicate) for name in variables(each)})


def of_one_event(node: cel.Filter, predicate: cel.Predicate) -> Expression:
    """A filter on a single event: AND and OR of filters are those of conditions."""
    names = variables_of(predicate)
    bound = places(node.body)
    mixed = len(names) > 1 and len({bound[n].events for n in names if n in bound}) > 1
    if mixed or any(map(has_aggregates, conditions_of(predicate))):
        raise refused(node, "this filter is about several events, and ! about each alone")
    return as_condition(predicate, without_variable)
