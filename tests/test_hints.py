"""Hints: the language that a text is in, the nearest name, the keyword that was meant."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError, did_you_mean, distance


def hint(text: str, dialect: str | None = None) -> str:
    with pytest.raises(CereusError) as raised:
        cereus.compile(text, dialect=dialect)
    return str(raised.value.hint)


CLAUSE = "MATCH_RECOGNIZE ( ORDER BY ts PATTERN (A B) DEFINE A AS x > 3 )"


@pytest.mark.parametrize(
    ("text", "tried", "dialect"),
    [
        ("PATTERN SEQ(A a, B b) WITHIN 5 minutes", None, "sase"),
        ("FROM s PATTERN SEQ(A a", "ceql", "sase"),
        (f"SELECT * FROM t {CLAUSE}", None, "match_recognize"),
        (CLAUSE, "sremo", "match_recognize"),
        ("SELECT * WHERE A ; B", "sase", "ceql"),
    ],
)
def test_a_text_of_another_language_names_the_dialect(
    text: str, tried: str | None, dialect: str
) -> None:
    assert f"say dialect={dialect!r}" in hint(text, tried)


def test_a_text_of_its_language_keeps_its_hint() -> None:
    assert "dialect" not in hint("PATTERN SEQ(A a", "sase")
    assert "dialect" not in hint("SELECT * WHERE A B")


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("PATTERN SEQ(A a, B+ b[]) WHERE b[1].from = 3", "sase"),
        ("SELECT * WHERE A AS a ; B FILTER a.from = 2", "ceql"),
    ],
)
def test_an_attribute_that_is_a_keyword_is_to_be_quoted(text: str, dialect: str) -> None:
    assert hint(text, dialect) == 'from is a keyword; write "from" to use it as a name'


def test_events_have_no_numbers_in_ceql() -> None:
    assert "have no numbers" in hint("SELECT * WHERE A ; B+ AS b FILTER b[1].price = 3")


def test_a_slip_in_a_keyword_is_named() -> None:
    assert hint("SELECT * form S WHERE A") == "did you mean FROM?"
    assert hint("SELECT * FROM S WEHRE A") == "did you mean WHERE?"


def test_months_are_not_taken_for_minutes() -> None:
    assert hint("SELECT * WHERE A ; B WITHIN 1 month") == "months differ in length: write 30 days"
    assert hint("SELECT * WHERE A ; B WITHIN 5 mintues") == "did you mean 'minutes'?"


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("form", ["format", "from", "path"], "from"),
        ("month", ["minutes", "days"], None),
        ("SALE", ["BUY", "SELL"], "SELL"),
        ("volum", ["value", "volume"], "volume"),
        ("vol", ["price", "volume"], "volume"),
        ("Price", ["prices", "price"], "price"),
        ("x", ["y", "zz"], None),
        ("ts", ["stock_time"], None),
    ],
)
def test_the_nearest_name_is_a_slip_away(typed: str, known: list[str], meant: str | None) -> None:
    expected = (
        f"known here: {', '.join(sorted(known))}" if meant is None else f"did you mean {meant!r}?"
    )
    assert did_you_mean(typed, known) == expected


def test_distances_count_swapped_letters_once() -> None:
    assert distance("form", "from") == 1
    assert distance("", "abc") == 3
    assert distance("kitten", "sitting") == 3
    assert distance("same", "same") == 0


@pytest.mark.parametrize(
    "pattern", ["amount > 5", "A AND amount > -5", "amount = 5", "name = 'x'", "A AND price < 3"]
)
def test_a_condition_for_a_pattern_is_sent_to_filter(pattern: str) -> None:
    assert "conditions stand after it" in hint(f"SELECT * WHERE {pattern}")


def test_a_selected_column_is_sent_to_its_variable() -> None:
    assert "a[card], or after RETURN, a.card" in hint("SELECT card WHERE PAY AS a")
    assert hint("SELECT PYA WHERE PAY") == "did you mean 'PAY'?"


def test_brackets_that_read_another_event_are_told_what_to_write() -> None:
    text = "SELECT * WHERE A AS a ; B AS b FILTER b[x > 3 AND x = a.x]"
    events = pa.table({"type": ["A", "B"], "x": [4, 4]})
    with pytest.raises(CereusError) as raised:
        cereus.compile(text).run(events)
    assert str(raised.value.hint).endswith("without brackets: FILTER b.x = a.x")
    right = text.replace("AND x = a.x]", "] AND b.x = a.x")
    assert cereus.compile(right).count(events) == 1


def test_a_struct_column_with_the_name_of_a_variable_is_read_in_brackets() -> None:
    events = pa.table({"type": ["A", "B"], "x": [4, 4], "a": [{"x": 1}, {"x": 4}]})
    assert cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER b[x = a.x]").count(events) == 1
