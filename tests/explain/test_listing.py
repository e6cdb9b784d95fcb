"""explain and warnings say where an event may end exponentially many matches. How many there are is
counted."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.explain.analysis import MANY_MATCHES

ROUNDS = 20
EVENTS = pa.table({"type": ["A", "B", "C"] * ROUNDS})
TIMED = cereus.Stream(time="ts")

EXPONENTIAL = [
    "A+ ; B",
    "A+",
    "A{2,} ; B",
    "A ; (B OR C)+",
    "(A : B)+ ; C",
    "(A ; B)+",
    "(A+) ALL B",
    "(A : B : (A OR C))+ OR (A ; B+ ; C)",
    "A+ UNTIL D ; B",
]
POLYNOMIAL = [
    "A ; B ; C",
    "A : (B OR C):+",
    "A ; (B OR C):+ ; A",
    "A{2,3} ; B",
    "A ALL B ALL C",
    "A ; B UNLESS D",
    "(A+ ; B) AND (A ; B)",
    "LAST(A+) ; B",
    "STRICT(A+) ; B",
    "MAX(A+ ; B)",
]


def compiled(where: str, select: str = "*") -> cereus.Query:
    return cereus.compile(f"SELECT {select} WHERE {where}", stream=TIMED)


def most_matches(where: str) -> int:
    """The most matches that one event ends."""
    counting = cereus.compile(f"SELECT COUNT(*) WHERE {where}", schema=EVENTS.schema)
    return max(batch["count"].to_pylist()[-1] for batch in counting.batches(EVENTS))


@pytest.mark.parametrize("where", EXPONENTIAL)
def test_exponentially_many_matches_are_announced(where: str) -> None:
    query = compiled(where)
    assert [warning for warning in query.warnings if warning.startswith(MANY_MATCHES)]
    assert MANY_MATCHES in query.explain()
    assert most_matches(where) >= 2 ** (ROUNDS - 1)


@pytest.mark.parametrize("where", POLYNOMIAL)
def test_a_polynomial_of_the_events_is_no_reason_to_warn(where: str) -> None:
    query = compiled(where)
    assert "exponentially" not in query.explain()
    if not where.startswith(("LAST", "STRICT", "MAX")):
        assert most_matches(where) <= ROUNDS**3


@pytest.mark.parametrize(
    ("where", "select", "announced"),
    [
        ("A+ AS a ; B", "a", True),
        ("A+ AS a ; B AS b", "b", False),  # the sets of events cannot be told apart
        ("A+ ; B", "COUNT(*)", False),
        ("A+ ; B", "NEXT *", False),
        ("A+ ; B LIMIT 5", "*", False),
        ("A+ ; B AFTER MATCH SKIP PAST LAST EVENT", "*", False),
        ("A+ ; B WITHIN 1 hour", "*", True),
        ("A+ ; B WITHIN 5000 EVENTS", "*", True),
    ],
)
def test_only_matches_that_are_listed_count(where: str, select: str, announced: bool) -> None:
    query = compiled(where, select)
    assert any(MANY_MATCHES in each for each in query.warnings) == announced
    assert (MANY_MATCHES in query.explain()) == announced


def test_a_short_window_is_a_bound_but_explain_still_says_it() -> None:
    query = compiled("A+ ; B WITHIN 1 second")
    assert query.warnings == []
    assert MANY_MATCHES in query.explain()


def test_state_that_grows_as_fast_is_one_warning() -> None:
    query = compiled("A+ AS a ; B FILTER sum(a.x) > 3 WITHIN 1 hour")
    assert len([each for each in query.warnings if "exponentially" in each]) == 1


def test_sremo_announces_it_too() -> None:
    query = cereus.compile("any({A: }, {B: })+", dialect="sremo", stream=TIMED)
    assert any(each.startswith(MANY_MATCHES) for each in query.warnings)
    assert not cereus.compile("any({A: }, {B: })", dialect="sremo", stream=TIMED).warnings[1:]
