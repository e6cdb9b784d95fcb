"""`why` ends: what a query takes without one of its rules is bounded in steps, and so is the run
that is explained."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.interrupts import bounded, look_up, sharing
from cereus.errors import LimitError
from cereus.languages.match_recognize.query import MatchRecognizeQuery
from cereus.why import expected, steps
from cereus.why import why as module

EVENTS = pa.table({"ts": range(11), "x": [40 + n for n in range(11)]})
NEVER = "count(a.x) < 0 AND array_agg(CLASSIFIER()) IS NOT NULL"
"""What no row satisfies: all ways to match the rows before it are tried, twice as many for each."""


def query(pattern: str, **conditions: str) -> cereus.Query:
    asked = {"a": "x > 10", "b": "x < 90", "c": NEVER, **conditions}
    define = ", ".join(f"{name} AS {condition}" for name, condition in asked.items())
    clause = (
        f"MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN ({pattern}) DEFINE {define})"
    )
    return cereus.compile(clause, dialect="match_recognize", stream=cereus.Stream(type=None))


def test_a_rule_without_which_a_query_is_hard_is_said_to_take_too_many_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LEAST_WORK", 8)
    answer = query("z (a | b)+ c", z="x > 1000").why(EVENTS)
    assert answer.matches == 0
    (effect,) = answer.rules
    assert (effect.text, effect.more) == ("x > 1000 of Z", None)
    assert "?  without the condition x > 1000 of Z: this takes too many steps" in str(answer)


def test_a_step_that_is_hard_is_counted_as_far_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_WORK", 8)
    monkeypatch.setattr(module, "MORE_WORK", 0)
    answer = query("(a | b)+ c d", d="x > 1000").why(EVENTS)
    first, second, _ = answer.steps
    assert first.exact
    assert not second.exact
    assert (second.reached, second.unseen, second.rest) == (0, len(EVENTS), 0)
    assert any("count step 2 completely" in note for note in answer.notes)


def test_a_query_that_is_hard_itself_ends_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORK", 8)
    with pytest.raises(LimitError, match="too many steps"):
        query("(a | b)+ c").why(EVENTS)


def test_parts_of_work_are_of_what_is_left() -> None:
    with bounded(8) as work:
        with pytest.raises(LimitError), sharing(4):
            for _ in range(3):
                look_up()
        assert work.done == 3
        with sharing(1):
            for _ in range(5):
                look_up()
        with pytest.raises(LimitError), sharing(1):
            look_up()
    look_up()  # nothing is counted any more


MANY = range(60)
COMPARED = " AND ".join(f"a.x + {n} < b.x + {2 * n + 1}" for n in MANY)
BETWEEN = [
    ("ceql", f"SELECT * WHERE A AS a ; B AS b FILTER {COMPARED} AND a.x > b.y"),
    pytest.param(
        "sase",
        f"PATTERN SEQ(A a, B b) WHERE {COMPARED} AND a.x > b.y",
        marks=pytest.mark.long,
    ),
    pytest.param(
        "match_recognize",
        "MATCH_RECOGNIZE (ORDER BY y MEASURES 1 AS p PATTERN (a b) DEFINE a AS type = 'A', "
        f"b AS type = 'B' AND {COMPARED} AND a.x > b.y)",
        marks=pytest.mark.long,
    ),
]


@pytest.mark.parametrize(("dialect", "text"), BETWEEN)
def test_of_many_conditions_the_likeliest_are_left_out(dialect: str, text: str) -> None:
    events = pa.table({"type": ["A", "B"] * 3, "x": [1, 2] * 3, "y": range(100, 106)})
    answer = cereus.compile(text, dialect=dialect).why(events)
    conditions = [rule for rule in answer.rules if rule.kind == "condition"]
    assert (answer.matches, len(conditions), answer.untried) in [(0, 9, 52), (0, 11, 52)]
    (helpful,) = (rule for rule in conditions if rule.more)
    assert helpful.text.lower().startswith("a.x > b.y")
    assert {miss.text for miss in answer.misses if miss.kind == "condition"} == {helpful.text}
    assert any("52 others were not" in note for note in answer.notes)
    for step in answer.steps:
        ended = sum(each.events for each in step.ended)
        assert step.passed == step.reached + ended + step.rest + step.unseen


def test_conditions_that_no_event_fails_alone_are_not_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without one of them the same rows are taken, so there is nothing to run."""
    ran = []
    executor = MatchRecognizeQuery.executor

    def counted(self: MatchRecognizeQuery, *args: Any, **options: Any) -> Any:
        ran.append(self)
        return executor(self, *args, **options)

    monkeypatch.setattr(MatchRecognizeQuery, "executor", counted)
    rows = 50
    events = pa.table({"ts": range(rows), "x": [n % 7 for n in range(rows)]})
    conditions = " AND ".join(f"x > {n}" for n in range(200))
    text = f"MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS n PATTERN (a b) DEFINE a AS {conditions})"
    answer = cereus.compile(text, dialect="match_recognize").why(events)
    assert answer.matches == 0
    assert [(each.more, each.exact) for each in answer.rules if each.kind == "condition"] == [
        (0, True)
    ] * 200
    assert len(ran) < 10


def test_a_search_goes_no_further_than_matches_are_looked_at() -> None:
    """Conditions that are computed row by row, of which some hundred matches are enough."""
    rows = 2_000
    events = pa.table({"ts": range(rows), "x": [n % 7 for n in range(rows)]})
    text = "MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS n PATTERN (a b) DEFINE b AS {})"
    listed = "array_agg(CLASSIFIER()) IS NOT NULL"
    every = cereus.compile(text.format(listed), dialect="match_recognize").executor(events.schema)
    every.defer()
    for batch in events.to_batches():
        list(every.push(batch))
    first = next(iter(every.finish()))
    assert 0 < first.num_rows < rows // 4
    answer = cereus.compile(text.format(f"{listed} AND x > 9"), dialect="match_recognize").why(
        events
    )
    (effect,) = (each for each in answer.rules if "x > 9" in each.text)
    assert (effect.more, effect.exact) == (100, False)


def test_a_row_pattern_of_very_many_conditions_is_not_taken_apart() -> None:
    many = " AND ".join(f"x > {n}" for n in range(400))
    with pytest.raises(LimitError, match=r"this query has 40\d tests and conditions"):
        query("a b c", a=many).why(EVENTS)


def conditions_of_one_event(count: int) -> cereus.Query:
    """A query of very many conditions, of which an event with a large x satisfies few."""
    text = " AND ".join(f"a[x != {n}]" for n in range(count - 3))
    missed = "a[x < 10] AND a[x < 20] AND a[x < 30]"
    return cereus.compile(f"SELECT * WHERE A AS a FILTER {text} AND {missed}")


def test_of_very_many_rules_those_that_exclude_a_match_are_found_in_few_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs, usual = [], expected._is_match
    monkeypatch.setattr(
        expected, "_is_match", lambda query, *events: runs.append(query) or usual(query, *events)
    )
    events = pa.table({"type": ["A", "A"], "x": [1, 100]})
    answer = conditions_of_one_event(60).why_not(events, [1])
    assert sorted(each.text for each in answer.excluded) == ["a[x < 10]", "a[x < 20]", "a[x < 30]"]
    assert len(runs) < 3 * 2 * 6 + 10  # not one for each of the rules


def test_what_no_rule_excludes_is_not_looked_for_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, usual = [], expected._is_match
    monkeypatch.setattr(
        expected, "_is_match", lambda query, *events: runs.append(query) or usual(query, *events)
    )
    events = pa.table({"type": ["A", "A"], "x": [1, 100]})
    answer = conditions_of_one_event(60).why_not(events, [0, 1])
    assert "another number of events" in answer.reason
    assert len(runs) < 10


def test_in_a_long_stream_few_runs_tell_what_ended_partial_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The step that nothing reaches is explained before the others."""
    names = "abcdefgh"
    define = ", ".join(f"{name} AS x > PREV(x)" for name in names)
    clause = f"PATTERN ({' '.join(names)} z) DEFINE {define}, z AS x > 90"
    text = f"MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS n {clause})"
    rows = steps.SURELY_READ + 1
    events = pa.table({"ts": range(rows), "x": [n % 12 for n in range(rows)]})
    blaming, usual = [], steps.StepCounter._without
    monkeypatch.setattr(
        steps.StepCounter,
        "_without",
        lambda self, *of: blaming.append(usual(self, *of)) or blaming[-1],
    )
    query = cereus.compile(text, dialect="match_recognize")
    answer = query.why(events)
    assert [step.reached > 0 for step in answer.steps] == [True] * 8 + [False]
    assert sum(tally is not None for tally in blaming) <= steps.LEAST_BLAMING + len(answer.rules)
    assert any(step.unseen for step in answer.steps)
    for step in answer.steps:
        ended = sum(each.events for each in step.ended)
        assert step.passed == step.reached + ended + step.rest + step.unseen
    whole = query.why(events.slice(0, 1000))
    assert not any(step.unseen for step in whole.steps)


def test_very_many_rules_are_not_left_out_one_by_one_over_a_long_stream() -> None:
    names = [f"v{n}" for n in range(100)]
    define = ", ".join(f"{name} AS x > PREV(x) - {n}" for n, name in enumerate(names))
    clause = f"PATTERN ({' '.join(names)}) DEFINE {define}"
    rows = 20_000
    events = pa.table({"ts": range(rows), "x": [n % 7 for n in range(rows)]})
    query = cereus.compile(
        f"MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS n {clause})", dialect="match_recognize"
    )
    with pytest.raises(LimitError, match=r"10\d rules, each of which") as error:
        query.why_not(events, [rows - 3, rows - 1])
    assert "the events around the match" in str(error.value)
    answer = query.why_not(events.slice(0, 200), [3, 5])
    assert not answer.matched


@pytest.mark.parametrize("strategy", ["NEXT", "LAST", "MAX"])
def test_a_strategy_over_comparisons_is_not_tried_for_ever_without_its_window(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a window, all that ever began is compared with each other, event by event: of a
    few thousand events that would take minutes."""
    monkeypatch.setattr(module, "LEAST_WORK", 8)
    monkeypatch.setattr(module, "MORE_WORK", 0)
    rows = 3_000
    events = pa.table(
        {
            "type": ["ABC"[n * n % 7 % 3] for n in range(rows)],
            "x": [n * 7_919 % 1_001 for n in range(rows)],
            "ts": pa.array(range(rows), pa.timestamp("s")),
        }
    )
    text = (
        f"SELECT {strategy} * WHERE A AS a ; B+ AS b ; C AS c FILTER b.x > a.x AND "
        "c.x > b.x + 2000 WITHIN 10 seconds"
    )
    answer = cereus.compile(text, stream=cereus.Stream(time="ts")).why(events)
    assert answer.matches == 0
    (window,) = (rule for rule in answer.rules if rule.kind == "window")
    assert (window.more, window.note) == (None, "this takes too many steps")
    assert answer.untried >= 1
    assert "leaving out any one rule brings no match" not in answer.answer


def test_more_matches_than_floats_can_count() -> None:
    events = pa.table({"type": ["A"] * 2_000 + ["B"]})
    found = cereus.compile("SELECT * WHERE A+ ; B").why(events)
    assert found.matches == float("inf")
    assert str(found).startswith("inf matches")


def test_of_many_strategies_inside_each_other_the_outer_ones_are_left_out() -> None:
    """Each of 60 would be planned without one of 60: the time grew with the cube."""
    deep = cereus.compile(f"SELECT * WHERE {'NEXT(' * 60}A ; B{')' * 60}")
    answer = deep.why(pa.table({"type": ["A", "A", "B"]}))
    assert len(answer.rules) == 9
    assert any(
        "many strategies: the 9 rules" in note and "51 others" in note for note in answer.notes
    )
