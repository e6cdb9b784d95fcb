"""explain, for conditions between events: who decides them, what is kept, what may go wrong."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.engine.executor import PatternExecutor
from cereus.explain.analysis import PlanAnalysis
from cereus.explain.conditions import COUNTED_AGAIN, MATCHED_AGAIN, MATCHED_ONCE, ambiguity
from cereus.languages.ceql.explaining.description import CeqlDescription
from cereus.languages.ceql.explaining.growth import repeating

STREAM = cereus.Stream(time="ts")
SCHEMA = pa.schema(
    {
        "type": "string",
        "card": "string",
        "price": "float64",
        "volume": "int64",
        "ts": pa.timestamp("us"),
    }
)


def query(where: str, head: str = "SELECT *") -> cereus.Query:
    return cereus.compile(f"{head} WHERE {where} WITHIN 1 hour", stream=STREAM)


def sections(where: str, head: str = "SELECT *", schema: pa.Schema | None = SCHEMA) -> dict:
    parts = (part.split("\n", 1) for part in query(where, head).explain(schema).split("\n\n"))
    return {title.split(" (")[0]: body for title, body in parts}


def test_a_rise_is_decided_by_one_register() -> None:
    said = sections("A AS a ; B AS b FILTER a.price < b.price")
    assert said["conditions between events"] == (
        "  a.price < b.price\n      by registers, checked when b is marked\n      r0: a.price"
    )
    assert said["automaton"] == (
        "  s0  start\n"
        "      any event: stays\n"
        "      t0: marks A, a → s1, r0 := price\n"
        "  s1  holds r0\n"
        "      any event: stays\n"
        "      t1: marks B, b if r0 < price → s2\n"
        "  s2  accepts"
    )
    assert "one per state and distinct value of a.price in the window" in said["memory"]
    assert MATCHED_ONCE in said["matches"]


def test_an_equality_finds_its_partial_matches_by_an_index() -> None:
    said = sections("A AS a ; B AS b ; C FILTER a.card = b.card AND a.price < b.price")
    assert said["conditions between events"] == (
        "  a.price < b.price\n"
        "      by registers, checked when b is marked\n"
        "      r1: a.price\n"
        "  a.card = b.card\n"
        "      by registers, checked when b is marked\n"
        "      r0: a.card\n"
        "      index: an event finds the partial matches with its value in r0"
    )
    assert "combination of values of a.card, a.price in the window" in said["memory"]


@pytest.mark.parametrize(
    ("where", "held"),
    [
        ("A+ AS a ; B AS b FILTER a.price < b.price", "r0: the largest a.price"),
        ("A+ AS a ; B AS b FILTER a.price >= b.price", "r0: the smallest a.price"),
        ("A+ AS a ; B AS b FILTER b.price < a.price + 1", "r0: the smallest a.price + 1"),
        ("A+ AS a ; B AS b ; C FILTER a.card = b.card", "r0: the only a.card"),
        ("A AS a ALL B AS b FILTER a.card = b.card", "r1: b.card"),
        ("A+ AS a ; B AS b FILTER a.volume != b.volume", "r0: the set of all a.volume"),
        ("A+ AS a ; B AS b FILTER abs(a.price - b.price) > 3", "r0: the set of all a.price"),
    ],
)
def test_a_register_holds_what_decides(where: str, held: str) -> None:
    assert held in sections(where)["conditions between events"]


@pytest.mark.parametrize(
    ("where", "checked"),
    [
        ("A AS a ; B AS b ; C FILTER a.price < b.price", "when b is marked"),
        ("A AS a ALL B AS b FILTER a.price < b.price", "when a or b is marked, whichever"),
        ("A AS a FILTER A.price < a.volume", "where one event is marked by both"),
    ],
)
def test_it_is_said_when_a_condition_is_checked(where: str, checked: str) -> None:
    assert f"checked {checked}" in sections(where)["conditions between events"]


@pytest.mark.parametrize(
    ("where", "head", "why"),
    [
        ("A+ ; B FILTER A.card < B.card", "SELECT *", "every event of A"),
        ("MAX(A+ ; B : NOT(C) FILTER A.card = B.card)", "SELECT *", "an event that is not marked"),
        (
            "A UNLESS ((B ; C) WITHOUT (A AS n FILTER n.card = C.card))",
            "SELECT *",
            "the exception of UNLESS",
        ),
    ],
)
def test_why_states_remember_values(where: str, head: str, why: str) -> None:
    said = sections(where, head)
    (line,) = (x for x in said["conditions between events"].splitlines() if "by states" in x)
    assert why in line
    assert MATCHED_ONCE in said["matches"]


def test_one_condition_that_needs_states_takes_the_others_with_it() -> None:
    said = sections("A+ ; B ; C FILTER A.price < B.price AND A.card < C.card")
    assert "as all are when one must: it has to" in said["conditions between events"]


@pytest.mark.parametrize(
    ("where", "lines"),
    [
        (
            "A ; B ; C FILTER A.price + B.price < C.price",
            ["checked when the last of A, B, C is marked", "r0: A.price", "r1: B.price"],
        ),
        ("A ; B+ FILTER abs(A.price - B.price) < 3", ["r0: A.price"]),
        (
            "A+ ; B FILTER abs(A.price - B.price) < 3",
            ["r0: least(A.price)", "r1: greatest(A.price)"],
        ),
        ("A ; B FILTER A.card < B.card", ["r0: A.card"]),
        ("A ; B FILTER power(A.price, B.price) < 3", ["r0: A.price"]),
        (
            "A ; B+ FILTER avg(B.price) < A.price",
            ["checked where the rest", "r0: sum(B.price)", "r1: count(B.price)", "r2: A.price"],
        ),
        ("A+ ; B FILTER count(A) > 3", ["r0: count(A)"]),
    ],
)
def test_what_registers_hold_of_any_condition(where: str, lines: list[str]) -> None:
    said = sections(where)
    for line in lines:
        assert line in said["conditions between events"]


def test_terms_are_shown_on_the_moves() -> None:
    said = sections("A ; B FILTER abs(A.price - B.price) < 3")
    assert "if (abs(r0 - price) < 3)" in said["automaton"]
    said = sections("A ; B FILTER concat(A.card, B.card) LIKE '%x%'")
    assert "if (concat(r0, card) LIKE '%x%'" in said["automaton"]


def test_without_a_schema_registers_are_promised() -> None:
    said = sections("A ; B FILTER A.price < B.price", schema=None)
    assert "as soon as the types of its columns are known" in said["conditions between events"]


def test_what_is_forgotten_at_once_is_constant() -> None:
    said = sections("A AS a : B AS b FILTER a.card = b.card")
    assert "configurations: a constant number" in said["memory"]


# ---------------------------------------------------------------- ambiguity

EITHER = "A AS a ; B AS b FILTER a.card = b.card OR a.price < b.price"


def test_an_or_of_filters_may_find_a_match_twice() -> None:
    assert MATCHED_AGAIN in sections(EITHER)["matches"]
    assert COUNTED_AGAIN in sections(EITHER, "SELECT COUNT(*)")["matches"]


@pytest.mark.parametrize(
    "where",
    [
        EITHER,
        "A+ AS a ; B AS b FILTER a.card = b.card",
        "A AS a ; B+ AS b FILTER a.price < b.price",
        "A AS a ALL B AS b FILTER a.price < b.price",
        "(A ; B FILTER A.card = B.card)+",
    ],
)
def test_what_is_said_of_ambiguity_is_what_the_engine_finds(where: str) -> None:
    """The engine asks while it runs; over every letter it comes to the same answer."""
    plan = query(where).compiled.plan(SCHEMA)
    outlook = PlanAnalysis(plan, CeqlDescription())
    table = PatternExecutor(plan, SCHEMA).runner.table
    table.know(list(outlook.alphabet.letters))
    state = 0
    while state < table.n_states:
        for letter in range(len(table.letters)):
            table.expand(state, letter)
        state += 1
    assert table.ambiguous == (ambiguity(outlook) == MATCHED_AGAIN)


# ---------------------------------------------------------------- warnings


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("A+ AS a ; B AS b FILTER sum(a.volume) > 1000", "its own sum"),
        ("A+ AS a ; B AS b FILTER avg(a.volume) > b.volume", "its own avg"),
        ("(A ; C):+ AS a ; B AS b FILTER sum(a.volume) > 1000", "its own sum"),
        ("A+ AS a ; B AS b FILTER a.volume != b.volume", "each set of its values"),
        ("A+ AS a ; B AS b FILTER abs(a.volume - b.volume) > 3", "each set of its values"),
    ],
)
def test_state_that_may_grow_exponentially_is_warned_of(where: str, kept: str) -> None:
    (warning,) = query(where).warnings
    assert kept in warning
    assert "exponentially" in warning
    assert "configurations: may grow exponentially" in sections(where)["memory"]


@pytest.mark.parametrize(
    "where",
    [
        "A+ AS a ; B AS b FILTER a.price < b.price",
        "A+ AS a ; B AS b FILTER a.price + 1 < b.price",
        "A:+ AS a ; B AS b FILTER sum(a.volume) > 1000",
        "A+ AS a ; B AS b FILTER count(a) > 3",
        "A+ AS a ; B AS b ; C AS c FILTER abs(b.volume - c.volume) < 3",
        "STRICT(A+ AS a) ; B AS b FILTER sum(a.volume) > 1000",
    ],
)
def test_state_that_cannot_explode_is_not_warned_of(where: str) -> None:
    assert not any("state may grow" in warning for warning in query(where).warnings)


def test_a_variable_repeats_where_an_iteration_is_around_it() -> None:
    formula = query("(A AS a ; (B+ AS b OR C:+ AS c)) AS all").tree.formula
    assert repeating(formula) == {"B", "b", "all"}


def test_all_of_many_parts_is_warned_of() -> None:
    text = " ALL ".join(f"T{number}" for number in range(10))
    (warning,) = cereus.compile(f"SELECT * WHERE ({text}) ; U+ WITHIN 9 EVENTS").warnings
    assert "ALL of 10 parts has a state for every set of parts" in warning and "1,024" in warning
