"""Which expressions are decided between their first and their last mark."""

from __future__ import annotations

import pytest

from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.locality import looks_back
from cereus.languages.sremo.text import parse

MARKED = [
    "any({A:}, {B:})",
    "next({A:}, {B:}, {C:})",
    "{A:} . skip{}* . {B:}",
    "{A:} . !{B:} . {C:}",
    "({A:} | {B:}) . {C:}+",
    "{A:}? . {B:}",
    "any({A:}, {B:}) & ({A:} . skip{}* . {B:})",
    "any({A:}, {B:} . {C:} WITHIN 2 seconds)",
]
FIRST = ["skip{} . {A:}", "skip{}? . {A:} . {B:}", "!{A:} . {B:}", "({A:} | skip{}) . {B:}"]
LAST = ["{A:} . skip{}", "{A:} . {B:} . skip{}?", "{A:} . !{B:}", "{A:} . ({B:} | skip{})"]


def reason(text: str) -> str | None:
    return looks_back(sremo.rewritten(parse(text).formula.expression))


@pytest.mark.parametrize("text", MARKED)
def test_what_begins_and_ends_with_a_mark(text: str) -> None:
    assert reason(text) is None


@pytest.mark.parametrize("text", FIRST)
def test_what_may_begin_without_one(text: str) -> None:
    assert "comes first" in str(reason(text))


@pytest.mark.parametrize("text", LAST)
def test_what_may_end_without_one(text: str) -> None:
    assert "comes last" in str(reason(text))
