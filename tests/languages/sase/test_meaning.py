"""Strategies, termination and negation on streams of letters, and laws on random queries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest

from cereus.languages.sase import tree as sase
from cereus.languages.sase.places import placed
from cereus.languages.sase.text import parse, to_text
from cereus.reference.sase.evaluate import Answer, answers
from cereus.reference.sase.nfa import Automaton, Input
from cereus.reference.sase.terms import holds
from tests.volume import volume

from .conftest import Evaluate
from .strategies import AGGREGATES, STRATEGIES, Event, events, query


def letters(text: str) -> list[Event]:
    """`A1 B2`: an event per word, its type and x; one a second. A third letter is its key."""
    made = []
    for position, word in enumerate(text.split()):
        time, key = position * 1_000_000, word[2:] or "p"
        made.append({"type": word[0], "time": time, "x": int(word[1]), "k": key})
    return made


def bound(answer: Answer) -> list[str]:
    return [
        " ".join(f"{name}{','.join(map(str, held))}" for name, held in match.bindings)
        for match in answer.matches
    ]


RISE = "PATTERN SEQ(A+ a[], B b) WHERE {}(a[], b) {{ [k] ∧ a[i].x > a[i-1].x }} RETURN b.x"
CASES = [
    ("strict_contiguity", "A1 A2 B0", ["a0,1 b2", "a1 b2"]),
    ("strict_contiguity", "A1 A2 A1q B0", []),
    ("partition_contiguity", "A1 A1q A2 B0", ["a0,2 b3", "a2 b3"]),
    ("partition_contiguity", "A1 A3 A2 B0", ["a2 b3"]),
    # a[] may stop where b begins, and may as well ignore it and wait for the next one.
    ("skip_till_next_match", "A1 A3 A2 B0", ["a0,1 b3", "a1 b3", "a2 b3"]),
    ("skip_till_next_match", "A1 B0 B1", ["a0 b1", "a0 b2"]),
    ("skip_till_any_match", "A1 A3 A2 B0", ["a0 b3", "a0,1 b3", "a0,2 b3", "a1 b3", "a2 b3"]),
]


@pytest.mark.parametrize(("strategy", "stream", "expected"), CASES)
def test_strategies(evaluate: Evaluate, strategy: str, stream: str, expected: list[str]) -> None:
    (answer,) = evaluate(RISE.format(strategy), letters(stream))
    assert bound(answer) == expected


def test_a_strategy_per_variable(evaluate: Evaluate) -> None:
    text = """PATTERN SEQ(A a, B b, C c)
    WHERE strict_contiguity(b) { } AND skip_till_any_match(c) { c.x > a.x } RETURN c.x"""
    (answer,) = evaluate(text, letters("A1 B0 C0 C2 A1 C3 B0 C4"))
    assert bound(answer) == ["a0 b1 c3", "a0 b1 c5", "a0 b1 c7"]


def test_a_strategy_for_one_component_only_tells_each_match_once(evaluate: Evaluate) -> None:
    """The runs that wait in a[] and in b[] for the same event find the same match."""
    text = """PATTERN SEQ(C+ a[], A+ b[])
    WHERE skip_till_any_match(b[]) { a[1].y < b[i].g } RETURN b[1].g"""
    stream = [
        {"type": "C", "time": 2, "y": 0, "g": None},
        {"type": "A", "time": 2, "y": None, "g": 1},
        {"type": "A", "time": 6, "y": None, "g": 1},
    ]
    assert sorted(bound(evaluate(text, stream)[0])) == ["a0 b1", "a0 b1,2", "a0 b2"]


def test_a_strategy_for_one_component_before_a_negated_series(evaluate: Evaluate) -> None:
    text = """PATTERN SEQ(C+ a[], B b, ~(C+ c[]))
    WHERE skip_till_any_match(b) { [g] } WITHIN 5 EVENTS RETURN b.g"""
    stream = [{"type": kind, "time": at, "g": 1} for at, kind in enumerate("CBB")]
    assert sorted(bound(evaluate(text, stream)[0])) == ["a0 b1", "a0 b2"]


def test_nan_agrees_with_nan_as_a_key_and_as_a_condition(evaluate: Evaluate) -> None:
    nan = float("nan")
    stream = [{"type": "A", "time": at, "x": x} for at, x in enumerate([nan, 1.0, nan, None, None])]
    for window in ("", "WITHIN 9 EVENTS"):  # counting events looks across keys
        text = f"PATTERN SEQ(A a, A b) WHERE [x] {window} RETURN a.time"
        assert bound(evaluate(text, stream)[0]) == ["a0 b2", "a3 b4"]


SUMS = [
    ([2**62, 2**62, 1], "sum(a[].x) = 1", ["a2"]),
    ([2**62, 2**62, 1], "sum(a[].x) > 0", ["a0", "a1", "a1,2", "a2"]),
    ([2**62, 2**62, -(2**62)], "sum(a[].x) = 4611686018427387904", ["a0", "a1", "a0,1,2"]),
    ([2**62, 2**62, 1], "avg(a[].x) = 4611686018427387904", ["a0", "a0,1", "a1"]),
]


@pytest.mark.parametrize(("values", "condition", "expected"), SUMS)
def test_a_sum_that_does_not_fit_64_bits_is_null(
    evaluate: Evaluate, values: list[int], condition: str, expected: list[str]
) -> None:
    """In WHERE, in HAVING and in RETURN, and whatever the sum was on the way."""
    stream = [{"type": "A", "time": at, "x": x} for at, x in enumerate(values)]
    where = f"PATTERN SEQ(A+ a[]) WHERE {condition} RETURN sum(a[].x)"
    (answer,) = evaluate(where, stream)
    assert sorted(bound(answer)) == sorted(expected)
    totals = [sum(values[row] for row in match.positions) for match in answer.matches]
    assert [match.values[0] for match in answer.matches] == [
        total if total < 2**63 else None for total in totals
    ]


LAST = "PATTERN SEQ(A+ a[]) WHERE skip_till_next_match(a[]{}) {{ a[a.LEN].x = 2 }} RETURN a.LEN"


def test_a_last_event_condition_reports_every_time_it_holds_and_the_cut_once(
    evaluate: Evaluate,
) -> None:
    stream = letters("A1 A2 A0 A2")
    (every,) = evaluate(LAST.format(""), stream)
    assert bound(every) == ["a0,1", "a1", "a0,1,2,3", "a1,2,3", "a2,3", "a3"]
    assert [m.reported_at for m in every.matches] == [1, 1, 3, 3, 3, 3]
    (once,) = evaluate(LAST.format("!"), stream)
    assert bound(once) == ["a0,1", "a1", "a2,3", "a3"]


def test_the_cut_stops_where_the_next_component_begins(evaluate: Evaluate) -> None:
    text = "PATTERN SEQ(A+ a[], ANY(A, B) b) WHERE skip_till_next_match(a[]{}, b) {{ b.x = 5 }} "
    stream = letters("A1 A5 A2 B5")
    (cut,) = evaluate(text.format("!") + "RETURN b.x", stream)
    assert bound(cut) == ["a0 b1", "a1,2 b3", "a2 b3"]
    (open_,) = evaluate(text.format("") + "RETURN b.x", stream)
    assert bound(open_) == ["a0 b1", "a0,1,2 b3", "a1,2 b3", "a2 b3"]


NEGATIONS = [
    ("SEQ(A a, ~B b, C c)", "b.x > a.x ∧ b.x < c.x", "A1 B1 C3", ["a0 c2"]),
    ("SEQ(A a, ~B b, C c)", "b.x > a.x ∧ b.x < c.x", "A1 B1 B2 C3", []),
    ("SEQ(A a, ~B b)", "b.x > a.x", "A1 B1 C0 C0 B2", ["a0"]),
    ("SEQ(A a, ~B b)", "b.x > a.x", "A1 B1 C0 B2", []),
    ("SEQ(~B b, A a)", "b.x > a.x", "B2 C0 C0 C0 A1", ["a4"]),
    ("SEQ(~B b, A a)", "b.x > a.x", "B2 C0 C0 A1", []),
    ("SEQ(A a, ~(B+ b[]), C c)", "b.LEN >= 2 ∧ b[i].x > b[i-1].x", "A0 B2 B1 C0", ["a0 c3"]),
    ("SEQ(A a, ~(B+ b[]), C c)", "b.LEN >= 2 ∧ b[i].x > b[i-1].x", "A0 B1 B0 B2 C0", []),
]


LEADING = [
    # What comes before the match and shares the window with its last event is looked at.
    ("n[1].x > a.x", "", "B2 C0 C0 C0 A1", ["a4"]),
    ("n[1].x > a.x", "", "B2 C0 C0 A1", []),
    # Any events there make a series, in their order.
    ("n.LEN >= 2 ∧ n[i].x > n[i-1].x", "", "B1 B0 B2 A1", []),
    ("n.LEN >= 2 ∧ n[i].x > n[i-1].x", "", "B2 B1 B0 A1", ["a3"]),
    # Under contiguity a series leaves nothing out, but it may begin late.
    ("n.LEN >= 2 ∧ n[i].x > n[i-1].x", "strict_contiguity", "B1 B0 B2 A1", []),
    ("n.LEN >= 2 ∧ n[i].x > n[i-1].x", "strict_contiguity", "B1 C0 B2 A1", ["a3"]),
    # The time of the window may be compared as well.
    ("n[1].time != a.x", "", "B0 B0 A0", []),
    ("n[1].time != a.x", "", "B0 A0", ["a1"]),
]


@pytest.mark.parametrize(("where", "strategy", "stream", "expected"), LEADING)
def test_a_leading_negation_over_a_series(
    evaluate: Evaluate, where: str, strategy: str, stream: str, expected: list[str]
) -> None:
    grouped = f"{strategy}(n[]) {{ {where} }}" if strategy else where
    text = f"PATTERN SEQ(~(B+ n[]), A a) WHERE {grouped} WITHIN 3 seconds RETURN a.x"
    assert bound(evaluate(text, letters(stream))[0]) == expected


def test_a_leading_series_is_compared_with_all_of_a_later_array(evaluate: Evaluate) -> None:
    text = """PATTERN SEQ(~(A+ a[]), A+ b[]) WHERE a[1].time != max(b[].x)
    WITHIN 5 seconds RETURN b.LEN"""
    stream = [{"type": "A", "time": at, "x": 3} for at in (2, 3, 6)]
    assert bound(evaluate(text, stream)[0]) == ["b0,1,2"]


@pytest.mark.parametrize(("pattern", "where", "stream", "expected"), NEGATIONS)
def test_negation(
    evaluate: Evaluate, pattern: str, where: str, stream: str, expected: list[str]
) -> None:
    text = f"PATTERN {pattern} WHERE {where} WITHIN 3 seconds RETURN a.x"
    if "SEQ(A a, ~(B+" in pattern:
        text = text.replace("3 seconds", "9 seconds")
    (answer,) = evaluate(text, letters(stream))
    assert bound(answer) == expected


def test_a_trailing_negation_is_known_when_the_window_has_passed(evaluate: Evaluate) -> None:
    text = "PATTERN SEQ(A a, ~B b) WITHIN 2 seconds RETURN a.x"
    (answer,) = evaluate(text, letters("A1 C0 C0 C0 B0 A2"))
    assert [(m.bindings[0][1], m.reported_at) for m in answer.matches] == [((0,), 3), ((5,), None)]


def test_under_contiguity_a_negated_series_is_all_there_is_between(evaluate: Evaluate) -> None:
    text = "PATTERN SEQ(A a, ~(B+ b[]), C c) WHERE {}(a, b[], c) {{ b[i].x > 0 }} RETURN a.x"
    stream = letters("A1 B1 B0 C1")
    assert bound(evaluate(text.format("strict_contiguity"), stream)[0]) == ["a0 c3"]
    assert bound(evaluate(text.format("skip_till_next_match"), stream)[0]) == []


def test_union_and_aggregates(evaluate: Evaluate) -> None:
    text = """PATTERN SEQ(A+ a[]) WHERE a[i].x >= highest(a[..i-1].x, 2)
    RETURN max(a[].x), min(a[].x), avg(a[].x) AS S(top, low, mean) IN STREAM s
    UNION PATTERN SEQ(B b) RETURN b.x, b.x, b.x * 1.0
    FROM s PATTERN SEQ(S+ t[]) WHERE strict_contiguity(t[]) { } RETURN t[].mean"""
    first, second = evaluate(text, letters("A3 A1 A2 B9 A3"))
    assert first.blocks == (1, 0, 0, 0, 0)
    # 1 is below 3; 2 as well; 3 is not.
    assert first.matches[1].values == (3, 3, 3.0)
    assert first.events[0] == {"type": "S", "time": 3_000_000, "top": 9, "low": 9, "mean": 9}
    assert second.matches[-1].values == ([3.0],)


UNION = """PATTERN SEQ(A a) RETURN a.x AS S(x) IN STREAM s
UNION PATTERN SEQ(B b) RETURN b.x
FROM s PATTERN SEQ(S+ t[]) WHERE strict_contiguity(t[]) { } HAVING t.LEN = 4 RETURN t[].x"""


def test_a_union_is_read_in_the_order_of_the_input(evaluate: Evaluate) -> None:
    """Also where events of both blocks have one time."""
    stream = [{**event, "time": 5} for event in letters("B1 A2 B3 A4")]
    first, second = evaluate(UNION, stream)
    assert first.blocks == (1, 0, 1, 0)
    assert [match.values for match in second.matches] == [([1, 2, 3, 4],)]


# ---------------------------------------------------------------- laws


def assignments(
    program: sase.Program, stream: list[Event]
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """What skip_till_any_match means without an automaton: all ways to put increasing positions
    into the components such that every condition holds."""
    block = program.queries[0].blocks[0]
    nfa = Automaton(block, Input(stream), AGGREGATES)
    parts = block.components
    for size in range(len(parts), len(stream) + 1):
        for chosen in combinations(range(len(stream)), size):
            for cuts in combinations(range(1, size), len(parts) - 1):
                ends = zip((0, *cuts), (*cuts, size), strict=True)
                buffer = tuple(chosen[low:high] for low, high in ends)
                if satisfies(nfa, block, buffer):
                    yield buffer


def satisfies(nfa: Automaton, block: sase.Query, buffer: tuple[tuple[int, ...], ...]) -> bool:
    every = [position for held in buffer for position in held]
    if not nfa.within(every[0], every[-1]) or not all(nfa.agrees(buffer, p) for p in every):
        return False
    for component, held in zip(block.components, buffer, strict=True):
        if not isinstance(component, sase.Kleene) and len(held) > 1:
            return False
        if not all(nfa.stream.type_of(p) in component.types for p in held):
            return False
    whole = nfa.events_of(buffer)
    for each in placed(block):
        array = whole[each.variable]
        lengths = {0: [1], 1: range(1, len(array) + 1), 2: range(2, len(array) + 1)}
        for length in lengths.get(int(each.place), [len(array)]):
            seen = {**whole, each.variable: array[:length]}
            if not holds(each.clause.condition, seen, AGGREGATES):
                return False
    return True


def test_skip_till_any_match_finds_every_assignment() -> None:
    found, number = 0, volume(20, 75)
    for seed in range(number):
        draw = Random(seed)
        text = query(draw, strategy="skip_till_any_match", stops=False)
        program, stream = parse(text, AGGREGATES), events(draw, 6)
        block = program.queries[0].blocks[0]
        if len(block.parts) > len(block.components) or block.having is not None:
            continue
        matches = answers(program, stream, aggregates=AGGREGATES)[0].matches
        expected = set(assignments(program, stream))
        assert {tuple(h for _, h in m.bindings) for m in matches} == expected, (text, stream)
        found += len(expected)
    assert found > number // 10


def test_every_strategy_finds_a_part_of_what_skip_till_any_match_finds() -> None:
    smaller = 0
    for seed in range(400):
        draw = Random(seed)
        text, stream = query(draw, strategy=STRATEGIES[seed % 3], stops=False), events(draw)
        if "~(" in text:
            continue  # which series count depends on the strategy
        wide = text.replace(STRATEGIES[seed % 3], "skip_till_any_match")
        few, many = (
            {
                m.bindings
                for m in answers(parse(t, AGGREGATES), stream, aggregates=AGGREGATES)[0].matches
            }
            for t in (text, wide)
        )
        assert few <= many, (text, stream)
        smaller += few < many
    assert smaller > 10


def test_random_queries_are_written_as_they_are_read() -> None:
    for seed in range(150):
        program = parse(query(Random(seed)), AGGREGATES)
        assert parse(to_text(program), AGGREGATES) == program
