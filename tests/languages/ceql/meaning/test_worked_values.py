"""The worked values of the CEL paper (§3, §7) and of our readings of it, by name."""

from __future__ import annotations

from typing import Any

import pytest

import cereus
from cereus import Stream
from cereus.languages.ceql.text import parse
from cereus.reference import cel as reference
from tests.languages.ceql.harness import positions, spelled

TYPES = ["H", "T", "H", "H", "T", "T", "T", "H", "H"]
IDS = [2, 0, 0, 1, 1, 0, 1, 1, 0]
VALUES = [25, 45, 20, 25, 40, 42, 25, 70, 18]
FIG_1: list[dict[str, Any]] = [
    {"type": kind, "id": place, "tmp": value if kind == "T" else None,
     "hum": value if kind == "H" else None}
    for kind, place, value in zip(TYPES, IDS, VALUES, strict=True)
]  # fmt: skip

FIRE = "T[tmp > 40] AND H[hum <= 25] AND T[id = 0] AND H[id = 0]"
RISE = "H1[hum < 30] AND H2[hum > 60] AND H[id = 1] AND T[id = 1]"
PHI_1 = f"T ; H FILTER {FIRE}"
PHI_3 = f"H AS H1 ; T+ ; H AS H2 FILTER {RISE}"


def complex_events(pattern: str, strategy: str = "") -> set[frozenset[int]]:
    """What kernel and reference both find on Fig. 1's stream."""
    text = f"SELECT {strategy} * WHERE {pattern}"
    rows = list(cereus.compile(text, stream=Stream()).run(FIG_1))
    meant = reference.matches(parse(text), FIG_1)
    assert sorted(row["positions"] for row in rows) == sorted(list(m.positions) for m in meant)
    return {frozenset(row["positions"]) for row in rows}


def sets(*events: tuple[int, ...]) -> set[frozenset[int]]:
    return {frozenset(each) for each in events}


def ending_at(found: set[frozenset[int]], end: int) -> set[frozenset[int]]:
    return {each for each in found if max(each) == end}


def test_phi_1_a_high_temperature_then_a_low_humidity() -> None:
    assert complex_events(PHI_1) == sets((1, 2), (1, 8), (5, 8))


def test_phi_1_contiguous() -> None:
    assert complex_events(f"T : H FILTER {FIRE}") == sets((1, 2))


def test_phi_2_either_order() -> None:
    found = complex_events(f"(T ; H) OR (H ; T) FILTER {FIRE}")
    assert found == sets((1, 2), (1, 8), (5, 8), (2, 5))


def test_phi_2_either_order_by_all() -> None:
    assert complex_events(f"T ALL H FILTER {FIRE}") == sets((1, 2), (1, 8), (5, 8), (2, 5))


def test_phi_3_temperatures_while_humidity_rises() -> None:
    assert complex_events(PHI_3) == sets((3, 4, 7), (3, 6, 7), (3, 4, 6, 7))


def test_phi_3_contiguous() -> None:
    found = complex_events(f"H AS H1 ; T:+ ; H AS H2 FILTER {RISE}")
    assert found == sets((3, 4, 7), (3, 6, 7))


def test_phi_4_the_temperatures_alone() -> None:
    assert complex_events(f"PROJECT[T]({PHI_3})") == sets((4,), (6,), (4, 6))


def test_phi_5_a_rise_at_any_one_sensor() -> None:
    found = complex_events(
        "H AS H1 ; T+ ; H AS H2 FILTER H1[hum < 30] AND H2[hum > 60] AND H.id = T.id"
    )
    assert found == sets((3, 4, 7), (3, 6, 7), (3, 4, 6, 7))


@pytest.mark.parametrize(
    ("strategy", "chosen"), [("NEXT", [(1, 8)]), ("LAST", [(5, 8)]), ("MAX", [(1, 8), (5, 8)])]
)
def test_strategies_choose_among_what_phi_1_finds_at_8(
    strategy: str, chosen: list[tuple[int, ...]]
) -> None:
    assert ending_at(complex_events(PHI_1, strategy), 8) == sets(*chosen)
    assert ending_at(complex_events(f"{strategy}({PHI_1})"), 8) == sets(*chosen)


@pytest.mark.parametrize("strategy", ["NEXT", "LAST", "MAX"])
def test_strategies_choose_the_largest_that_phi_3_finds_at_7(strategy: str) -> None:
    assert ending_at(complex_events(PHI_3, strategy), 7) == sets((3, 4, 6, 7))


def test_strict_phi_1_is_phi_1_contiguous() -> None:
    assert complex_events(PHI_1, "STRICT") == sets((1, 2))


def test_any_is_one_match_per_end_and_the_last_one() -> None:
    assert complex_events(PHI_1, "ANY") == sets((1, 2), (5, 8))


# ---------------------------------------------------------------- readings


def test_unless_looks_at_every_interval_not_only_at_those_that_end_last() -> None:
    """`R UNLESS T` on `T R`: the paper's automaton forgets the T, its Fig. 3 does not."""
    assert positions("SELECT * WHERE R UNLESS T", spelled("T R")) == []
    assert positions("SELECT * WHERE R UNLESS T", spelled("R T")) == [[0]]


def test_unless_begins_where_its_part_of_the_formula_begins() -> None:
    """On the right of `;` evaluation starts after the left side's end: an older T is not seen."""
    assert positions("SELECT * WHERE S ; (R UNLESS T)", spelled("T S R")) == [[1, 2]]
    assert positions("SELECT * WHERE S ; (R UNLESS T)", spelled("S T R")) == []


def test_contiguous_iteration_is_contiguous_all_the_way() -> None:
    """`φ⊕` is `φ OR (φ : φ⊕)`; Fig. 3 prints `+` on the right."""
    found = positions("SELECT * WHERE R:+", spelled("R R S R"))
    assert found == [[0], [0, 1], [1], [3]]


def test_contiguous_iteration_lets_one_iteration_have_gaps() -> None:
    found = positions("SELECT * WHERE (R ; S):+", spelled("R T S R S"))
    assert [0, 2, 3, 4] in found
    assert positions("SELECT * WHERE (R : S):+", spelled("R T S R S")) == [[3, 4]]


def test_start_anchors_at_the_beginning_of_its_part() -> None:
    assert positions("SELECT * WHERE START(R)", spelled("R R")) == [[0]]
    assert positions("SELECT * WHERE S ; START(R)", spelled("S R R S T R")) == [[0, 1]]


def test_a_filter_inside_an_iteration_is_about_each_iteration() -> None:
    events = spelled("R S R S", x="1 1 2 2")
    inside = "SELECT * WHERE (R ; S FILTER R.x = S.x)+"
    outside = "SELECT * WHERE (R ; S)+ FILTER R.x = S.x"
    assert positions(inside, events) == [[0, 1], [0, 1, 2, 3], [2, 3]]
    assert positions(outside, events) == [[0, 1], [2, 3]]


def test_a_filter_on_a_set_is_true_of_every_event_and_of_none() -> None:
    events = spelled("R R S", x="1 2 -")
    assert positions("SELECT * WHERE R+ FILTER R[x = 1]", events) == [[0]]
    assert positions("SELECT * WHERE R OR S FILTER R[x = 1]", events) == [[0], [2]]


def test_or_of_filters_is_not_a_filter_with_or() -> None:
    events = spelled("R R", x="1 2")
    filters = "SELECT * WHERE R+ FILTER R[x = 1] OR R[x = 2]"
    pointwise = "SELECT * WHERE R+ FILTER R[x = 1 OR x = 2]"
    assert positions(filters, events) == [[0], [1]]
    assert positions(pointwise, events) == [[0], [0, 1], [1]]


def test_and_asks_for_the_same_variables_on_the_same_positions() -> None:
    events = spelled("R S")
    assert positions("SELECT * WHERE (R ; S) AND (R : S)", events) == [[0, 1]]
    assert positions("SELECT * WHERE (R AS a ; S) AND (R : S)", events) == []


def test_all_interleaves() -> None:
    found = positions("SELECT * WHERE (R ; S) ALL (T ; U)", spelled("R T S U"))
    assert found == [[0, 1, 2, 3]]


def test_a_complex_event_is_reported_once_however_many_ways_it_was_found() -> None:
    assert positions("SELECT * WHERE R OR R OR (R AS a)", spelled("R")) == [[0]]


def test_each_binding_is_reported_once() -> None:
    events = spelled("R R S")
    assert positions("SELECT S WHERE R ; S", events) == [[2]]
    assert positions("SELECT R WHERE R ; S", events) == [[0], [1]]


def test_a_null_compares_as_not_true_and_so_does_its_negation() -> None:
    events = spelled("R R", x="- 1")
    assert positions("SELECT * WHERE R FILTER R[x = 1]", events) == [[1]]
    assert positions("SELECT * WHERE R FILTER R[NOT x = 1]", events) == []


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("a.x - 1 < b.x - 1", [[0, 1]]),
        ("a.x + 1 = b.x", [[0, 1]]),
        ("a.x > b.x / 2", [[0, 1], [0, 2], [1, 2]]),
    ],
)
def test_whole_numbers_beyond_those_of_floats_are_compared(
    condition: str, found: list[list[int]]
) -> None:
    large = [2**60, 2**60 + 1, 2**60 - 1]
    events = [{"type": "R", "x": x} for x in large]
    text = f"SELECT * WHERE R AS a ; R AS b FILTER {condition}"
    assert sorted(row["positions"] for row in cereus.compile(text).run(events)) == found
    total = cereus.compile("SELECT COUNT(*), MAX(R.x) WHERE R").run(events)
    assert {row["max(R.x)"] for row in total} == {float(2**60)}


def test_a_null_key_is_a_key_of_its_own() -> None:
    events = spelled("R R S S", k="- 1 1 -")
    assert positions("SELECT * WHERE R ; S PARTITION BY k", events) == [[0, 3], [1, 2]]


def test_positions_count_within_the_partition_and_rows_are_reported() -> None:
    events = spelled("R T S R S", k="1 2 1 2 2")
    assert positions("SELECT * WHERE R : S PARTITION BY k", events) == [[0, 2], [3, 4]]
    two = "SELECT * WHERE R ; S PARTITION BY k WITHIN 2 EVENTS"
    assert positions(two, events) == [[0, 2], [3, 4]]


def test_a_strategy_chooses_among_what_the_window_has_kept() -> None:
    query = "SELECT NEXT * WHERE R ; S WITHIN 1 second"
    assert positions(query, spelled("R R S")) == [[1, 2]]
    assert positions("SELECT NEXT * WHERE R ; S", spelled("R R S")) == [[0, 2]]
