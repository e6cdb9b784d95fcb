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


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (A.later(B, gap="5 minutes") >> C, "A ;[5 minutes] B ; C"),
        (A.later(B, gap=("1 minute", "5 minutes")), "A ;[1 minute..5 minutes] B"),
        (A.later(B, gap=(timedelta(minutes=1), None)), "A ;[1 minute..] B"),
        (A.later(B, gap=(None, "5 minutes")), "A ;[5 minutes] B"),
        (A.then(B | C, gap=timedelta(hours=2)), "A :[2 hours] (B OR C)"),
        (A.plus(gap="5 minutes"), "A+[5 minutes]"),
        (A.plus(contiguous=True, gap="5 minutes"), "A:+[5 minutes]"),
        (A.times(2, 5, gap="5 minutes"), "A{2,5}[5 minutes]"),
        (A.times(2, contiguous=True, gap="5 minutes"), "A:{2}[5 minutes]"),
    ],
)
def test_gaps_print_and_parse(built: Pattern, text: str) -> None:
    query = BuiltQuery(built)
    assert query.text == f"SELECT *\nWHERE {text}"
    timed = cereus.compile(query, stream=cereus.Stream(time="t"))
    assert timed.compiled.to_text() == query.text  # type: ignore[attr-defined]


def test_a_part_has_a_window_of_its_own() -> None:
    part = "((A ; B) WITHIN 5 minutes)"
    assert ((A >> B).within("5 minutes") >> C).pattern_text == f"{part} ; C"
    assert (C >> (A >> B).within(timedelta(minutes=5))).pattern_text == f"C ; {part}"
    assert (A >> B).inside("5 minutes").plus().pattern_text == f"{part}+"
    assert ((A >> B).within(3) | C).pattern_text == "((A ; B) WITHIN 3 EVENTS) OR C"
    one_event = (A.within("1 minute") & C).where("x > 1")
    assert one_event.pattern_text == "((A) WITHIN 1 minute) AND C FILTER x > 1"
    stream = cereus.Stream(time="t", unit="s")
    taps = pa.table({"type": ["A", "A", "B", "C"], "t": [0, 4, 5, 60]})
    rows = cereus.compile((A >> B).within("1 second") >> C, stream=stream).run(taps)
    assert [row["positions"] for row in rows] == [[1, 2, 3]]
    with pytest.raises(CereusError, match="joins two patterns, and this is a BuiltQuery"):
        A.by("user").within(5) >> B


def test_absence_after_a_match_stands_before_the_clauses() -> None:
    query = (A >> B).by("k").not_followed_by(C.where("x > 1"), within="5 minutes").within("1 day")
    assert str(query) == (
        "SELECT *\nWHERE A ; B\nNOT FOLLOWED BY (C FILTER C[x > 1]) WITHIN 5 minutes\n"
        "PARTITION BY k\nWITHIN 1 day"
    )
    compiled = cereus.compile(query, stream=cereus.Stream(time="t"))
    assert compiled.compiled.to_text() == query.text  # type: ignore[attr-defined]


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
        A >> B.by("user")


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
    kind = draw.randrange(12)
    if kind < 6:
        other = drawn(draw, draw.randrange(depth))
        spaced = [one.later(other, gap="5 seconds"), one.then(other, gap=("1 second", None))]
        return [one >> other, one.then(other), one | other, one & other, *spaced][kind]
    spaced = [one.plus(gap="1 minute"), one.times(2, 3, gap=("1 second", "9 seconds"))]
    more = [one.plus(), one.plus(contiguous=True), one.times(1, 2), *spaced]
    return [*more, one.inside("5 minutes")][kind - 6]


@pytest.mark.parametrize("seed", range(volume(6, 50)))
def test_a_built_query_is_its_text_printed(seed: int) -> None:
    """No pair of parentheses is missing, and none changes the tree: the text of the tree that is
    parsed from the text of a builder is that text."""
    built = drawn(random.Random(seed), 3)
    query = BuiltQuery(built).within(5)
    compiled = cereus.compile(query, stream=cereus.Stream(time="t")).compiled
    assert compiled.to_text() == query.text  # type: ignore[attr-defined]
