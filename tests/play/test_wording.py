"""Hints on the page name its fields, and not the arguments of functions."""

from __future__ import annotations

from typing import Any

import pytest

from cereus.play.answers import answer
from cereus.play.data import GivenFiles, PlayData
from cereus.play.wording import on_page, warning_on_page

pytest.importorskip("altair")

EVENTS = PlayData(GivenFiles(), 1_000)


def problem(dialect: str, text: str, **stream: Any) -> str:
    given = {"text": text, "dialect": dialect, "data": "market", "type": "type", "time": "ts"}
    (found,) = answer("check", {**given, "keys": [], "unit": "", **stream}, EVENTS)["problems"]
    return str(found["message"]).splitlines()[-1]


def test_a_query_in_another_language_names_the_field_of_languages() -> None:
    hint = problem("sase", "SELECT * WHERE SELL ; BUY")
    assert hint == "hint: this is CEQL, not SASE+: choose the language CEQL"


def test_a_window_without_a_time_names_the_field_of_the_time() -> None:
    hint = problem("ceql", "SELECT * WHERE SELL ; BUY WITHIN 1 second", time="")
    assert hint == "hint: choose which one it is: Time: ts in “Columns of the events”"


def test_ways_that_the_page_does_not_have_are_left_out() -> None:
    message = 'it goes backwards\nhint: sort the events by "ts" first, or run with sort=True'
    assert on_page(message) == 'it goes backwards\nhint: sort the events by "ts" first'
    text = "say dialect='par' is no hint"
    assert on_page(text) == text
    warning = 'it needs a time: Stream(time="ts", unit="ms")'
    assert warning_on_page(warning) == (
        "it needs a time: Time: ts, Unit: milliseconds in “Columns of the events”"
    )
