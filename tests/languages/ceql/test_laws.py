"""Laws of CEL that hold for every pattern and stream, on the kernel alone.

Streams here are longer than the reference evaluator can be asked about.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, assume, given, note, settings

from cereus import Stream
from cereus.clauses.tree import (
    AttributeWindow,
    Consume,
    EventWindow,
    Output,
    ParsedQuery,
    Strategy,
    TimeWindow,
)
from cereus.expr import tree as ex
from cereus.expr.tree import Expression, rebuild
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.languages.ceql.scope import bound
from cereus.syntax.tree import bottom_up
from tests.volume import volume

from . import strategies as random_
from .harness import Row, compiled, rows

STREAM = Stream(time="t", unit="s")
LENGTH = 12
CHOOSING = (Strategy.NEXT, Strategy.LAST, Strategy.MAX, Strategy.ANY)

law = settings(max_examples=volume(6, 30), deadline=None, suppress_health_check=list(HealthCheck))


def formula(draw: Random, largest: int = 4) -> cel.Formula:
    return random_.formula(draw, draw.randint(1, largest))


def stream(draw: Random) -> random_.Events:
    return random_.events(draw, draw.randint(4, LENGTH))


def answer(pattern: cel.Formula | ParsedQuery, events: random_.Events) -> Counter[Row]:
    query = pattern if isinstance(pattern, ParsedQuery) else ParsedQuery(pattern)
    return rows(compiled(query, STREAM).run(random_.table(events)), query)


def everything(pattern: cel.Formula) -> ParsedQuery:
    """All variables selected, so that valuations are compared and not only complex events."""
    names = sorted(bound(pattern))
    return ParsedQuery(pattern, select=tuple(map(Output, names)) if names else None)


def ordinary(pattern: cel.Formula) -> bool:
    """Without UNLESS and strategies, which look at what else there is."""
    return not any(isinstance(node, cel.Unless | cel.Select) for node in pattern.walk())


# ---------------------------------------------------------------- operators


@law
@given(random_.randoms)
def test_sequence_is_associative(draw: Random) -> None:
    a, b, c = (formula(draw, 3) for _ in range(3))
    events = stream(draw)
    left = everything(cel.Sequence(cel.Sequence(a, b), c))
    right = everything(cel.Sequence(a, cel.Sequence(b, c)))
    assert answer(left, events) == answer(right, events)


@law
@given(random_.randoms)
def test_or_is_commutative_associative_and_idempotent(draw: Random) -> None:
    a, b, c = (formula(draw, 3) for _ in range(3))
    events = stream(draw)
    one = answer(everything(cel.Or((a, b))), events)
    assert one == answer(everything(cel.Or((b, a))), events)
    assert answer(everything(cel.Or((a, a))), events) == answer(everything(a), events)
    grouped = answer(everything(cel.Or((cel.Or((a, b)), c))), events)
    assert grouped == answer(everything(cel.Or((a, cel.Or((b, c))))), events)


@law
@given(random_.randoms)
def test_and_and_all_are_commutative(draw: Random) -> None:
    a, b = formula(draw, 3), formula(draw, 3)
    events = stream(draw)
    for kind in (cel.And, cel.All):
        assert answer(everything(kind(a, b)), events) == answer(everything(kind(b, a)), events)


@law
@given(random_.randoms)
def test_contiguous_is_within_not_contiguous(draw: Random) -> None:
    a, b = formula(draw), formula(draw, 3)
    events = stream(draw)
    assert answer(cel.ContiguousIteration(a), events) <= answer(cel.Iteration(a), events)
    assert answer(cel.ContiguousSequence(a, b), events) <= answer(cel.Sequence(a, b), events)


@law
@given(random_.randoms)
def test_unless_only_takes_away(draw: Random) -> None:
    a, b = formula(draw), formula(draw)
    assume(not may_be_nothing(a) and not may_be_nothing(b))
    events = stream(draw)
    assert answer(cel.Unless(a, b), events) <= answer(a, events)
    assert not answer(cel.Unless(a, a), events)


@law
@given(random_.randoms)
def test_iteration_of_an_iteration_is_that_iteration(draw: Random) -> None:
    once = cel.Iteration(formula(draw, 3))
    events = stream(draw)
    assert answer(everything(cel.Iteration(once)), events) == answer(everything(once), events)


# ---------------------------------------------------------------- strategies


@law
@given(random_.randoms)
def test_strategies_choose_among_all(draw: Random) -> None:
    pattern, events = formula(draw, 5), stream(draw)
    window = random_.window(draw)
    asked = ParsedQuery(pattern, window=window)
    every = answer(asked, events)
    for strategy in Strategy:
        assert answer(replace(asked, strategy=strategy), events) <= every
        if strategy is not Strategy.ALL:
            assert answer(cel.Select(strategy, pattern), events) <= answer(pattern, events)


@law
@given(random_.randoms)
def test_max_contains_next_and_last(draw: Random) -> None:
    pattern, events = formula(draw, 5), stream(draw)
    asked = ParsedQuery(pattern, window=random_.window(draw))
    found = {s: answer(replace(asked, strategy=s), events) for s in CHOOSING}
    assert found[Strategy.NEXT] | found[Strategy.LAST] <= found[Strategy.MAX]
    assert found[Strategy.ANY] == found[Strategy.LAST]


@law
@given(random_.randoms)
def test_a_strategy_finds_something_where_there_is_something(draw: Random) -> None:
    pattern, events = formula(draw, 5), stream(draw)
    asked = ParsedQuery(pattern, window=random_.window(draw))
    every = answer(asked, events)
    for strategy in CHOOSING:
        chosen = answer(replace(asked, strategy=strategy), events)
        assert bool(chosen) == bool(every)


# ---------------------------------------------------------------- names, time, windows, keys


def renamed(pattern: cel.Formula, names: dict[str, str]) -> cel.Formula:
    def condition(node: Expression) -> Expression:
        if isinstance(node, ex.Attribute) and node.variable in names:
            return replace(node, variable=names[node.variable])
        return rebuild(node, condition)

    def predicate(node: cel.Predicate) -> cel.Predicate:
        if isinstance(node, cel.Holds):
            return replace(node, condition=condition(node.condition))
        assert isinstance(node, cel.AllOf | cel.AnyOf)
        return replace(node, operands=tuple(map(predicate, node.operands)))

    def change(node: cel.Formula) -> cel.Formula:
        match node:
            case cel.As(_, variable):
                return replace(node, variable=names[variable])
            case cel.Filter():
                return replace(node, predicate=predicate(node.predicate))
            case cel.Project(variables, _):
                return replace(node, variables=frozenset(names.get(v, v) for v in variables))
        return node

    return bottom_up(pattern, change)


@law
@given(random_.randoms)
def test_renaming_variables_changes_nothing_but_names(draw: Random) -> None:
    pattern, events = formula(draw, 6), stream(draw)
    names = {"a": "c", "b": "a", "c": "some b"}
    query = everything(pattern)
    other = renamed(pattern, names)
    note(str(other))
    shown = tuple(
        replace(output, variable=names.get(output.variable, output.variable))
        for output in query.select or ()
    )
    again = replace(query, formula=other, select=shown or None)
    assert answer(again, events) == answer(query, events)


@law
@given(random_.randoms)
def test_shifting_time_changes_no_match(draw: Random) -> None:
    query = replace(random_.query(draw, draw.randint(1, 6), False), limit=None)
    events = stream(draw)
    shifted = [event | {"t": event["t"] + 1000, "w": event["w"] - 64.0} for event in events]
    plain = [output for output in query.select or () if not output.attributes]
    query = replace(query, select=tuple(plain) or None, returned=())
    assert answer(query, shifted) == answer(query, events)


@law
@given(random_.randoms)
def test_a_wider_window_loses_no_match(draw: Random) -> None:
    pattern, events = formula(draw, 6), stream(draw)
    if not ordinary(pattern):
        return
    size = draw.randint(1, 4)
    for narrow, wide in (
        (EventWindow(size), EventWindow(size + draw.randint(0, 3))),
        (TimeWindow(size * random_.SECOND), TimeWindow(2 * size * random_.SECOND)),
        (AttributeWindow(size / 2, ("w",)), AttributeWindow(size, ("w",))),
    ):
        inner = answer(ParsedQuery(pattern, window=narrow), events)
        assert inner <= answer(ParsedQuery(pattern, window=wide), events)
        assert inner <= answer(pattern, events)


@law
@given(random_.randoms)
def test_partitions_are_independent(draw: Random) -> None:
    """Each key alone, its rows numbered as they were, gives the rows of that key."""
    query = replace(
        random_.query(draw, draw.randint(1, 6), False),
        partition_by=(("k",),),
        limit=None,
        consume=draw.choice([Consume.NONE, Consume.PARTITION]),
        skip=None,
        select=None,
    )
    events = stream(draw)
    alone: Counter[Row] = Counter()
    for key in {event["k"] for event in events}:
        places = [place for place, event in enumerate(events) if event["k"] == key]
        for row, count in answer(query, [events[place] for place in places]).items():
            found, start, end, positions, *shown = row
            moved = (found, places[start], places[end], tuple(places[p] for p in positions), *shown)
            alone[moved] += count
    assert answer(query, events) == alone
