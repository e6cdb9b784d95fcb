"""Near misses that were planted in a stream are found, with the one rule that they miss, in every
language; and an expected match is told which rule excludes it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.errors import CereusError
from cereus.why import Why
from cereus.why.loose import without

EVENTS = pa.table(
    {
        "type": ["SELL", "BUY", "BUY", "SELL", "BUY", "SELL", "BUY"],
        "time": pa.array([0, 1, 2, 30, 43, 50, 51], pa.timestamp("s")),
        "price": [10, 12, 9, 20, 25, 30, 29],
        "name": ["a", "a", "a", "b", "b", "b", "b"],
    }
)
TIMED = Stream(type="type", time="time")
CEQL = (
    "SELECT * WHERE SELL AS s ; BUY AS b FILTER s.price < b.price AND b[price > 12]"
    " AND s.name = b.name WITHIN 10 seconds"
)
SREMO = "any({SELL:} -> s, {BUY: price > s.price AND price > 12}) WITHIN 10 seconds"
SASE = "PATTERN SEQ(SELL s, BUY b) WHERE s.price < b.price AND b.price > 12 WITHIN 10 seconds"
CLAUSE = (
    "MATCH_RECOGNIZE (ORDER BY time MEASURES s.price AS p PATTERN (s b) WITHIN INTERVAL '10' SECOND"
    " DEFINE s AS type = 'SELL', b AS type = 'BUY' AND price > s.price AND price > 12)"
)
ALGEBRA = "(SELL ; BUY(price > 12))_{10s}"
PAR = "repeat ((SELL(price > 10) ; BUY(price > 26))[UP])"


def why(text: str, dialect: str = "ceql", events: pa.Table = EVENTS, **options: Any) -> Why:
    return cereus.compile(text, dialect=dialect, stream=TIMED, **options).why(events)


def misses(answer: Why) -> dict[tuple[int, ...], tuple[str, str | None]]:
    return {miss.rows: (str(miss.kind), miss.by) for miss in answer.misses}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [("ceql", CEQL), ("sremo", SREMO), ("sase", SASE), ("match_recognize", CLAUSE)],
)
def test_what_misses_a_condition_or_the_window_is_found(dialect: str, text: str) -> None:
    answer = why(text, dialect)
    assert answer.matches == 0
    found = misses(answer)
    assert found[0, 1][0] == "condition"
    assert found[0, 1][1] in ("b.price is 12", "price is 12", "B.price is 12")
    assert found[5, 6][0] == "condition"
    assert found[3, 4] == ("window", "3 seconds too long")


def test_a_condition_between_events_says_both_values() -> None:
    for dialect, text in (("ceql", CEQL), ("sase", SASE)):
        by = misses(why(text, dialect))[5, 6][1]
        assert by == "s.price is 30 and b.price is 29, off by 1"
    assert misses(why(CLAUSE, "match_recognize"))[5, 6][1] == (
        "B.price is 29 and S.price is 30, off by 1"
    )


def test_the_event_algebra() -> None:
    answer = why(ALGEBRA, "algebra")
    assert answer.matches == 1
    assert misses(answer) == {
        (0, 1): ("condition", "price is 12"),
        (0, 2): ("condition", "price is 9, off by 3"),
        (3, 4): ("window", "3 seconds too long"),
    }


def test_par_says_which_event_would_have_been_notified() -> None:
    answer = why(PAR, "par")
    assert answer.matches == 1
    assert misses(answer) == {(4,): ("condition", "price is 25, off by 1")}


def test_par_shows_the_event_that_fails_beside_the_one_that_would_have_been_notified() -> None:
    """It is the SELL that is too cheap, or too dear, not the BUY behind it, which is notified."""
    answer = why("repeat ((SELL(price > 40) ; BUY)[UP])", "par", EVENTS.slice(0, 3))
    (miss,) = answer.misses
    prices = EVENTS.column("price").to_pylist()
    first, last = answer.events.column("row").to_pylist()
    assert miss.rows == (last,) and miss.led == (first,)
    assert miss.by == f"price is {prices[first]}, off by {40 - prices[first]} (row {first})"
    assert answer.events.column("type").to_pylist() == ["SELL", "BUY"]


def test_par_measures_the_event_that_the_loosened_part_took() -> None:
    """Not another one of the same type, at which the program notifies."""
    events = pa.table({"type": ["SELL", "BUY", "SELL"], "price": [10, 20, 30], "key": ["k"] * 3})
    program = "repeat ((SELL(price > 15) ; BUY ; SELL)[UP])"
    query = cereus.compile(program, dialect="par", stream=cereus.Stream(keys="key"))
    (miss,) = query.why(events).misses
    assert (miss.rows, miss.by) == ((2,), "price is 10, off by 5 (row 0)")
    (excluded,) = query.why_not(events, [2]).excluded
    assert excluded.by == "price is 10, off by 5 (row 0)"


def test_what_a_program_took_is_looked_for_in_its_key() -> None:
    types, keys = ["SELL", "SELL", "BUY"], ["k", "other", "k"]
    events = pa.table({"type": types, "price": [10, 12, 30], "key": keys})
    query = cereus.compile(
        "repeat ((SELL(price > 15) ; BUY)[UP])", dialect="par", stream=cereus.Stream(keys="key")
    )
    (miss,) = query.why(events).misses
    assert (miss.rows, miss.led, miss.by) == ((2,), (0,), "price is 10, off by 5 (row 0)")


NAN = float("nan")


@pytest.mark.parametrize(
    "keys",
    [pa.array([NAN, NAN, 1.0, 1.0]), pa.array([2**62] * 4, pa.timestamp("s"))],
    ids=["NaN is a key as others are", "times that Python does not have"],
)
def test_par_measures_in_every_key(keys: pa.Array) -> None:
    table = pa.table({"type": ["SELL", "BUY"] * 2, "price": [12, 10, 9, 98], "key": keys})
    text, stream = "repeat ((SELL(price > 15) ; BUY)[UP])", Stream(keys="key")
    misses = cereus.compile(text, dialect="par", stream=stream).why(table).misses
    assert [(each.rows, each.by) for each in misses] == [
        ((1,), "price is 12, off by 3 (row 0)"),
        ((3,), "price is 9, off by 6 (row 2)"),
    ]


def test_par_measures_each_of_two_rules_at_the_event_that_it_is_about() -> None:
    table = pa.table({"type": ["SELL", "BUY", "SELL"], "price": [10, 20, 5], "v": [1, 1, 0]})
    text = "repeat ((SELL(price > 15 AND v > 3) ; BUY ; SELL)[UP])"
    answer = cereus.compile(text, dialect="par").why_not(table, [2])
    assert [each.by for each in answer.excluded] == [
        "price is 10, off by 5 (row 0)",
        "v is 1, off by 2 (row 0)",
    ]


def test_what_goes_with_a_rule_makes_no_other_go() -> None:
    """A negation goes with the rules in it, of which one reads as another behind it does."""
    table = pa.table({"type": ["A", "C", "A"], "v": [9, 0, 3]})
    query = cereus.compile("(try C unless A(v > 5)) ; A(v > 5)[hit]", dialect="par").compiled
    negation, inside, behind = (each.rule for each in query.anatomy(table.schema).loosened)
    texts = [
        str(without(query, rules, table.schema).tree)
        for rules in ([negation, inside], [negation, behind], [inside, behind])
    ]
    assert texts == ["C ; A(v > 5)[hit]", "C ; A[hit]", "(try C unless A) ; A[hit]"]


def test_par_names_a_preemption_as_it_is_written() -> None:
    """Not with the marks that count the steps, nor with outputs, which exclude nothing."""
    program = "repeat (try SELL(price > 15) ; BUY(price > 26)[pair] unless SELL(price > 25)[big])"
    answer = why(program, "par")
    (ended,) = answer.steps[1].ended
    assert str(ended.kind) == "negation"
    assert ended.text == "unless SELL(price > 25)"
    assert ended.text in {rule.text for rule in answer.rules}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("par", "repeat (SELL ; BUY(price > 24) ; BUY(price > 24)[UP])"),
        ("algebra", "SELL ; BUY(price > 24) ; BUY(price > 24)"),
        ("algebra", "SELL ; BUY(price > 24) ; BUY(price > 28)"),
    ],
)
def test_steps_and_rules_of_one_type_are_told_apart(dialect: str, text: str) -> None:
    answer = why(text, dialect, EVENTS.slice(0, 5))
    assert answer.steps[0].name == "SELL"
    assert all(step.name.startswith("BUY(price > 2") for step in answer.steps[1:])
    texts = [rule.text for rule in answer.rules]
    assert len(texts) == len(set(texts)) == 2
    assert texts[1] in ("BUY(price > 24), the second", "BUY(price > 28)")


@pytest.mark.parametrize(
    ("dialect", "text", "steps", "rules"),
    [
        (
            "par",
            "repeat (try SELL(price > 1) ; BUY(price > 90 AND volume > 3)[UP] "
            "unless HALT(price > 2))",
            ["SELL(price > 1)", "BUY(price > 90 AND volume > 3)[UP]", "unless HALT(price > 2)"],
            [
                "unless HALT(price > 2)",
                "SELL(price > 1)",
                "price > 90 of BUY(price > 90 AND volume > 3)",
                "volume > 3 of BUY(price > 90 AND volume > 3)",
                "HALT(price > 2)",
            ],
        ),
        (
            "algebra",
            "(SELL(price > 1) ; BUY(price > 90 AND volume > 3))_9s",
            ["SELL(price > 1)", "BUY(price > 90 AND volume > 3)"],
            [
                "_9s",
                "SELL(price > 1)",
                "price > 90 of BUY(price > 90 AND volume > 3)",
                "volume > 3 of BUY(price > 90 AND volume > 3)",
            ],
        ),
    ],
)
def test_steps_and_rules_are_named_as_the_query_writes_them(
    dialect: str, text: str, steps: list[str], rules: list[str]
) -> None:
    anatomy = cereus.compile(text, dialect=dialect, stream=TIMED).compiled.anatomy()
    assert [step.name for step in anatomy.steps] == steps
    assert [each.rule.text for each in anatomy.loosened] == rules


def test_a_part_that_only_forbids_is_no_step_that_a_match_lacks() -> None:
    text = "repeat (try SELL ; BUY(price > 90)[UP] unless HALT(price > 999))"
    answer = why(text, "par").answer
    assert answer.startswith("0 matches: no event of step 2 (BUY(price > 90)[UP]) satisfies price")


def test_what_has_nothing_before_it_is_told_from_what_several_rules_exclude() -> None:
    shown = str(why("SELECT * WHERE SELL AS s ; BUY AS b FILTER s[price > 999]"))
    assert "that no partial match was waiting for: no event reached step 1" in shown
    shown = str(why("SELECT * WHERE BUY ; BUY ; BUY ; BUY ; SELL"))
    assert "that no partial match was waiting for, or that are excluded by more than one" in shown


def test_the_one_rule_that_is_the_cause_is_named_once() -> None:
    answer = why(
        "SELECT * WHERE SELL AS s ; BUY AS b WITHIN 500 milliseconds", events=EVENTS.slice(0, 2)
    )
    assert answer.answer == (
        "0 matches: no event reaches step 2 (BUY AS b), because of the window WITHIN 500 "
        "milliseconds; without it there would be at least 1 match"
    )


def test_what_is_far_outside_the_window_is_not_said_to_fail_several_rules() -> None:
    found = why("SELECT * WHERE SELL AS s ; BUY AS b WITHIN 1 millisecond")
    assert found.answer == (
        "0 matches: no event reaches step 2 (BUY AS b); "
        "without the window WITHIN 1 millisecond there would be 7 matches"
    )
    assert "or far outside the window" in str(found)


def test_of_two_kinds_of_events_that_are_both_needed_the_one_that_is_missing_is_named() -> None:
    answer = why("SELL + BUY(price > 99)", "algebra").answer
    assert "none satisfies price > 99; without the condition BUY(price > 99)" in answer


def test_a_count_that_is_not_complete_says_so_before_the_number() -> None:
    lines = str(why("SELECT * WHERE SELL AS s ; BUY AS b WITHIN 10 seconds")).splitlines()
    assert "    at least 4  without the window WITHIN 10 seconds" in lines


@pytest.mark.parametrize(
    ("dialect", "text"),
    [("ceql", CEQL), ("sremo", SREMO), ("sase", SASE), ("match_recognize", CLAUSE)],
)
def test_each_step_says_what_passed_and_what_ended(dialect: str, text: str) -> None:
    first, second = why(text, dialect).steps
    assert (first.passed, first.reached, first.partial) == (3, 3, 3)
    assert dict(second.conditions)["price > 12"] in (2, 4)  # 4: of all rows, not of the BUYs
    assert (second.passed, second.reached, second.rest) == (2, 0, 0)
    assert {str(each.kind): each.events for each in second.ended} == {"condition": 1, "window": 1}


NEGATION = [
    ("ceql", "SELECT * WHERE (SELL AS s ; HALT AS h) UNLESS BUY AS x WITHIN 10 seconds"),
    ("sase", "PATTERN SEQ(SELL s, ~BUY x, HALT h) WITHIN 10 seconds"),
    ("algebra", "((SELL ; HALT) - BUY)_{10s}"),
]


@pytest.mark.parametrize(("dialect", "text"), NEGATION)
def test_what_a_negation_excludes(dialect: str, text: str) -> None:
    times = pa.array([0, 1, 2], pa.timestamp("s"))
    events = pa.table({"type": ["SELL", "BUY", "HALT"], "time": times})
    answer = why(text, dialect, events)
    assert misses(answer) == {(0, 2): ("negation", "row 1 stands in the way")}
    assert answer.steps[-1].ended[0].kind == "negation"
    query = cereus.compile(text, dialect=dialect, stream=TIMED)
    assert [str(each.kind) for each in query.why_not(events, [0, 2]).excluded] == ["negation"]


STRATEGY = [
    ("ceql", "SELECT * WHERE SELL : HALT", "no gap before HALT"),
    ("sremo", "{SELL:} . {HALT:}", "no gap before {HALT:}"),
    ("sase", "PATTERN SEQ(SELL s, HALT h) WHERE strict_contiguity(s, h) { h.time > s.time }", None),
    (
        "match_recognize",
        "MATCH_RECOGNIZE (ORDER BY time MEASURES 1 AS p PATTERN (s h) "
        "DEFINE s AS type = 'SELL', h AS type = 'HALT')",
        "no gap in S H",
    ),
]


@pytest.mark.parametrize(("dialect", "text", "rule"), STRATEGY)
def test_what_a_strategy_excludes(dialect: str, text: str, rule: str | None) -> None:
    times = pa.array([0, 1, 2], pa.timestamp("s"))
    events = pa.table({"type": ["SELL", "BUY", "HALT"], "time": times})
    query = cereus.compile(text, dialect=dialect, stream=TIMED)
    (miss,) = (miss for miss in query.why(events).misses if miss.rows == (0, 2))
    assert str(miss.kind) == "strategy"
    assert rule is None or miss.text == rule
    (excluded,) = query.why_not(events, [0, 2]).excluded
    assert (excluded.kind, excluded.text) == (miss.kind, miss.text)


def test_what_consumption_excludes() -> None:
    events = pa.table({"type": ["A", "A", "B", "B"]})
    query = cereus.compile("SELECT * WHERE A ; B CONSUME BY ANY", stream=Stream(type="type"))
    assert {miss.rows for miss in query.why(events).misses} == {(0, 3), (1, 3)}
    (excluded,) = query.why_not(events, [0, 3]).excluded
    assert excluded.kind == "consumption"


def test_what_skip_past_last_row_excludes() -> None:
    clause = "MATCH_RECOGNIZE (MEASURES 1 AS p PATTERN (a a) DEFINE a AS type = 'A')"
    query = cereus.compile(clause, dialect="match_recognize", stream=Stream())
    events = pa.table({"type": ["A", "A", "A"]})
    (miss,) = query.why(events).misses
    assert (miss.rows, miss.text) == ((1, 2), "AFTER MATCH SKIP PAST LAST ROW")


@pytest.mark.parametrize(("text", "by"), [("WITHIN 2 EVENTS", "2 events too long"),
                                          ("WITHIN 3 [price]", "2 too long")])  # fmt: skip
def test_other_windows_are_measured_too(text: str, by: str) -> None:
    events = pa.table({"type": ["A", "C", "C", "B"], "price": [10, 11, 12, 15]})
    answer = cereus.compile(f"SELECT * WHERE A ; B {text}", stream=Stream()).why(events)
    assert misses(answer) == {(0, 3): ("window", by)}


@pytest.mark.parametrize(
    ("select", "clause", "kind"),
    [("*", "AFTER MATCH SKIP PAST LAST EVENT", "consumption"),
     ("NEXT *", "CONSUME BY ANY", "strategy")],
)  # fmt: skip
def test_what_fits_the_window_is_not_too_long(select: str, clause: str, kind: str) -> None:
    """Without the window rows 0, 1 and 3 are a match, and leave 4, 5 and 6 to be the next."""
    times = pa.array([0, 1, 6, 7, 8, 9, 10], pa.timestamp("s"))
    events = pa.table({"type": list("ABACABC"), "time": times})
    answer = why(f"SELECT {select} WHERE A ; B ; C WITHIN 4 seconds {clause}", events=events)
    by = "row 2 stands in the way"  # rows 2, 5 and 6 are a match
    assert misses(answer) == {(0, 1, 3): ("window", "3 seconds too long"), (4, 5, 6): (kind, by)}


def test_a_composed_text_names_its_queries() -> None:
    text = (
        "PATTERN SEQ(SELL s) WHERE s.price > 15 RETURN s.price AS OUT(price) IN STREAM big\n"
        "FROM big PATTERN SEQ(OUT o) WHERE o.price > 100"
    )
    answer = why(text, "sase")
    assert [step.name for step in answer.steps] == [
        "stream big, block 1: SELL s",
        "query 2, block 1: OUT o",
    ]
    assert answer.steps[0].reached == 2
    assert answer.steps[1].events is None
    assert {miss.text for miss in answer.misses} == {"o.price > 100"}


def test_rows_are_those_of_the_input_where_it_was_sorted() -> None:
    turned = EVENTS.take(pa.array([6, 5, 4, 3, 2, 1, 0]))
    query = cereus.compile(CEQL, stream=TIMED)
    found = query.why(turned, sort=True)
    assert {miss.rows for miss in found.misses} == {(5, 6), (0, 1), (2, 3)}
    assert query.why_not(turned, [6, 5], sort=True).excluded[0].text == "b[price > 12]"


# ---------------------------------------------------------------- one expected match


EXPECTED = [
    ("ceql", CEQL, [0, 1], "the condition b[price > 12]: b.price is 12"),
    ("ceql", CEQL, [3, 4], "the window WITHIN 10 seconds: 3 seconds too long"),
    ("sremo", SREMO, [0, 1], "the condition price > 12: price is 12"),
    ("sremo", SREMO, [3, 4], "the window WITHIN 10 seconds: 3 seconds too long"),
    ("sase", SASE, [0, 1], "the condition b.price > 12: b.price is 12"),
    ("sase", SASE, [3, 4], "the window WITHIN 10 seconds: 3 seconds too long"),
    ("match_recognize", CLAUSE, [0, 1], "the condition price > 12 of B: B.price is 12"),
    (
        "match_recognize",
        CLAUSE,
        [3, 4],
        "the window WITHIN INTERVAL '10' SECOND: 3 seconds too long",
    ),
    ("algebra", ALGEBRA, [0, 2], "the condition BUY(price > 12): price is 9, off by 3"),
    ("par", PAR, [4], "the condition BUY(price > 26): price is 25, off by 1"),
]


@pytest.mark.parametrize(("dialect", "text", "rows", "said"), EXPECTED)
def test_an_expected_match_is_told_what_excludes_it(
    dialect: str, text: str, rows: list[int], said: str
) -> None:
    answer = cereus.compile(text, dialect=dialect, stream=TIMED).why_not(EVENTS, rows)
    assert not answer.matched
    assert [str(each) for each in answer.excluded] == [said]


def test_several_rules_may_exclude_a_match() -> None:
    answer = cereus.compile(CEQL, stream=TIMED).why_not(EVENTS, [0, 4])
    assert [str(each) for each in answer.excluded] == [
        "the window WITHIN 10 seconds: 33 seconds too long",
        "the condition s.name = b.name: s.name is 'a' and b.name is 'b'",
    ]


def test_events_that_the_pattern_has_no_place_for() -> None:
    query = cereus.compile("SELECT * WHERE SELL ; HALT", stream=TIMED)
    assert "no place for row 1" in query.why_not(EVENTS, [0, 1]).reason
    assert "another order" in query.why_not(EVENTS, [0, 3]).reason


def test_a_match_is_said_to_be_one() -> None:
    query = cereus.compile("SELECT * WHERE SELL ; BUY WITHIN 10 seconds", stream=TIMED)
    assert query.why_not(EVENTS, [0, 2]).matched


@pytest.mark.parametrize("rows", [[], [99], [-1]])
def test_rows_that_are_not_there(rows: list[int]) -> None:
    with pytest.raises(CereusError):
        cereus.compile(CEQL, stream=TIMED).why_not(EVENTS, rows)


# ---------------------------------------------------------------- shown


def test_the_table_has_every_count() -> None:
    counts = why(CEQL).table.to_pylist()
    assert {row["what"] for row in counts} == {
        "events", "passed", "reached", "partial", "ended", "rest", "more without", "matches",
    }  # fmt: skip
    assert counts[-1] == {
        "step": None, "name": None, "what": "matches", "kind": None, "text": None, "count": 0.0,
    }  # fmt: skip


def test_many_matches_have_no_near_misses() -> None:
    events = pa.table({"type": ["A"] * 90 + ["B"] * 90, "x": [0] * 180})
    answer = cereus.compile("SELECT * WHERE A ; B FILTER A[x = 0]").why(events)
    assert answer.matches == 8100
    assert answer.misses == ()
    assert answer.notes


ANSWERS = [
    ("SELECT * WHERE SEL ; BUY", "no event has the type 'SEL'; did you mean 'SELL'?"),
    (
        "SELECT * WHERE SEL ; BUY WITHIN 10 seconds",
        "no event has the type 'SEL'; did you mean 'SELL'?",
    ),
    (
        "SELECT * WHERE SELL AS s ; BUY AS b FILTER b[price > 99]",
        "no event of step 2 (BUY AS b) satisfies price > 99; without the condition b[price > 99] "
        "there would be 7 matches",
    ),
    (
        "SELECT * WHERE SELL AS s ; BUY AS b FILTER b[price = 25] WITHIN 10 seconds",
        "no event reaches step 2 (BUY AS b), because of the window WITHIN 10 seconds; "
        "without the condition b[price = 25] there would be 3 matches",
    ),
    (
        CEQL,
        "no event reaches step 2 (BUY AS b), because of the condition s.price < b.price and the "
        "window WITHIN 10 seconds; without the window WITHIN 10 seconds there would be at least 2 "
        "matches",
    ),
    (
        "SELECT * WHERE SELL ; HALT? ; BUY AS b FILTER b[price > 99]",
        "no event of step 3 (BUY AS b) satisfies price > 99; without the condition b[price > 99] "
        "there would be 7 matches",
    ),
    (
        "SELECT * WHERE BUY ; BUY ; BUY ; BUY ; SELL",
        "no event reaches step 5 (SELL): no partial match was waiting for its 3 events, or they "
        "are excluded by more than one rule",
    ),
    (
        "SELECT * WHERE SELL AS s FILTER s[price > 99] AND s[price < 5]",
        "no event of step 1 (SELL AS s) satisfies price > 99; leaving out any one rule brings no "
        "match",
    ),
]


@pytest.mark.parametrize(("text", "said"), ANSWERS)
def test_the_first_line_is_the_answer(text: str, said: str) -> None:
    answer = why(text)
    assert str(answer).splitlines()[0] == f"0 matches: {said}"
    assert answer.to_dict()["answer"] == answer.answer


def test_the_first_line_of_some_matches_says_what_keeps_others_out() -> None:
    answer = why("SELECT * WHERE SELL AS s ; BUY AS b WITHIN 10 seconds")
    assert answer.answer == (
        "3 matches; without the window WITHIN 10 seconds there would be at least 4 more"
    )


def test_of_alternatives_one_is_enough() -> None:
    clause = (
        "MATCH_RECOGNIZE (ORDER BY time MEASURES 1 AS p PATTERN ((a | b) c) "
        "DEFINE a AS type = 'HALT', b AS type = 'SELL', c AS price > 99)"
    )
    first, _ = why(clause, "match_recognize").steps
    assert (first.conditions, first.passed) == ((("type = 'HALT'", 0), ("type = 'SELL'", 3)), 3)
    lines = str(why(clause, "match_recognize")).splitlines()
    assert "             3  that satisfy what this step asks of one event" in map(str.rstrip, lines)


def test_a_long_stream_is_counted_whole_and_says_which_part_rules_were_tried_on() -> None:
    size = 60_000
    events = pa.table({"type": ["A", "B"] * (size // 2), "x": [0, 1] * (size // 2)})
    answer = cereus.compile("SELECT * WHERE A AS a : B AS b FILTER a.x > b.x").why(events)
    first, second = answer.steps
    assert (first.reached, second.passed, second.reached) == (size // 2, size // 2, 0)
    assert second.unseen > 0
    ended = sum(each.events for each in second.ended)
    assert second.passed == second.reached + ended + second.rest + second.unseen
    assert any("first 5,000 of 60,000" in note for note in answer.notes)
    assert answer.misses
    assert {miss.text for miss in answer.misses} == {"a.x > b.x"}


def test_a_near_miss_at_the_end_of_a_long_stream_is_found_around_rare_events() -> None:
    size = 60_000
    types = ["C"] * size
    types[-40], types[-20] = "A", "B"
    times = pa.array(range(size), pa.timestamp("s"))
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 10 seconds", stream=TIMED)
    answer = query.why(pa.table({"type": types, "time": times}))
    assert misses(answer) == {(size - 40, size - 20): ("window", "10 seconds too long")}
    assert answer.notes == ()


def test_a_match_without_rows_reaches_no_row() -> None:
    clause = (
        "MATCH_RECOGNIZE (ORDER BY time MEASURES count(*) AS n PATTERN (a b | ()) "
        "DEFINE a AS type = 'SELL', b AS type = 'SELL')"
    )
    (step,) = why(clause, "match_recognize").steps
    assert (step.passed, step.reached, step.partial) == (3, 0, 0)


def test_a_query_over_nothing() -> None:
    answer = why(CEQL, events=EVENTS.slice(0, 0))
    assert answer.answer == "0 matches: there are no events"
    assert [step.reached for step in answer.steps] == [0, 0]
    assert answer.misses == ()


def test_a_condition_on_the_number_of_a_match_has_no_measure() -> None:
    """It is left out like any other, and not computed from the rows of a miss."""
    clause = (
        "MATCH_RECOGNIZE (ORDER BY time MEASURES MATCH_NUMBER() AS n PATTERN (a b) "
        "DEFINE b AS MATCH_NUMBER() > 5 OR price = 2)"
    )
    answer = why(clause, "match_recognize")
    assert answer.matches == 0
    assert misses(answer)[0, 1] == ("condition", None)


FORBIDDEN = pa.table(
    {
        "type": ["SELL", "HALT", "BUY"],
        "time": pa.array([0, 1, 2], pa.timestamp("s")),
        "price": [10, 11, 12],
    }
)
IN_BETWEEN = {
    "ceql": "SELECT * WHERE (SELL ; BUY) WITHOUT HALT",
    "sremo": "{SELL:} . {BUY:}",
    "sase": "PATTERN SEQ(SELL s, ~(HALT h), BUY b) WITHIN 10 seconds",
    "algebra": "(SELL ; BUY) - HALT",
    "match_recognize": "MATCH_RECOGNIZE (ORDER BY time MEASURES s.price AS p PATTERN (s b)"
    " DEFINE s AS type = 'SELL', b AS type = 'BUY')",
}


@pytest.mark.parametrize(("dialect", "text"), IN_BETWEEN.items())
def test_the_event_that_stands_in_the_way_is_named(dialect: str, text: str) -> None:
    answer = why(text, dialect, FORBIDDEN)
    (miss,) = (miss for miss in answer.misses if miss.rows == (0, 2))
    assert (miss.by, miss.led) == ("row 1 stands in the way", (1,))
    assert "       1  type=HALT" in str(answer)
    asked = cereus.compile(text, dialect=dialect, stream=TIMED).why_not(FORBIDDEN, [0, 2])
    assert [each.by for each in asked.excluded] == ["row 1 stands in the way"]


def test_of_several_events_one_that_ends_the_match_is_named() -> None:
    events = pa.table(
        {
            "type": ["SELL", "X", "X", "BUY", "X", "HALT", "X", "HALT"],
            "time": pa.array(range(8), pa.timestamp("s")),
        }
    )
    text = "SELECT * WHERE SELL ; BUY NOT FOLLOWED BY HALT WITHIN 5 seconds"
    (miss,) = why(text, events=events).misses
    assert (miss.text, miss.by) == (
        "NOT FOLLOWED BY HALT WITHIN 5 seconds",
        "row 5 stands in the way",
    )


def test_a_miss_of_many_events_is_cut_short_in_the_text() -> None:
    events = pa.table({"type": ["A"] * 300 + ["B"], "x": range(301)})
    text = str(cereus.compile("SELECT MAX * WHERE A+ ; B FILTER B[x > 900]").why(events))
    assert "10, 11, … (301 in all) miss" in text and "… 289 more events" in text
    assert len(text.splitlines()) < 60


KEYED = pa.table(
    {
        "type": ["SELL", "BUY", "SELL", "BUY"],
        "time": pa.array([0, 1, 2, 3], pa.timestamp("s")),
        "price": [10, 12, 9, 5],
        "name": ["a", "b", "b", None],
    }
)


@pytest.mark.parametrize(
    ("dialect", "text", "keys"),
    [
        ("ceql", "SELECT * WHERE SELL AS s ; BUY AS b PARTITION BY name WITHIN 10 seconds", ()),
        ("ceql", "SELECT * WHERE SELL AS s ; BUY AS b WITHIN 10 seconds", ("name",)),
        ("sremo", "any({SELL:}, {BUY:}) PARTITION BY name WITHIN 10 seconds", ()),
        ("sase", "PATTERN SEQ(SELL s, BUY b) WITHIN 10 seconds", ("name",)),
        ("algebra", "SELL ; BUY", ("name",)),
        (
            "match_recognize",
            "MATCH_RECOGNIZE (PARTITION BY name ORDER BY time MEASURES s.price AS p"
            " PATTERN (s b) DEFINE s AS type = 'SELL', b AS type = 'BUY')",
            (),
        ),
    ],
)
def test_events_of_several_keys_are_told_so(dialect: str, text: str, keys: tuple[str, ...]) -> None:
    stream = Stream(type="type", time="time", keys=keys)
    query = cereus.compile(text, dialect=dialect, stream=stream)
    answer = query.why_not(KEYED, [0, 1])
    assert str(answer) == (
        "rows 0, 1: no match: one rule excludes them\n  the key name: 'a' and 'b'"
    )
    assert [each.by for each in query.why_not(KEYED, [2, 3]).excluded] == ["'b' and NULL"]


def test_events_of_several_keys_that_python_has_no_value_for() -> None:
    far = pa.array([2**61, 2**62], pa.duration("s")).dictionary_encode()
    table = pa.table({"type": ["A", "B"], "k": far})
    answer = str(cereus.compile("SELECT * WHERE A ; B PARTITION BY k").why_not(table, [0, 1]))
    assert f"the key k: {2**61} and {2**62}" in answer


def test_events_of_several_keys_are_in_order_within_each_key_only() -> None:
    """Here those of "y" come after those of "x", and have happened before."""
    types, keys = ["SELL", "BUY"] * 2, ["x", "x", "y", "y"]
    table = pa.table({"type": types, "time": [10, 11, 8, 9], "name": keys})
    query = cereus.compile(
        "SELECT * WHERE SELL ; BUY WITHIN 2 seconds",
        stream=Stream(time="time", unit="s", keys="name"),
    )
    assert query.why_not(table, [0, 1]).matched
    assert str(query.why_not(table, [1, 2])) == (
        "rows 1, 2: no match: 2 rules exclude them\n  the key name: 'x' and 'y'\n"
        "  the window WITHIN 2 seconds: 1 second too long"
    )
    assert query.why_not(table, [0, 3]).excluded == ()  # the sale is after the purchase


def test_a_key_is_named_beside_the_other_rules() -> None:
    text = "SELECT * WHERE SELL AS s ; BUY AS b FILTER s.price < b.price PARTITION BY name, type"
    query = cereus.compile(text, stream=Stream(type="type"))
    assert str(query.why_not(KEYED, [0, 3])) == (
        "rows 0, 3: no match: 2 rules exclude them\n"
        "  the key name, type: ('a', 'SELL') and (NULL, 'BUY')\n"
        "  the condition s.price < b.price: s.price is 10 and b.price is 5, off by 5"
    )
    assert query.why_not(KEYED, [0, 2]).excluded == ()  # two sales are no match of any key
    assert query.why_not(KEYED, [0, 1]).matched is False


def test_what_stands_in_the_way_is_found_among_many_events_of_others() -> None:
    """There are 8,000 events in the window, and few of its key that the query names."""
    count = 8_000
    table = pa.table(
        {
            "type": ["SELL", "BUY", *["SELL", "BUY", "PING"] * (count // 3)],
            "time": pa.array([0, 1, *range(1, count // 3 * 3 + 1)], pa.timestamp("s")),
            "name": ["a", "b", *["c"] * (count // 3 * 3)],
        }
    )
    table = pa.concat_tables([table, table.slice(0, 2).set_column(2, "name", pa.array(["b", "a"]))])
    later = pa.array([*range(count), count, count], pa.timestamp("s"))
    table = table.set_column(1, "time", later)
    text = "SELECT * WHERE SELL NOT FOLLOWED BY BUY WITHIN 1 day PARTITION BY name"
    answer = cereus.compile(text, stream=TIMED).why_not(table, [0])
    assert [each.by for each in answer.excluded] == [f"row {table.num_rows - 1} stands in the way"]


def test_a_text_that_no_event_has_is_corrected_and_the_nearest_texts_come_first() -> None:
    states = ["ok", "WARN", "ok", None, "err ", "ok"]
    events = pa.table({"type": ["A"] * 6, "state": states, "n": pa.array(range(6))})
    answer = cereus.compile("SELECT * WHERE A FILTER A[state = 'err']").why(events)
    assert answer.answer == (
        "0 matches: no event of step 1 (A) satisfies state = 'err' (did you mean 'err '?);"
        " without the condition A[state = 'err'] there would be 6 matches"
    )
    assert answer.misses[0].by == "A.state is 'err '"
    assert answer.steps[0].meant == "err "


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("state = 'Warn'", "WARN"),
        ("'okk' = state", "ok"),
        ("state = 'something else'", None),
        ("state != 'ok' AND n = 2", None),
        ("place.city = 'Rom'", "Rome"),
        ("place.city = 'Oslo' AND n > 100", None),
    ],
)
def test_what_was_probably_meant(condition: str, meant: str | None) -> None:
    places = [{"city": "Rome"}, {"city": "Oslo"}, None]
    events = pa.table({"state": ["ok", "WARN", None], "n": [1, 2, 3], "place": places})
    text, stream = f"SELECT * WHERE * AS a FILTER a[{condition}]", Stream(type=None)
    assert cereus.compile(text, stream=stream).why(events).steps[0].meant == meant


@pytest.mark.parametrize("keys", [(), ("name",)])
def test_an_expected_match_is_explained_beside_very_many_others(keys: tuple[str, ...]) -> None:
    """A run of the query alone would report more matches than are looked through."""
    count = 150
    types = ["SELL"] * count + ["BUY"] * count + ["PAY"] * count
    table = pa.table({"type": types, "name": ["a", "b"] * (3 * count // 2)})
    text = "SELECT s, b, p WHERE SELL AS s ; BUY AS b ; PAY AS p"
    query = cereus.compile(text, stream=Stream(keys=keys))
    assert query.why_not(table, [0, 1, 2]).excluded == ()
    answer = query.why_not(table, [0, count + 1, 2 * count + 2])
    assert [str(each) for each in answer.excluded] == ["the key name: 'a' and 'b'"][: len(keys)]


def test_rows_of_a_repetition_are_not_said_to_be_at_the_end() -> None:
    """A row pattern has one partial match from each row on, which takes several rows at a step."""
    prices = pa.table({"t": range(6), "price": [5, 4, 3, 2, 9, 1]})
    text = "MATCH_RECOGNIZE (ORDER BY t MEASURES a.t AS t PATTERN (a b{3,} c) DEFINE"
    query = cereus.compile(
        f"{text} b AS price < PREV(price), c AS price > 99)", dialect="match_recognize"
    )
    answer = query.why(prices)
    assert (answer.steps[1].reached, answer.steps[1].partial) == (3, 1)
    assert "3  reached this step, in 1 partial match" in str(answer)
    assert "partial matches that have them" in answer._repr_html_()
    assert "the pattern prefers other rows" in query.why_not(prices, [0, 1, 2, 3]).reason
