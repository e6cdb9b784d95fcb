"""Queries 1–5 of the paper and its examples, with results worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from cereus.languages.sase.text import parse, to_text

from .conftest import Evaluate
from .paper_queries import QUERIES, QUERY_1, QUERY_2, QUERY_3, QUERY_4, QUERY_5

HOUR = 3_600_000_000
DAY = 24 * HOUR

Event = dict[str, Any]


def stock(time: int, price: float, volume: int = 100, symbol: str = "GOOG") -> Event:
    return {
        "kind": "STOCK",
        "time": time,
        "price": price,
        "volume": volume,
        "symbol": symbol,
        "type": None,
    }


def scan(
    time: int, location: str, following: str | None, thing: str = "o", courier: str = "k"
) -> Event:
    return {
        "kind": "SCAN",
        "time": time,
        "location": location,
        "next": following,
        "object_id": thing,
        "courier_id": courier,
    }


@pytest.mark.parametrize("text", QUERIES)
def test_the_queries_are_read_as_printed(text: str) -> None:
    program = parse(text)
    assert parse(to_text(program)) == program


def test_query_1_sums_what_follows_bad_news_once_when_the_window_has_passed(
    evaluate: Evaluate,
) -> None:
    news: Event = {**stock(0, 0, 0, ""), "kind": "NEWS", "type": "bad"}
    events = [
        news,
        stock(1, 1, 100),
        stock(2, 1, 50, "MSFT"),
        stock(3, 1, 7),
        stock(4 * HOUR + 1, 1, 9),
    ]
    (answer,) = evaluate(QUERY_1, events, type="kind")
    (match,) = answer.matches
    assert match.bindings == (("a", (0,)), ("b", (1, 3)))
    assert match.values == (107,)
    assert match.reported_at == 4
    (early,) = evaluate(QUERY_1, events[:4], type="kind")
    assert [m.reported_at for m in early.matches] == [None]


def test_query_2_from_10_to_20_over_a_dip_and_no_further(evaluate: Evaluate) -> None:
    prices = [10, 12, 11, 15, 20, 25, 20]
    events = [stock(time, price) for time, price in enumerate(prices)]
    events.insert(2, stock(1, 13, symbol="MSFT"))
    (answer,) = evaluate(QUERY_2, events, type="kind")
    assert [m.bindings for m in answer.matches] == [(("a", (0, 1, 4, 5)),)]
    assert answer.events[0] == {"kind": "EVENT", "time": 4, "symbol": "GOOG", "price": 10}


def test_query_2_wants_the_volume_to_keep_up(evaluate: Evaluate) -> None:
    events = [stock(0, 10, 200), stock(1, 20, 100)]
    assert evaluate(QUERY_2, events, type="kind")[0].matches == ()


def test_query_3_stops_at_the_first_plunge_and_without_the_cut_goes_on(evaluate: Evaluate) -> None:
    values = [(10, 1001), (11, 1100), (10.6, 870), (12, 690)]
    events = [stock(time, price, volume) for time, (price, volume) in enumerate(values)]
    (answer,) = evaluate(QUERY_3, events, type="kind")
    # 10.6 is above the average 10.5, so it could go on in a[]; 870 < 80% of 1100 ends it.
    assert [m.bindings for m in answer.matches] == [
        (("a", (0, 1)), ("b", (2,))),
        (("a", (1,)), ("b", (2,))),
    ]
    first = {"price": 10, "volume": 1001}
    assert answer.matches[0].values == ("GOOG", first, {"price": 10.6, "volume": 870})
    (longer,) = evaluate(QUERY_3.replace("a[ ]!", "a[ ]"), events, type="kind")
    more = {m.bindings for m in longer.matches} - {m.bindings for m in answer.matches}
    assert more == {(("a", (0, 1, 2)), ("b", (3,))), (("a", (1,)), ("b", (3,)))}


def test_the_longest_rise_skips_a_relevant_event(evaluate: Evaluate) -> None:
    text = """PATTERN SEQ(STOCK+ a[]) WHERE {}(a[]) {{ a[i].price > a[i-1].price }}
    RETURN a[].price"""
    events = [stock(time, price) for time, price in enumerate([1, 2, 7, 3, 4, 5, 6])]
    (answer,) = evaluate(text.format("skip_till_any_match"), events, type="kind")
    found = [m.values[0] for m in answer.matches]
    assert [1, 2, 3, 4, 5, 6] in found
    # Rising subsequences: 63 of 1 2 3 4 5 6, and 7 alone or behind a subset of 1 2.
    assert len(found) == 63 + 4
    (following,) = evaluate(text.format("skip_till_next_match"), events, type="kind")
    assert [1, 2, 7] in [m.values[0] for m in following.matches]
    assert [1, 2, 3, 4, 5, 6] not in [m.values[0] for m in following.matches]


ROUTES: dict[str, tuple[list[tuple[str, str | None]], bool]] = {
    "two hops": ([("New York", "Boston"), ("Boston", "Amherst"), ("Amherst", None)], False),
    "three stops": (
        [
            ("New York", "a"),
            ("a", "b"),
            ("b", "c"),
            ("c", "Amherst"),
            ("Amherst", None),
        ],
        False,
    ),
    "four stops": (
        [
            ("New York", "a"),
            ("a", "b"),
            ("b", "c"),
            ("c", "d"),
            ("d", "Amherst"),
            ("Amherst", None),
        ],
        True,
    ),
    "not connected": ([("New York", "Boston"), ("Albany", "Amherst"), ("Amherst", None)], True),
    "strayed at the end": (
        [("New York", "Boston"), ("Boston", "Amherst"), ("Albany", "x"), ("Amherst", None)],
        True,
    ),
    "never scanned between": ([("New York", "Boston"), ("Amherst", None)], True),
    "not arrived": ([("New York", "Boston"), ("Albany", "Amherst")], False),
}


@pytest.mark.parametrize("name", ROUTES)
def test_query_4_reports_what_came_by_no_normal_route(evaluate: Evaluate, name: str) -> None:
    stops, anomaly = ROUTES[name]
    events = []
    for time, (location, following) in enumerate(stops):
        events.append(scan(2 * time, location, following))
        events.append(scan(2 * time + 1, "elsewhere", "nowhere", "another object"))
    (answer,) = evaluate(QUERY_4, events, type="kind")
    expected = {"kind": "ANOMALY", "time": 2 * (len(stops) - 1)}
    found = [expected | {"object_id": "o", "courier_id": "k"}] if anomaly else []
    assert list(answer.events) == found


def couriers(first: int, second: int) -> list[Event]:
    events: list[Event] = []
    for number in range(max(first, second)):
        for courier, count in (("ann", first), ("bob", second)):
            if number < count:
                thing, time = f"{courier}{number}", number * DAY // 2
                events.append(scan(time, "New York", "Boston", thing, courier))
                events.append(scan(time, "Amherst", None, thing, courier))
    return events


def test_query_5_names_the_courier_with_ten_anomalies_in_a_week(evaluate: Evaluate) -> None:
    anomalies, answer = evaluate(QUERY_4 + QUERY_5, couriers(10, 9), type="kind")
    assert len(anomalies.events) == 19
    (match,) = answer.matches
    assert match.values == ("ann", [f"ann{number}" for number in range(10)])
    assert answer.events[0]["time"] == 9 * DAY // 2


def test_queries_that_feed_one_another_stand_in_any_order(evaluate: Evaluate) -> None:
    answer, anomalies = evaluate(QUERY_5 + QUERY_4, couriers(9, 12), type="kind")
    assert len(anomalies.events) == 21
    assert [(m.values[0], len(m.values[1])) for m in answer.matches] == [
        ("bob", 12),
        ("bob", 11),
        ("bob", 10),
    ]


class Permutations:
    """S5: a permutation is written as the images of 1 to 5."""

    identity = "12345"

    @staticmethod
    def combine(first: str, then: str) -> str:
        return "".join(then[int(image) - 1] for image in first)


def test_the_word_problem_of_s5(evaluate: Evaluate) -> None:
    """Lemma 4.2: the words that bring 1 back to 1."""
    text = """PATTERN SEQ(P+ a[])
    WHERE strict_contiguity(a[]) { a[1].first = TRUE ∧ substr(product(a[].pi), 1, 1) = '1' }
    RETURN count(a[])"""
    word = ["23451", "21345", "51234", "12345"]  # 1 goes to 2, to 1, to 5, to 5
    events = [
        {"type": "P", "time": time, "pi": pi, "first": time == 0} for time, pi in enumerate(word)
    ]
    (answer,) = evaluate(text, events, aggregates={"product": Permutations()})
    assert [m.values for m in answer.matches] == [(2,)]


def test_reachability(evaluate: Evaluate) -> None:
    """Lemma 4.4: a path along edges that come in order needs the right choices."""
    text = """PATTERN SEQ(E+ a[])
    WHERE {}(a[]) {{ a[1].tail = 1 ∧ a[i].tail = a[i-1].head ∧ a[a.LEN].head = 5 }}
    RETURN a[].head"""
    edges = [(1, 2), (2, 3), (2, 4), (4, 5)]
    events = [
        {"type": "E", "time": time, "tail": tail, "head": head}
        for time, (tail, head) in enumerate(edges)
    ]
    (found,) = evaluate(text.format("skip_till_any_match"), events)
    assert [m.values[0] for m in found.matches] == [[2, 4, 5]]
    (next_only,) = evaluate(text.format("skip_till_next_match"), events)
    assert next_only.matches == ()
    (single,) = evaluate(text.format("skip_till_next_match"), [events[0], *events[2:]])
    assert [m.values[0] for m in single.matches] == [[2, 4, 5]]
