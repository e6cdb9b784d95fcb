"""Laws of `why`, for random queries of every language: counts add up, and loosening the rule that
a miss names makes the match appear."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cereus
from cereus import Stream
from cereus.errors import CereusError
from cereus.expr.paths import column_at
from cereus.expr.text import parse_condition
from cereus.language.anatomy import Anatomy, RuleKind
from cereus.language.compiled import CompiledQuery
from cereus.languages.algebra.tree import Primitive
from cereus.languages.par.tree import (
    Output,
    Preemption,
    Program,
    Repetition,
    Selection,
    Sequential,
    Simple,
)
from cereus.sources import source
from cereus.why import ExpectedMatch
from cereus.why.expected import among
from cereus.why.loose import without
from cereus.why.running.events import EventTable
from cereus.why.running.runs import Run, matched
from tests.languages import streams
from tests.languages.algebra import drawing as algebra
from tests.languages.ceql import strategies as ceql
from tests.languages.match_recognize import random_clauses as clauses
from tests.languages.par import random_programs as par
from tests.languages.sase import strategies as sase
from tests.languages.sremo import random_queries as sremo
from tests.volume import volume

CASES = range(volume(6, 37))


def check(query: cereus.Query, table: pa.Table) -> int:
    """All laws, of one query and table; how many misses there were."""
    try:
        ran = query.run(table)
    except CereusError:
        return 0
    answer = query.why(table)
    if "{-" not in query.text:  # a match whose rows are all left out is not reported
        assert answer.matches == ran.total
    for step in answer.steps:
        assert step.rest >= 0
        assert all(each.events > 0 for each in step.ended)
        if step.passed is not None:
            ended = sum(each.events for each in step.ended)
            assert step.passed == step.reached + ended + step.rest + step.unseen, step
            assert all(count <= step.events for _, count in step.conditions)
    events = EventTable.of(source(table, query.stream), query.stream)
    anatomy = query.compiled.anatomy(events.table.schema)
    found = rows_of(anatomy.query, events)
    for miss in answer.misses:
        assert miss.rows not in found
        loosened = [
            each
            for each in anatomy.loosened
            if (each.rule.kind, each.rule.text) == (miss.kind, miss.text)
        ]
        assert any(
            miss.rows in rows_of(each, events) for every in loosened for each in every.queries
        )
        check_expected(query.why_not(table, miss.rows), anatomy, events)
    for rule in answer.rules:
        if rule.more is not None and rule.exact:
            alike = [
                each for each in anatomy.loosened if str(each.rule) == f"{rule.kind} {rule.text}"
            ]
            assert rule.more in [len(rows_of(each.without, events) - found) for each in alike]
    for rows in sorted(found)[:2]:
        assert query.why_not(table, rows).matched or anatomy.query.emits_late
    check_keys(query, table, events, found)
    return len(answer.misses)


def check_keys(
    query: cereus.Query, table: pa.Table, events: EventTable, found: set[tuple[int, ...]]
) -> None:
    """Events that would be a match if there were no keys are told that they have several."""
    unkeyed = query.compiled.unkeyed()
    assert unkeyed is not None
    plain = unkeyed.anatomy(events.table.schema).query
    for rows in sorted(rows_of(plain, events) - found)[:3] if query.keys else ():
        columns = [column_at(events.of_rows(np.array(rows)), path) for path in query.compiled.keys]
        several = any(len(pc.unique(column)) > 1 for column in columns)
        kinds = [each.kind for each in query.why_not(table, rows).excluded]
        assert kinds == [RuleKind.KEY] if several else RuleKind.KEY not in kinds


def check_expected(answer: ExpectedMatch, anatomy: Anatomy, events: EventTable) -> None:
    """What is no match is one without the rules that are named, among the events that were looked
    at."""
    assert not answer.matched
    named = {(each.kind, each.text) for each in answer.excluded}
    rules = [each.rule for each in anatomy.loosened if (each.rule.kind, each.rule.text) in named]
    loose = without(anatomy.query, rules, events.schema)
    parts = among(answer.rows, events, anatomy)
    assert not named or any(answer.rows in rows_of(loose, part) for part, _ in parts)


def rows_of(query: CompiledQuery, events: EventTable) -> set[tuple[int, ...]]:
    try:
        return {each.rows for each in matched(Run.of(query, events))}
    except CereusError:
        return set()


@pytest.mark.parametrize("seed", CASES)
def test_ceql(seed: int) -> None:
    case = ceql.case(Random(seed), streams=1, largest=5)
    check(cereus.compile(case.query, stream=case.stream), ceql.table(case.streams[0]))


@pytest.mark.parametrize("seed", CASES)
def test_sase(seed: int) -> None:
    draw = Random(seed)
    text = sase.query(draw)
    stream = Stream(type="type", time="time")
    query = cereus.compile(text, dialect="sase", stream=stream, aggregates=sase.AGGREGATES)
    check(query, sase.table(sase.events(draw)))


@pytest.mark.parametrize("seed", CASES)
def test_sremo(seed: int) -> None:
    draw = Random(seed)
    query = cereus.compile(sremo.query(draw, 2), dialect="sremo", stream=Stream(time="t", unit="s"))
    check(query, sremo.table(sremo.events(draw)))


@pytest.mark.parametrize("seed", CASES)
def test_the_algebra(seed: int) -> None:
    draw = Random(seed)
    primitives = [Primitive(name, parse_condition(f"v > {draw.randrange(3)}")) for name in "AB"]
    tree = algebra.expression(draw, 3, primitives)
    events = [{"type": draw.choice("AB"), "v": draw.randrange(4), "t": time} for time in range(8)]
    check(
        cereus.compile(tree, dialect="algebra", stream=Stream(time="t")),
        pa.Table.from_pylist(events),
    )


@pytest.mark.parametrize("seed", CASES)
def test_par(seed: int) -> None:
    """Every atom has a condition, and what completes is emitted: else there is nothing to miss."""
    draw = Random(seed)
    emitting = Repetition(Output(program(draw, 2), frozenset("A")))
    events = [{"type": draw.choice("ab"), "v": draw.randrange(4), "t": time} for time in range(10)]
    check(
        cereus.compile(emitting, dialect="par", stream=Stream(time="t")),
        pa.Table.from_pylist(events),
    )


def program(draw: Random, depth: int) -> Program:
    if not depth:
        return Simple(par.atom(f"{draw.choice('ab')}(v > {draw.randrange(3)})"))
    joined = draw.choice([Sequential, Sequential, Selection, Preemption])
    return joined(program(draw, depth - 1), program(draw, depth - 1))


@settings(max_examples=volume(6, 37), deadline=None)
@given(st.data())
def test_any_program_of_par(data: st.DataObject) -> None:
    table = streams.table(data.draw(streams.rows("ab", most=8)))
    any_program = data.draw(par.programs(leaves=4))
    check(cereus.compile(any_program, dialect="par", stream=Stream(time="t")), table)


@settings(max_examples=volume(6, 37), deadline=None)
@given(st.data())
def test_match_recognize(data: st.DataObject) -> None:
    text = data.draw(clauses.clauses(clauses.OF_SLOTS))
    check(
        cereus.compile(text, dialect="match_recognize", stream=Stream(type=None)),
        data.draw(clauses.tables()),
    )


KEYED = (
    ("ceql", "SELECT * WHERE A AS x ; B+ AS y FILTER x.v < y.v WITHIN 4 EVENTS"),
    ("ceql", "SELECT NEXT * WHERE A AS x ; B AS y WITHOUT C FILTER x[v > 0] AND y[v < 3]"),
    ("sremo", "any({A: v > 0} -> x, {B: v > x.v}) WITHIN 5 seconds"),
    ("sase", "PATTERN SEQ(A x, ~C z, B y) WHERE x.v < y.v WITHIN 5 seconds"),
    ("algebra", "(A(v > 0) ; B) - C"),
    (
        "match_recognize",
        "MATCH_RECOGNIZE (PARTITION BY k ORDER BY t ALL ROWS PER MATCH PATTERN (x y+)"
        " DEFINE x AS type = 'A', y AS v > x.v)",
    ),
)


@pytest.mark.parametrize(("dialect", "text"), KEYED)
@pytest.mark.parametrize("seed", CASES)
def test_keys(seed: int, dialect: str, text: str) -> None:
    draw = Random(seed)
    rows = [
        {"type": draw.choice("ABC"), "v": draw.randrange(4), "t": t, "k": draw.choice(["a", None])}
        for t in range(9)
    ]
    stream = Stream(time="t", unit="s", keys=() if dialect == "match_recognize" else "k")
    query = cereus.compile(text, dialect=dialect, stream=stream)
    check(
        query,
        pa.Table.from_pylist(
            rows, pa.schema({"type": "string", "v": "int64", "t": "int64", "k": "string"})
        ),
    )
