"""The table of matches on a page: beside row numbers it has the values that the query is about."""

from __future__ import annotations

import pyarrow as pa

import cereus
from cereus.report.table import with_values

EVENTS = pa.table(
    {
        "type": ["SELL", "BUY", "BUY", "SELL", "BUY"],
        "match": [1, 2, 3, 4, 5],
        "price": [9.0, 10.0, 11.0, 7.5, 8.0],
        "name": ["a", "a", "a", "b", "b"],
        "other": list("vwxyz"),
    }
)


def columns(text: str, **options: str) -> dict[str, list[object]]:
    query = cereus.compile(text, **options)  # type: ignore[arg-type]
    return with_values(query.run(EVENTS)).to_pydict()


def test_attributes_of_single_events_stand_before_row_numbers() -> None:
    text = "SELECT s, b WHERE SELL AS s ; BUY AS b FILTER s.price < b.price PARTITION BY name"
    assert columns(text) == {
        "name": ["a", "a", "b"],
        "s.price": [9.0, 9.0, 7.5],
        "b.price": [10.0, 11.0, 8.0],
        "positions": [[0, 1], [0, 2], [3, 4]],
    }


def test_variables_with_several_events_have_row_numbers_only() -> None:
    text = "SELECT s, b WHERE SELL AS s : BUY:+ AS b FILTER s[price > 8] AND b[other != 'q']"
    made = columns(text)
    assert list(made) == ["s.price", "s.other", "positions", "b"]
    assert made["s.other"] == ["v", "v"] and made["b"] == [[1], [1, 2]]


def test_very_many_attributes_are_not_shown() -> None:
    conditions = " AND ".join(f"{v}[price > 0 AND name != 'q' AND other != 'q']" for v in "abc")
    text = f"SELECT a, b, c WHERE BUY AS a ; SELL AS b ; BUY AS c FILTER {conditions}"
    assert "a.price" not in columns(text)


def test_results_without_variables_stay_as_they_are() -> None:
    for text, dialect in (
        ("SELECT * WHERE SELL ; BUY FILTER SELL[price > 8]", "ceql"),
        ("SELECT COUNT(*) WHERE SELL AS s ; BUY FILTER s[price > 8]", "ceql"),
        ("repeat (SELL(price > 8) ; BUY[up])", "par"),
        ("SELECT s, b WHERE SELL AS s ; BUY AS b FILTER s[price > 99]", "ceql"),
    ):
        found = cereus.compile(text, dialect=dialect).run(EVENTS)
        assert with_values(found).equals(found.table)
