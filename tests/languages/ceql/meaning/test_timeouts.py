"""WITH TIMEOUTS: what was begun and not completed within the window is a result too."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import note

import cereus
from cereus.clauses.tree import (
    Consume,
    ParsedQuery,
)
from cereus.errors import RefusedError
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.planning.timeouts import check_timeouts
from cereus.languages.ceql.text import parse, to_text
from cereus.reference.cel_timeouts import timeouts
from cereus.translate.translate import translated
from tests.languages.ceql import correlated
from tests.languages.ceql import strategies as random_
from tests.languages.ceql.harness import (
    Row,
    compiled,
    difference,
    reference_matches,
    reference_rows,
    rows,
)
from tests.languages.ceql.test_differential import FEWER, examples, given, pieces


def at(minute: int) -> datetime:
    return datetime(2024, 1, 1, 9, minute)


ORDERS = pa.table(
    {
        "type": ["ORDER", "ORDER", "PAID", "PAID", "SHIP", "ORDER", "CANCEL"],
        "k": [1, 2, 1, 2, 1, 3, 3],
        "x": [1, 2, 3, 4, 5, 6, 7],
        "ts": [at(minute) for minute in (0, 1, 2, 20, 21, 22, 23)],
    }
)
STREAM = cereus.Stream(time="ts")
STEPS = "SELECT * WHERE ORDER AS a ; PAID AS b ; SHIP AS c PARTITION BY k WITHIN 10 minutes"


def found(text: str, stream: cereus.Stream = STREAM) -> list[dict[str, Any]]:
    return sorted(cereus.compile(text, stream=stream).run(ORDERS), key=lambda row: row["start"])


# ---------------------------------------------------------------- worked examples


def test_how_far_it_came_what_it_waited_for_and_until_when() -> None:
    shown = [
        (row["k"], row["reached"], row["waiting_for"], row["deadline"], row["positions"])
        for row in found(f"{STEPS} WITH TIMEOUTS")
    ]
    assert shown == [
        (1, "b", "c", at(10), [0, 2]),
        (2, "a", "b", at(11), [1]),
        (3, "a", "b", at(32), [5]),
    ]


def test_matches_are_the_same_and_not_timed_out() -> None:
    text = STEPS.replace("10 minutes", "30 minutes")
    every = found(f"{text} WITH TIMEOUTS")
    (match,) = [row for row in every if not row["timed_out"]]
    (plain,) = found(text)
    assert plain.items() <= match.items()
    assert match["reached"] is match["waiting_for"] is match["deadline"] is None


def test_a_time_out_is_not_counted_as_a_match() -> None:
    table = pa.table({"type": ["A", "B", "A", "C"], "t": [0, 1, 2, 9]})
    text = "SELECT * WHERE A AS a ; B AS b WITHIN 2 seconds WITH TIMEOUTS"
    query = cereus.compile(text, stream=cereus.Stream(time="t", unit="s"))
    found = query.run(table)
    assert (len(found), found.timeouts, query.count(table)) == (2, 1, 1)


def test_what_has_failed_before_its_window_ended_is_no_time_out() -> None:
    cancelled = "SELECT * WHERE (ORDER ; PAID) WITHOUT CANCEL PARTITION BY k WITHIN 10 minutes"
    assert [row["k"] for row in found(f"{cancelled} WITH TIMEOUTS") if row["timed_out"]] == [2]
    next_event = "SELECT * WHERE ORDER : PAID WITHIN 10 minutes WITH TIMEOUTS"
    assert [row["start"] for row in found(next_event) if row["timed_out"]] == []


def test_values_and_variables_of_steps_not_reached_are_empty() -> None:
    text = "SELECT a, c WHERE ORDER AS a ; PAID AS b ; SHIP AS c PARTITION BY k"
    first, *_ = found(f"{text} WITHIN 10 minutes WITH TIMEOUTS RETURN b.x, c.x - a.x AS d, c.k")
    assert (first["a"], first["c"], first["positions"]) == ([0], [], [0, 2])
    assert (first["x"], first["d"], first["k"]) == (3, None, 1)


def test_rounds_that_have_to_come_are_steps() -> None:
    rows = found("SELECT * WHERE ORDER{4} WITHIN 30 minutes WITH TIMEOUTS")
    assert [(row["positions"], row["waiting_for"]) for row in rows] == [
        ([0, 1, 5], "ORDER"),
        ([1, 5], "ORDER"),
        ([5], "ORDER"),
    ]


def test_a_window_of_events_has_no_deadline() -> None:
    text = "SELECT * WHERE ORDER ; SHIP WITHIN 3 EVENTS WITH TIMEOUTS"
    rows = [row for row in found(text) if row["timed_out"]]
    assert [(row["start"], row["deadline"]) for row in rows] == [(0, None), (1, None), (5, None)]
    untimed = cereus.compile(text, stream=cereus.Stream())
    assert "deadline" not in dict(untimed.run(ORDERS)[0])


def test_time_passes_by_later_events_of_the_key_by_advance_and_at_the_end() -> None:
    recognizer = cereus.compile(f"{STEPS} WITH TIMEOUTS", stream=STREAM).recognizer(
        schema=ORDERS.schema
    )
    assert not len(recognizer.push(ORDERS.slice(0, 3)))
    assert [row["k"] for row in recognizer.push(ORDERS.slice(3, 1))] == [2]
    deadline = pa.scalar(at(10), pa.timestamp("us")).value
    assert not len(recognizer.advance(deadline))
    assert [row["k"] for row in recognizer.advance(deadline + 1)] == [1]
    assert not len(recognizer.finish())


# ---------------------------------------------------------------- what is refused


def test_what_it_does_not_go_with_is_refused_by_name() -> None:
    for clause in ("CONSUME BY ANY", "AFTER MATCH SKIP TO NEXT EVENT"):
        with pytest.raises(RefusedError, match="WITH TIMEOUTS does not go with"):
            cereus.compile(f"{STEPS} WITH TIMEOUTS {clause}", stream=STREAM)
    waits = STEPS.replace("PARTITION", "NOT FOLLOWED BY A WITHIN 5 minutes PARTITION")
    with pytest.raises(RefusedError, match="WITH TIMEOUTS does not go with NOT FOLLOWED BY"):
        cereus.compile(f"{waits} WITH TIMEOUTS", stream=STREAM)
    with pytest.raises(RefusedError, match=r"WITH TIMEOUTS does not go with COUNT\(\*\)"):
        cereus.compile(f"{STEPS} WITH TIMEOUTS".replace("*", "COUNT(*)"), stream=STREAM)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("A ; B", "needs a window"),
        ("A ; B WITHIN 3 [x]", "needs a window of time or of events"),
        ("(A OR B) WITHIN 3 EVENTS", "is one step"),
        ("A ; NOT(B) ; C WITHIN 3 EVENTS", r"does not go with NOT\(…\)"),
        ("PROJECT[A](A ; B) WITHIN 3 EVENTS", "does not go with PROJECT"),
        ("(A ; B) UNLESS C WITHIN 3 EVENTS", "UNLESS looks back"),
        ("START(A ; B) WITHIN 3 EVENTS", "START is about the beginning"),
    ],
)
def test_patterns_without_time_outs_are_refused_with_a_hint(pattern: str, message: str) -> None:
    with pytest.raises(RefusedError, match=f"WITH TIMEOUTS .*{message}") as error:
        cereus.compile(f"SELECT * WHERE {pattern} WITH TIMEOUTS", stream=STREAM)
    assert error.value.hint


def test_times_that_are_not_exact_are_refused() -> None:
    events = pa.table({"type": ["A"], "t": [1.5]})
    query = cereus.compile(
        "SELECT * WHERE A ; B WITHIN 3 seconds WITH TIMEOUTS",
        stream=cereus.Stream(time="t", unit="s"),
    )
    with pytest.raises(RefusedError, match="WITH TIMEOUTS needs times"):
        query.run(events)


def test_it_prints_is_explained_and_translates_to_no_other_language() -> None:
    text = f"{STEPS} WITH TIMEOUTS"
    assert parse(to_text(parse(text))) == parse(text)
    query = cereus.compile(text, stream=STREAM)
    assert "partial matches whose window has passed" in query.explain(ORDERS.schema)
    assert "partial matches that are not complete" in query.words()
    with pytest.raises(RefusedError, match="WITH TIMEOUTS"):
        translated(query.compiled, "sremo")


# ---------------------------------------------------------------- against the definition


def random_query(draw: Random, size: int = 6) -> ParsedQuery:
    """A query whose pattern has steps, with conditions between events among them."""
    while True:
        pattern: cel.Formula = random_.formula(draw, draw.randint(1, 3))
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            more = random_.formula(draw, draw.choice((1, 1, 2, 3)))
            kind = draw.choice((cel.Sequence, cel.Sequence, cel.Sequence, cel.ContiguousSequence))
            pattern = kind(pattern, more)
            if draw.randrange(6) == 0:
                pattern = cel.Gapped(pattern.left, more, random_.gap(draw))
        if draw.randrange(3) == 0:
            pattern = random_.without(draw, pattern, streamed=False)
        if draw.randrange(3) == 0:
            pattern = correlated.correlated(draw, pattern)
        query = replace(random_.query(draw, 1, streamed=False), formula=pattern)
        query = replace(
            query,
            select=random_.outputs(draw, pattern) if draw.randrange(2) else None,
            returned=random_.returned(draw, pattern) if draw.randrange(3) == 0 else (),
            window=random_.window(draw),
            consume=Consume.NONE,
            skip=None,
            timeouts=True,
        )
        try:
            check_timeouts(query)
        except RefusedError:
            continue
        return query


def timed_out_rows(query: ParsedQuery, stream: cereus.Stream, events: random_.Events) -> Counter:
    """(row, steps, deadline in seconds) of the reference."""
    every = timeouts(
        query,
        events,
        type=stream.type,
        time=lambda event: event["t"] * random_.SECOND,
        stream=stream.stream,
        keys=stream.keys,
    )
    shown: Counter[Any] = Counter()
    for each in every:
        ((row, _),) = reference_rows([each.match], query, events).items()
        deadline = None if each.deadline is None else each.deadline // random_.SECOND
        shown[row, each.steps, deadline] += 1
    return shown


def steps_reached(query: cereus.Query, row: dict[str, Any]) -> set[int]:
    """The numbers of steps that a row may have reached, by what it says."""
    plans = query.compiled.plan().timeouts
    every = len(plans.steps)
    return {
        every - place
        for place, step in enumerate(plans.steps)
        if (step.reached, step.waiting_for) == (row["reached"], row["waiting_for"])
    }


@examples(FEWER)
@given(random_.randoms)
def test_random_queries_cut_into_pieces(draw: Random) -> None:
    """Against the definition: in pieces, across snapshots, with promises of time."""
    query = random_query(draw)
    stream = cereus.Stream(time="t", unit="s")
    note(f"{to_text(query)}\n{stream}")
    made = compiled(query, stream)
    for _ in range(2):
        events = random_.events(draw, draw.randint(2, random_.longest(query.formula)))
        recognizer = made.recognizer(forget_idle=draw.randrange(2) == 0)
        found: list[dict[str, Any]] = []
        for piece in pieces(draw, random_.table(events)):
            if draw.randrange(3) == 0 and recognizer._executor is not None:
                recognizer = made.restore(recognizer.snapshot())
            found += list(recognizer.push(piece))
            if piece.num_rows and draw.randrange(3) == 0:
                found += list(recognizer.advance(piece.column("t")[-1].as_py()))
        found += list(recognizer.finish())
        complete = [row for row in found if not row["timed_out"]]
        assert_complete(rows(complete, query), query, stream, events)
        late = [row for row in found if row["timed_out"]]
        expected = timed_out_rows(query, stream, events)
        actual: Counter[Row] = rows(late, query)
        wanted: Counter[Row] = Counter()
        for (row, _, _), times in expected.items():
            wanted[row] += times
        assert actual == wanted, difference(actual, wanted)
        by_row = {(next(iter(rows([row], query)))): row for row in late}
        for row, steps, deadline in expected:
            assert steps in steps_reached(made, by_row[row])
            assert by_row[row]["deadline"] == deadline


def assert_complete(
    actual: Counter[Row], query: ParsedQuery, stream: cereus.Stream, events: random_.Events
) -> None:
    """Matches are those without WITH TIMEOUTS; under LIMIT, some of them."""
    plain = replace(query, timeouts=False, limit=None)
    every = reference_rows(reference_matches(plain, stream, events), plain, events)
    assert actual <= every if query.limit is not None else actual == every
