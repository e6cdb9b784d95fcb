"""Conditions between events: the kernel against the definition, on random and on named patterns."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.clauses.tree import Strategy
from cereus.engine.kernel import layout
from cereus.languages.ceql.text import parse, to_text
from tests.languages.ceql import correlated, strategies
from tests.languages.ceql.harness import (
    ALWAYS,
    assert_agrees,
    compiled,
    positions,
    rows,
    sizes,
    spelled,
)
from tests.volume import volume

BLOCKS, SEEDS = 10, volume(3, 32)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_correlated_queries_give_what_the_definition_gives(block: int) -> None:
    """500 random queries or 3,200, two streams each: registers and general states alike."""
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        case = correlated.case(Random(seed))
        query = compiled(case.query, case.stream)
        for events in case.streams:
            found = rows(query.run(strategies.table(events)), case.query)
            try:
                assert_agrees(found, case.query, case.stream, events)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {to_text(case.query)}\n{error}") from None


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_order_of_configurations_changes_no_answer(block: int) -> None:
    """As many random queries, most of them with an order between events."""
    for seed in range(300_000 + block * SEEDS, 300_000 + (block + 1) * SEEDS):
        draw = Random(seed)
        case = correlated.case(draw)
        query = compiled(case.query, case.stream)
        for events in case.streams:
            with sizes(order=ALWAYS, sweep=draw.choice([1, 1000])):
                recognizer = query.recognizer(schema=strategies.SCHEMA)
                cut = draw.randrange(len(events) + 1)
                found = list(recognizer.push(strategies.table(events[:cut])))
                if draw.randrange(2):
                    recognizer = query.restore(recognizer.snapshot())
                found += recognizer.push(strategies.table(events[cut:]))
                found += recognizer.finish()
            try:
                assert_agrees(rows(found, case.query), case.query, case.stream, events)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {to_text(case.query)}\n{error}") from None


CHOSEN_BY_KERNEL = (Strategy.NEXT, Strategy.LAST, Strategy.ANY, Strategy.MAX)


@pytest.mark.parametrize("strategy", CHOSEN_BY_KERNEL)
def test_random_correlated_queries_under_a_strategy(strategy: Strategy) -> None:
    """Chunks of one match and frequent sweeps: choices are made again, and start over midway."""
    for seed in range(120_000, 120_000 + volume(3, 20)):
        draw = Random(seed)
        case = correlated.case(draw)
        chosen = parse(to_text(replace(case.query, strategy=strategy)))
        query = compiled(chosen, case.stream)
        for events in case.streams:
            order = draw.choice([ALWAYS, 1, 64])
            with sizes(
                chunk=draw.choice([1, 3, 1000]), sweep=draw.choice([1, 20, 1000]), order=order
            ):
                found = rows(query.run(strategies.table(events)), chosen)
            try:
                assert_agrees(found, chosen, case.stream, events)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {to_text(chosen)}\n{error}") from None


@pytest.mark.parametrize("strategy", ["NEXT", "LAST", "ANY"])
def test_when_the_best_match_has_left_the_window_the_next_best_is_chosen(strategy: str) -> None:
    events = spelled("A A B B C C", x="1 2 2 1 0 0")
    text = f"SELECT {strategy} * WHERE A AS a ; B AS b ; C FILTER a.x = b.x WITHIN 5 EVENTS"
    assert positions(text, events) == [[0, 3, 4], [1, 2, 5]]


@pytest.mark.parametrize("strategy", ["NEXT", "LAST"])
def test_without_a_window_a_configuration_holds_its_best_partial_match_only(strategy: str) -> None:
    n, values = 3000, 7
    events = pa.table({"type": ["A"] * n + ["B"], "x": [i % values for i in range(n)] + [3]})
    text = f"SELECT {strategy} * WHERE A AS a ; A AS c ; B AS b FILTER a.x = b.x AND c.x = b.x"
    executor = cereus.compile(text, schema=events.schema).executor(events.schema)
    (batch,) = events.combine_chunks().to_batches()
    (found,) = executor.push(batch)
    alike = [i for i in range(n) if i % values == 3]
    chosen = alike[:2] if strategy == "NEXT" else alike[-2:]
    assert found.column("positions").to_pylist() == [[*chosen, n]]
    executor.save()  # which sweeps
    assert executor.runner.kernel.node_count <= values * (values + 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize("block", range(4))
def test_how_the_stream_is_cut_makes_no_difference(block: int) -> None:
    """Random cuts, with a snapshot taken and restored at one of them."""
    for seed in range(50_000 + block * 60, 50_000 + block * 60 + volume(4, 20)):
        draw = Random(seed)
        case = correlated.case(draw)
        query = compiled(case.query, case.stream)
        for events in case.streams:
            whole = rows(query.run(strategies.table(events)), case.query)
            recognizer = query.recognizer(schema=strategies.SCHEMA)
            parts = []
            for at in range(0, len(events), 3):
                parts += list(recognizer.push(strategies.table(events[at : at + 3])))
                if draw.randrange(2):
                    recognizer = query.restore(recognizer.snapshot())
            if case.query.limit is None:
                assert rows(parts, case.query) == whole, (seed, to_text(case.query))


@pytest.mark.parametrize("block", range(4))
def test_counting_is_as_many_as_listing(block: int) -> None:
    for seed in range(90_000 + block * 150, 90_000 + block * 150 + volume(3, 18)):
        case = correlated.case(Random(seed))
        query = compiled(case.query, case.stream)
        for events in case.streams:
            table = strategies.table(events)
            assert query.count(table) == len(query.run(table)), (seed, to_text(case.query))


def test_phi_5_all_events_of_one_sensor() -> None:
    """φ₅ of the paper on the stream of Fig. 1."""
    events = spelled("H T H H T T T H H", x="2 0 0 1 1 0 1 1 0", w="25 45 20 25 40 42 25 70 18")
    text = """SELECT * WHERE H AS H1 ; T+ ; H AS H2
              FILTER H1[w < 30] AND H2[w > 60] AND H.x = T.x"""
    assert positions(text, events) == [[3, 4, 6, 7], [3, 4, 7], [3, 6, 7]]


def test_every_iteration_is_filtered_by_its_own_events() -> None:
    events = spelled("A B A B", x="1 1 2 2")
    inside = positions("SELECT * WHERE (A ; B FILTER A.x = B.x)+", events)
    outside = positions("SELECT * WHERE (A ; B)+ FILTER A.x = B.x", events)
    assert [0, 1, 2, 3] in inside
    assert outside == [[0, 1], [2, 3]]


def test_a_rise_above_the_highest_so_far() -> None:
    """Every B above every A before it: the largest A decides."""
    events = spelled("A A B A B", x="1 3 2 4 5")
    found = positions("SELECT * WHERE A+ ; B FILTER A.x < B.x", events)
    assert found == [[0, 1, 3, 4], [0, 1, 4], [0, 2], [0, 3, 4], [0, 4], [1, 3, 4], [1, 4], [3, 4]]


def test_null_is_equal_to_nothing() -> None:
    events = spelled("A B A B", x="- - 1 1")
    assert positions("SELECT * WHERE A ; B FILTER A.x = B.x", events) == [[2, 3]]
    assert positions("SELECT * WHERE A ; B FILTER A.x != B.x", events) == []


def test_card_tested_with_small_sums_then_emptied() -> None:
    """A fraud-like pattern: small payments, then a large one, with the same card, elsewhere."""
    events = pa.table(
        {
            "type": ["PAY"] * 6,
            "card": ["k1", "k2", "k1", "k1", "k2", "k1"],
            "amount": [1.0, 2.0, 1.5, 900.0, 3.0, 950.0],
            "place": ["x", "y", "x", "z", "y", "x"],
            "ts": pa.array(range(6), pa.timestamp("s")),
        }
    )
    query = cereus.compile(
        """SELECT small, large WHERE PAY+ AS small ; PAY AS large
           FILTER small[amount < 5] AND large[amount > 500]
              AND small.card = large.card AND small.place != large.place
           WITHIN 1 minute""",
        stream=cereus.Stream(time="ts"),
    )
    assert sorted((m["small"], m["large"]) for m in query.run(events)) == [
        ([0], [3]),
        ([0, 2], [3]),
        ([2], [3]),
    ]


def test_conditions_with_arithmetic_and_functions() -> None:
    events = spelled("A B B", x="100 101 130")
    text = "SELECT * WHERE A AS a ; B AS b FILTER abs(a.x - b.x) / a.x > 0.02"
    assert positions(text, events) == [[0, 2]]


def test_sum_of_a_set_variable() -> None:
    events = spelled("A B B B", x="0 4 5 3")
    found = positions("SELECT * WHERE A ; B+ AS b FILTER sum(b.x) > 8", events)
    assert found == [[0, 1, 2], [0, 1, 2, 3]]


def test_correlation_inside_the_negated_part() -> None:
    text = "SELECT * WHERE A : C : B UNLESS (A AS p ; C AS q FILTER p.x = q.x)"
    assert positions(text, spelled("A C B", x="2 3 2")) == [[0, 1, 2]]
    assert positions(text, spelled("A C B", x="1 1 1")) == []
    assert positions(text, spelled("A C B A C B", x="1 1 1 2 3 2")) == []  # the first A ; C stays


def test_equality_uses_the_index() -> None:
    """With 200 values in the window, a B meets only the A's of its own value: no more nodes are
    made than there are A's and matches."""
    n = 200
    events = pa.table(
        {"type": ["A"] * n + ["B"] * n, "x": [*range(n), *range(n)], "t": list(range(2 * n))}
    )
    query = cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x WITHIN 1000 EVENTS")
    executor = query.executor(events.schema)
    found = sum(b.num_rows for part in events.to_batches() for b in executor.push(part))
    assert found == n
    table = executor.runner.table  # type: ignore[attr-defined]
    with_slots = [s for s, slots in enumerate(table.layouts) if slots]
    indexed = [
        table.edges[table.head[c, s] + layout.EDGES_COLUMN]
        for s in with_slots
        for c in range(len(table.letters))
        if table.head[c, s] >= 0
    ]
    assert max(indexed) >= 0
    assert executor.runner.kernel.node_count <= 2 * n  # type: ignore[attr-defined]


def test_runs_that_agree_on_live_values_are_one_configuration() -> None:
    """A thousand A's with three prices: three configurations, whatever the number of A's."""
    n = 1000
    events = pa.table({"type": ["A"] * n, "x": [i % 3 for i in range(n)]})
    query = cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x")
    executor = query.executor(events.schema)
    for part in events.to_batches():
        list(executor.push(part))
    carried = executor.runner.kernel.save()["carry"]  # type: ignore[attr-defined]
    assert len(carried) == 4  # three prices, and the runs that have marked nothing


def test_counts_past_the_exact_are_flagged() -> None:
    n = 80
    events = pa.table({"type": ["A"] * n + ["B"]})
    rows_ = list(cereus.compile("SELECT COUNT(*) WHERE A+ ; B").run(events))
    assert rows_ == [{"end": n, "count": 2.0**80, "exact": False}]
    assert cereus.compile("SELECT * WHERE A+ ; B").count(events) == 2.0**80
