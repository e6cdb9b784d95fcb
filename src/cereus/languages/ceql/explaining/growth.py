"""Finds conditions between events that registers could decide, and those whose memory explodes.

States that remember values keep every value of a variable that may still decide. Where the variable
repeats and may skip events (`b+`), each set of its events is a separate partial match, and may
remember something else: a sum, or the set of values. Where the extremes of the values decide,
registers keep no more than these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cereus.automata.memory.filters import Side, Value
from cereus.automata.memory.intervals import is_interval
from cereus.clauses.tree import Strategy
from cereus.explain.slowness import comparisons
from cereus.expr.print import condition_text
from cereus.expr.tree import (
    Aggregate,
    And,
    Attribute,
    Comparison,
    Expression,
    has_aggregates,
    variables,
)
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.explaining.skeleton import formula_of
from cereus.languages.ceql.operators.absence import is_correlated
from cereus.languages.ceql.operators.previous import reads_previous
from cereus.languages.ceql.planning.build import RULES
from cereus.languages.ceql.planning.choosing import choices, exception_refusal, max_refusal
from cereus.languages.ceql.planning.rewrite import rewrite
from cereus.languages.ceql.planning.slots import absence_refusal, refusal
from cereus.languages.ceql.predicates import conditions_of, is_between
from cereus.languages.ceql.print import predicate_text
from cereus.plan.lowered import NO_SCHEMA
from cereus.plan.plan import Plan


class Condition(NamedTuple):
    """A condition between events, the part that it filters, and why registers cannot decide it
    (None: they can, if the types of its columns allow it)."""

    predicate: cel.Predicate
    condition: Expression
    body: cel.Formula
    why: str | None


def conditions(plan: Plan) -> list[Condition]:
    """The conditions between events of a CEQL query, where the rewrite rules have put them."""
    if not plan.traits.correlated:
        return []
    formula = rewrite(formula_of(plan), RULES)
    where = max_refusal(plan.query, formula)
    refusals = {each.node: each.refusal for each in choices(formula)}
    compared = _conditions(formula, where, refusals)
    return list({(each.predicate, each.why): each for each in compared}.values())


def _conditions(
    node: cel.Formula, where: str | None, refusals: dict[cel.Select, str | None]
) -> Iterator[Condition]:
    match node:
        case cel.Not():
            return
        case cel.Unless(left, right):
            yield from _conditions(left, where, refusals)
            yield from _conditions(right, where or exception_refusal(right), refusals)
            return
        case cel.Select(_, body):
            yield from _conditions(body, where or refusals.get(node), refusals)
            return
        case cel.Without(body, events):
            for event in filter(is_correlated, events):
                assert event.predicate is not None
                condition = And(tuple(conditions_of(event.predicate)))
                why = where or absence_refusal(node)
                yield Condition(event.predicate, condition, body, why)
        case cel.Filter(body, cel.Holds(condition)) if is_between(condition):
            why = where or refusal(condition, body)
            yield Condition(node.predicate, condition, body, why)
    for child in node.children():
        yield from _conditions(child, where, refusals)


# ---------------------------------------------------------------- what explodes


def exponential(plan: Plan) -> list[str]:
    """A warning for each condition that may remember as many values as there are sets of events."""
    if plan.query.strategy is Strategy.STRICT:
        return []
    compared = conditions(plan)
    in_registers = plan.traits.registers or (
        # registers decide it, as soon as the types are known
        plan.why_values == NO_SCHEMA and all(each.why is None for each in compared)
    )
    return [*_chains(plan, compared)] + [
        f"{predicate_text(each.predicate)}: {name} repeats and may skip events, so that "
        f"{_kept(each.condition, name)}, and state may grow exponentially with the events in the "
        f"window; use :+ in place of +, or keep WITHIN short"
        for each in compared
        for name in sorted(variables(each.condition) & repeating(each.body))
        if _kept(each.condition, name)
        and (
            not in_registers
            or has_aggregates(each.condition)
            or _is_set(plan, each.condition, name)
        )
    ]


def _chains(plan: Plan, compared: list[Condition]) -> Iterator[str]:
    """Warnings where MAX has to follow exponentially many sets of events: those of a repetition
    are compared with the one before."""
    nodes = [node for node in formula_of(plan).walk() if isinstance(node, cel.Select)]
    if Strategy.MAX not in (plan.query.strategy, *(node.strategy for node in nodes)):
        return
    for each in compared:
        for name in sorted(variables(each.condition) & repeating(each.body)):
            if reads_previous(each.condition):
                yield (
                    f"{predicate_text(each.predicate)}: {name} repeats and may skip events, so "
                    "that MAX may have to follow as many sets of them as no other contains, "
                    "exponentially many; use :+ in place of +, or keep WITHIN short"
                )


def _is_set(plan: Plan, condition: Expression, name: str) -> bool:
    """Whether registers keep a set of values of a variable."""
    if not plan.traits.registers:
        return not is_interval(condition, name)
    for node in comparisons(plan.automaton):
        sides: tuple[Side | Value, ...] = node.sides
        for place, side in enumerate(sides):
            if side.needed and side.variable == name and node.slot(place).is_set:
                return True
    return False


MANY_PARTS = 8
"""ALL of fewer parts has few states."""


def many_parts(plan: Plan) -> list[str]:
    """A warning for each ALL whose states are many."""
    if plan.gathering is not None:
        return []
    counts = [
        len(cel.chain(node))
        for node in formula_of(plan).walk()
        if isinstance(node, cel.All) and len(cel.chain(node)) >= MANY_PARTS
    ]
    return [
        f"this is slow: ALL of {count} parts has a state for every set of parts that has come, up "
        f"to {2**count:,}, and an event moves half of them; keep WITHIN short, or write some of "
        "the parts as a sequence; an ALL of single events of different types, on its own or before "
        "one more event, with all of them selected, has no such states"
        for count in counts[:1]  # an ALL inside another has fewer states
    ]


def _kept(condition: Expression, name: str) -> str:
    """What is remembered separately for every set of events of a variable ("": nothing)."""
    if reads_previous(condition):
        return ""  # only the last event
    nodes = list(condition.walk())
    for node in nodes:
        if isinstance(node, Aggregate) and node.variable == name and node.attribute is not None:
            return f"each set of its events may have its own {node.function}"
    reads = any(isinstance(node, Attribute) and node.variable == name for node in nodes)
    return "each set of its values is remembered" if reads and not one_decides(condition) else ""


def one_decides(condition: Expression) -> bool:
    """Whether one value of each side decides: the extreme one, or the only one."""
    return (
        isinstance(condition, Comparison)
        and condition.op != "!="
        and isinstance(condition.left, Attribute)
        and isinstance(condition.right, Attribute)
        and condition.left.variable != condition.right.variable
    )


def repeating(formula: cel.Formula, inside: bool = False) -> frozenset[str]:
    """The variables that may hold several events with others skipped between them."""
    match formula:
        case cel.Type(name):
            return frozenset({name}) if inside else frozenset()
        case cel.As(body, variable):
            names = repeating(body, inside)
            return names | {variable} if names else names
        case cel.Project(names, body):
            return repeating(body, inside) & names
        case cel.Not() | cel.Select(Strategy.STRICT, _):
            return frozenset()
        case cel.Unless(left, _):
            return repeating(left, inside)
        case cel.Iteration(body):
            return repeating(body, True)
        case cel.Repeated(body, _, most, False) if most != 1:
            return repeating(body, True)
        case cel.ContiguousIteration(body) | cel.Repeated(body):
            skips = any(isinstance(n, cel.Sequence | cel.All) for n in body.walk())
            return repeating(body, inside or skips)
    return frozenset().union(*(repeating(child, inside) for child in formula.children()))


def values_read(plan: Plan) -> list[str]:
    """The values that the conditions between events read."""
    nodes = (node for each in conditions(plan) for node in each.condition.walk())
    return sorted({condition_text(n) for n in nodes if isinstance(n, Attribute | Aggregate)})
