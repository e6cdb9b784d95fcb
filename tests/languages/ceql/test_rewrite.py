"""Rewrite rules: what each makes of formulas, in `golden/`, one file a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from cereus.languages.ceql.planning.build import RULES
from cereus.languages.ceql.planning.rewrite import Rule
from cereus.languages.ceql.print import formula_text
from cereus.languages.ceql.text import parse
from tests.golden import Golden, Pair

FILES = Path(__file__).with_name("golden")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_what_a_rule_makes(rule: Rule, golden: Golden) -> None:
    def rewritten(pair: Pair) -> str:
        return formula_text(rule(parse(f"SELECT * WHERE {pair.given}").formula))

    golden.pairs(FILES / f"{rule.__name__}.txt", rewritten)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_rule_has_nothing_more_to_do_the_second_time(rule: Rule, golden: Golden) -> None:
    def twice(pair: Pair) -> str:
        return formula_text(rule(rule(parse(f"SELECT * WHERE {pair.given}").formula)))

    if not golden.update:
        golden.pairs(FILES / f"{rule.__name__}.txt", twice)


def test_every_rule_has_its_file() -> None:
    assert {path.stem for path in FILES.iterdir()} == {rule.__name__ for rule in RULES}
