"""Every rule of a grammar has a method that builds what it stands for."""

from __future__ import annotations

import importlib

import pytest

from cereus.expr.text import Conditions
from cereus.syntax.building import TreeBuilder
from cereus.syntax.parsing import lark_of

GRAMMARS = {
    "expr": ("condition", Conditions, None),
    "languages/algebra": ("expression", "Expressions", Conditions),
    "languages/ceql": ("query", "_Ceql", "_CeqlConditions"),
    "languages/match_recognize": ("clause", "_Texts", None),
    "languages/par": ("program", "Programs", Conditions),
    "languages/sase": ("program", "_Sase", None),
    "languages/sremo": ("query", "_Texts", Conditions),
}
"""Of each grammar: where it starts, what builds it, and what builds the conditions behind it."""


def builder(folder: str) -> TreeBuilder:
    module = importlib.import_module(f"cereus.{folder.replace('/', '.')}.text")

    def named(kind: str | type[TreeBuilder]) -> type[TreeBuilder]:
        made: type[TreeBuilder] = getattr(module, kind) if isinstance(kind, str) else kind
        return made

    _, kind, conditions = GRAMMARS[folder]
    return named(kind)(None if conditions is None else named(conditions)())


@pytest.mark.parametrize("folder", GRAMMARS)
def test_every_rule_has_a_method(folder: str) -> None:
    lark = lark_of(f"{folder}/grammar.lark", GRAMMARS[folder][0])
    rules = {rule.alias or rule.origin.name for rule in lark.rules}
    inlined = {
        rule.origin.name for rule in lark.rules if rule.options.expand1 and rule.alias is None
    }
    built = {rule for rule in rules - inlined if not rule.startswith("_")}
    assert built
    missing = [rule for rule in sorted(built) if not callable(_method(builder(folder), rule))]
    assert missing == []


def _method(made: TreeBuilder, rule: str) -> object:
    try:
        return made.method(rule)
    except AttributeError:
        return None
