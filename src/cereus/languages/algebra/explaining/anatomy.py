"""Takes an expression of the event algebra apart: its steps, and what may be loosened in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.clauses.tree import TimeWindow
from cereus.expr.print import condition_text
from cereus.expr.tree import conjunction, conjuncts
from cereus.language.anatomy import (
    WIDER,
    Anatomy,
    Edit,
    QueryRule,
    RuleKind,
    Step,
    edited,
    left_out,
    loosened,
    numbered_edits,
)
from cereus.languages.algebra import tree as algebra
from cereus.languages.algebra.text import tau_text, to_text
from cereus.plan.atoms import event_test
from cereus.plan.tests import EventTest

if TYPE_CHECKING:
    from cereus.languages.algebra.query import AlgebraQuery


def anatomy(query: AlgebraQuery, schema: pa.Schema | None) -> Anatomy:
    return Anatomy(
        query.of(query.tree),
        lambda: _steps(query, schema),
        lambda: loosened(query.of, numbered_edits(edited(query.tree, _edits))),
    )


def _edits(node: object) -> Iterator[Edit]:
    match node:
        case algebra.Primitive(_, condition) if condition is not None:
            parts = conjuncts(condition)
            for part, rest in left_out(parts):
                text = to_text(node)  # as the expression has it
                text = text if len(parts) == 1 else f"{condition_text(part)} of {text}"
                rule = QueryRule(RuleKind.CONDITION, text, part, node.name)
                yield rule, (replace(node, condition=conjunction(rest)),)
        case algebra.Negation(left, right):
            yield QueryRule(RuleKind.NEGATION, f"- {to_text(right)}"), (left,)
        case algebra.TemporalRestriction(body, tau):
            wide = (algebra.TemporalRestriction(body, tau * factor) for factor in WIDER)
            rule = QueryRule(RuleKind.WINDOW, f"_{tau_text(tau)}", window=_window(tau))
            yield rule, (*wide, body)


def _window(tau: algebra.Tau) -> TimeWindow | None:
    return None if isinstance(tau, int) else TimeWindow(algebra.tau_length(tau))


# ---------------------------------------------------------------- steps


def _steps(query: AlgebraQuery, schema: pa.Schema | None) -> Iterator[Step]:
    for count, unit in enumerate(_units(query.tree), 1):
        prefix = _prefix(query.tree, count)
        alone = _is_one_event(prefix) and not query.merge_ties
        tests = tuple(_tests(unit, schema))
        yield Step(to_text(unit), tests, query.of(prefix), alone=alone)


def _is_one_event(expression: algebra.EventExpression) -> bool:
    """Whether an instance is one event without length, so that it is never too long."""
    while isinstance(expression, algebra.TemporalRestriction):
        expression = expression.body
    return isinstance(expression, algebra.Primitive)


def _units(expression: algebra.EventExpression) -> Iterator[algebra.EventExpression]:
    """The parts that follow one another."""
    match expression:
        case algebra.Sequence(left, right):
            yield from _units(left)
            yield from _units(right)
        case algebra.TemporalRestriction(body) | algebra.Negation(body):
            yield from _units(body)
        case _:
            yield expression


def _prefix(expression: algebra.EventExpression, count: int) -> algebra.EventExpression:
    match expression:
        case algebra.Sequence(left, right):
            before = sum(1 for _ in _units(left))
            if count <= before:
                return _prefix(left, count)
            return algebra.Sequence(left, _prefix(right, count - before))
        case algebra.TemporalRestriction(body):
            return replace(expression, body=_prefix(body, count))
        case algebra.Negation(left):
            return replace(expression, left=_prefix(left, count))
    return expression


def _tests(unit: algebra.EventExpression, schema: pa.Schema | None) -> Iterator[EventTest]:
    """The tests of the possible last events of a part, without those that are only forbidden."""
    match unit:
        case algebra.Primitive(name, condition):
            yield event_test(None if name == algebra.ANY_TYPE else name, condition, schema)
        case algebra.Negation(left):
            yield from _tests(left, schema)
        case _:
            for child in unit.children():
                yield from _tests(child, schema)
