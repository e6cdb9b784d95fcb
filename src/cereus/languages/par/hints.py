"""Hints for PAR texts that do not follow the grammar."""

from __future__ import annotations

from cereus.syntax import errors as syntax_errors
from cereus.syntax.trouble import HintRule, Trouble

REPEATS = ("loop", "while", "every", "forever", "always", "do")
"""What people write for `repeat`."""
WORDS = (
    ("SEMICOLON", "';' (then)"),
    ("VBAR", "'|' (either)"),
    ("_UNLESS", "unless"),
    ("RPAR", "')'"),
    ("$END", "the end of the text"),
)


def expected(accepted: frozenset[str]) -> str:
    """The accepted terminals in words."""
    phrases = [phrase for needed, phrase in WORDS if needed in accepted]
    if "_REPEAT" in accepted:
        words = "repeat, try" if "_TRY" in accepted else "repeat"
        phrases.insert(0, f"a program (an event type, '*', '(', '!', {words} or silent)")
    elif not accepted & {"SEMICOLON", "VBAR", "_UNLESS"}:
        return syntax_errors.expected(accepted)
    return " or ".join(phrases)


# ---------------------------------------------------------------- the commonest mistakes


def condition_in_brackets(trouble: Trouble) -> str | None:
    """`BUY[price > 10]`"""
    if "LSQB" not in [token.type for token in trouble.before[-2:]] or trouble.unexpected is None:
        return None
    type_ = trouble.before[-3] if len(trouble.before) > 2 else "BUY"
    return f"[…] names outputs; a condition stands in parentheses: {type_}(price > 10)"


def other_repeat(trouble: Trouble) -> str | None:
    """`loop (a ; b)`: the word is taken for an event type."""
    words = [str(token).lower() for token in trouble.before[-3:]]
    if words[1:2] == ["("] and words[0] in REPEATS and "COMPARE" in trouble.accepted:
        return "write repeat (a ; b)"
    return None


def program_in_parentheses(trouble: Trouble) -> str | None:
    """`a (b ; c)`: parentheses after a type hold a condition."""
    if trouble.unexpected in (";", "|") and "COMPARE" in trouble.accepted:
        return "parentheses after an event type hold a condition; write a ; (b ; c) for a sequence"
    return None


def try_needs_parentheses(trouble: Trouble) -> str | None:
    """`repeat try a unless b`, `! try …`"""
    if (trouble.unexpected or "").lower() != "try":
        return None
    return f"put it in parentheses: {trouble.before[-1]} (try … unless …)"


def output_of_try(trouble: Trouble) -> str | None:
    """`try a unless b ; [A]`, `; [A]`"""
    if trouble.unexpected == "[" and "TYPE" in trouble.accepted:
        return "an output follows the program that brings it about: a[A], (a ; b)[A]"
    return None


def unless_without_try(trouble: Trouble) -> str | None:
    if (trouble.unexpected or "").lower() == "unless":
        return "write try x unless y"
    return None


def try_without_unless(trouble: Trouble) -> str | None:
    if "_UNLESS" in trouble.accepted and trouble.unexpected in (None, ")"):
        return "try x needs its unless y; without one, write x alone"
    return None


def two_programs(trouble: Trouble) -> str | None:
    begins = trouble.unexpected and (
        trouble.unexpected.isidentifier() or trouble.unexpected[0] in '!¬*("`'
    )
    if begins and "SEMICOLON" in trouble.accepted:
        return "put ; (then) or | (either) between two programs"
    return None


def trailing_operator(trouble: Trouble) -> str | None:
    if trouble.unexpected in (None, ")") and trouble.previous in ("SEMICOLON", "VBAR"):
        return f"{trouble.before[-1]} joins two programs: drop it here"
    return None


def double_bar(trouble: Trouble) -> str | None:
    doubled = trouble.unexpected == "|" and trouble.previous == "VBAR"
    return "write | for «either»" if doubled else None


def others_repetition(trouble: Trouble) -> str | None:
    """`a* ; b`, `a+`"""
    if trouble.unexpected in ("*", "+") and "SEMICOLON" in trouble.accepted:
        return "repeat stands before what it repeats: repeat a; to match one or the other, write |"
    return None


def others_operators(trouble: Trouble) -> str | None:
    for signs, instead in (
        (("->", "=>", "→", ",", "."), "write ; for «then»"),
        (("&", "~", "-"), "the operators are ; | ! repeat, try … unless … and x[A]"),
    ):
        if trouble.rest.startswith(signs) and "COMPARE" not in trouble.accepted:
            return instead
    return None


HINTS: tuple[HintRule, ...] = (
    condition_in_brackets,
    other_repeat,
    program_in_parentheses,
    try_needs_parentheses,
    output_of_try,
    try_without_unless,
    unless_without_try,
    trailing_operator,
    double_bar,
    others_repetition,
    others_operators,
    two_programs,
)
