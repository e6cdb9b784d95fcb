"""NOT FOLLOWED BY: matches that wait until it is clear that something does not follow."""

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
from cereus.clauses.tree import Consume, TimeWindow, Unfollowed
from cereus.errors import CereusError, RefusedError
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.order import leaf_order
from cereus.languages.ceql.scope import bound
from cereus.languages.ceql.text import parse, to_text
from cereus.translate.translate import translated
from tests.languages.ceql import correlated
from tests.languages.ceql import strategies as random_
from tests.languages.ceql.harness import Row, compiled, reference_matches, reference_rows, rows
from tests.languages.ceql.test_differential import FEWER, examples, given, pieces

ORDERS = pa.table(
    {
        "type": ["ORDER", "PAID", "ORDER", "PAID", "SHIP", "OTHER"],
        "k": [1, 1, 2, 2, 1, 2],
        "x": [1, 1, 1, 1, 1, 1],
        "ts": [datetime(2024, 1, 1, 9, minute) for minute in (0, 1, 2, 3, 5, 30)],
    }
)
STREAM = cereus.Stream(time="ts")
LATE = (
    "SELECT * WHERE ORDER AS a ; PAID AS c NOT FOLLOWED BY SHIP WITHIN 5 minutes "
    "PARTITION BY k WITHIN 1 hour"
)


def test_it_is_emitted_at_the_deadline_with_the_deadline() -> None:
    (row,) = cereus.compile(LATE, stream=STREAM).run(ORDERS)
    assert (row["k"], row["positions"]) == (2, [2, 3])
    assert row["deadline"] == datetime(2024, 1, 1, 9, 8)
    assert list(row)[3:6] == ["start_time", "end_time", "deadline"]


def test_the_deadline_itself_still_counts() -> None:
    for minutes, found in ((4, 0), (3, 1)):
        text = LATE.replace("5 minutes", f"{minutes} minutes")
        rows = cereus.compile(text, stream=STREAM).run(ORDERS.slice(0, 5))
        assert len([row for row in rows if row["k"] == 1]) == found


@pytest.mark.parametrize("step", [1, 100_000])
@pytest.mark.parametrize("condition", ["n.x = a.x", "n.x >= a.x", "n.k = c.k AND n.x <= c.x"])
def test_times_in_nanoseconds_are_compared_as_all_others(condition: str, step: int) -> None:
    """Times of some 10**18, over minutes and over 60 years, with deadlines of thousands of keys."""
    draw = Random(3)
    size = 20_000
    columns = {
        "type": draw.choices(("ORDER", "PAID", "SHIP"), k=size),
        "k": [draw.randrange(5000) for _ in range(size)],
        "x": [draw.randrange(3) for _ in range(size)],
    }
    text = LATE.replace("SHIP WITHIN 5 minutes", f"(SHIP AS n FILTER {condition}) WITHIN 1 hour")
    text = text.replace("1 hour", f"{step} hours")
    found = []
    for unit, begin in (("s", 0), ("ns", 7_000_000_000)):
        factor = 10**9 if unit == "ns" else 1
        times = [(begin + step * place) * factor for place in range(size)]
        table = pa.table({**columns, "ts": pa.array(times, pa.timestamp(unit))})
        found.append([row["positions"] for row in cereus.compile(text, stream=STREAM).run(table)])
    assert found[0] == found[1]
    assert len(found[0]) > 100


def test_it_waits_for_time_to_pass() -> None:
    query = cereus.compile(LATE, stream=STREAM)
    recognizer = query.recognizer(schema=ORDERS.schema)
    assert not len(recognizer.push(ORDERS.slice(0, 5)))
    deadline = pa.scalar(datetime(2024, 1, 1, 9, 8), pa.timestamp("us")).value
    assert not len(recognizer.advance(deadline))
    assert len(recognizer.advance(deadline + 1)) == 1
    assert not len(recognizer.finish())


CARDS = pa.table(
    {
        "type": ["A", "C", "A", "C", "B", "B", "OTHER"],
        "card": [1, 1, 2, 2, 1, 3, 9],
        "x": [1, 2, 3, 4, 5, 6, 7],
        "ts": [datetime(2024, 1, 1, 9, minute) for minute in (0, 1, 2, 3, 4, 5, 30)],
    }
)
COMPARED = "SELECT * WHERE A AS a ; C AS c NOT FOLLOWED BY (B AS b FILTER {}) WITHIN 5 minutes"


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("b.card = a.card", [[2, 3]]),
        ("b.x > c.x + 3", [[0, 3], [2, 3]]),
        ("b.card = c.card AND b.x > 5", [[0, 1], [0, 3], [2, 3]]),
        ("b.card = a.card OR b.x > 5", []),
    ],
)
def test_what_must_not_follow_is_compared_with_the_match(
    condition: str, kept: list[list[int]]
) -> None:
    query = cereus.compile(COMPARED.format(condition) + " WITHIN 1 hour", stream=STREAM)
    assert sorted(row["positions"] for row in query.run(CARDS)) == kept
    assert "compared with its events" in query.explain(CARDS.schema)


def test_it_is_compared_with_variables_that_hold_one_event() -> None:
    with pytest.raises(RefusedError, match="'a' may hold several events") as error:
        cereus.compile(COMPARED.format("b.card = a.card").replace("A AS a", "A+ AS a"))
    assert error.value.hint
    with pytest.raises(CereusError, match="variable 'd' is not bound"):
        cereus.compile(COMPARED.format("b.card = d.card"))


def test_it_returns_values_and_conditions_are_checked() -> None:
    text = LATE.replace("BY SHIP", "BY ((SHIP AS s FILTER s.x > 1) OR OTHER)")
    query = cereus.compile(f"{text} RETURN a.x + 1 AS y", stream=STREAM, schema=ORDERS.schema)
    assert sorted(row["k"] for row in query.run(ORDERS)) == [1, 2]
    assert {row["y"] for row in query.run(ORDERS)} == {2}
    with pytest.raises(CereusError, match="unknown attribute 'y'"):
        broken = LATE.replace("BY SHIP", "BY (SHIP AS s FILTER s.y = 1)")
        cereus.compile(broken, stream=STREAM, schema=ORDERS.schema)


def test_an_event_of_an_earlier_batch_follows_a_match_that_ends_unmarked() -> None:
    """`* ; NOT(B)` marks one event and ends later: a C between the two follows it."""
    text = "SELECT * WHERE * ; NOT(B) NOT FOLLOWED BY C WITHIN 0 seconds"
    query = cereus.compile(text, stream=cereus.Stream(time="t", unit="s"))
    table = pa.table({"type": list("AAACAA"), "t": [0] * 6})
    expected = [row["positions"] for row in query.run(table)]
    assert sorted(expected) == [[3], [3], [4]]
    for cut in range(1, 6):
        recognizer = query.recognizer()
        found = list(recognizer.push(table.slice(0, cut)))
        recognizer = query.restore(recognizer.snapshot())
        found += [*recognizer.push(table.slice(cut)), *recognizer.finish()]
        assert sorted(row["positions"] for row in found) == sorted(expected)


def test_what_it_does_not_go_with_is_refused_by_name() -> None:
    for clause in ("LIMIT 1", "CONSUME BY ANY", "AFTER MATCH SKIP TO NEXT EVENT"):
        with pytest.raises(RefusedError, match="NOT FOLLOWED BY does not go with"):
            cereus.compile(f"{LATE} {clause}")
    with pytest.raises(RefusedError, match="waits for a time"):
        cereus.compile(LATE.replace("5 minutes", "5 EVENTS"))
    with pytest.raises(RefusedError, match="the stream has none"):
        cereus.compile(LATE)
    with pytest.raises(RefusedError, match="SREMO has no NOT FOLLOWED BY"):
        translated(cereus.compile(LATE, stream=STREAM).compiled, "sremo")


def test_it_prints_and_is_explained() -> None:
    tree = parse(LATE)
    assert parse(to_text(tree)) == tree
    assert "waits for 5 minutes" in cereus.compile(LATE, stream=STREAM).explain(ORDERS.schema)


def compared(draw: Random, formula: cel.Formula, waits: Unfollowed) -> Unfollowed:
    """The same, with conditions between what must not follow and single events of the match."""
    order = leaf_order(formula)
    names = [n for n in sorted(bound(formula)) if ">" not in n and not order.may_follow(n, n)]
    if not names:
        return waits
    read: set[str] = set()
    events = []
    for event in waits.events:
        assert isinstance(event, cel.Excluded)
        every = [correlated.comparison(draw, ["z", draw.choice(names)]) for _ in range(2)]
        read |= {name for each in every for name in ex.variables(each)} - {"z"}
        parts = tuple(map(cel.Holds, every))
        joined = draw.choice((cel.AllOf, cel.AllOf, cel.AnyOf))(parts)
        events.append(replace(event, names=("z",), predicate=joined))
    return replace(waits, events=tuple(events), read=tuple(sorted(read)))


@examples(FEWER)
@given(random_.randoms)
def test_random_queries_cut_into_pieces(draw: Random) -> None:
    """Against the definition: in pieces, across snapshots, with promises of time."""
    case = random_.case(draw)
    absent = tuple(
        cel.Excluded(cel.Type(name)) for name in draw.sample(random_.TYPES, draw.randint(1, 2))
    )
    waits = Unfollowed(absent, TimeWindow(draw.randint(0, 4) * random_.SECOND))
    if draw.randrange(2):
        waits = compared(draw, case.query.formula, waits)
    query = replace(case.query, limit=None, consume=Consume.NONE, skip=None, unfollowed=waits)
    note(str(replace(case, query=query)))
    query = parse(to_text(query))
    made = compiled(query, case.stream)
    for events in case.streams:
        wanted = reference_matches(query, case.stream, events)
        recognizer = made.recognizer(forget_idle=draw.randrange(2) == 0)
        found: list[dict[str, Any]] = []
        for piece in pieces(draw, random_.table(events)):
            if draw.randrange(3) == 0 and recognizer._executor is not None:
                recognizer = made.restore(recognizer.snapshot())
            found += list(recognizer.push(piece))
            if piece.num_rows and draw.randrange(3) == 0:
                found += list(recognizer.advance(piece.column("t")[-1].as_py()))
        found += list(recognizer.finish())
        actual: Counter[Row] = rows(found, query)
        assert actual == reference_rows(wanted, query, events)
        assert Counter(row["deadline"] for row in found) == Counter(
            match.deadline // random_.SECOND for match in wanted
        )


def test_followers_that_the_history_has_forgotten_are_not_looked_up() -> None:
    stream = cereus.Stream(time="t", unit="s")
    text = "SELECT * WHERE A ; NOT(B) NOT FOLLOWED BY C WITHIN 3 seconds"
    recognizer = cereus.compile(text, stream=stream).recognizer()
    recognizer.push(pa.table({"type": ["C"] * 9, "t": range(9)}))
    recognizer.push(pa.table({"type": ["A"], "t": [9]}))
    recognizer.snapshot()
    recognizer.push(pa.table({"type": ["D"], "t": [10]}))
    assert [row["positions"] for row in recognizer.finish()] == [[9]]


def test_max_keeps_the_events_of_matches_that_wait() -> None:
    text = """SELECT MAX * WHERE A ; B+ NOT FOLLOWED BY C WITHIN 4 seconds
        PARTITION BY k WITHIN 4 seconds"""
    query = cereus.compile(text, stream=cereus.Stream(time="t", unit="s"))
    recognizer = query.recognizer()
    recognizer.push(pa.table({"type": ["A", "B"], "t": [0, 1], "k": ["p", "p"]}))
    recognizer.push(pa.table({"type": ["A", "B"], "t": [100, 101], "k": ["q", "q"]}))
    recognizer = query.restore(recognizer.snapshot())
    found = [(row["k"], row["positions"]) for row in recognizer.finish()]
    assert sorted(found) == [("p", [0, 1]), ("q", [2, 3])]


LAST = 2**63 - 1
"""The last time that a column can hold."""
UNFOLLOWED = "SELECT * WHERE A AS a NOT FOLLOWED BY {} WITHIN 10 seconds"


@pytest.mark.parametrize("follower", ["B", "(B AS b FILTER b.x = a.x)"])
@pytest.mark.parametrize(
    ("times", "kept"),
    [([LAST - 5, LAST], 0), ([LAST, LAST], 0), ([LAST - 20, LAST], 1), ([LAST - 5, LAST - 1], 0)],
)
def test_an_event_at_the_last_time_that_there_is_follows(
    follower: str, times: list[int], kept: int
) -> None:
    query = cereus.compile(UNFOLLOWED.format(follower), stream=cereus.Stream(time="t", unit="s"))
    table = pa.table({"type": ["A", "B"], "x": [1, 1], "t": times})
    assert len(query.run(table)) == kept
    recognizer = query.recognizer(schema=table.schema)
    assert not len(recognizer.push(table.slice(0, 1)))
    found = len(recognizer.push(table.slice(1))) + len(recognizer.finish())
    assert found == kept


def test_a_match_at_the_last_time_that_there_is_waits_for_the_end() -> None:
    query = cereus.compile(UNFOLLOWED.format("B"), stream=cereus.Stream(time="t", unit="s"))
    table = pa.table({"type": ["A", "C"], "t": [LAST - 5, LAST]})
    recognizer = query.recognizer(schema=table.schema)
    assert not len(recognizer.push(table))
    assert not len(recognizer.advance(LAST))
    (row,) = recognizer.finish()
    assert (row["positions"], row["deadline"]) == ([0], LAST)
