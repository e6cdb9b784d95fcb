"""`prev(b.x)`: each event of a repetition is compared with the one before it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

import cereus
from cereus.errors import CereusError, RefusedError
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.scope import bound
from cereus.languages.ceql.text import parse, to_text
from cereus.translate.translate import translated
from tests.languages.ceql import correlated, strategies
from tests.languages.ceql.harness import Row, assert_agrees, compiled, positions, rows, spelled
from tests.languages.ceql.test_differential import pieces
from tests.volume import volume

RISING = spelled("A B B B B C", x="1 3 2 5 4 9")


def test_every_event_but_the_first_is_compared_with_the_one_before() -> None:
    text = "SELECT * WHERE A ; B+ AS b ; C FILTER b.x > prev(b.x)"
    assert positions(text, RISING) == [
        [0, 1, 3, 5],
        [0, 1, 4, 5],
        [0, 1, 5],
        [0, 2, 3, 5],
        [0, 2, 4, 5],
        [0, 2, 5],
        [0, 3, 5],
        [0, 4, 5],
    ]
    assert positions(text.replace("B+", "B:+"), RISING) == [
        [0, 1, 5],
        [0, 2, 3, 5],
        [0, 2, 5],
        [0, 3, 5],
        [0, 4, 5],
    ]


def test_it_is_the_event_before_of_the_variable_not_of_the_stream() -> None:
    events = spelled("B C B", x="1 9 2")
    text = "SELECT * WHERE (B AS b ; C ; B AS b) FILTER b.x = prev(b.x) + 1"
    assert positions(text, events) == [[0, 1, 2]]


def test_what_is_computed_with_it() -> None:
    text = "SELECT * WHERE B{3} AS b FILTER b.x - prev(b.x) <= prev(b.t) WITHIN 5 EVENTS"
    assert positions(text, RISING) == [[1, 2, 4]]


def test_nothing_compares_with_null() -> None:
    events = spelled("B B B", x="1 - 2")
    text = "SELECT * WHERE B+ AS b FILTER b.x >= prev(b.x)"
    assert positions(text, events) == [[0], [0, 2], [1], [2]]


def test_matches_are_counted_without_being_listed() -> None:
    text = "SELECT COUNT(*) WHERE A ; B+ AS b ; C FILTER b.x > prev(b.x) WITHIN 9 EVENTS"
    query = cereus.compile(text)
    assert [row["count"] for row in query.run(strategies.table(_whole(RISING)))] == [8]


def test_registers_decide_it_and_it_is_explained() -> None:
    query = cereus.compile("SELECT * WHERE B+ AS b ; C FILTER b.x > prev(b.x) WITHIN 9 EVENTS")
    explained = query.explain(strategies.SCHEMA)
    assert "b.x > prev(b.x)\n      by registers" in explained
    assert not any("exponential" in warning for warning in query.warnings)
    assert "the x of the b before" in query.words()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * WHERE A AS a ; B+ AS b FILTER b.x > prev(b.x) + a.x", "events of one variable"),
        ("SELECT * WHERE B+ AS b FILTER sum(b.x) > prev(b.x)", "sum is about all events"),
        ("SELECT * WHERE B+ AS b FILTER b[x > prev(x)]", "prev takes one attribute"),
        ("SELECT * WHERE B+ AS b RETURN prev(b.x)", "prev is for conditions"),
    ],
)
def test_what_has_no_event_before_is_refused(text: str, message: str) -> None:
    with pytest.raises(CereusError, match=message) as error:
        cereus.compile(text)
    assert error.value.hint


def test_it_prints_and_sremo_has_no_such_thing() -> None:
    tree = parse("SELECT * WHERE B+ AS b FILTER b.x > prev(b.x) AND b.x < 9")
    assert parse(to_text(tree)) == tree
    query = cereus.compile("SELECT * WHERE B+ AS b FILTER b.x > prev(b.x)")
    with pytest.raises(RefusedError):
        translated(query.compiled, "sremo")


def _whole(events: strategies.Events) -> strategies.Events:
    return [dict.fromkeys(strategies.SCHEMA.names) | event for event in events]


def repeated(draw: Random) -> strategies.Case:
    """A query with a repetition somewhere, whose events are compared with those before."""
    case = strategies.case(draw, largest=3)
    loop = draw.choice((cel.Iteration, cel.Iteration, cel.ContiguousIteration))
    again: cel.Formula = cel.As(loop(strategies.formula(draw, draw.randint(1, 3))), "b")
    if draw.randrange(3) == 0:
        again = cel.Filter(again, cel.Holds(correlated.successive(draw, "b")))
    pattern = cel.Sequence(*draw.sample([case.query.formula, again], 2))
    names = [name for name in sorted(bound(pattern)) if ">" not in name and name != "*"]
    parts = [correlated.successive(draw, draw.choice(["b", *names])) for _ in range(2)]
    kept = tuple(map(cel.Holds, parts[: draw.choice((1, 1, 2))]))
    joined = draw.choice((cel.AllOf, cel.AllOf, cel.AnyOf))
    pattern = cel.Filter(pattern, kept[0] if len(kept) == 1 else joined(kept))
    asked = replace(case.query, formula=pattern, returned=())
    return replace(case, query=parse(to_text(asked)))


@pytest.mark.parametrize("block", range(2))
def test_random_queries_cut_into_pieces(block: int) -> None:
    """Against the definition, in pieces, across snapshots; registers and states alike."""
    number = volume(18, 75)
    for seed in range(block * number, (block + 1) * number):
        draw = Random(seed)
        case = repeated(draw)
        query = compiled(case.query, case.stream)
        for events in case.streams:
            recognizer = query.recognizer()
            found: Counter[Row] = Counter()
            for piece in pieces(draw, strategies.table(events[:6])):
                if draw.randrange(3) == 0 and recognizer._executor is not None:
                    recognizer = query.restore(recognizer.snapshot())
                found += rows(recognizer.push(piece), case.query)
            found += rows(recognizer.finish(), case.query)
            try:
                assert_agrees(found, case.query, case.stream, events[:6])
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {to_text(case.query)}\n{error}") from None
