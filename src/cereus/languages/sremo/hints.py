"""Hints for a SREMO text that does not follow the grammar."""

from __future__ import annotations

import re

from cereus.syntax import errors as syntax_errors
from cereus.syntax.trouble import HintRule, Trouble

WORDS = (
    ("DOT", "an operator (. | & * + ? [1..w])"),
    ("COMMA", "','"),
    ("_WITHIN", "WITHIN"),
    ("RPAR", "')'"),
    ("$END", "the end of the text"),
)
SIGNS = {
    "⊤": "any event that is not marked is skip",
    "·": "write . for the very next event",
    "∙": "write . for the very next event",
    "↓": "store an event with -> r: {SELL:} -> r",
    "¬": "write ! for what an expression does not read",
    "⊗": "skip marks no event, {…} marks one",
    "•": "skip marks no event, {…} marks one",
}
"""Signs of the paper, and how they are written here."""


def expected(accepted: frozenset[str]) -> str:
    """The accepted terminals in words."""
    if "SKIP" in accepted:
        return "an expression ({condition}, skip, any(…), next(…), '(', '!', eps or empty)"
    if "DOT" in accepted and "COMPARE" not in accepted:
        return " or ".join(phrase for needed, phrase in WORDS if needed in accepted)
    return syntax_errors.expected(accepted)


# ---------------------------------------------------------------- the commonest mistakes


def others_sequence(trouble: Trouble) -> str | None:
    if trouble.unexpected in (";", ":", ",") and "DOT" in trouble.accepted:
        return "write . for the very next event, or any(e1, e2) to skip events in between"
    return None


def braces_missing(trouble: Trouble) -> str | None:
    word = trouble.unexpected or ""
    if "SKIP" in trouble.accepted and word[:1].isalpha():
        return f"an event stands in braces: {{{word}:}} of a type, {{price > 10}} by a condition"
    return None


def signs_of_the_paper(trouble: Trouble) -> str | None:
    """`⊤*`, `e · f`, `e ↓ r`"""
    return SIGNS.get(trouble.rest[:1])


def stores_an_event(trouble: Trouble) -> str | None:
    if trouble.rest.startswith("->"):
        return "-> stores the event of one {…} or skip{…}, so it stands right after it"
    if trouble.previous == "MINUS" and trouble.unexpected == ">":  # {SELL: -> r}
        return "-> stands after the braces: {SELL: price > 3} -> r"
    return None


def counts(trouble: Trouble) -> str | None:
    """`{A:}{2,3}`"""
    count = re.match(r"\{\s*\d+\s*(,\s*\d*\s*)?\}", trouble.rest)
    if count is None or "DOT" not in trouble.accepted:
        return None
    return "there are no counts: write each round, {A:} . {A:}; + is one or more, ? is optional"


def two_expressions(trouble: Trouble) -> str | None:
    if "DOT" in trouble.accepted and (trouble.unexpected or "")[:1] in ("{", "(", "!"):
        return "put . (then), | (or) or & (and) between two expressions"
    return None


HINTS: tuple[HintRule, ...] = (
    signs_of_the_paper,
    others_sequence,
    braces_missing,
    stores_an_event,
    counts,
    two_expressions,
)
