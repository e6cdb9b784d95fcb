"""SASE+ queries on the engine find what the reference finds, however the stream comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import ClassVar

import pyarrow as pa
import pytest

from cereus import CereusError
from cereus.clauses.tree import TimeWindow
from cereus.engine import COMPILED
from cereus.engine.executor import PatternExecutor
from cereus.engine.kernel.stepper import Stepper
from cereus.engine.match import kernel_options, runner, value_letters
from cereus.explain.explain import explain
from cereus.languages.sase import tree as sase
from cereus.languages.sase.explaining.description import SaseDescription
from cereus.languages.sase.planning.block import build
from cereus.languages.sase.schema import checked
from cereus.languages.sase.text import parse
from cereus.plan.lowered import NO_SCHEMA
from cereus.plan.plan import Plan
from cereus.query import compile
from cereus.reference.sase.evaluate import Match, matches
from cereus.reference.sase.nfa import Input
from cereus.stream import Stream
from tests.volume import volume

from .strategies import (
    AGGREGATES,
    SCHEMA,
    SECOND,
    STRATEGIES,
    Event,
    events,
    negated_series,
    query,
    table,
)

STREAM = Stream(time="time")
Bindings = tuple[tuple[str, tuple[int, ...]], ...]
Found = Counter[Bindings]


def block(text: str) -> sase.Query:
    """The only block of a text, without HAVING, which chooses among matches."""
    program, _ = checked(parse(text, AGGREGATES), SCHEMA)
    return replace(program.queries[0].blocks[0], having=None)


def plan_of(query: sase.Query, *, values: bool = False) -> Plan:
    """With `values` states remember values, as they do where types are not known."""
    return build(query, STREAM, None if values else SCHEMA, AGGREGATES)


def expected(query: sase.Query, stream: list[Event]) -> list[Match]:
    return matches(query, Input(stream), AGGREGATES)


def bindings_of(plan: Plan, batches: Sequence[pa.RecordBatch]) -> Found:
    rows = [row for batch in batches for row in batch.to_pylist()]
    return Counter(tuple((name, tuple(row[name])) for name in plan.names or ()) for row in rows)


def pieces(draw: Random, stream: list[Event]) -> Iterator[pa.RecordBatch]:
    """The stream in batches, some of them empty."""
    at = 0
    while at < len(stream):
        size = draw.choice((0, 1, 1, 2, 3))
        yield from table(stream[at : at + size]).to_batches()
        at += size


def run(plan: Plan, stream: list[Event]) -> Found:
    executor = PatternExecutor(plan, SCHEMA)
    found = [out for batch in table(stream).to_batches() for out in executor.push(batch)]
    return bindings_of(plan, [*found, *executor.finish()])


def case(seed: int, strategy: str | None = None) -> tuple[str, list[Event]]:
    draw = Random(seed)
    return query(draw, strategy=strategy), events(draw)


def said(text: str, stream: list[Event]) -> str:
    return "\n".join([text, *(f"{row}: {event}" for row, event in enumerate(stream))])


# ---------------------------------------------------------------- against the reference


@pytest.mark.parametrize("part", range(10))
def test_random_queries_find_what_the_reference_finds(part: int) -> None:
    """600 queries, or 3,000, each under a strategy of its own or several."""
    found, number = 0, volume(12, 36)
    for seed in range(number * part, number * (part + 1)):
        text, stream = case(seed, (None, *STRATEGIES)[seed % 5])
        asked = block(text)
        wanted = Counter(match.bindings for match in expected(asked, stream))
        assert run(plan_of(asked), stream) == wanted, said(text, stream)
        found += wanted.total()
    assert found > number // 20


def same_by_slots_and_states(text: str, stream: list[Event]) -> int:
    """Compare both ways to remember values with the reference; how many matches there are."""
    asked = block(text)
    wanted = Counter(match.bindings for match in expected(asked, stream))
    for values in (False, True):
        assert run(plan_of(asked, values=values), stream) == wanted, said(text, stream)
    return wanted.total()


@pytest.mark.parametrize("part", range(4))
def test_strategies_for_some_variables_only(part: int) -> None:
    found, number = 0, volume(10, 37)
    for seed in range(number * part, number * (part + 1)):
        draw = Random(seed)
        found += same_by_slots_and_states(query(draw, mixed=True), events(draw))
    assert found > number // 20


@pytest.mark.parametrize("part", range(4))
def test_negated_series_in_every_place(part: int) -> None:
    found, number = 0, volume(10, 37)
    for seed in range(number * part, number * (part + 1)):
        draw = Random(seed)
        found += same_by_slots_and_states(negated_series(draw), events(draw))
    assert found > number // 20


@pytest.mark.parametrize("part", range(4))
def test_states_that_remember_values_find_the_same(part: int) -> None:
    kept, number = 0, volume(10, 20)
    for seed in range(10_000 + number * part, 10_000 + number * (part + 1)):
        text, stream = case(seed)
        asked = block(text)
        plan = plan_of(asked, values=True)
        kept += plan.traits.remembers_values
        wanted = Counter(match.bindings for match in expected(asked, stream))
        assert run(plan, stream) == wanted, said(text, stream)
    assert kept > number // 10


def test_most_queries_need_no_values_in_states() -> None:
    plans = [plan_of(block(case(seed)[0])) for seed in range(200)]
    by_slot = [plan for plan in plans if not plan.traits.remembers_values]
    assert len(by_slot) > 140
    assert sum(plan.traits.registers for plan in by_slot) > 80
    assert all(plan.why_values for plan in plans if plan.traits.remembers_values)


# ---------------------------------------------------------------- however the stream comes


@pytest.mark.parametrize("values", [False, True])
def test_batches_and_snapshots_change_nothing(values: bool) -> None:
    for seed in range(20_000, 20_000 + volume(6, 15)):
        text, stream = case(seed)
        asked = block(text)
        plan = plan_of(asked, values=values)
        draw = Random(seed)
        executor, found = PatternExecutor(plan, SCHEMA), list[pa.RecordBatch]()
        for batch in pieces(draw, stream):
            found += executor.push(batch)
            if draw.random() < 0.5:
                saved = executor.save()
                executor = PatternExecutor(plan, SCHEMA)
                executor.restore(saved)
        found += executor.finish()
        wanted = Counter(match.bindings for match in expected(asked, stream))
        assert bindings_of(plan, found) == wanted, said(text, stream)


def test_states_that_no_run_is_in_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was in a forgotten state's number does not come back with another's."""
    monkeypatch.setattr(runner, "MANY_STATES", 6)
    monkeypatch.setattr(value_letters, "PIECE", 2)
    for seed in range(40_000, 40_000 + volume(6, 18)):
        text, stream = case(seed)
        asked = block(text)
        plan = plan_of(asked, values=True)
        wanted = Counter(match.bindings for match in expected(asked, stream))
        assert run(plan, stream) == wanted, said(text, stream)


def test_long_streams_whose_past_is_swept_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and events go as soon as nothing can need them, and nothing is missed."""
    monkeypatch.setattr(kernel_options, "SWEEP_AT", 16)
    closed = 0
    for seed in range(50_000, 50_120):
        draw = Random(seed)
        text = query(draw, strategy=draw.choice(STRATEGIES[:3]))
        asked = block(text)
        if asked.window is None:
            continue
        stream = [event for _ in range(6) for event in events(draw)]
        times = sorted(draw.randrange(60) for _ in stream)
        stream = [{**e, "time": t * SECOND} for e, t in zip(stream, times, strict=True)]
        plan = plan_of(asked)
        closed += plan.traits.closes
        executor = PatternExecutor(plan, SCHEMA)
        executor.forget_idle()
        executor.runner.tidy_at = executor.runner.forget_at = 1
        found = list[pa.RecordBatch]()
        for batch in pieces(draw, stream):
            found += executor.push(batch)
            executor.runner.tidy(at=0)
        found += executor.finish()
        wanted = Counter(match.bindings for match in expected(asked, stream))
        assert bindings_of(plan, found) == wanted, said(text, stream)
    assert closed > 10


def window_of(query: sase.Query) -> int | None:
    return query.window.microseconds if isinstance(query.window, TimeWindow) else None


def test_nothing_is_reported_before_it_is_known() -> None:
    """A match that waits is reported by an event after its window, by the passing of time, or at
    the end: never when an event could still come that changes it."""
    waited = 0
    for seed in range(30_000, 30_300):
        text, stream = case(seed)
        asked = block(text)
        plan, size = plan_of(asked), window_of(asked)
        if not plan.traits.closes or size is None:
            continue
        known = {match.bindings: match for match in expected(asked, stream)}
        executor, found = PatternExecutor(plan, SCHEMA), Found()
        for row in range(len(stream)):
            new = bindings_of(
                plan, list(executor.push(table(stream[row : row + 1]).to_batches()[0]))
            )
            for each in new:
                at = known[each].reported_at
                assert at is not None, said(text, stream)
                assert at <= row, said(text, stream)
            found += new
            later = [event["time"] for event in stream[row + 1 :]]
            time = later[0] if later else stream[row]["time"] + seed % 4 * SECOND
            new = bindings_of(plan, list(executor.advance(time)))
            waited += new.total()
            for each in new:
                assert stream[known[each].positions[0]]["time"] + size < time, said(text, stream)
            found += new
        found += bindings_of(plan, list(executor.finish()))
        assert found == Counter(known.keys()), said(text, stream)
    assert waited > 5


def test_a_trailing_negation_waits_for_its_window() -> None:
    asked = block("PATTERN SEQ(A a, ~B b) WHERE b.x > a.x WITHIN 2 seconds")
    plan = plan_of(asked)
    assert plan.traits.closes
    assert not plan.traits.remembers_values
    stream = [
        {"type": "A", "time": 0, "x": 1, "y": 0, "k": "p"},
        {"type": "B", "time": SECOND, "x": 1, "y": 0, "k": "p"},
    ]
    executor = PatternExecutor(plan, SCHEMA)
    assert not list(executor.push(table(stream).to_batches()[0]))
    assert not list(executor.advance(2 * SECOND))
    (batch,) = executor.advance(2 * SECOND + 1)
    assert batch.column("a").to_pylist() == [[0]]
    assert not list(executor.finish())


def test_types_that_are_not_known_are_a_reason_for_values() -> None:
    asked = block("PATTERN SEQ(A a, B b) WHERE b.x > a.x")
    assert plan_of(asked, values=True).why_values == NO_SCHEMA
    assert plan_of(asked).why_values is None


class Listing:
    """An aggregate whose values can change, so that runs could not be told apart by them."""

    identity: ClassVar[list[int]] = []

    @staticmethod
    def combine(left: list[int], right: int) -> list[int]:
        return [*left, right]


def test_values_of_a_users_aggregate_must_not_change() -> None:
    program = parse("PATTERN SEQ(A+ a[]) WHERE a[i].x != listing(a[..i-1].x)", ["listing"])
    plan = build(program.queries[0].blocks[0], STREAM, SCHEMA, {"listing": Listing()})
    with pytest.raises(CereusError, match="'listing' makes a list, which can change"):
        PatternExecutor(plan, SCHEMA)


# ---------------------------------------------------------------- the two languages meet


def both_languages(draw: Random) -> tuple[str, str]:
    """A skip_till_any_match query without running conditions, and its CEQL translation."""
    heads, formula, clauses, filters = list[str](), list[str](), list[str](), list[str]()
    for name in "abc"[: draw.choice((1, 2, 3))]:
        several, type = draw.random() < 0.5, draw.choice("AB")
        heads.append(f"{type}+ {name}[]" if several else f"{type} {name}")
        formula.append(f"({type}{'+' if several else ''} AS {name})")
        item = f"{name}[i].x" if several else f"{name}.x"
        other = draw.choice(("1", "2", *(["a.x"] if "A a" in heads[0] and name != "a" else [])))
        if draw.random() < 0.7 and "+" not in heads[0] + "+" * (other == "1"):
            op = draw.choice(("<", ">=", "="))
            clauses.append(f"{item} {op} {other}")
            filters.append(f"{name}[x {op} {other}]" if other != "a.x" else f"{name}.x {op} a.x")
    window = draw.choice(("", "\nWITHIN 3 seconds", "\nWITHIN 4 EVENTS"))
    variables = [head.split()[1] for head in heads]
    where = f"WHERE skip_till_any_match({', '.join(variables)}) {{ {' AND '.join(clauses)} }}"
    named = ", ".join(name.removesuffix("[]") for name in variables)
    filtered = f"({' ; '.join(formula)})" + (f" FILTER {' AND '.join(filters)}" if filters else "")
    sase_text = f"PATTERN SEQ({', '.join(heads)})\n{where}{window}"
    return sase_text, f"SELECT {named} FROM S WHERE {filtered}{window}"


def test_skip_till_any_match_is_what_ceql_means() -> None:
    total, number = 0, volume(11, 33)
    for seed in range(number):
        draw = Random(seed)
        text, ceql = both_languages(draw)
        stream = events(draw)
        plan = plan_of(block(text))
        translated = compile(ceql, stream=STREAM, schema=SCHEMA)
        rows = translated.run(table(stream)).table.to_pylist()
        wanted = Counter(tuple((n, tuple(row[n])) for n in plan.names or ()) for row in rows)
        assert run(plan, stream) == wanted, said(f"{text}\n{ceql}", stream)
        total += wanted.total()
    assert total > number // 2


# ---------------------------------------------------------------- explain


def test_explain_shows_the_automaton_with_its_registers() -> None:
    asked = block(
        """PATTERN SEQ(A+ a[], A b)
        WHERE skip_till_next_match(a[]!, b) { [k] AND a[i].x > avg(a[..i-1].x) AND b.y < a[1].y }
        WITHIN 1 minute"""
    )
    said = explain(plan_of(asked), SaseDescription())
    assert "[k]: splits the stream" in said
    assert "r0: sum(x of a[])" in said
    assert "r1: carry(x of a[])" in said
    assert "marks a if not (y < r3) and (x > ((r0 + (r1 * 4294967296.0)) / r2))" in said
    assert "stays if not" in said
    assert "a match is found in one way only" in said


def test_explain_says_what_waits_and_why_values_are_in_states() -> None:
    waiting = explain(plan_of(block("PATTERN SEQ(A a, ~B b) WITHIN 2 seconds")), SaseDescription())
    assert "complete when its window has passed" in waiting
    assert "never match" not in waiting
    text = "PATTERN SEQ(~B b, A+ a[]) WHERE b.x > a[1].x WITHIN 2 seconds"
    leading = explain(plan_of(block(text)), SaseDescription())
    assert "values: ~b is about a window whose end is not known" in leading


def test_explain_shows_what_must_not_have_come() -> None:
    text = "PATTERN SEQ(~B b, A a, C c) WHERE b.x > a.x WITHIN 2 seconds"
    leading = explain(plan_of(block(text)), SaseDescription())
    assert "no such event in the window before" in leading
    assert ": which event a is" in leading


def test_every_random_query_can_be_explained() -> None:
    for seed in range(120):
        text, _ = case(seed)
        for values in (False, True):
            said = explain(plan_of(block(text), values=values), SaseDescription())
            assert "marks" in said or "no state leads to a match" in said, text


def test_a_state_that_was_closed_at_an_event_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is in it any more; uncompiled, what reads it is seen to drop a configuration."""
    dropped = list[int]()
    if not COMPILED:
        drop = Stepper._drop
        monkeypatch.setattr(Stepper, "_drop", lambda self, c: (dropped.append(c), drop(self, c))[1])
    seconds = [0, 2, 32, 62, 63, 93, 94, 124]
    table = pa.table({"type": list("ACABACAB"), "time": [at * SECOND for at in seconds]})
    query = compile(
        "PATTERN SEQ(A a, ~B b) WITHIN 5 seconds RETURN a.time",
        dialect="sase",
        stream=Stream(time="time", unit="us"),
    )
    assert query.run(table).table.column(-1).to_pylist() == [
        0,
        32 * SECOND,
        63 * SECOND,
        94 * SECOND,
    ]
    assert min(dropped, default=0) >= 0


@pytest.mark.parametrize("text", ["A a, ~C c", "A a, B b, ~C c"])
@pytest.mark.parametrize("keyed", ["", "WHERE [k] "])
def test_what_begins_at_the_last_time_that_there_is_ends_with_the_input(
    text: str, keyed: str
) -> None:
    query = compile(
        f"PATTERN SEQ({text}) {keyed}WITHIN 10 seconds",
        dialect="sase",
        stream=Stream(time="time", unit="s"),
    )
    counts = {
        len(query.run(pa.table({"type": [*"AAB"], "k": [1, 2, 1], "time": [end] * 3})))
        for end in (-(2**63), 0, 2**63 - 2, 2**63 - 1)
    }
    assert len(counts) == 1
    assert counts != {0}
