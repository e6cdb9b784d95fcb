"""A clause taken apart: its steps, and what may be loosened in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.clauses.tree import TimeWindow
from cereus.expr import tree as ex
from cereus.expr.check import coerce
from cereus.expr.tree import conjuncts
from cereus.language.anatomy import (
    ROW,
    ROWS_OF,
    WIDER,
    Anatomy,
    Edit,
    QueryRule,
    RuleKind,
    Step,
    edited,
    left_out,
    loosened,
)
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.print import pattern_text, value_text, within_text
from cereus.plan.tests import EventTest

if TYPE_CHECKING:
    from cereus.languages.match_recognize.query import MatchRecognizeQuery

POSITIONS = "positions"
EVERY, GAP = "__EVERY", "__GAP"
GAPS = tuple(tree.Quantified(tree.Variable(GAP), 0, most, reluctant=True) for most in (2, 8))
"""Rows that may lie between two parts when a pattern is loosened: few at first, as each is a
state."""

OF_MATCHES = (tree.Step, tree.Aggregate, tree.Taken, tree.Classifier, tree.MatchNumber)
"""Parts of a condition that the rows of its variables alone do not decide: they need the match, or
rows beside it."""


def anatomy(query: MatchRecognizeQuery, schema: pa.Schema | None) -> Anatomy:
    clause = replace(query.tree, rows=tree.Rows.ONE, text=None)
    if clause.within is not None:
        clause = replace(clause, within=replace(clause.within, timeouts=False))
    return Anatomy(
        query.of(_showing_rows(clause)),
        lambda: _steps(query, clause, schema),
        lambda: loosened(lambda each: query.of(_showing_rows(each)), edited(clause, _edits)),
        query.of(_showing_variables(clause)),
        complete=not _looks_around(clause),
        chain=not any(map(_may_be_nothing, _parts(clause))),
        empty=query.tree.rows is not tree.Rows.OMIT and query.may_be_empty,
        prefers=True,
    )


def _may_be_nothing(pattern: tree.Pattern) -> bool:
    """Whether a match may have no row of a part of the pattern that takes rows."""
    return any(
        isinstance(node, tree.Empty) or (isinstance(node, tree.Quantified) and not node.low)
        for node in pattern.walk()
    )


def _looks_around(clause: tree.Clause) -> bool:
    """Whether conditions read rows that need not be in the match."""
    conditions = (node for each in clause.define for node in each.condition.walk())
    anchors = (tree.PartitionStart, tree.PartitionEnd)
    return any(isinstance(node, tree.Step | tree.MatchNumber) for node in conditions) or any(
        isinstance(node, anchors) for node in clause.pattern.walk()
    )


def _showing_rows(clause: tree.Clause) -> tree.Clause:
    """The clause with the rows of a match as the only measure."""
    every = tree.Subset(EVERY, _shown(clause))
    others = tuple(each for each in clause.subsets if each.name != EVERY)
    return replace(clause, subsets=(*others, every), measures=(_rows(EVERY, POSITIONS),))


def _showing_variables(clause: tree.Clause) -> tree.Clause:
    """The clause with the rows of a match, and those of each variable, as measures."""
    shown = _showing_rows(clause)
    variables = tuple(_rows(name, ROWS_OF.format(name)) for name in _shown(clause))
    return replace(shown, measures=(*shown.measures, *variables))


def _shown(clause: tree.Clause) -> tuple[str, ...]:
    return tuple(name for name in clause.variables() if name != GAP)


def showing_last_row(clause: tree.Clause, name: str | None) -> tree.Clause:
    """The clause with the last row of a match, and the rows of one variable, as the only
    measures."""
    last = tree.Step("LAST", ex.Attribute((ROW,), EVERY), semantics=tree.Semantics.FINAL)
    beside = () if name is None else (_rows(name, name),)
    return replace(clause, measures=(tree.Measure(last, POSITIONS), *beside))


def _rows(variable: str, name: str) -> tree.Measure:
    row = ex.Attribute((ROW,), variable)
    return tree.Measure(tree.Aggregate("array_agg", (row,), semantics=tree.Semantics.FINAL), name)


# ---------------------------------------------------------------- what may be loosened


def _edits(node: object) -> Iterator[Edit]:
    match node:
        case tree.Clause():
            yield from _clause_edits(node)
        case tree.PartitionStart():
            yield QueryRule(RuleKind.STRATEGY, "^, at the first row"), (tree.Empty(),)
        case tree.PartitionEnd():
            yield QueryRule(RuleKind.STRATEGY, "$, at the last row"), (tree.Empty(),)
        case tree.Concatenation(parts) if not set(parts) & set(GAPS):
            rule = QueryRule(RuleKind.STRATEGY, f"no gap in {pattern_text(node)}")
            yield rule, tuple(_with_gaps(parts, gaps) for gaps in GAPS)


def _with_gaps(parts: tuple[tree.Pattern, ...], gaps: tree.Pattern) -> tree.Pattern:
    first, *others = parts
    return tree.Concatenation((first, *(each for part in others for each in (gaps, part))))


def _clause_edits(clause: tree.Clause) -> Iterator[Edit]:
    for definition in clause.define:
        parts = conjuncts(definition.condition)
        for part, rest in left_out(parts):
            rule = _condition(definition.variable, part)
            yield rule, (_redefined(clause, definition, rest),)
    if clause.within is not None:
        length = clause.within.length
        microseconds = length // timedelta(microseconds=1)
        wide = (replace(clause.within, length=length * factor) for factor in WIDER)
        text = within_text(clause.within)
        rule = QueryRule(RuleKind.WINDOW, text, window=TimeWindow(microseconds))
        yield rule, tuple(replace(clause, within=each) for each in (*wide, None))
    if clause.skip.to is not tree.SkipTo.NEXT_ROW:
        skip = f"AFTER MATCH SKIP {clause.skip.to} {clause.skip.variable or ''}".rstrip()
        yield QueryRule(RuleKind.CONSUMPTION, skip), (replace(clause, skip=NEXT_ROW),)


NEXT_ROW = tree.Skip(tree.SkipTo.NEXT_ROW)


def _condition(variable: str, part: ex.Expression) -> QueryRule:
    text = f"{value_text(part)} of {variable}"
    if any(isinstance(node, OF_MATCHES) for node in part.walk()):
        return QueryRule(RuleKind.CONDITION, text)
    return QueryRule(RuleKind.CONDITION, text, _of_variable(part, variable))


def _of_variable(node: ex.Expression, variable: str) -> ex.Expression:
    """The condition with the variable's name before columns of the row at hand."""
    if isinstance(node, ex.Attribute):
        return node if node.variable is not None else replace(node, variable=variable)
    return ex.rebuild(node, lambda child: _of_variable(child, variable))


def _redefined(
    clause: tree.Clause, definition: tree.Definition, parts: tuple[ex.Expression, ...]
) -> tree.Clause:
    """The clause with another condition of one variable; () leaves it undefined."""
    defined = []
    for each in clause.define:
        if each is not definition:
            defined.append(each)
        elif (condition := ex.conjunction(parts)) is not None:
            defined.append(replace(each, condition=condition))
    return replace(clause, define=tuple(defined))


# ---------------------------------------------------------------- steps


def _steps(
    query: MatchRecognizeQuery, clause: tree.Clause, schema: pa.Schema | None
) -> Iterator[Step]:
    parts = _parts(clause)
    for count, part in enumerate(parts, 1):
        taken = tuple(node.name for node in part.walk() if isinstance(node, tree.Variable))
        if not taken:
            continue
        prefix = _prefix(clause, parts[:count])
        tests = tuple(_test(clause, name, schema) for name in dict.fromkeys(taken))
        column = taken[0] if len(set(taken)) == 1 else None
        alone = count == 1 and isinstance(part, tree.Variable) and _is_test(clause, taken[0])
        last, optional = count == len(parts), _may_be_nothing(part)
        upto = query.of(prefix)
        yield Step(pattern_text(part), tests, upto, column, alone, last=last, optional=optional)


def _parts(clause: tree.Clause) -> tuple[tree.Pattern, ...]:
    """The parts of the pattern that follow one another."""
    pattern = clause.pattern
    return pattern.parts if isinstance(pattern, tree.Concatenation) else (pattern,)


def _is_test(clause: tree.Clause, name: str) -> bool:
    """Whether the condition of a variable is about the row alone."""
    parts = (p for d in clause.define if d.variable == name for p in conjuncts(d.condition))
    return all(_is_local(part, name) for part in parts)


def _prefix(clause: tree.Clause, parts: tuple[tree.Pattern, ...]) -> tree.Clause:
    """The clause with the first parts of its pattern, tried at every row."""
    pattern = parts[0] if len(parts) == 1 else tree.Concatenation(parts)
    cut = replace(clause, pattern=pattern, skip=NEXT_ROW, define=(), subsets=())
    names = cut.variables()
    subsets = (
        replace(s, members=tuple(n for n in s.members if n in names)) for s in clause.subsets
    )
    subsets_left = tuple(each for each in subsets if each.members)
    known = {*names, *(each.name for each in subsets_left)}
    cut = replace(cut, define=tuple(_decided(clause, names, known)), subsets=subsets_left)
    return _showing_rows(cut)


def _decided(
    clause: tree.Clause, names: tuple[str, ...], known: set[str]
) -> Iterator[tree.Definition]:
    for each in clause.define:
        parts = [p for p in conjuncts(each.condition) if _mentioned(p) <= known]
        condition = ex.conjunction(parts)
        if each.variable in names and condition is not None:
            yield replace(each, condition=condition)


def _mentioned(condition: ex.Expression) -> set[str]:
    names = {getattr(node, "variable", None) for node in condition.walk()}
    return {name for name in names if name is not None}


def _test(clause: tree.Clause, name: str, schema: pa.Schema | None) -> EventTest:
    """The conditions of a variable that are about the row alone."""
    parts = [p for d in clause.define if d.variable == name for p in conjuncts(d.condition)]
    local = [ex.without_variable(part) for part in parts if _is_local(part, name)]
    named = [part if schema is None else _as_named(part, schema) for part in local]
    return EventTest(conditions=tuple(named))


def _is_local(part: ex.Expression, name: str) -> bool:
    of_match = any(isinstance(node, OF_MATCHES) for node in part.walk())
    return _mentioned(part) <= {name} and not of_match


def _as_named(part: ex.Expression, schema: pa.Schema) -> ex.Expression:
    """The expression with the column names of the table: names may be written in any case."""
    names = {name.lower(): name for name in schema.names}

    def named(node: ex.Expression) -> ex.Expression:
        if isinstance(node, ex.Attribute):
            first, *rest = node.path
            return replace(node, path=(names.get(first.lower(), first), *rest))
        return ex.rebuild(node, named)

    return coerce(named(part), schema)
