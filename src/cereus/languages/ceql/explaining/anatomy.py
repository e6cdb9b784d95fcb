"""Takes a CEQL query apart: its steps, and what may be loosened in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from cereus.clauses.tree import Consume, Output, ParsedQuery, Strategy
from cereus.language.anatomy import (
    ROWS_OF,
    Anatomy,
    Edit,
    QueryRule,
    RuleKind,
    Step,
    clause_edits,
    edited,
    left_out,
    loosened,
)
from cereus.language.pattern import PatternQuery
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.events import leaves, tests_of
from cereus.languages.ceql.operators.absence import is_own
from cereus.languages.ceql.predicates import conjuncts_of, mentioned
from cereus.languages.ceql.print import (
    absence_text,
    formula_text,
    predicate_text,
    unfollowed_text,
)
from cereus.languages.ceql.scope import bound, knows
from cereus.plan.tests import EventTest

Query = PatternQuery[cel.Formula]
UNSEEN = (cel.Not, cel.Project, cel.Start)
"""Patterns whose matches depend on events that they do not show."""
CHOOSING = (cel.Select, cel.Project)
"""Parts that steps leave out, and that conditions around them may read."""


def anatomy(query: Query, schema: pa.Schema | None) -> Anatomy:
    shown = replace(query.tree, count=False, totals=(), returned=(), timeouts=False, text=None)
    tree = replace(shown, select=None)
    plain = query.of(tree)
    return Anatomy(
        plain,
        lambda: _steps(plain, schema),
        lambda: loosened(plain.of, edited(plain.tree, _edits)),
        query.of(replace(tree, select=_every_variable(tree.formula))),
        complete=not any(isinstance(node, UNSEEN) for node in tree.formula.walk()),
        chain=not any(map(_may_be_nothing, tree.formula.walk())),
        reported=None if shown.select is None else query.of(shown),
    )


def _may_be_nothing(node: cel.Formula) -> bool:
    return isinstance(node, cel.Optional) or (isinstance(node, cel.Repeated) and not node.least)


def _every_variable(formula: cel.Formula) -> tuple[Output, ...] | None:
    """All variables, if every event of a match is in one."""
    if any(not names for leaf, names in leaves(formula, frozenset())):
        return None
    names = (name for name in sorted(bound(formula)) if ">" not in name)
    return tuple(Output(name, column=ROWS_OF.format(name)) for name in names) or None


# ---------------------------------------------------------------- what may be loosened


def _edits(node: object) -> Iterator[Edit]:
    match node:
        case ParsedQuery():
            yield from (_with_words(edit, node) for edit in clause_edits(node))
        case cel.Filter(body, predicate):
            for part, rest in left_out(conjuncts_of(predicate)):
                yield _condition(part), (_filtered(body, rest),)
        case cel.Unless(left, right):
            yield QueryRule(RuleKind.NEGATION, f"UNLESS {formula_text(right)}"), (left,)
        case cel.Without(body):
            yield QueryRule(RuleKind.NEGATION, absence_text(node)), (body,)
        case cel.ContiguousSequence(left, right):
            rule = QueryRule(RuleKind.STRATEGY, f"no gap before {formula_text(right)}")
            yield rule, (cel.Sequence(left, right),)
        case cel.ContiguousIteration(body):
            text = f"no gap in {formula_text(node)}"
            yield QueryRule(RuleKind.STRATEGY, text), (cel.Iteration(body),)
        case cel.Repeated():
            yield from _rounds(node)
        case cel.Start(body):
            yield QueryRule(RuleKind.STRATEGY, "START"), (body,)
        case cel.Select(strategy, body):
            yield QueryRule(RuleKind.STRATEGY, str(strategy)), (body,)


def _with_words(edit: Edit, query: ParsedQuery[cel.Formula]) -> Edit:
    """The edit of a clause; NOT FOLLOWED BY as the query writes it."""
    rule, trees = edit
    if rule.kind is not RuleKind.NEGATION or query.unfollowed is None:
        return edit
    return replace(rule, words=unfollowed_text(query.unfollowed)), trees


def _rounds(node: cel.Repeated) -> Iterator[Edit]:
    if node.least > 1 or node.most is not None:
        any_number = replace(node, least=min(node.least, 1), most=None)
        yield QueryRule(RuleKind.COUNT, formula_text(node)), (any_number,)
    if node.contiguous:
        rule = QueryRule(RuleKind.STRATEGY, f"no gap in {formula_text(node)}")
        yield rule, (replace(node, contiguous=False),)


def _condition(part: cel.Predicate) -> QueryRule:
    condition = part.condition if isinstance(part, cel.Holds) else None
    return QueryRule(RuleKind.CONDITION, predicate_text(part), condition)


def _filtered(body: cel.Formula, parts: tuple[cel.Predicate, ...]) -> cel.Formula:
    if not parts:
        return body
    return cel.Filter(body, parts[0] if len(parts) == 1 else cel.AllOf(parts))


# ---------------------------------------------------------------- steps


def _steps(query: Query, schema: pa.Schema | None) -> Iterator[Step]:
    tree = query.tree
    clauses = replace(
        tree,
        consume=Consume.NONE,
        skip=None,
        unfollowed=None,
        limit=None,
        strategy=_kept(tree.strategy),
    )
    units = list(_units(tree.formula))
    chooses = any(isinstance(node, CHOOSING) for node in tree.formula.walk())
    for count, unit in enumerate(units, 1):
        prefix = _prefix(tree.formula, count)
        tests = tuple(tests_of(unit, tree, query.stream, schema))
        upto = query.of(replace(clauses, formula=prefix))
        alone = len(tests) == 1 and _is_test(prefix, tests[0])
        last = count == len(units) and tree.unfollowed is None and not chooses
        optional = any(map(_may_be_nothing, unit.walk()))
        yield Step(_name(unit), tests, upto, alone=alone, last=last, optional=optional)


def _is_test(formula: cel.Formula, test: EventTest) -> bool:
    """Whether a pattern is one event with the conditions of the test."""
    conditions = 0
    while isinstance(formula, cel.As | cel.Filter):
        if isinstance(formula, cel.Filter):
            conditions += len(set(conjuncts_of(formula.predicate)))
        formula = formula.body
    return isinstance(formula, cel.Type) and conditions == len(test.conditions)


def _kept(strategy: Strategy) -> Strategy:
    """The strategy of a step. Strategies that choose one match of several do not apply to parts of
    matches."""
    return strategy if strategy is Strategy.STRICT else Strategy.ALL


def _name(unit: cel.Formula) -> str:
    while isinstance(unit, cel.Filter):
        unit = unit.body
    return formula_text(unit)


def _units(formula: cel.Formula) -> Iterator[cel.Formula]:
    """The parts that follow one another."""
    match formula:
        case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
            yield from _units(left)
            yield from _units(right)
        case cel.Filter(body, _) | cel.Start(body) | cel.Project(_, body) | cel.Select(_, body):
            yield from _units(body)
        case cel.Unless(left, _) | cel.Without(left):
            yield from _units(left)
        case cel.As(body, _) if sum(1 for _ in _units(body)) > 1:
            yield from _units(body)
        case _:
            yield formula


def _prefix(formula: cel.Formula, count: int) -> cel.Formula:
    """The pattern up to the unit of this number, with the conditions on it."""
    size = sum(1 for _ in _units(formula))
    match formula:
        case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
            before = sum(1 for _ in _units(left))
            if count <= before:
                return _prefix(left, count)
            return replace(formula, right=_prefix(right, count - before))
        case cel.Filter(body, predicate):
            return _filter_of_prefix(_prefix(body, count), predicate)
        case cel.Unless(left, _):
            return replace(formula, left=_prefix(left, count))
        case cel.Without(body, events):
            inner = _prefix(body, count)
            decided = tuple(each for each in events if _is_decided(each, bound(inner)))
            return replace(formula, body=inner, events=decided) if decided else inner
        case cel.As(body, _) if size > 1:
            return replace(formula, body=_prefix(body, count))
        case cel.Start(body):
            return replace(formula, body=_prefix(body, count))
        case cel.Select(strategy, body):
            inner = _prefix(body, count)
            return cel.Select(strategy, inner) if strategy is Strategy.STRICT else inner
        case cel.Project(_, body):
            return _prefix(body, count)
    return _something(formula)


def _is_decided(event: cel.Excluded, names: frozenset[str]) -> bool:
    """Whether the conditions on what must not occur read only these variables."""
    if event.predicate is None:
        return True
    read = [name for name, _ in mentioned(event.predicate) if not is_own(event, name)]
    return all(knows(name, names, ()) for name in read)


def _something(unit: cel.Formula) -> cel.Formula:
    """An optional part as a part that must be there."""
    match unit:
        case cel.Optional(body):
            return _something(body)
        case cel.Repeated(least=0):
            return replace(unit, least=1)
        case cel.As(body, _):
            return replace(unit, body=_something(body))
    return unit


def _filter_of_prefix(body: cel.Formula, predicate: cel.Predicate) -> cel.Formula:
    names = bound(body)
    decided = (
        part
        for part in conjuncts_of(predicate)
        if all(knows(name, names, ()) for name, _ in mentioned(part))
    )
    return _filtered(body, tuple(decided))
