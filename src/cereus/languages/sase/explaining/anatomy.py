"""Takes a SASE+ text apart: its steps, and what may be loosened in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.check import coerce
from cereus.language.anatomy import (
    ROWS_OF,
    Anatomy,
    Edit,
    Loosened,
    QueryRule,
    RuleKind,
    Step,
    edited,
    wider,
    window_rule,
)
from cereus.languages.sase import tree as sase
from cereus.languages.sase.check import check
from cereus.languages.sase.places import identifiers
from cereus.languages.sase.print import clause_text, expression_text, pattern_text
from cereus.plan.tests import EventTest

if TYPE_CHECKING:
    from cereus.languages.sase.query import SaseQuery


SHOWN = sase.Output((), column=ROWS_OF)
"""Results show the rows of each variable."""


def anatomy(query: SaseQuery, schema: pa.Schema | None) -> Anatomy:
    program = replace(query.tree, text=None)
    shown = replace(program, queries=(*program.queries[:-1], _bare(program.queries[-1])))
    bare = query.of(shown)
    return Anatomy(
        bare,
        lambda: _steps(query, program, schema),
        lambda: _loosened(query, shown),
        bare,
        chain=not _is_several(program),
    )


def _loosened(query: SaseQuery, program: sase.Program) -> Iterator[Loosened]:
    for rule, trees in edited(program, _edits):
        legal = tuple(each for each in trees if _is_legal(each, query))
        if legal:
            yield Loosened(rule, query.of, legal)


def _is_several(program: sase.Program) -> bool:
    return len(program.queries) > 1 or len(program.queries[0].blocks) > 1


def _bare(union: sase.Union) -> sase.Union:
    """The queries without RETURN: results show the rows of each variable."""
    output = replace(SHOWN, stream=union.stream)
    return replace(union, blocks=tuple(replace(each, output=output) for each in union.blocks))


def _is_legal(program: sase.Program, query: SaseQuery) -> bool:
    """Whether the rules of SASE+ allow it: a negation at an end needs a window."""
    try:
        check(program, query.aggregates)
    except CereusError:
        return False
    return True


# ---------------------------------------------------------------- what may be loosened


def _edits(node: object) -> Iterator[Edit]:
    if not isinstance(node, sase.Query):
        return
    for place, group in enumerate(node.where):
        for clause in group.clauses:
            rest = tuple(each for each in group.clauses if each is not clause)
            changed = (*node.where[:place], replace(group, clauses=rest), *node.where[place + 1 :])
            yield _condition(clause), (replace(node, where=_filled(changed)),)
    if node.having is not None:
        rule = QueryRule(RuleKind.CONDITION, f"HAVING {expression_text(node.having)}")
        yield rule, (replace(node, having=None),)
    if node.window is not None:
        wide = wider(node.window)
        yield window_rule(node.window), tuple(replace(node, window=each) for each in wide)
    if node.skip is not None:
        rule = QueryRule(RuleKind.CONSUMPTION, f"AFTER MATCH SKIP {node.skip}")
        yield rule, (replace(node, skip=None),)
    yield from _strategy(node)
    for part in node.parts:
        if isinstance(part, sase.Negated):
            yield QueryRule(RuleKind.NEGATION, pattern_text(part)), (_without(node, part),)


def _condition(clause: sase.Clause) -> QueryRule:
    readable = not any(isinstance(n, sase.Aggregate) for n in clause.condition.walk()) and not (
        isinstance(clause.condition, sase.Equivalence)
    )
    items = [node for node in identifiers(clause.condition) if isinstance(node, sase.Item)]
    single = all(item.at is sase.Index.EACH for item in items)
    condition = plain(clause.condition) if readable and single else None
    return QueryRule(RuleKind.CONDITION, clause_text(clause), condition)


def plain(node: ex.Expression) -> ex.Expression:
    """`a[i].price` as `a.price`: any one event of the variable."""
    if isinstance(node, sase.Item):
        return ex.Attribute(node.path, node.variable)
    return ex.rebuild(node, plain)


def _filled(groups: Iterable[sase.Group]) -> tuple[sase.Group, ...]:
    return tuple(each for each in groups if each.clauses or each.strategy is not None)


def _strategy(query: sase.Query) -> Iterator[Edit]:
    names = [component.variable for component in query.components]
    used = {str(query.strategy(name)) for name in names} - {str(sase.Strategy.ANY)}
    if not used or (len(names) < 2 and not isinstance(query.components[0], sase.Kleene)):
        return
    heads = tuple(sase.Variable(name, query.stops(name)) for name in names)
    loose = sase.Group(sase.Strategy.ANY, heads, query.clauses)
    yield (
        QueryRule(RuleKind.STRATEGY, " and ".join(sorted(used))),
        (replace(query, where=(loose,)),),
    )


def _without(query: sase.Query, part: sase.Negated) -> sase.Query:
    pattern = _cut(query.pattern, part)
    name = part.variable
    groups = (
        replace(
            group,
            variables=tuple(each for each in group.variables if each.name != name),
            clauses=tuple(each for each in group.clauses if name not in names_in(each.condition)),
        )
        for group in query.where
    )
    return replace(query, pattern=pattern, where=_filled(groups))


def _cut(sequence: sase.Sequence, part: sase.Negated) -> sase.Sequence:
    return sase.Sequence(
        tuple(
            _cut(each, part) if isinstance(each, sase.Sequence) else each
            for each in sequence.parts
            if each is not part
        )
    )


def names_in(condition: ex.Expression) -> set[str]:
    return {str(node.variable) for node in identifiers(condition)}


# ---------------------------------------------------------------- steps


def _steps(query: SaseQuery, program: sase.Program, schema: pa.Schema | None) -> Iterator[Step]:
    several = _is_several(program)
    for place, union in enumerate(program.queries):
        for number, block in enumerate(union.blocks, 1):
            title = f"{_title(place, union)}, block {number}: " if several else ""
            before = program.queries[:place]
            for name, tests, prefix in _block_steps(block, schema):
                made = replace(program, queries=(*before, sase.Union((prefix,))))
                alone = len(tests) == 1 and _is_test(prefix, tests[0])
                yield Step(title + name, tests, query.of(made, output=place + 1), alone=alone)


def _is_test(block: sase.Query, test: EventTest) -> bool:
    """Whether a pattern is one event with the conditions of the test."""
    first, *others = block.parts
    single = not others and type(first) is sase.Component
    return single and len(block.clauses) == len(test.conditions)


def _title(place: int, union: sase.Union) -> str:
    return f"query {place + 1}" if union.stream is None else f"stream {union.stream}"


def _block_steps(
    block: sase.Query, schema: pa.Schema | None
) -> Iterator[tuple[str, tuple[EventTest, ...], sase.Query]]:
    for component in block.components:
        at = block.parts.index(component)
        last = component is block.components[-1]
        parts = block.parts if last else block.parts[: at + 1]
        names = {part.variable for part in parts}
        groups = (_of_names(group, names) for group in block.where)
        prefix = replace(
            block,
            pattern=sase.Sequence(parts),
            where=_filled(groups),
            having=None,
            skip=None,
            timeouts=False,
            output=SHOWN,
        )
        tests = () if block.source else tuple(_tests(block, component, schema))
        yield pattern_text(component), tests, prefix


def _of_names(group: sase.Group, names: set[str]) -> sase.Group:
    variables = tuple(each for each in group.variables if each.name in names)
    return replace(
        group,
        strategy=group.strategy if variables else None,
        variables=variables,
        clauses=tuple(each for each in group.clauses if names_in(each.condition) <= names),
    )


def _tests(
    block: sase.Query, component: sase.Component, schema: pa.Schema | None
) -> Iterator[EventTest]:
    conditions = [
        ex.without_variable(plain(clause.condition))
        for clause in block.clauses
        if names_in(clause.condition) == {component.variable}
        and only_single_events(clause.condition)
    ]
    checked = tuple(c if schema is None else coerce(c, schema) for c in conditions)
    for name in component.types:
        yield EventTest(name, conditions=checked)


def only_single_events(condition: ex.Expression) -> bool:
    return all(
        not isinstance(node, sase.Aggregate)
        and (not isinstance(node, sase.Item) or node.at is sase.Index.EACH)
        for node in identifiers(condition)
    )
