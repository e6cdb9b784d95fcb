"""Takes a SREMO apart: its steps, and what may be loosened in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

import pyarrow as pa

from cereus.clauses.tree import Consume, ParsedQuery, Strategy
from cereus.expr import tree as ex
from cereus.expr.check import coerce
from cereus.expr.print import condition_text
from cereus.expr.tree import conjuncts
from cereus.language.anatomy import (
    Anatomy,
    Edit,
    QueryRule,
    RuleKind,
    Step,
    clause_edits,
    edited,
    left_out,
    loosened,
    wider,
    window_rule,
)
from cereus.language.pattern import PatternQuery
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.print import expression_text
from cereus.plan.tests import EventTest

Query = PatternQuery[sremo.Pattern]


def anatomy(query: Query, schema: pa.Schema | None) -> Anatomy:
    pattern = replace(query.tree.formula, detect=False)
    plain = query.of(replace(query.tree, formula=pattern, text=None))
    return Anatomy(
        plain,
        lambda: _steps(plain, schema),
        lambda: loosened(plain.of, edited(plain.tree, _edits)),
        complete=all(node.marks for node in pattern.expression.walk() if _is_terminal(node)),
        chain=not any(map(_may_mark_nothing, _units(pattern.expression))),
    )


def _may_mark_nothing(unit: sremo.Sremo) -> bool:
    """Whether a match may go through a part that marks events without marking one there."""
    empty = (sremo.Star, sremo.Optional, sremo.Epsilon, sremo.Complement)
    return _marks(unit) and any(
        not node.marks if _is_terminal(node) else isinstance(node, empty) for node in unit.walk()
    )


def _edits(node: object) -> Iterator[Edit]:
    match node:
        case ParsedQuery():
            yield from clause_edits(node)
        case sremo.Terminal(condition) if condition != sremo.TRUE:
            parts = conjuncts(condition)
            for part, others in left_out(parts):
                rest = sremo.conjunction(others)
                alone = None if ex.variables(part) else part
                rule = QueryRule(RuleKind.CONDITION, condition_text(part), alone, node.type)
                yield rule, (replace(node, condition=rest),)
        case sremo.Windowed(body, window):
            wide = (body if each is None else sremo.Windowed(body, each) for each in wider(window))
            yield window_rule(window), tuple(wide)
        case sremo.Next(parts):
            yield QueryRule(RuleKind.STRATEGY, expression_text(node)), (sremo.Any(parts),)
        case sremo.Concatenation(left, right) if _marks(left) and _marks(right):
            text = f"no gap before {expression_text(right)}"
            yield QueryRule(RuleKind.STRATEGY, text), (sremo.Any((left, right)),)
        case sremo.Complement():
            yield QueryRule(RuleKind.NEGATION, expression_text(node)), (sremo.SKIP_ANY,)


def _is_terminal(node: sremo.Sremo) -> TypeGuard[sremo.Terminal]:
    return isinstance(node, sremo.Terminal)


def _marks(expression: sremo.Sremo) -> bool:
    return any(_is_terminal(node) and node.marks for node in expression.walk())


# ---------------------------------------------------------------- steps


def _steps(query: Query, schema: pa.Schema | None) -> Iterator[Step]:
    tree = query.tree
    strategy = tree.strategy if tree.strategy is Strategy.STRICT else Strategy.ALL
    clauses = replace(tree, consume=Consume.NONE, limit=None, strategy=strategy)
    expression = tree.formula.expression
    for count, unit in enumerate(_units(expression), 1):
        if not _marks(unit):
            continue  # skipped events belong to the step after them
        prefix = _prefix(expression, count)
        upto = query.of(replace(clauses, formula=replace(tree.formula, expression=prefix)))
        while isinstance(prefix, sremo.Windowed):
            prefix = prefix.body
        alone = isinstance(prefix, sremo.Terminal) and not ex.variables(prefix.condition)
        optional, tests = _may_mark_nothing(unit), tuple(_tests(unit, schema))
        yield Step(expression_text(unit), tests, upto, alone=alone, optional=optional)


def _units(expression: sremo.Sremo) -> Iterator[sremo.Sremo]:
    """The parts that follow one another."""
    match expression:
        case sremo.Concatenation(left, right):
            yield from _units(left)
            yield from _units(right)
        case sremo.Windowed(body):
            yield from _units(body)
        case sremo.Any(parts) | sremo.Next(parts) if len(parts) > 1:
            for part in parts:
                yield from _units(part)
        case _:
            yield expression


def _size(expression: sremo.Sremo) -> int:
    return sum(1 for _ in _units(expression))


def _prefix(expression: sremo.Sremo, count: int) -> sremo.Sremo:
    match expression:
        case sremo.Concatenation(left, right):
            before = _size(left)
            if count <= before:
                return _prefix(left, count)
            return sremo.Concatenation(left, _prefix(right, count - before))
        case sremo.Windowed(body):
            return replace(expression, body=_prefix(body, count))
        case sremo.Any(parts) | sremo.Next(parts) if len(parts) > 1:
            kept = tuple(_first_parts(parts, count))
            return kept[0] if len(kept) == 1 else replace(expression, parts=kept)
    return expression


def _first_parts(parts: tuple[sremo.Sremo, ...], count: int) -> Iterator[sremo.Sremo]:
    for part in parts:
        if count > 0:
            yield _prefix(part, count)
        count -= _size(part)


def _tests(unit: sremo.Sremo, schema: pa.Schema | None) -> Iterator[EventTest]:
    for node in unit.walk():
        if isinstance(node, sremo.Terminal) and node.marks:
            local = (
                c for c in conjuncts(node.condition) if not ex.variables(c) and c != sremo.TRUE
            )
            yield EventTest(
                node.type,
                conditions=tuple(c if schema is None else coerce(c, schema) for c in local),
            )
