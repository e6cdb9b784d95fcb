"""Tests, letters and labels in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cereus.automata.model import NOTHING, PLACE_ONLY, Label
from cereus.automata.selection import BEGINS_UNSEEN
from cereus.expr.print import condition_text
from cereus.expr.tree import And
from cereus.plan.tests import EventTest
from cereus.syntax.literals import quote_name


def several(count: int, what: str) -> str:
    """`1 value`, `2 values`"""
    return f"{count} {what}{'' if count == 1 else 's'}"


def test_text(test: EventTest) -> str:
    """`SELL where volume >= 1000`, `any event of S1`, `not (BUY where price > 3)`"""
    name = "any event" if test.type is None else quote_name(test.type)
    if test.stream is not None:
        name += f" of {quote_name(test.stream)}"
    if test.conditions:
        first, *more = test.conditions
        name += f" where {condition_text(And(test.conditions) if more else first)}"
    return f"not ({name})" if test.negated else name


def letters_text(chosen: Iterable[int], letters: Iterable[int], names: Sequence[str]) -> str:
    """Some of the letters as what they have in common: `t1`, `t1 and not t2`, `any event`.

    `names` are those of the tests; where no conjunction says it, the letters are listed.
    """
    some, all_ = frozenset(chosen), frozenset(letters)
    if some == all_:
        return "any event"
    if some == {0}:
        return "no test passed"
    literals = [(bit, True) for bit in range(len(names)) if all(x >> bit & 1 for x in some)]
    literals += [(bit, False) for bit in range(len(names)) if not any(x >> bit & 1 for x in some)]
    if _meeting(literals, all_) == some:
        return " and ".join(
            names[bit] if wanted else f"not {names[bit]}"
            for bit, wanted in _needed(literals, all_, some)
        )
    return " or ".join(_letter_text(letter, names) for letter in sorted(some))


def _meeting(literals: list[tuple[int, bool]], letters: frozenset[int]) -> frozenset[int]:
    return frozenset(
        letter for letter in letters if all(bool(letter >> b & 1) is w for b, w in literals)
    )


def _needed(
    literals: list[tuple[int, bool]], letters: frozenset[int], some: frozenset[int]
) -> list[tuple[int, bool]]:
    """Fewer literals that say the same: the negative ones are dropped first."""
    for literal in reversed(literals):
        fewer = [each for each in literals if each != literal]
        if fewer and _meeting(fewer, letters) == some:
            literals = fewer
    return literals


def _letter_text(letter: int, names: Sequence[str]) -> str:
    passed = [name for bit, name in enumerate(names) if letter >> bit & 1]
    return f"({'+'.join(passed)})" if len(passed) > 1 else (passed or ["no test passed"])[0]


def label_text(label: Label) -> str:
    """What a move does with the event it reads."""
    if label == NOTHING:
        return "skips it"
    if label == PLACE_ONLY:
        return "takes it unmarked"
    if label == BEGINS_UNSEEN:
        return "begins (not selected)"
    names = sorted(name for name in label if ">" not in name) or sorted(label)
    return f"marks {', '.join(names)}"
