"""`cereus fmt`: the same query, laid out anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from cereus.language.formatting import formatted
from cereus.language.registry import language
from tests.cli.conftest import Run

TEXTS = {
    "ceql": "select * where ((A  as a);B) filter a[x>3] within 5 events",
    "sremo": "({A: x > 3}   .  {B:})",
    "sase": "pattern seq(A a, B b) where a.x>3 within 10 seconds",
    "par": "repeat ((a; b)[A])",
    "algebra": "((A;B))_5",
    "match_recognize": "match_recognize (measures 1 as x pattern (a b+))",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_meaning_stays_and_once_is_enough(name: str) -> None:
    chosen = language(name)
    once = formatted(TEXTS[name], chosen)
    assert chosen.parse(once) == chosen.parse(TEXTS[name])
    assert formatted(once, chosen) == once


def test_files_are_changed_and_then_not(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "q.ceql"
    file.write_text(f"-- rising\n{TEXTS['ceql']}")
    assert cli("fmt", "--check", file).exit_code == 1
    assert cli("fmt", file).exit_code == 0
    assert file.read_text() == (
        "-- rising\nSELECT *\nWHERE A AS a ; B FILTER a[x > 3]\nWITHIN 5 EVENTS\n"
    )
    assert cli("fmt", "--check", file).exit_code == 0


def test_comments_stay_with_the_words_beside_them() -> None:
    text = (
        "-- head\nselect * -- all\nwhere A as a ; -- first\n /* then */ (B)\n-- the filter\n"
        "filter a[name = 'a--b'] -- end\nwithin 5 events\n-- last"
    )
    assert formatted(text, language("ceql")) == (
        "-- head\nSELECT *  -- all\n-- first\n/* then */\n-- the filter\n"
        "WHERE A AS a ; B FILTER a[name = 'a--b']  -- end\nWITHIN 5 EVENTS\n-- last\n"
    )


@pytest.mark.parametrize("name", TEXTS)
def test_a_comment_at_every_place_is_kept(name: str) -> None:
    chosen = language(name)
    words = TEXTS[name].split(" ")
    for place in range(1, len(words)):
        text = " ".join([*words[:place], "-- here\n", *words[place:]])
        made = formatted(text, chosen)
        assert made.count("-- here") == 1
        assert chosen.parse(made) == chosen.parse(TEXTS[name])
        assert formatted(made, chosen) == made


def test_parameters_stay_parameters() -> None:
    text = "select * where A:B as b filter A[x > :low] and b[abs(y) = abs(:low)] and A[n in :names]"
    assert formatted(text, language("ceql")) == (
        "SELECT *\nWHERE A : B AS b FILTER A[x > :low] AND b[abs(y) = abs(:low)] "
        "AND A[n IN :names]\n"
    )


def test_a_file_with_an_error_names_it(cli: Run, tmp_path: Path) -> None:
    file = tmp_path / "q.ceql"
    file.write_text("SELECT WHERE")
    answer = cli("fmt", file)
    assert answer.exit_code == 1
    assert "q.ceql" in answer.stderr
