"""WITH TIMEOUTS in SASE+: what was begun and not completed within the window is a result too."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError, RefusedError
from cereus.languages.sase import tree as sase
from cereus.languages.sase.text import parse, to_text
from cereus.reference.sase.evaluate import matches
from cereus.reference.sase.nfa import Input
from cereus.reference.sase.timeouts import TimedOut, timeouts
from tests.volume import volume

from .strategies import AGGREGATES, SCHEMA, STRATEGIES, Event, events, query
from .test_engine import pieces, said

STREAM = cereus.Stream(time="time")
STEPS = "PATTERN SEQ(ORDER a, PAID b, SHIP c) WHERE [k] WITHIN 10 minutes WITH TIMEOUTS"


def at(minute: int) -> datetime:
    return datetime(2024, 1, 1, 9, minute)


ORDERS = pa.table(
    {
        "type": ["ORDER", "ORDER", "PAID", "PAID", "SHIP", "ORDER", "CANCEL"],
        "k": [1, 2, 1, 2, 1, 3, 3],
        "x": [1, 2, 3, 4, 5, 6, 7],
        "time": [at(minute) for minute in (0, 1, 2, 20, 21, 22, 23)],
    }
)


def found(text: str) -> list[dict[str, Any]]:
    rows = cereus.compile(text, dialect="sase", stream=STREAM).run(ORDERS)
    return sorted(rows, key=lambda row: row["start"])


# ---------------------------------------------------------------- worked examples


def test_how_far_it_came_what_it_waited_for_and_until_when() -> None:
    rows = found(f"{STEPS} RETURN a.k, b.x, c.x")
    assert [list(row.values())[4:8] for row in rows] == [
        [True, "b", "c", at(10)],
        [True, "a", "b", at(11)],
        [True, "a", "b", at(32)],
    ]
    assert [(row["k"], row["b_x"], row["c_x"]) for row in rows] == [
        (1, 3, None),
        (2, None, None),
        (3, None, None),
    ]


def test_what_has_failed_before_its_window_ended_is_no_time_out() -> None:
    text = "PATTERN SEQ(ORDER a, ~CANCEL d, PAID b) WHERE [k] WITHIN 10 minutes WITH TIMEOUTS"
    rows = [(row["k"], row["timed_out"]) for row in found(f"{text} RETURN a.k")]
    assert rows == [(1, False), (2, True)]


def test_a_kleene_plus_that_lacks_its_last_condition_waits_for_more() -> None:
    text = "PATTERN SEQ(ORDER a, PAID+ b[]) WHERE [k] AND sum(b[].x) > 9 WITHIN 30 minutes"
    rows = found(f"{text} WITH TIMEOUTS")
    assert [(row["positions"], row["reached"], row["waiting_for"]) for row in rows] == [
        ([0, 2], "b", "b"),
        ([1, 3], "b", "b"),
        ([5], "a", "b"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PATTERN SEQ(A a, B b) WITH TIMEOUTS", "needs a window"),
        ("PATTERN SEQ(A a, B b) WITHIN 5 [x] WITH TIMEOUTS", "of time or of events"),
        ("PATTERN SEQ(A a) WITHIN 5 EVENTS WITH TIMEOUTS", "several components"),
        ("PATTERN SEQ(~C c, A a, B b) WITHIN 5 EVENTS WITH TIMEOUTS", "negation at the beginning"),
        (
            "PATTERN SEQ(A a, B b) WITHIN 5 EVENTS WITH TIMEOUTS AFTER MATCH SKIP TO NEXT EVENT",
            "does not go with AFTER MATCH SKIP",
        ),
        (
            "PATTERN SEQ(A a, B b) WITHIN 5 EVENTS WITH TIMEOUTS RETURN a.x UNION "
            "PATTERN SEQ(A a) RETURN a.x",
            "a text of one query",
        ),
    ],
)
def test_what_has_no_time_outs_is_refused_with_a_hint(text: str, message: str) -> None:
    with pytest.raises(RefusedError, match=f"WITH TIMEOUTS .*{message}") as error:
        cereus.compile(text, dialect="sase", stream=STREAM)
    assert error.value.hint


def test_it_prints_and_is_explained() -> None:
    tree = parse(f"{STEPS} RETURN a.x")
    assert parse(to_text(tree)) == tree
    made = cereus.compile(STEPS, dialect="sase", stream=STREAM)
    assert "partial matches whose window has passed" in made.explain(ORDERS.schema)
    assert "partial matches that are not complete" in made.words()


# ---------------------------------------------------------------- against the definition


def expected(block: sase.Query, stream: list[Event]) -> Counter[Any]:
    """(bindings, reached, waiting for, deadline) of what timed out."""
    every = timeouts(block, Input(stream), AGGREGATES)
    return Counter((each.bindings, *_steps(each), each.deadline) for each in every)


def _steps(each: TimedOut) -> tuple[str, str]:
    names = [name for name, _ in each.bindings]
    reached = sum(bool(positions) for _, positions in each.bindings)
    return names[reached - 1], names[reached - 1 if each.last_again else reached]


def timed_out(rows: list[dict[str, Any]], block: sase.Query) -> Counter[Any]:
    names = [component.variable for component in block.components]
    return Counter(
        (
            tuple((name, tuple(row[name])) for name in names),
            row["reached"],
            row["waiting_for"],
            row["deadline"] and pa.scalar(row["deadline"], pa.timestamp("us")).value,
        )
        for row in rows
        if row["timed_out"]
    )


def _run(made: cereus.Query, stream: list[Event], draw: Random) -> list[dict[str, Any]]:
    recognizer = made.recognizer(schema=SCHEMA)
    rows: list[dict[str, Any]] = []
    for batch in pieces(draw, stream):
        rows += list(recognizer.push(batch))
        if draw.random() < 0.4:
            recognizer = made.restore(recognizer.snapshot())
        if batch.num_rows and draw.random() < 0.3:
            rows += list(recognizer.advance(batch.column("time")[-1].value))
    return rows + list(recognizer.finish())


def compare(seed: int) -> int | None:
    """How much timed out; None where the query has no time-outs."""
    draw = Random(seed)
    strategy = (None, "skip_till_any_match", *STRATEGIES)[seed % 6]
    text = query(draw, strategy=strategy, mixed=seed % 7 == 0)
    stream = events(draw, 8)
    block = parse(text, AGGREGATES).queries[0].blocks[0]
    plain = replace(block, having=None, output=sase.Output(()))
    block = replace(plain, timeouts=True)
    try:  # the text, so that parsing takes part
        program = parse(to_text(sase.Program((sase.Union((block,)),))), AGGREGATES)
        made = cereus.compile(program, stream=STREAM, aggregates=AGGREGATES)
        made.compiled.check(SCHEMA)
    except CereusError:
        return None
    if block.window is None:
        return None
    rows = _run(made, stream, draw)
    wanted = expected(block, stream)
    assert timed_out(rows, block) == wanted, said(text, stream)
    complete = Counter(tuple(row["positions"]) for row in rows if not row["timed_out"])
    every = matches(plain, Input(stream), AGGREGATES)
    assert complete == Counter(match.positions for match in every), said(text, stream)
    return wanted.total()


@pytest.mark.parametrize("part", range(2))
def test_random_queries_cut_into_pieces(part: int) -> None:
    """Against the definition: in pieces, across snapshots, with promises of time."""
    number = volume(36, 125)
    every = [compare(seed) for seed in range(number * part, number * (part + 1))]
    compared = [each for each in every if each is not None]
    assert len(compared) > number // 4
    assert sum(compared) > number // 4


def test_a_match_that_waits_for_its_window_to_pass_is_no_time_out() -> None:
    """`~(…)` at the end and WITHIN 4 EVENTS: the window is full with its last event, and a match in
    it is complete with the one behind, or at the end of the input."""
    assert compare(297) == 8
