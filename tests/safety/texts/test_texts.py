"""Whatever a text is, it is a query, or it ends in a CereusError: on every surface.

python -m tests.safety.texts.test_texts LANGUAGE FIRST LAST    cases number FIRST, …, LAST - 1
"""

from __future__ import annotations

import sys
import warnings
from random import Random

import pytest

from cereus.errors import CereusError
from tests.safety.surfaces import LANGUAGES, compiled, use
from tests.safety.texts import corpus, grammars, mutations
from tests.volume import volume


def text_of(case: int, dialect: str) -> str:
    """Text number `case`: of the grammar, a text in tests and documentation, a mutation of one, or
    random letters."""
    draw = Random(f"{dialect} {case}")
    way = case % 8
    if way < 2:
        return grammars.drawn(draw, dialect)
    if way == 2:
        return mutations.mutated(draw, [grammars.drawn(draw, dialect)])
    if way == 3 and case % 5 == 0:
        letters = bytes(draw.randrange(256) for _ in range(draw.randrange(200)))
        return letters.decode(draw.choice(("utf-8", "latin-1", "utf-16")), "replace")
    if way == 4:
        return draw.choice(corpus.texts(dialect))
    return mutations.mutated(draw, corpus.texts(dialect))


def is_query(text: str, dialect: str) -> bool:
    try:
        compiled(text, dialect)
    except CereusError:
        return False
    return True


@pytest.mark.parametrize("dialect", LANGUAGES)
def test_only_a_cereus_error_escapes(dialect: str) -> None:
    for case in range(volume(24, 100)):
        use(text_of(case, dialect), dialect)


@pytest.mark.parametrize("dialect", LANGUAGES)
def test_some_texts_are_queries_and_some_are_not(dialect: str) -> None:
    """However the texts in tests and documentation change: every eighth is taken as it is."""
    assert {is_query(text_of(case, dialect), dialect) for case in range(120)} == {True, False}


@pytest.mark.parametrize("dialect", LANGUAGES)
def test_the_corpus_is_not_empty(dialect: str) -> None:
    assert len(corpus.texts(dialect)) > 20


def main() -> None:
    dialect, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    for case in range(first, last):
        try:
            use(text_of(case, dialect), dialect)
        except Exception as error:
            notes = getattr(error, "__notes__", [])
            print(f"case {case}: {type(error).__name__}: {str(error)[:300]} {notes}", flush=True)


if __name__ == "__main__":
    main()
