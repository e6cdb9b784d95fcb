"""Texts of the event algebra: trees, round trips, and what a mistake is told."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from cereus.errors import CereusError, QueryError, QuerySyntaxError, RefusedError
from cereus.expr.text import parse_condition
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import EventExpression, Primitive, TemporalRestriction

from .drawing import A, B, C, D, expression

T = Primitive("T")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A", A),
        ("A | B", A | B),
        ("A ∨ B", A | B),
        ("A ; B ; C", (A >> B) >> C),
        ("A - B - C", (A - B) - C),
        ("A + B - C", (A + B) - C),
        ("A ; B - C", (A >> B) - C),
        ("A | B ; C + D", A | ((B >> C) + D)),
        ("(A ; B)_2", (A >> B).within(2)),
        ("(A ; B)_{2}", (A >> B).within(2)),
        ("(A ; B)_{90 s}", (A >> B).within("1 minute 30 seconds")),
        ("(A ; B)_5s", (A >> B).within(timedelta(seconds=5))),
        ("(A ; B)_1.5h", (A >> B).within(timedelta(minutes=90))),
        ("(A ; B)_{1 hour 30 minutes}", (A >> B).within(timedelta(minutes=90))),
        ("A ; B_2", A >> Primitive("B_2")),
        ("A ; (B)_2", A >> B.within(2)),
        ("A ; B _2", A >> B.within(2)),
        ("T(value > 38)_5", Primitive("T", parse_condition("value > 38")).within(5)),
        ("*(value > 38)", Primitive("*", parse_condition("value > 38"))),
        ('"order placed" ; A', Primitive("order placed") >> A),
        ("A -- then\n ; /* at last */ B", A >> B),
    ],
)
def test_text_to_tree(text: str, tree: EventExpression) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "(B ; B)_2 - (P | T)",
        "A | B | C",
        "A ; (B ; C)",
        "((A ; B)_2)_3",
        "(A)_2",
        "T(value > 38)_90m",
        "(A + *)_0s - (0 | B)",
        "(A - B) ; (A + B)",
    ],
)
def test_tree_to_text(text: str) -> None:
    assert str(parse(text)) == text


def test_random_expressions_survive_a_round_trip() -> None:
    draw = random.Random(60)
    for _ in range(300):
        each = expression(draw, draw.randint(1, 15))
        assert parse(str(each)) == each


def test_nodes_know_where_they_stood() -> None:
    text = "(A ; B)_2 - T(value > 38)"
    spans = [text[slice(*node.span)] for node in parse(text).postorder() if node.span]
    assert spans == ["A", "B", "A ; B", "(A ; B)_2", "T(value > 38)", text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected an event (a type, '*' or '('), but the text ends"),
        ("A ;", "; joins two expressions: one is missing after it"),
        ("A B", "put ; (then), + (both), | (either) or - (without) between two expressions"),
        ("A (B ; C)", "parentheses after an event type hold a condition"),
        ("(A ; B", "this '(' is never closed"),
        ("_2 (B ; B)", "a time restriction follows what it restricts: (B ; B)_2"),
        ("(A ; B)_tau", "a time restriction is a number of ticks, _2, or a duration, _5s"),
        ("(A ; B)_5 seconds", "write a duration without spaces, _5s, or in braces"),
        ("(A ; B)_5fortnights", "unknown unit of time 'fortnights'"),
        ("(A ; B)_2.5", "'_2.5' is not a time restriction"),
        ("A -> B", "write ; for «then»"),
        ("A and B", "write + for «both»"),
        ("A || B", "write | for «either»"),
        ("!A", "a negation has two sides"),
        ("A[x > 1] ; B", "a condition stands in parentheses: A(price > 10)"),
        ("A ; B WITHIN 5 seconds", "write the time restriction after the parenthesis"),
        ("T(value >)", "write what to compare with after >"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_a_mistake_is_underlined() -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse("(A ; B)_2 -\n  (P | | T)")
    assert str(caught.value).splitlines()[1:3] == ["2 |   (P | | T)", "           ^"]


def test_an_aggregate_is_refused() -> None:
    with pytest.raises(RefusedError, match="taken over several events"):
        parse("A ; T(sum(b.x) > 3)")


def test_ticks_and_durations_are_not_mixed() -> None:
    with pytest.raises(RefusedError, match="in ticks or in durations, not both") as caught:
        parse("(A ; B)_2 - (C ; D)_5s")
    assert "^^^^^^^^" in str(caught.value)


def test_a_negative_restriction_is_refused() -> None:
    for tau in (-1, timedelta(seconds=-1)):
        with pytest.raises(QueryError, match="cannot be negative"):
            TemporalRestriction(A, tau)


def test_python_operators_read_as_they_bind() -> None:
    assert str((B >> B).within(2) - (Primitive("P") | T)) == "(B ; B)_2 - (P | T)"
    assert A | B + C - D == A | ((B + C) - D)


def test_too_deep_is_refused() -> None:
    parse(" ; ".join("A" * 200))
    with pytest.raises(RefusedError, match="nested more than 250 deep"):
        parse(" ; ".join("A" * 300))
    with pytest.raises(QuerySyntaxError, match="nested too deeply"):
        parse(" ; ".join("A" * 3000))


def test_a_restriction_in_python_is_a_length() -> None:
    with pytest.raises(CereusError, match="within='soon' is no length of time"):
        (A >> B).within("soon")
    with pytest.raises(CereusError, match=r"within=2.5 is no length of time"):
        (A >> B).within(2.5)  # type: ignore[arg-type]
