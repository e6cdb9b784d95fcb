"""SREMO texts: what they read as, and what is said where they cannot be read."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus import sremo
from cereus.clauses.tree import Consume, TimeWindow
from cereus.errors import QueryError
from cereus.expr.text import parse_condition
from cereus.languages.sremo import tree
from cereus.languages.sremo.text import parse, to_text

A, B, C = (sremo.event(name) for name in "ABC")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", sremo.event()),
        ("{A:}", A),
        ('{"odd type": x > 1}', sremo.event("odd type", where="x > 1")),
        ("{x > 1} -> r", sremo.event(where="x > 1", store="r")),
        ("skip", sremo.SKIP),
        ("skip{}", sremo.SKIP),
        ("SKIP{A: x IN {1..3}} -> r", sremo.skip("A", where="x IN {1..3}", store="r")),
        ("eps | ε | empty", sremo.eps | sremo.eps | sremo.empty),
        ("{A:} . {B:} | {C:} & {A:}", (A >> B) | (C & A)),
        ("!{A:}* . {B:}", ~A.star() >> B),
        ("(!{A:})+?", (~A).plus().optional()),
        ("{A:}[1..3]", sremo.within(A, 3)),
        ("({A:} . {B:} WITHIN 5 s)", sremo.within(A >> B, "5 seconds")),
        ("any({A:}, {B:} WITHIN 100 [t])", sremo.any_(A, sremo.within(B, "100 [t]"))),
        ("next({A:}, any({B:}+))", sremo.next_(A, sremo.any_(B.plus()))),
        ("{A:} -- the first\n. /* then */ {B:}", A >> B),
    ],
)
def test_texts_read_as(text: str, expected: sremo.Sremo) -> None:
    assert sremo.parse(text) == expected
    assert sremo.parse(str(expected)) == expected


def test_a_register_is_read_where_one_is_stored_and_a_column_elsewhere() -> None:
    (pattern,) = [parse("{A:} -> r . {x = r.x AND s.x = 1}").formula]
    assert isinstance(pattern, tree.Pattern)
    (condition,) = pattern.conditions_on_registers
    assert {n.variable for n in condition.walk() if hasattr(n, "variable")} == {None, "r"}


def test_clauses_in_any_order() -> None:
    query = parse("DETECT {A:} LIMIT 2 WITHIN 1 hour 30 minutes PARTITION BY k, j.i CONSUME BY ANY")
    assert query.formula == tree.Pattern(A, detect=True)
    assert query.window == TimeWindow(5_400_000_000)
    assert query.partition_by == (("k",), ("j", "i"))
    assert (query.limit, query.consume) == (2, Consume.ANY)
    assert parse(to_text(query)) == query


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{A:} ; {B:}", "write . for the very next event"),
        ("{A:} {B:}", "between two expressions"),
        ("{A:}{2,3}", "there are no counts: write each round"),
        ("{A:} . {B:}{2}", "there are no counts: write each round"),
        ("BUY", "an event stands in braces: {BUY:}"),
        ("{A:", "never closed"),
        ("({A:} . {B:}) -> r", "stands right after it"),
        ("{A:}[2..4]", "a window counts from 1"),
        ("{A:}[1..0]", "at least 1"),
        ("{A:} WITHIN 5", "needs a unit"),
        ("{A:} WITHIN 1 s WITHIN 2 s", "a second WITHIN"),
        ("{sum(r.x) > 1}", "taken over several events"),
        ("{A:} -> r & {B:} -> r", "both sides of & store into r"),
        ("{x >}", "expected an attribute or a value"),
        ("any()", "expected an expression"),
    ],
)
def test_errors_say_what_to_write(text: str, said: str) -> None:
    with pytest.raises(QueryError) as error:
        parse(text)
    assert said in str(error.value)
    assert "^" in str(error.value)


@pytest.mark.parametrize(
    ("condition", "empty", "expected"),
    [
        ("x = r.x", "r", "FALSE"),
        ("NOT x = r.x AND x > 1", "r", "NOT FALSE AND x > 1"),
        ("r.x IS NULL OR q.x = 1", "r", "FALSE OR q.x = 1"),
    ],
)
def test_definition_13_on_empty_registers(condition: str, empty: str, expected: str) -> None:
    def last(text: str) -> tree.Terminal:
        pattern = parse(f"{{}} -> r . {{}} -> q . {{{text}}}").formula
        assert isinstance(pattern, tree.Pattern)
        *_, terminal = pattern.expression.walk()
        assert isinstance(terminal, tree.Terminal)
        return terminal

    known = tree.with_empty(last(condition).condition, frozenset({empty}))
    assert known == last(expected).condition


def test_objects_take_conditions_as_texts() -> None:
    made = sremo.event("A", where="x > 1 AND y < 2")
    assert isinstance(made, tree.Terminal)
    assert made.condition == parse_condition("x > 1 AND y < 2")


def test_a_pattern_of_many_events_is_not_too_deep() -> None:
    many = 700
    query = cereus.compile(f"any({', '.join(['{A:}'] * many)})", dialect="sremo")
    found = query.run(pa.table({"type": ["A"] * many})).table
    assert found["positions"].to_pylist() == [list(range(many))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{A} . {B:}", "an event of a type is written {A:}; known here: price, type"),
        ("{A:} -> a . {B: price < b.price}", "no -> b writes a register of that name; known"),
        ("{A:} -> a . {B: price < a.prise}", "hint: did you mean 'price'?"),
    ],
)
def test_an_unknown_name_may_be_a_type_or_a_register(text: str, said: str) -> None:
    schema = pa.schema({"type": pa.string(), "price": pa.float64()})
    with pytest.raises(QueryError) as raised:
        cereus.compile(text, dialect="sremo", schema=schema)
    assert said in str(raised.value)
