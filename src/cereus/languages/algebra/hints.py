"""Hints for event expressions that do not follow the grammar."""

from __future__ import annotations

import re

from cereus.syntax import errors as syntax_errors
from cereus.syntax.trouble import HintRule, Trouble, plain_terminal

OPERATORS = ("SEMICOLON", "PLUS", "MINUS", "_EITHER")


def expected(accepted: frozenset[str]) -> str:
    if "ZERO" in accepted:
        return "an event (a type, '*' or '(')"
    if accepted <= {"PARAMETER"}:  # after an underscore
        return "a number of ticks, a duration or a parameter"
    if "RESTRICTION" not in accepted:
        return syntax_errors.expected(accepted)
    phrases = ["an operator (';' '+' '-' '|')", "a time restriction (_2, _5s)"]
    if "RPAR" in accepted:
        phrases.append("')'")
    if "$END" in accepted:
        phrases.append("the end of the text")
    return f"{', '.join(phrases[:-1])} or {phrases[-1]}"


# ---------------------------------------------------------------- the commonest mistakes


def operator_in_condition(trouble: Trouble) -> str | None:
    """`A (B ; C)`: parentheses after a type hold a condition."""
    if "COMPARE" in trouble.accepted and trouble.unexpected in (";", "|", ")"):
        return "parentheses after an event type hold a condition; write A ; (B ; C) for a sequence"
    return None


def condition_in_brackets(trouble: Trouble) -> str | None:
    """`BUY[price > 10]`"""
    if trouble.unexpected == "[" and trouble.previous in ("NAME", "QUOTED"):
        return f"a condition stands in parentheses: {trouble.before[-1]}(price > 10)"
    return None


def restriction_in_brackets(trouble: Trouble) -> str | None:
    """`(A ; B)[5s]`"""
    if trouble.unexpected == "[" and "RESTRICTION" in trouble.accepted:
        return "a time restriction follows an underscore: (A ; B)_5s"
    return None


def restriction_in_front(trouble: Trouble) -> str | None:
    """`_2 (B ; B)`"""
    names = [token for token in trouble.before[-3:] if plain_terminal(token.type) == "NAME"]
    if any(re.match(r"_\d", name) for name in names) and trouble.unexpected:
        return "a time restriction follows what it restricts: (B ; B)_2"
    return None


def unit_apart(trouble: Trouble) -> str | None:
    """`(A ; B)_5 seconds`"""
    if trouble.previous == "RESTRICTION" and (trouble.unexpected or "").isidentifier():
        return "write a duration without spaces, _5s, or in braces, _{5 seconds}"
    return None


def subscript_without_number(trouble: Trouble) -> str | None:
    """`(A ; B)_tau`"""
    starts = trouble.rest.startswith("_") and "RESTRICTION" in trouble.accepted
    if starts or trouble.previous == "_UNDERSCORE":
        return "a time restriction is a number of ticks, _2, or a duration, _5s"
    return None


def within(trouble: Trouble) -> str | None:
    """`A ; B WITHIN 5 seconds`"""
    if re.match(r"(within|in|for)\b", trouble.rest, re.IGNORECASE):
        return "write the time restriction after the parenthesis: (A ; B)_5s"
    return None


def prefix_negation(trouble: Trouble) -> str | None:
    """`! A`, `- A`, `not A`"""
    word = (trouble.unexpected or "").lower()
    if "ZERO" in trouble.accepted and word in ("!", "¬", "not", "-", "~"):
        return "a negation has two sides: A - B is an A during which no B occurs"
    return None


def trailing_operator(trouble: Trouble) -> str | None:
    if trouble.unexpected in (None, ")") and trouble.previous in OPERATORS:
        return f"{trouble.before[-1]} joins two expressions: one is missing after it"
    return None


def others_operators(trouble: Trouble) -> str | None:
    if "COMPARE" in trouble.accepted:
        return None
    if trouble.unexpected == ">" and trouble.previous == "MINUS":
        return "write ; for «then»"
    if trouble.unexpected == "||":
        return "write | for «either»"
    for signs, instead in (
        (("=>", "→", ",", "."), "write ; for «then»"),
        (("&", "∧", "and", "AND"), "write + for «both», in any order"),
        (("or", "OR"), "write | for «either»"),
        (("!", "¬", "\\", "unless", "UNLESS"), "write A - B for an A during which no B occurs"),
    ):
        if trouble.rest.startswith(signs):
            return instead
    return None


def two_expressions(trouble: Trouble) -> str | None:
    if trouble.unexpected and trouble.unexpected.isidentifier() and "SEMICOLON" in trouble.accepted:
        return "put ; (then), + (both), | (either) or - (without) between two expressions"
    return None


HINTS: tuple[HintRule, ...] = (
    restriction_in_front,
    operator_in_condition,
    condition_in_brackets,
    restriction_in_brackets,
    unit_apart,
    subscript_without_number,
    within,
    prefix_negation,
    trailing_operator,
    others_operators,
    two_expressions,
)
