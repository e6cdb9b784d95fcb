"""Whatever is typed, only a CereusError comes back, and its caret points into the text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cereus.errors import CereusError, QueryError
from cereus.expr.text import parse_condition
from cereus.languages.ceql.text import parse, to_text
from tests.volume import volume

VOCABULARY = """
    SELECT FROM WHERE FILTER AS AND OR NOT ALL UNLESS START PROJECT NEXT LAST WITHIN EVENTS
    PARTITION BY CONSUME ANY LIMIT IN BETWEEN LIKE REGEXP IS NULL TRUE CASE WHEN THEN ELSE END
    TIMESTAMP INTERVAL seconds sum count abs a b S price 1 2.5 0 'x' '%' '2024-01-01' "q" ' " `
    ( ) [ ] { } * + - / % : ; :+ , . .. > < = != -> -- /* */
"""
soup = st.lists(st.sampled_from(VOCABULARY.split()), max_size=20).map(" ".join)
queries = soup.map(lambda text: f"SELECT * FROM S WHERE a ; b {text}")
filters = soup.map(lambda text: f"SELECT * WHERE a ; b FILTER a[price > {text}] AND {text}")


def outcome(text: str) -> None:
    for read in (parse, parse_condition):
        try:
            tree = read(text)
        except QueryError as error:
            if error.span is not None:
                assert 0 <= error.span[0] <= error.span[1] <= len(text) + 1
        except CereusError:
            pass
        else:
            if read is parse:
                assert parse(to_text(tree)) == tree


@settings(max_examples=volume(23, 75), deadline=None)
@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    outcome(text)


@settings(max_examples=volume(45, 150), deadline=None)
@given(soup | queries | filters)
def test_soup_of_tokens(text: str) -> None:
    outcome(text)
