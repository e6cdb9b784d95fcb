"""explain: what is said of a plan, and what is warned of."""

from __future__ import annotations

import itertools
import pickle
import re
import time

import pyarrow as pa
import pytest

import cereus
from cereus.automata.explore import explore, explore_deterministic
from cereus.explain.analysis import GROWS, PlanAnalysis
from cereus.explain.wording import letters_text
from cereus.languages.ceql.explaining.description import CeqlDescription

STREAM = cereus.Stream(time="ts")

EXPLAINED = """\
query
  SELECT *
  FROM S
  WHERE SELL AS a : BUY+ AS b FILTER a[volume >= 1000]
  PARTITION BY name
  WITHIN 10 seconds

stages
  lang       ceql text → formula with 7 parts
  rewrite    split_filters, push_filters: (SELL FILTER SELL[volume >= 1000]) AS a : BUY+ AS b
  automaton  4 states over 3 letters
  kernel     4 I/O-deterministic states

tests
  t0  SELL where volume >= 1000
  t1  BUY

dropped before the kernel
  events that pass no test
  their positions still count, because the pattern looks at places \
(: :+ START ALL STRICT, or WITHIN … EVENTS)

automaton
  s0  start
      any event: stays
      t0: marks SELL, a → s1
  s1
      t1: marks BUY, b → s2
  s2  accepts
      any event: skips it → s3
      t1: marks BUY, b → s2
  s3
      any event: stays
      t1: marks BUY, b → s2

matches
  each value of name on its own; results come grouped by key
  each complex event once, however many ways it was found
  an event may end exponentially many matches, one for each set of events that a repetition may \
take: up to 2^n of n events

memory
  follows the window: only events inside it are kept, for each key
  per event that passes a test: up to 3 nodes of 32 bytes, shared by all partial matches, \
and 20 bytes
  per key: 88 bytes and its values, until a window after its last event, if events come in the \
order of time

threads
  the input is cut into slices of time that overlap by the window; where times are not in order, \
name is dealt out"""


def query(where: str, head: str = "SELECT *") -> cereus.Query:
    return cereus.compile(f"{head} FROM S WHERE {where}", stream=STREAM)


def outlook(where: str) -> PlanAnalysis:
    return PlanAnalysis(query(where).compiled.plan(), CeqlDescription())


def test_a_whole_explanation() -> None:
    said = query(
        "SELL AS a : BUY+ AS b FILTER a[volume >= 1000] PARTITION BY name WITHIN 10 seconds"
    ).explain()
    assert said == EXPLAINED


@pytest.mark.parametrize(
    ("where", "head", "said"),
    [
        ("A+ ; B+ WITHIN 9 EVENTS", "SELECT MAX *", "MAX is decided by the strategy's automaton"),
        ("A+ ; B WITHIN 9 EVENTS", "SELECT MAX *", "what begins first in the window contains"),
        ("A ; B WITHIN 9 EVENTS", "SELECT NEXT *", "NEXT is decided by the kernel"),
        ("A ; B", "SELECT LAST *", "LAST is decided by the automaton"),
        ("A ; NOT(B) WITHIN 9 EVENTS", "SELECT ANY *", "ANY is decided by a comparison of all"),
        ("A ; NOT(B)", "SELECT *", "a match may be reported after its last event"),
        ("A ; B LIMIT 3", "SELECT *", "at most 3 per event"),
        (
            "A ; B PARTITION BY k WITHIN 9 seconds",
            "SELECT *",
            "while their key has no partial match",
        ),
        ("A ; B WITHIN 9 seconds", "SELECT *", "events that no match can have"),
        ("A ; B CONSUME BY ANY", "SELECT *", "all partial matches are dropped"),
        ("A ; B CONSUME BY PARTITION", "SELECT *", "the key's partial matches are dropped"),
        ("A AS x ; B", "SELECT x", "each binding of x once"),
        ("A", "SELECT *", "constant"),
        ("A : A:+", "SELECT *", "follows the longest unbroken run"),
        ("A ; B", "SELECT *", "grows with the stream"),
        ("* ; B", "SELECT *", "nothing: every event passes a test"),
    ],
)
def test_what_is_special_is_said(where: str, head: str, said: str) -> None:
    assert said in query(where, head).explain()


CORRELATED = "A AS a ; B+ AS b FILTER a.x < b.x AND a[y > 3] WITHIN 1 hour"


def test_conditions_between_events_are_listed_apart() -> None:
    said = query(CORRELATED).explain()
    assert "t0  A where y > 3" in said
    assert "conditions between events\n  a.x < b.x\n" in said
    assert "automaton (without them)" in said


def test_with_a_schema_registers_are_said() -> None:
    schema = pa.schema({"type": "string", "x": "int64", "y": "int64", "ts": pa.timestamp("us")})
    assert "with registers" in query(CORRELATED).explain(schema)


def test_what_is_counted_is_said_to_be() -> None:
    assert "not listed" in query("A ; B WITHIN 5 EVENTS", "SELECT COUNT(*)").explain()


# ---------------------------------------------------------------- warnings


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("A FILTER A[name = 'X'] AND A[name = 'Y']", "no event is A where"),
        ("A ; B FILTER B[x > 3 AND x < 2]", "no event is B where"),
        ("A AND B", "no sequence of events"),
        ("A ; B ; C WITHIN 2 EVENTS", "a match spans at least 3 events, WITHIN allows 2"),
        ("(A ; B) UNLESS A", "no sequence of events"),
    ],
)
def test_a_pattern_that_can_never_match_is_warned_of(where: str, why: str) -> None:
    (warning,) = query(where).warnings
    assert warning.startswith("this pattern can never match")
    assert why in warning


@pytest.mark.parametrize(
    ("where", "never"),
    [
        ("A AS a ; B AS b FILTER a.x = b.x AND a[x > 1 AND x < 0] WITHIN 1 hour", True),
        ("A AS a ; B AS b FILTER a.x = b.x WITHIN 1 hour", False),
        # without its filter the exception would forbid everything
        ("(A AS a ; B AS b) UNLESS (A AS c ; B AS d FILTER c.x = d.x) WITHIN 1 hour", False),
    ],
)
def test_conditions_between_events_prove_nothing(where: str, never: bool) -> None:
    assert any("never" in warning for warning in query(where).warnings) is never


def test_a_part_that_can_never_match_is_warned_of() -> None:
    (warning,) = query("A OR (B FILTER B[x > 3 AND x < 2])").warnings
    assert warning.startswith("a part of the pattern can never match")


def test_an_unknown_type_without_a_type_column_is_warned_of() -> None:
    untyped = cereus.compile("SELECT * FROM S WHERE BUY", stream=cereus.Stream(type=None))
    assert "every event is of type EVENT" in untyped.warnings[0]


@pytest.mark.parametrize(
    "where", ["A", "A : B", "A : B:+", "A ; B WITHIN 1 hour", "A ; B WITHIN 5 EVENTS", "A OR B"]
)
def test_a_bounded_pattern_is_not_warned_of(where: str) -> None:
    assert query(where).warnings == []


@pytest.mark.parametrize("where", ["A ; B", "A+", "A ALL B", "(A ; B) UNLESS C", "MAX(A+ ; B)"])
def test_state_that_grows_with_the_stream_is_warned_of(where: str) -> None:
    assert GROWS in query(where).warnings


def test_a_window_of_time_without_times_is_warned_of() -> None:
    blind = cereus.compile("SELECT * FROM S WHERE A ; B WITHIN 1 hour")
    assert "Stream(time=…)" in blind.warnings[0]


# ---------------------------------------------------------------- exploring


def test_an_automaton_too_large_to_show_is_said_to_be() -> None:
    many = " ALL ".join(f"(A{i} ; B{i})" for i in range(5))
    said = query(f"{many} WITHIN 1 hour", "SELECT LAST *").explain()
    assert "made on demand" in said


def test_subsets_are_fewer_or_more_than_states() -> None:
    seen = outlook("A ; B")
    letters = seen.alphabet.letters
    built = explore(seen.plan.automaton, letters)
    run = explore_deterministic(seen.plan.automaton, letters)
    assert (len(built.useful), len(run.useful)) == (3, 3)
    assert built.complete
    assert not explore(seen.plan.automaton, letters, most=3).complete


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ({0, 1, 2, 3}, "any event"),
        ({0}, "no test passed"),
        ({1, 3}, "a"),
        ({0, 2}, "not a"),
        ({3}, "a and b"),
        ({1}, "a and not b"),
        ({1, 2}, "a or b"),
        ({0, 3}, "no test passed or (a+b)"),
    ],
)
def test_letters_in_words(chosen: set[int], text: str) -> None:
    assert letters_text(chosen, {0, 1, 2, 3}, ["a", "b"]) == text


def test_times_are_shown_as_they_were_written() -> None:
    text = """SELECT * FROM S WHERE A AS a ; B AS b ; C AS c
    FILTER b.ts - a.ts < INTERVAL '90 minutes' AND least(b.ts, c.ts) > TIMESTAMP '2025-03-03 09:30'
    WITHIN 10 hours"""
    schema = pa.schema({"type": pa.string(), "ts": pa.timestamp("us")})
    query = cereus.compile(text, stream=STREAM, schema=schema)
    said = query.explain()
    assert "< INTERVAL 90 minutes)" in said
    assert "TIMESTAMP '2025-03-03 09:30:00'" in said
    assert not re.search(r"\d{7}", said), said
    again = pickle.loads(pickle.dumps(query))
    assert again.explain() == said


def test_one_is_not_said_as_several() -> None:
    said = cereus.compile(
        "{A:} -> a . skip* . {B: x < a.x} WITHIN 5 events",
        dialect="sremo",
        schema=pa.schema({"type": pa.string(), "x": pa.int64()}),
    ).explain()
    assert "at most 1 value per partial match" in said
    said = cereus.compile("SELECT * FROM S WHERE A ; B WITHIN 5 events").explain()
    assert "up to 1 node of" in said


@pytest.mark.parametrize("where", ["LAST(MAX(A+ ; B+) ALL NEXT(B+))", "A ALL B ALL C ALL D"])
def test_exploring_does_not_look_at_the_clock(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which every question takes an hour changes nothing."""
    at_ease = query(where).explain()
    ticks = itertools.count(0, 3600)
    for clock in ("time", "monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, clock, lambda: float(next(ticks)))
    assert query(where).explain() == at_ease


def test_exploring_large_states_counts_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = outlook("LAST(LAST(A+ ; B+) ; C+)")
    letters = seen.alphabet.letters
    complete = explore(seen.plan.automaton, letters)
    assert complete.complete
    monkeypatch.setattr("cereus.automata.explore.MOST_PARTS", 1_000)
    cut = explore(seen.plan.automaton, letters)
    assert not cut.complete
    assert 1 < cut.states < complete.states
