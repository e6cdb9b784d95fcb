"""The names that a text mentions, whatever its language."""

from __future__ import annotations

from cereus.syntax.mentioned import mentioned


def test_names_are_mentioned_in_whole_words() -> None:
    text = 'SELECT * WHERE A AS a FILTER a.price > 1 AND a."unit cost" < 2'
    names = ["price", "unit cost", "cost unit", "pri", "$", "€ %"]
    assert mentioned(text, names) == ["price", "unit cost"]
