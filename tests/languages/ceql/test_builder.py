"""Queries put together in Python print as text, and mean what the text means."""

from __future__ import annotations

import random
from datetime import timedelta

import pyarrow as pa
import pytest

import cereus
from cereus.ceql import BuiltQuery, Pattern, event
from cereus.errors import CereusError
from tests.volume import volume

EVENTS = pa.table(
    {
        "type": ["LOGIN", "FAIL", "FAIL", "FAIL", "PAY", "LOGIN", "PAY"],
        "user": ["u"] * 5 + ["v"] * 2,
        "ip": [9, 9, 9, 9, 9, 1, 1],
        "amount": [0, 0, 0, 0, 70, 0, 80],
    }
)


def test_a_query_prints_as_text() -> None:
    login = event("LOGIN").where("ip != :home").named("a")
    query = (login >> event("FAIL").times(3) >> event("PAY").named("p")).within(9).by("user")
    assert str(query) == (
        "SELECT *\n"
        "WHERE (LOGIN AS a FILTER a[ip != :home]) ; FAIL{3} ; PAY AS p\n"
        "PARTITION BY user\n"
        "WITHIN 9 EVENTS"
    )
    compiled = cereus.compile(query, params={"home": 1})
    assert compiled.dialect == "ceql" and len(compiled.run(EVENTS)) == 1
    assert len(cereus.compile(query, params={"home": 9}).run(EVENTS)) == 0


A, B, C = event("A"), event("B"), event("C")


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (A >> B >> C, "A ; B ; C"),
        (A >> (B >> C), "A ; (B ; C)"),
        (A.then(B) | C, "A : B OR C"),
        ((A | B) >> C, "(A OR B) ; C"),
        ((A & B).beside(C), "A AND B ALL C"),
        (A.unless(B | C), "A UNLESS B OR C"),
        ((A >> B).plus(), "(A ; B)+"),
        (A.plus(contiguous=True), "A:+"),
        (A.times(2, 5), "A{2,5}"),
        (A.times(2, None), "A{2,}"),
        (A.times(2, contiguous=True), "A:{2}"),
        (A.optional() >> B, "A? ; B"),
        (A.negated() >> B.at_start(), "NOT(A) ; START(B)"),
        (A.where("x > 1"), "A FILTER A[x > 1]"),
        (A.where("x > 1").named("a"), "A AS a FILTER a[x > 1]"),
        (A.named("a").where("x > 1").plus(), "(A AS a FILTER a[x > 1])+"),
        (A.plus().named("each").where("x > 1"), "A+ AS each FILTER each[x > 1]"),
        (event("a b").where("x > 1"), '"a b" FILTER "a b"[x > 1]'),
        (event().where("x > 1"), "* AS event FILTER event[x > 1]"),
        (
            (A.named("a") >> B.named("b")).where("a.x < b.x").where("a.y = 1 OR b.y = 1"),
            "A AS a ; B AS b FILTER (a.x < b.x) AND (a.y = 1 OR b.y = 1)",
        ),
        ((A.named("a") >> B).filter("a[x = 1]") >> C, "(A AS a ; B FILTER a[x = 1]) ; C"),
    ],
)
def test_patterns_bind_as_they_are_built(built: Pattern, text: str) -> None:
    assert built.text == f"SELECT *\nWHERE {text}"
    assert cereus.compile(built).tree == cereus.compile(f"SELECT * WHERE {text}").tree


def test_absence_prints_as_its_operators() -> None:
    for built in (A.plus().until(B) >> C, (A >> C).without(B.where("x > 1"))):
        assert cereus.compile(built).compiled.to_text() == built.text  # type: ignore[attr-defined]
    assert (A.plus().until(B) >> C).pattern_text == "A+ UNTIL B ; C"
    assert A.plus().until(B.where("x > 1")).pattern_text == "A+ UNTIL (B FILTER B[x > 1])"
    assert (A >> C).without(B).pattern_text == "A ; C WITHOUT B"


def test_clauses_come_in_any_order() -> None:
    query = A.named("a") >> B.named("b")
    one = query.by("k", "l.m").within("5 minutes").select("a", "b", strategy="LAST").of("S")
    other = query.of("S").select("a", "b", strategy="LAST").within(timedelta(minutes=5))
    assert (
        str(one)
        == str(other.by("k", "l.m"))
        == (
            "SELECT LAST a, b\nFROM S\nWHERE A AS a ; B AS b\nPARTITION BY k, l.m\nWITHIN 5 minutes"
        )
    )
    counted = query.count().clause("LIMIT 5")
    assert str(counted) == "SELECT COUNT(*)\nWHERE A AS a ; B AS b\nLIMIT 5"


def test_mistakes_show_the_text() -> None:
    with pytest.raises(CereusError, match=r"A FILTER A\[x >\]"):
        cereus.compile(A.where("x >"))
    with pytest.raises(CereusError, match="joins two patterns, and this is a BuiltQuery"):
        A >> B.within(5)  # type: ignore[operator]


def test_built_queries_share_parameters_with_others() -> None:
    large = event("PAY").where("amount > :limit")
    texts = {
        "built": large,
        "text": "SELECT * WHERE LOGIN",
        "clauses": (event("LOGIN") >> large).by("user").within(3),
        "program": ("repeat (LOGIN ; PAY[paid])", "par"),
        "sase": ("PATTERN SEQ(LOGIN a, PAY b) WHERE [user]", "sase"),
    }
    many = cereus.compile_many(texts, params={"limit": 75})
    counts = {name: len(matches) for name, matches in many.run(EVENTS).items()}
    assert counts == {"built": 1, "text": 2, "clauses": 1, "program": 2, "sase": 2}


def drawn(draw: random.Random, depth: int) -> Pattern:
    if depth == 0:
        each = event(draw.choice("AB"))
        return each.where(f"x > {draw.randint(0, 3)}") if draw.random() < 0.3 else each
    one = drawn(draw, depth - 1)
    kind = draw.randrange(7)
    if kind < 4:
        other = drawn(draw, draw.randrange(depth))
        return [one >> other, one.then(other), one | other, one & other][kind]
    return [one.plus(), one.plus(contiguous=True), one.times(1, 2)][kind - 4]


@pytest.mark.parametrize("seed", range(volume(20, 200)))
def test_a_built_query_is_its_text_printed(seed: int) -> None:
    """No pair of parentheses is missing, and none changes the tree: the text of the tree that is
    parsed from the text of a builder is that text."""
    built = drawn(random.Random(seed), 3)
    query = BuiltQuery(built).within(5)
    assert cereus.compile(query).compiled.to_text() == query.text  # type: ignore[attr-defined]
