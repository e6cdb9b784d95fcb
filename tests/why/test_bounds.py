"""`why` ends: what a query takes without one of its rules is bounded in steps, and so is the run
that is explained."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.engine.interrupts import bounded, look_up, sharing
from cereus.errors import LimitError
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
    assert "?  condition x > 1000 of Z: this takes too many steps" in str(answer)


def test_a_step_that_is_hard_is_counted_as_far_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_WORK", 8)
    monkeypatch.setattr(module, "MORE_WORK", 0)
    answer = query("(a | b)+ c d", d="x > 1000").why(EVENTS)
    first, second, _ = answer.steps
    assert first.exact
    assert not second.exact
    assert (second.reached, second.unseen, second.rest) == (0, len(EVENTS), 0)
    assert "counting step 2 would take too many steps: there are at least so many" in answer.notes


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
