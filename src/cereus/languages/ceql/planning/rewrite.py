"""Rewrite rules on formulas: a tuple of named functions, formula → formula, same meaning.

Each can be switched off; with all of them off the answers are the same, only slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cereus.clauses.tree import Strategy, is_kept
from cereus.expr.tree import Expression, about, has_aggregates, variables
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.plan.traits import CHOOSING
from cereus.syntax.tree import bottom_up, rebuild

Rule = Callable[[cel.Formula], cel.Formula]


def outside_not(formula: cel.Formula, change: Rule) -> cel.Formula:
    """`change` applied to every part of a formula, the inner parts first, but not to what stands in
    a NOT: that is one test."""
    if isinstance(formula, cel.Not):
        return change(formula)
    return change(rebuild(formula, lambda part: outside_not(part, change)))


# ---------------------------------------------------------------- the rules


def split_filters(formula: cel.Formula) -> cel.Formula:
    """`φ FILTER (p AND q)` is `(φ FILTER p) FILTER q`; `φ FILTER (p OR q)` is the OR of the two."""

    def split(node: cel.Formula) -> cel.Formula:
        if not isinstance(node, cel.Filter):
            return node
        match node.predicate:
            case cel.AllOf(operands):
                body = node.body
                for operand in operands:
                    body = split(cel.Filter(body, operand, span=node.span))
                return body
            case cel.AnyOf(operands):
                parts = (split(cel.Filter(node.body, p, span=node.span)) for p in operands)
                return cel.Or(tuple(parts))
        return node

    return outside_not(formula, split)


def push_filters(formula: cel.Formula) -> cel.Formula:
    """Move a filter on one variable down to the events that the variable can hold.

    There it is part of the test whether an event matters at all, so that the events it refuses are
    dropped before the kernel sees them.
    """

    def push(node: cel.Formula) -> cel.Formula:
        if not isinstance(node, cel.Filter) or not isinstance(node.predicate, cel.Holds):
            return node
        condition = node.predicate.condition
        names = variables(condition)
        if len(names) != 1 or has_aggregates(condition):
            return node
        return _push(node.body, next(iter(names)), condition) or node

    return outside_not(formula, push)


def choose_no_exceptions(formula: cel.Formula) -> cel.Formula:
    """`φ UNLESS NEXT(ψ)` is `φ UNLESS ψ`: only whether an exception has a match counts, and a
    strategy keeps one if there are any."""

    def unchosen(node: cel.Formula) -> cel.Formula:
        return replace(node, right=_unchosen(node.right)) if isinstance(node, cel.Unless) else node

    has_exceptions = any(isinstance(node, cel.Unless) for node in formula.walk())
    return bottom_up(formula, unchosen) if has_exceptions else formula


def _unchosen(node: cel.Formula) -> cel.Formula:
    """The formula without strategies that only choose: it has a match wherever this one has."""
    match node:
        case cel.Select(strategy, body) if strategy in CHOOSING:
            return _unchosen(body)
        case cel.Sequence(left, right):
            return replace(node, left=_unchosen(left), right=_unchosen(right))
        case cel.Or(operands):
            return cel.Or(tuple(map(_unchosen, operands)))
        case cel.As(body, _) | cel.Iteration(body):
            return replace(node, body=_unchosen(body))
    return node


def anchor_choices(formula: cel.Formula) -> cel.Formula:
    """`φ : NEXT(ψ)` is `φ : NEXT(START(ψ))`, and likewise MAX: a match has to begin right after φ,
    and no other match is better than one that does, or contains it. The rule does not apply where ψ
    may begin with an event that is not marked, or φ may be empty."""

    def anchored(node: cel.Formula) -> cel.Formula:
        if not isinstance(node, cel.ContiguousSequence) or may_be_nothing(node.left):
            return node
        match node.right:
            case cel.Select(Strategy.NEXT | Strategy.MAX, body) if _marks_all(body):
                return replace(node, right=replace(node.right, body=cel.Start(body)))
        return node

    return bottom_up(formula, anchored)


def _marks_all(body: cel.Formula) -> bool:
    """Whether all events of a part that is not anchored yet are marked."""
    hidden = (cel.Not, cel.Project)
    return not isinstance(body, cel.Start) and not any(isinstance(n, hidden) for n in body.walk())


RULES: tuple[Rule, ...] = (choose_no_exceptions, anchor_choices, split_filters, push_filters)


def rewrite(formula: cel.Formula, rules: tuple[Rule, ...] = RULES) -> cel.Formula:
    for rule in rules:
        formula = rule(formula)
    return formula


# ---------------------------------------------------------------- how a filter goes down


def _push(body: cel.Formula, variable: str, condition: Expression) -> cel.Formula | None:
    """`body FILTER condition(variable)` with the filter inside; None if it cannot go there."""
    match body:
        case cel.Type():
            if variable == body.name or variable.endswith(f">{body.name}"):
                return cel.Filter(body, cel.Holds(about(condition, variable)))
            return body
        case cel.Not():
            return body
        case cel.As(inner, name):
            if name == variable:
                every = _push_to_every(inner, condition)
                return None if every is None else body.with_parts(body=every)
            pushed = _push(inner, variable, condition)
            return None if pushed is None else body.with_parts(body=pushed)
        case cel.Project(names, inner):
            if not is_kept(variable, names):
                return body
            pushed = _push(inner, variable, condition)
            return None if pushed is None else body.with_parts(body=pushed)
    return _push_inside(body, lambda part: _push(part, variable, condition))


def _push_to_every(body: cel.Formula, condition: Expression) -> cel.Formula | None:
    """`(body AS A) FILTER condition(A)`: the condition applies to every marked event."""
    match body:
        case cel.Type(name):
            return cel.Filter(body, cel.Holds(about(condition, name)))
        case cel.Not():
            return body
        case cel.As(inner, _):
            every = _push_to_every(inner, condition)
            return None if every is None else body.with_parts(body=every)
        case cel.Project(names, inner):
            kept: cel.Formula | None = inner
            for name in sorted(names):
                kept = None if kept is None else _push(kept, name, about(condition, name))
            return None if kept is None else body.with_parts(body=kept)
    return _push_inside(body, lambda part: _push_to_every(part, condition))


def _push_inside(
    body: cel.Formula, push: Callable[[cel.Formula], cel.Formula | None]
) -> cel.Formula | None:
    """Push into the parts that valuations come from. It does not push into NEXT, LAST and MAX,
    which choose before a filter."""
    match body:
        case cel.Sequence() | cel.ContiguousSequence() | cel.Gapped() | cel.And() | cel.All():
            left, right = push(body.left), push(body.right)
            if left is None or right is None:
                return None
            return body.with_parts(left=left, right=right)
        case cel.Select(strategy, _) if strategy is not Strategy.STRICT:
            return None
        case cel.Filter(inner, _) | cel.Start(inner) | cel.Select(_, inner):
            pushed = push(inner)
            return None if pushed is None else body.with_parts(body=pushed)
        case (
            cel.Iteration(inner)
            | cel.ContiguousIteration(inner)
            | cel.Repeated(inner)
            | cel.Optional(inner)
            | cel.Without(inner)
            | cel.Within(inner)
        ):
            pushed = push(inner)
            return None if pushed is None else body.with_parts(body=pushed)
        case cel.Unless():
            pushed = push(body.left)
            return None if pushed is None else body.with_parts(left=pushed)
        case cel.Or(operands):
            parts = [push(part) for part in operands]
            kept = tuple(part for part in parts if part is not None)
            return replace(body, operands=kept) if len(kept) == len(parts) else None
    return None
