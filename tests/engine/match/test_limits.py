"""Limits are loud: an error that names query, key, row and knob, or results that say so."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus import Limits
from cereus.errors import LimitError

MANY_A = pa.table(
    {"type": ["A"] * 12 + ["B", "A", "B"], "x": list(range(15)), "k": ["u"] * 13 + ["v"] * 2}
)


def test_matches_per_event() -> None:
    query = cereus.compile(
        "SELECT * WHERE A ; B PARTITION BY k", limits=Limits(matches_per_event=5)
    )
    with pytest.raises(LimitError) as caught:
        query.run(MANY_A)
    message = str(caught.value)
    assert "more than 5 matches end at row 12 (k='u')" in message
    assert "SELECT * WHERE A ; B" in message
    assert "Limits(matches_per_event=…)" in message


def test_matches_per_event_shed_leaves_the_others_out_and_says_so() -> None:
    query = cereus.compile(
        "SELECT * WHERE A ; B PARTITION BY k", limits=Limits(matches_per_event=5, shed=True)
    )
    found = query.run(MANY_A)
    assert len(found) == 6  # five of twelve for u, all for v
    assert found.shed == ("more than 5 matches end at row 12 (k='u'): the others were left out",)
    assert "INCOMPLETE" in repr(found)


def test_a_limit_that_is_just_met_is_not_exceeded() -> None:
    query = cereus.compile("SELECT * WHERE A ; B", limits=Limits(matches_per_event=13))
    assert len(query.run(MANY_A)) == 25


def test_configurations() -> None:
    text = "SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x"
    with pytest.raises(LimitError, match=r"more than 4 configurations are alive at row \d+"):
        cereus.compile(text, limits=Limits(configurations=4)).run(MANY_A)
    found = cereus.compile(text, limits=Limits(configurations=4, shed=True)).run(MANY_A)
    assert len(found) < 25
    assert found.shed and all("its partial matches were dropped" in note for note in found.shed)


def test_states() -> None:
    query = cereus.compile("SELECT * WHERE A ; B", limits=Limits(states=1))
    with pytest.raises(LimitError, match="more than 1 automaton states"):
        query.run(MANY_A)


def test_results_without_a_note_are_complete() -> None:
    assert cereus.compile("SELECT * WHERE A ; B").run(MANY_A).shed == ()


def test_steps_per_event() -> None:
    """Thirteen values of A are compared with the last B."""
    text = "SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x"
    query = cereus.compile(text, limits=Limits(steps_per_event=10), schema=MANY_A.schema)
    with pytest.raises(LimitError, match="more than 10 steps were made at row 12"):
        query.run(MANY_A)
    enough = cereus.compile(text, limits=Limits(steps_per_event=20), schema=MANY_A.schema)
    assert len(enough.run(MANY_A)) == 25


def test_steps_per_event_shed_begins_anew() -> None:
    query = cereus.compile(
        "SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x",
        limits=Limits(steps_per_event=10, shed=True),
        schema=MANY_A.schema,
    )
    found = query.run(MANY_A)
    assert [row["positions"] for row in found] == [[13, 14]]
    assert "more than 10 steps were made at row 12" in found.shed[0]
